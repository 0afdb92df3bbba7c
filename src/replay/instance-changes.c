/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What differs between the schedules of an instance; see instance-parts.h.
 */
#include "replay/instance-parts.h"

#include "base/error.h"
#include "replay/liveout.h"
#include "replay/processor-parts.h"
#include "replay/registers-parts.h"

/* Some bytes. */
struct range {
	uint64_t start, end;
};

static struct range range_raced(const struct instance *instance)
{
	const struct replay_question *question = instance->question;

	return (struct range){ question->address,
			       question->address + question->size };
}

static bool range_overlap(struct range a, struct range b)
{
	return a.start < b.end && b.start < a.end;
}

/* The aligned word of that size that holds the range; false: it does not. */
static bool range_in_word(struct range range, uint64_t size, struct range *ret)
{
	ret->start = range.start & ~(size - 1);
	ret->end = ret->start + size;
	return range.end <= ret->end;
}

/*
 * Of a number that differs, often one byte does only: the whole of it, as it
 * probably is.
 */
static struct range range_widen(const struct instance *instance,
				struct range range)
{
	struct range raced = range_raced(instance), wide;

	if (range_overlap(range, raced) &&
	    raced.end - raced.start <= REPLAY_CHANGE_BYTES)
		return raced;
	for (uint64_t size = 4; size <= 8; size *= 2) {
		if (range_in_word(range, size, &wide) &&
		    !range_overlap(wide, raced))
			return wide;
	}
	return range;
}

/* The state of a lock that threads waited on is not that of the program. */
static bool changes_are_of_futex(const struct instance *instance,
				 uint64_t address)
{
	const struct processor *processor = instance->processor;

	for (size_t i = 0; i < processor->futex_count; i++) {
		if (address - processor->futexes[i] < sizeof(uint32_t))
			return true;
	}
	return false;
}

/*
 * A function that has not returned may have its local variables there, of which
 * nothing tells whether it reads them again.
 */
static bool changes_are_local(const struct instance *instance,
			      const struct replay_outcome *outcome,
			      uint64_t address)
{
	const struct replay_instance *captured = &instance->processor->instance;

	for (int i = 0; i < REPLAY_THREADS; i++) {
		uint64_t rsp = outcome->contexts[i].regs.gpr[X86_RSP];

		if (outcome->ends[i].kind != REPLAY_RETURNED &&
		    address >= rsp &&
		    address < captured->threads[i].return_slot)
			return true;
	}
	return false;
}

static bool changes_have(const struct replay_result *result, struct range range)
{
	for (size_t i = 0; i < result->changes.count; i++) {
		const struct replay_change *change =
			vec_at(&result->changes, i);

		if (range.start >= change->address &&
		    range.end <= change->address + change->size)
			return true;
	}
	return false;
}

/* The raced bytes go first. */
static bool changes_insert(struct instance *instance, struct range range)
{
	struct vec *changes = &instance->ret->changes;
	struct replay_change *change, *first;
	struct replay_change it = {
		.address = range.start,
		.size = (uint32_t)(range.end - range.start),
	};

	change = vec_append(changes);
	if (!change)
		return false;
	*change = it;
	first = vec_at(changes, 0);
	if (range_overlap(range, range_raced(instance))) {
		*change = *first;
		*first = it;
	}
	return true;
}

static bool changes_add(struct instance *instance,
			const struct replay_outcome *outcome,
			struct range range)
{
	struct range raced = range_raced(instance);
	bool is_raced = range_overlap(range, raced);

	if (!is_raced && changes_are_of_futex(instance, range.start))
		return true;
	if (!is_raced && changes_are_local(instance, outcome, range.start)) {
		instance->locals = true;
		return true;
	}
	if (range.start < raced.start || range.end > raced.end)
		instance->ret->beyond = true;
	range = range_widen(instance, range);
	if (changes_have(instance->ret, range))
		return true;
	/* the raced bytes have room always */
	if (instance->ret->changes.count >= REPLAY_CHANGES_MAX && !is_raced)
		return true;
	return changes_insert(instance, range);
}

/* Within the raced bytes, or not; and none is longer than can be told. */
static uint64_t changes_cut(const struct instance *instance, uint64_t start,
			    uint64_t end)
{
	struct range raced = range_raced(instance);

	if (end > start + REPLAY_CHANGE_BYTES)
		end = start + REPLAY_CHANGE_BYTES;
	if (start < raced.start && end > raced.start)
		return raced.start;
	if (start < raced.end && end > raced.end)
		return raced.end;
	return end;
}

static bool changes_add_all(struct instance *instance,
			    const struct replay_outcome *outcome,
			    const struct vec *all)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct liveout *liveout = vec_at(all, i);
		uint64_t end = liveout->address + liveout->size, next;

		for (uint64_t at = liveout->address; at < end; at = next) {
			next = changes_cut(instance, at, end);
			if (!changes_add(instance, outcome,
					 (struct range){ at, next }))
				return false;
		}
	}
	return true;
}

static void changes_set_values(struct instance *instance, uint32_t schedules)
{
	struct vec *changes = &instance->ret->changes;

	for (size_t i = 0; i < changes->count; i++) {
		struct replay_change *change = vec_at(changes, i);

		for (int j = 0; j < REPLAY_SCHEDULES; j++) {
			if (schedules >> j & 1 &&
			    outcome_read(&instance->outcomes[j],
					 &instance->processor->cache,
					 change->address, change->values[j],
					 change->size))
				change->schedules |= UINT32_C(1) << j;
		}
	}
}

struct error *instance_compare(struct instance *instance, uint32_t schedules)
{
	int first = __builtin_ctz(schedules);
	const struct replay_outcome *one = &instance->outcomes[first];
	struct vec differing = VEC_INIT(struct liveout);
	struct error *err = NULL;

	for (int i = first + 1; i < REPLAY_SCHEDULES && !err; i++) {
		const struct replay_outcome *other = &instance->outcomes[i];

		if (!(schedules >> i & 1))
			continue;
		vec_clear(&differing);
		err = liveout_compare(instance->processor, one, other,
				      &differing);
		if (!err && !changes_add_all(instance, one, &differing))
			err = error_nomem;
		if (!err && registers_differ(instance, one, other))
			instance->ret->registers = instance->ret->beyond = true;
	}
	changes_set_values(instance, schedules);
	vec_deinit(&differing);
	return err;
}
