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
	int space; /* as struct outcome_page has it */
};

static struct range range_raced(const struct instance *instance)
{
	const struct replay_question *question = instance->question;

	return (struct range){ question->address,
			       question->address + question->size, 0 };
}

static bool range_overlap(struct range a, struct range b)
{
	return a.space == b.space && a.start < b.end && b.start < a.end;
}

/* The aligned word of that size that holds the range; false: it does not. */
static bool range_in_word(struct range range, uint64_t size, struct range *ret)
{
	ret->space = range.space;
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
				 struct range range)
{
	const struct processor *processor = instance->processor;

	for (size_t i = 0; i < processor->futex_count; i++) {
		const struct replay_word *futex = &processor->futexes[i];

		if (futex->space == range.space &&
		    range.start - futex->address < sizeof(uint32_t))
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
			      struct range range)
{
	const struct processor *processor = instance->processor;
	const struct replay_instance *captured = &processor->instance;

	for (int i = 0; i < REPLAY_THREADS; i++) {
		uint64_t rsp = outcome->contexts[i].regs.gpr[X86_RSP];

		if (outcome->ends[i].kind != REPLAY_RETURNED &&
		    processor_space_of(processor, i) == range.space &&
		    range.start >= rsp &&
		    range.start < captured->threads[i].return_slot)
			return true;
	}
	return false;
}

static bool changes_have(const struct replay_result *result, struct range range)
{
	for (size_t i = 0; i < result->changes.count; i++) {
		const struct replay_change *change =
			vec_at(&result->changes, i);

		if (range.space == change->space &&
		    range.start >= change->address &&
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
		.space = range.space,
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

/* What a difference is of. */
enum change_kind {
	CHANGE_RACED, /* of the raced bytes */
	CHANGE_BEYOND,
	CHANGE_FUTEX, /* no state of the program */
	CHANGE_LOCAL, /* nobody knows whether it matters */
};

static enum change_kind changes_kind(const struct instance *instance,
				     const struct replay_outcome *outcome,
				     struct range range)
{
	if (range_overlap(range, range_raced(instance)))
		return CHANGE_RACED;
	if (changes_are_of_futex(instance, range))
		return CHANGE_FUTEX;
	return changes_are_local(instance, outcome, range) ? CHANGE_LOCAL
							   : CHANGE_BEYOND;
}

static bool changes_add(struct instance *instance,
			const struct replay_outcome *outcome,
			struct range range)
{
	struct range raced = range_raced(instance);
	enum change_kind kind = changes_kind(instance, outcome, range);

	if (kind == CHANGE_FUTEX || kind == CHANGE_LOCAL)
		return true;
	if (range.space != raced.space || range.start < raced.start ||
	    range.end > raced.end)
		instance->ret->beyond = true;
	range = range_widen(instance, range);
	if (changes_have(instance->ret, range))
		return true;
	/* the raced bytes have room always */
	if (instance->ret->changes.count >= REPLAY_CHANGES_MAX &&
	    kind != CHANGE_RACED)
		return true;
	return changes_insert(instance, range);
}

/* Within the raced bytes, or not; and none is longer than can be told. */
static uint64_t changes_cut(const struct instance *instance, int space,
			    uint64_t start, uint64_t end)
{
	struct range raced = range_raced(instance);

	if (end > start + REPLAY_CHANGE_BYTES)
		end = start + REPLAY_CHANGE_BYTES;
	if (space != raced.space)
		return end;
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
			next = changes_cut(instance, liveout->space, at, end);
			if (!changes_add(instance, outcome,
					 (struct range){ at, next,
							 liveout->space }))
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
					 instance->processor, change->space,
					 change->address, change->values[j],
					 change->size))
				change->schedules |= UINT32_C(1) << j;
		}
	}
}

/* How much two schedules are like each other; the graver, the later. */
enum likeness {
	LIKE,
	LIKE_BUT_LOCALS, /* as far as is known */
	UNLIKE_RACED, /* in the raced bytes, and in nothing else */
	UNLIKE_REGISTERS,
	UNLIKE_MEMORY,
};

/* Two schedules that are compared, and what differs. */
struct likeness_pair {
	const struct replay_outcome *one, *other;
	struct vec differing; /* struct liveout */
	bool registers;
	enum likeness likeness;
};

static enum likeness likeness_of(enum change_kind kind)
{
	switch (kind) {
	case CHANGE_RACED:
		return UNLIKE_RACED;
	case CHANGE_BEYOND:
		return UNLIKE_MEMORY;
	case CHANGE_LOCAL:
		return LIKE_BUT_LOCALS;
	case CHANGE_FUTEX:
	default:
		return LIKE;
	}
}

static enum likeness likeness_graver(enum likeness a, enum likeness b)
{
	return a > b ? a : b;
}

static enum likeness pair_memory(const struct instance *instance,
				 const struct likeness_pair *pair)
{
	enum likeness likeness = LIKE;

	for (size_t i = 0; i < pair->differing.count; i++) {
		const struct liveout *liveout = vec_at(&pair->differing, i);
		uint64_t end = liveout->address + liveout->size, next;

		for (uint64_t at = liveout->address; at < end; at = next) {
			enum change_kind kind;

			next = changes_cut(instance, liveout->space, at, end);
			kind = changes_kind(instance, pair->one,
					    (struct range){ at, next,
							    liveout->space });
			likeness = likeness_graver(likeness, likeness_of(kind));
		}
	}
	return likeness;
}

