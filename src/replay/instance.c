/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schedules of one instance; see instance.h.
 */
#include "replay/instance.h"

#include <stdlib.h>

#include "base/error.h"
#include "replay/instance-parts.h"
#include "replay/processor-parts.h"
#include "replay/trial-parts.h"
#include "sys/memory.h"
#include "sys/procfs.h"
#include "x86/vectors.h"

/* Key 0 alone may be used: what Linux begins with. */
static const uint32_t INSTANCE_KEYS_UNUSED = 0x55555554;

/* Which bytes one instruction loads and stores, if it can be interrupted there. */
static void instance_find_update(struct instance *instance, int thread)
{
	const struct replay_side *side = &instance->question->sides[thread];
	struct thread_access *access = &instance->processor->accesses[thread];

	if (side->access.kind == ACCESS_RMW && !side->insn.synchronizes &&
	    side->insn.operand_count == 1 && side->insn.rep == X86_REP_NONE)
		access->update = side->access;
}

/* The name of a failure in *ret, or NULL. */
static struct error *instance_begin_thread(struct instance *instance,
					   int thread, const char **ret)
{
	const struct replay_side *side = &instance->question->sides[thread];
	bool done = true, rewound = false;
	struct error *err = NULL;

	if (side->done)
		err = trial_redo(instance, thread, &done);
	instance->ret->redone |= side->done && done;
	if (err || !done) {
		*ret = "cannot-redo";
		return err;
	}
	if (side->access.kind == ACCESS_WRITE)
		err = trial_rewind(instance, thread, &rewound);
	if (!rewound)
		instance_find_update(instance, thread);
	if (!rewound && side->access.kind == ACCESS_WRITE && side->updates)
		instance->old = true;
	return err;
}

static bool instance_uses_keys(const struct instance *instance, int thread)
{
	const struct replay_context *start =
		&instance->processor->starts[thread];
	uint32_t rights =
		vectors_key_rights(start->vectors, start->vectors_size);

	return rights != 0 && rights != INSTANCE_KEYS_UNUSED;
}

static bool instance_has_shadow_stack(const struct instance *instance,
				      int thread)
{
	const struct space *space =
		processor_space(instance->processor, thread);
	struct thread_status status = { .shadow_stack = false };

	error_free(procfs_status(space->source.memory->pid, &status));
	return status.shadow_stack;
}

/*
 * Do both have the raced bytes, at their addresses? Bytes that were not captured
 * are to be learned first.
 */
static bool instance_shares(const struct instance *instance)
{
	const struct replay_question *question = instance->question;
	const struct processor *processor = instance->processor;
	uint64_t page = replay_page_of(question->address);
	uint64_t other =
		replay_page_of(question->address + processor->instance.shift);
	const struct cached_page *one =
		pagecache_find(&processor->spaces[0].cache, page);

	if (!processor->instance.two || !one)
		return true;
	return one->twin && one->twin->address == other;
}

/* What the code needs and the copy does not have; NULL: nothing. */
static const char *instance_refusal(const struct instance *instance)
{
	if (!instance_shares(instance))
		return "two-processes";
	for (int i = 0; i < REPLAY_THREADS; i++) {
		if (instance_has_shadow_stack(instance, i))
			return "shadow-stack";
		if (instance_uses_keys(instance, i))
			return replay_stop_name(REPLAY_KEYS);
	}
	return NULL;
}

static struct error *instance_begin(struct instance *instance, const char **ret)
{
	struct error *err = processor_prepare(instance->processor);

	*ret = instance_refusal(instance);
	for (int i = 0; i < REPLAY_THREADS && !err && !*ret; i++)
		err = instance_begin_thread(instance, i, ret);
	if (instance->processor->missed)
		*ret = replay_stop_name(REPLAY_LEARNING);
	return err;
}

/*
 * Where no return is near, as in the loop of a thread, the next arrival at the
 * access is what all schedules have in common.
 */
static struct error *instance_schedule(struct instance *instance)
{
	bool endless;
	struct error *err = instance_run_all(instance, &endless);

	if (err || !endless)
		return err;
	err = processor_add_arrivals(instance->processor);
	if (!err)
		err = instance_run_all(instance, &endless);
	return err;
}

static struct error *instance_run(struct instance *instance)
{
	const char *failure = NULL;
	struct error *err = instance_begin(instance, &failure);

	if (!err && !failure)
		err = instance_schedule(instance);
	if (err || failure) {
		instance->ret->verdict = REPLAY_FAILURE;
		instance->ret->failure = failure;
		return err;
	}
	err = instance_judge(instance);
	if (!err)
		err = instance_try_blind(instance);
	return err ? err : instance_try_late(instance);
}

static void result_clear(struct replay_result *result)
{
	struct vec changes = result->changes;

	vec_clear(&changes);
	*result = (struct replay_result){ .still = true, .changes = changes };
}

struct error *replay_run(struct processor *processor,
			 const struct replay_question *question,
			 struct replay_result *ret)
{
	struct instance *instance = calloc(1, sizeof(*instance));
	struct error *err;

	if (!instance)
		return error_nomem;
	*instance = (struct instance){ .processor = processor,
				       .question = question,
				       .ret = ret };
	for (int i = 0; i < REPLAY_SCHEDULES; i++)
		outcome_init(&instance->outcomes[i]);
	result_clear(ret);
	err = instance_run(instance);
	for (int i = 0; i < REPLAY_SCHEDULES; i++)
		outcome_deinit(&instance->outcomes[i]);
	free(instance);
	return err;
}
