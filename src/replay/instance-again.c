/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All schedules once more, where the first time leaves open what they show; see
 * instance-parts.h.
 */
#include "replay/instance-parts.h"

#include <string.h>

#include "base/error.h"
#include "replay/processor-parts.h"
#include "replay/trial-parts.h"

/* In *ret, which was initialized. */
static struct error *instance_again(struct instance *instance,
				    struct replay_result *ret)
{
	struct replay_result *result = instance->ret;
	struct error *err;
	bool endless;

	ret->still = true;
	instance->ret = ret;
	err = instance_run_all(instance, &endless);
	if (!err)
		err = instance_judge(instance);
	instance->ret = result;
	return err;
}

static bool blind_may_be(const struct instance *instance)
{
	const struct replay_question *question = instance->question;
	const struct replay_result *result = instance->ret;

	return question->varies && question->first && question->made &&
	       question->size <= X86_ACCESS_MAX &&
	       result->verdict == REPLAY_NO_CHANGE && result->still &&
	       question->sides[0].access.kind == ACCESS_WRITE &&
	       question->sides[1].access.kind == ACCESS_WRITE;
}

/* Has every schedule that was run left these raced bytes? */
static bool blind_left(const struct instance *instance, const uint8_t *bytes)
{
	const struct replay_question *question = instance->question;
	uint8_t left[X86_ACCESS_MAX];

	for (int i = 0; i < REPLAY_SCHEDULES; i++) {
		if (instance->ran >> i & 1 &&
		    (!outcome_read(&instance->outcomes[i], instance->processor,
				   0, question->address, left,
				   question->size) ||
		     memcmp(left, bytes, question->size) != 0))
			return false;
	}
	return true;
}

/* *ret: all orders come to the same, which is these bytes. */
static struct error *blind_run(struct instance *instance, const uint8_t *bytes,
			       bool *ret)
{
	struct replay_result other;
	struct error *err;

	replay_result_init(&other);
	err = instance_again(instance, &other);
	*ret = !err && other.verdict == REPLAY_NO_CHANGE &&
	       blind_left(instance, bytes);
	replay_result_deinit(&other);
	return err;
}

static struct error *blind_set(struct instance *instance, const uint8_t *bytes,
			       bool *ret)
{
	const struct replay_question *question = instance->question;
	struct error *err;

	*ret = trial_set_memory(instance->processor, 0, question->address,
				bytes, question->size, &err);
	return err;
}

struct error *instance_try_blind(struct instance *instance)
{
	const struct replay_question *question = instance->question;
	struct processor *processor = instance->processor;
	uint8_t bytes[X86_ACCESS_MAX], others[X86_ACCESS_MAX];
	struct replay_hints hints;
	struct error *err;
	bool is_set;

	if (!blind_may_be(instance) ||
	    !pagecache_read(processor_pages(processor, 0), question->address,
			    bytes, question->size))
		return NULL;
	for (uint32_t i = 0; i < question->size; i++)
		others[i] = (uint8_t)~bytes[i];
	/* where such bytes lead to is no page of the race */
	hints = *processor->instance.hints;
	err = blind_set(instance, others, &is_set);
	if (!err && is_set)
		err = blind_run(instance, bytes, &instance->ret->blind);
	*processor->instance.hints = hints;
	processor->missed = 0;
	return err ? err : blind_set(instance, bytes, &is_set);
}

/* Has a region ended before a page that was not captured? */
static bool late_ends(const struct instance *instance, int schedule)
{
	const struct replay_outcome *outcome = &instance->outcomes[schedule];

	if (!(instance->ran >> schedule & 1) || !outcome->complete)
		return false;
	for (int i = 0; i < REPLAY_THREADS; i++) {
		if (outcome->ends[i].kind == REPLAY_UNCAPTURED)
			return true;
	}
	return false;
}

static bool late_may_be(const struct instance *instance)
{
	const struct replay_result *result = instance->ret;

	if (result->verdict != REPLAY_FAILURE ||
	    strcmp(result->failure, REPLAY_UNEQUAL_END) != 0)
		return false;
	for (int i = 0; i < REPLAY_SCHEDULES; i++) {
		if (late_ends(instance, i))
			return true;
	}
	return false;
}

struct error *instance_try_late(struct instance *instance)
{
	struct processor *processor = instance->processor;
	struct replay_result other;
	struct error *err;

	if (!late_may_be(instance))
		return NULL;
	replay_result_init(&other);
	processor->instance.ends_at_missed = false;
	processor->guesses = true;
	err = instance_again(instance, &other);
	processor->instance.ends_at_missed = true;
	processor->guesses = false;
	processor->missed = 0;
	if (!err && other.verdict == REPLAY_NO_CHANGE)
		instance->ret->failure = replay_stop_name(REPLAY_LEARNING);
	replay_result_deinit(&other);
	return err;
}