static struct error *pair_compare(struct instance *instance, int one, int other,
				  struct likeness_pair *pair)
{
	bool before = instance->locals;
	struct error *err;

	pair->one = &instance->outcomes[one];
	pair->other = &instance->outcomes[other];
	vec_clear(&pair->differing);
	err = liveout_compare(instance->processor, pair->one, pair->other,
			      &pair->differing);
	if (err)
		return err;
	instance->locals = false;
	pair->registers = registers_differ(instance, pair->one, pair->other);
	pair->likeness = pair_memory(instance, pair);
	if (pair->registers)
		pair->likeness =
			likeness_graver(pair->likeness, UNLIKE_REGISTERS);
	else if (instance->locals)
		pair->likeness =
			likeness_graver(pair->likeness, LIKE_BUT_LOCALS);
	instance->locals = before;
	return NULL;
}

/* What differs between the two counts. */
static struct error *pair_count(struct instance *instance,
				const struct likeness_pair *pair)
{
	if (pair->likeness == LIKE)
		return NULL;
	if (pair->likeness == LIKE_BUT_LOCALS) {
		instance->locals = true;
		return NULL;
	}
	if (pair->registers)
		instance->ret->registers = instance->ret->beyond = true;
	return changes_add_all(instance, pair->one, &pair->differing)
		       ? NULL
		       : error_nomem;
}

/*
 * The schedule in which the regions do not overlap that this one is most like, in
 * *pair.
 */
static struct error *changes_nearest(struct instance *instance, int schedule,
				     uint32_t serial,
				     struct likeness_pair *pair)
{
	enum likeness best = UNLIKE_MEMORY;
	int nearest = -1;
	struct error *err = NULL;

	for (int i = 0; i < REPLAY_SCHEDULES && !err; i++) {
		if (!(serial >> i & 1))
			continue;
		err = pair_compare(instance, i, schedule, pair);
		if (nearest < 0 || pair->likeness < best) {
			best = pair->likeness;
			nearest = i;
		}
	}
	return err ? err : pair_compare(instance, nearest, schedule, pair);
}

/* What the overlap of the regions adds to what one of them whole leads to. */
static struct error *changes_explain(struct instance *instance, int schedule,
				     uint32_t serial,
				     struct likeness_pair *pair)
{
	struct replay_result *ret = instance->ret;
	struct error *err = changes_nearest(instance, schedule, serial, pair);

	if (err)
		return err;
	if (serial & REPLAY_SERIAL && pair->likeness >= UNLIKE_RACED) {
		ret->overlaps |= UINT32_C(1) << schedule;
		ret->overlap_memory |= pair->likeness == UNLIKE_MEMORY;
		ret->overlap_registers |= pair->registers;
	}
	return pair_count(instance, pair);
}

/* Has a schedule left other raced bytes than there were? */
static bool changes_move(const struct instance *instance, uint32_t schedules)
{
	const struct replay_question *question = instance->question;
	const struct processor *processor = instance->processor;

	for (uint32_t i = 0; i < question->size; i++) {
		uint64_t address = question->address + i;
		uint8_t before, after;

		if (!pagecache_read(processor_pages(processor, 0), address,
				    &before, 1))
			continue;
		for (int j = 0; j < REPLAY_SCHEDULES; j++) {
			if (schedules >> j & 1 &&
			    outcome_read(&instance->outcomes[j], processor, 0,
					 address, &after, 1) &&
			    after != before)
				return true;
		}
	}
	return false;
}

/*
 * A thread that waits has begun before the other, and ends behind it. That is no
 * order of the two, unless it comes to the same as one.
 */
static struct error *changes_wait(struct instance *instance, uint32_t schedules,
				  struct likeness_pair *pair)
{
	const struct replay_outcome *outcomes = instance->outcomes;
	struct error *err = NULL;
	bool same = false;

	if (!(schedules & REPLAY_SERIAL) ||
	    !(outcomes[REPLAY_AB_WHOLE].waited ||
	      outcomes[REPLAY_BA_WHOLE].waited))
		return NULL;
	if ((schedules & REPLAY_SERIAL) == REPLAY_SERIAL) {
		err = pair_compare(instance, REPLAY_AB_WHOLE, REPLAY_BA_WHOLE,
				   pair);
		same = !err && pair->likeness < UNLIKE_RACED;
	}
	instance->ret->waited |= !same;
	return err;
}

struct error *instance_compare(struct instance *instance, uint32_t schedules)
{
	uint32_t serial = schedules & REPLAY_SERIAL;
	struct likeness_pair pair = { .differing = VEC_INIT(struct liveout) };
	struct error *err = NULL;

	/* those with nothing to be like are compared with the first of them */
	if (!serial)
		serial = schedules & -schedules;
	if ((schedules & REPLAY_ACCESSES) == REPLAY_ACCESSES) {
		err = pair_compare(instance, REPLAY_AB, REPLAY_BA, &pair);
		if (!err)
			err = pair_count(instance, &pair);
	}
	for (int i = 0; i < REPLAY_SCHEDULES && !err; i++) {
		if (schedules >> i & 1 && !((serial | REPLAY_SERIAL) >> i & 1))
			err = changes_explain(instance, i, serial, &pair);
	}
	if (!err)
		err = changes_wait(instance, schedules, &pair);
	changes_set_values(instance, schedules);
	if (changes_move(instance, schedules))
		instance->ret->still = false;
	vec_deinit(&pair.differing);
	return err;
}
