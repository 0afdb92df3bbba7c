/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the outcomes of all schedules mean together; see instance.h.
 */
#include "replay/instance-parts.h"

#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "replay/processor-parts.h"
#include "sys/memory.h"
#include "sys/procfs.h"

void replay_result_init(struct replay_result *result)
{
	*result = (struct replay_result){
		.changes = VEC_INIT(struct replay_change),
	};
}

void replay_result_deinit(struct replay_result *result)
{
	vec_deinit(&result->changes);
}

static const struct replay_outcome *
verdict_outcome(const struct instance *instance, int schedule)
{
	return &instance->outcomes[schedule];
}

static bool verdict_ran(const struct instance *instance, int schedule)
{
	return instance->ran >> schedule & 1;
}

static void verdict_fail(struct instance *instance, const char *name)
{
	instance->ret->verdict = REPLAY_FAILURE;
	instance->ret->failure = name;
}

/* Did both regions end at the same places? */
static bool verdict_same_ends(const struct replay_outcome *a,
			      const struct replay_outcome *b)
{
	for (int i = 0; i < REPLAY_THREADS; i++) {
		if (a->ends[i].kind != b->ends[i].kind ||
		    a->ends[i].rip != b->ends[i].rip)
			return false;
	}
	return true;
}

/* The complete schedules that end as this one does. */
static uint32_t verdict_like(const struct instance *instance, int schedule)
{
	const struct replay_outcome *one = verdict_outcome(instance, schedule);
	uint32_t like = 0;

	for (int i = 0; i < REPLAY_SCHEDULES; i++) {
		const struct replay_outcome *other =
			verdict_outcome(instance, i);

		if (verdict_ran(instance, i) && other->complete &&
		    verdict_same_ends(one, other))
			like |= UINT32_C(1) << i;
	}
	return like;
}

/* Only schedules that end alike can be compared. */
static struct error *verdict_compare(struct instance *instance,
				     uint32_t complete)
{
	uint32_t left = complete;
	struct error *err = NULL;

	while (left && !err) {
		uint32_t like = verdict_like(instance, __builtin_ctz(left));

		err = instance_compare(instance, like);
		left &= ~like;
		if (left && !err)
			verdict_fail(instance, REPLAY_UNEQUAL_END);
	}
	return err;
}

static void verdict_add_fault(struct instance *instance, int schedule)
{
	const struct replay_stop *stop =
		&verdict_outcome(instance, schedule)->stop;
	struct replay_result *ret = instance->ret;

	if (ret->fault_schedules == 0) {
		ret->signal = stop->signal;
		ret->fault_address = stop->has_address ? stop->address : 0;
		ret->executes = stop->executes;
	}
	ret->executes &= stop->executes;
	ret->fault_schedules |= UINT32_C(1) << schedule;
}

/*
 * An INT3 that is executed may be a breakpoint of ours, in text that was not put
 * right: it is no evidence against the program.
 */
static bool verdict_is_fault(const struct replay_stop *stop)
{
	return stop->kind == REPLAY_SIGNAL && stop->signal != SIGTRAP;
}

/* Which schedules are complete; the others set a failure, or a fault. */
static uint32_t verdict_sort(struct instance *instance)
{
	uint32_t complete = 0;

	for (int i = 0; i < REPLAY_SCHEDULES; i++) {
		const struct replay_outcome *outcome =
			verdict_outcome(instance, i);

		if (!verdict_ran(instance, i))
			continue;
		if (outcome->complete)
			complete |= UINT32_C(1) << i;
		else if (verdict_is_fault(&outcome->stop))
			verdict_add_fault(instance, i);
		else if (!instance->ret->failure ||
			 outcome->stop.kind == REPLAY_LEARNING)
			verdict_fail(instance,
				     replay_stop_name(outcome->stop.kind));
	}
	return complete;
}

static bool verdict_is_learning(const struct replay_result *result)
{
	return result->failure &&
	       strcmp(result->failure, replay_stop_name(REPLAY_LEARNING)) == 0;
}

/* Has each process a handler for the signal? Not known of one that has ended. */
static bool verdict_is_handled(const struct instance *instance)
{
	const struct processor *processor = instance->processor;
	uint64_t bit = UINT64_C(1) << (instance->ret->signal - 1);

	for (int i = 0; i < REPLAY_THREADS; i++) {
		int space = processor_space_of(processor, i);
		struct thread_status status = { .caught = 0 };

		error_free(procfs_status(
			processor->spaces[space].source.memory->pid, &status));
		if (!(status.caught & bit))
			return false;
	}
	return true;
}

static void verdict_set(struct instance *instance, uint32_t complete)
{
	struct replay_result *result = instance->ret;
	bool changed = result->registers || result->changes.count > 0;

	if (verdict_is_learning(result))
		return;
	if (result->fault_schedules && complete) {
		result->verdict = REPLAY_FAULT;
		result->handled = verdict_is_handled(instance);
	} else if (changed)
		result->verdict = REPLAY_CHANGE;
	else if (result->failure)
		return;
	else if (result->fault_schedules)
		verdict_fail(instance, replay_stop_name(REPLAY_SIGNAL));
	else if (instance->old)
		verdict_fail(instance, "old-load");
	else if (instance->locals)
		verdict_fail(instance, "locals");
	if (result->verdict != REPLAY_FAILURE)
		result->failure = NULL;
}

struct error *instance_judge(struct instance *instance)
{
	uint32_t complete = verdict_sort(instance);
	struct error *err = NULL;

	if (!verdict_is_learning(instance->ret))
		err = verdict_compare(instance, complete);
	if (!err)
		verdict_set(instance, complete);
	return err;
}
