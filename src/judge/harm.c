/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of signs; see harm.h.
 */
#include "judge/harm.h"

#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "judge/replayed.h"
#include "report/race.h"

static bool side_updates(const struct race_side *side)
{
	return side->pattern.change == PATTERN_ADD ||
	       side->pattern.change == PATTERN_DERIVED;
}

static bool side_counts_down(const struct race_side *side)
{
	return side->pattern.change == PATTERN_ADD && side->pattern.delta < 0 &&
	       side->pattern.tests_zero;
}

/*
 * Somebody counts down and acts when it reaches zero, and the other side
 * changes the count too, neither by a locked instruction: the action is taken
 * twice, too soon, or never.
 */
static bool is_reference_count(const struct race *race, struct strbuf *grounds)
{
	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &race->sides[i];
		const struct race_side *other = &race->sides[1 - i];

		if (!side_counts_down(side) || side->atomic)
			continue;
		if (!side_updates(other) && other->access == ACCESS_READ)
			continue;
		strbuf_addf(grounds,
			    "one side takes %" PRId64
			    " off and tests for zero, the other changes it at "
			    "the same time, and neither is atomic",
			    -side->pattern.delta);
		return true;
	}
	return false;
}

static uint64_t pointer_of(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* In user space, not in the first pages. */
static bool looks_like_pointer(uint64_t value)
{
	return value >= 0x10000 && value < UINT64_C(1) << 47;
}

/*
 * A pointer that one side reads and follows was seen to become NULL meanwhile.
 */
static bool is_cleared_pointer(const struct race *race, struct strbuf *grounds)
{
	bool follows = (race->sides[0].pattern.dereferenced &&
			race->sides[0].access == ACCESS_READ) ||
		       (race->sides[1].pattern.dereferenced &&
			race->sides[1].access == ACCESS_READ);

	if (!follows || race->size != sizeof(uint64_t))
		return false;
	for (size_t i = 0; i < race->values.count; i++) {
		const struct race_values *values = vec_at(&race->values, i);

		if (!looks_like_pointer(pointer_of(values->before)) ||
		    pointer_of(values->after) != 0)
			continue;
		strbuf_addf(grounds,
			    "the pointer 0x%" PRIx64
			    " became NULL while the other side was about to "
			    "follow it",
			    pointer_of(values->before));
		return true;
	}
	return false;
}

static const struct race_side *reading_side(const struct race *race)
{
	for (int i = 0; i < 2; i++) {
		if (race->sides[i].access == ACCESS_READ)
			return &race->sides[i];
	}
	return NULL;
}

static const struct race_side *other_side(const struct race *race,
					  const struct race_side *side)
{
	return side == &race->sides[0] ? &race->sides[1] : &race->sides[0];
}

/* The first sighting in which the bytes changed. */
static const struct race_values *changed_values(const struct race *race)
{
	for (size_t i = 0; i < race->values.count; i++) {
		const struct race_values *values = vec_at(&race->values, i);

		if (memcmp(values->before, values->after,
			   sizeof(values->before)) != 0)
			return values;
	}
	return NULL;
}

/* Of the bits of `pair', those of memory that the write covers itself too. */
static uint8_t covered(const struct race_side *write,
		       const struct race_side *read)
{
	uint64_t start = write->address, end = write->address + write->size;
	uint8_t bits = 0;

	if (read->address - read->size >= start &&
	    read->address + read->size <= end)
		bits |= PATTERN_PAIR_BELOW;
	if (read->address >= start && read->address + 2 * read->size <= end)
		bits |= PATTERN_PAIR_ABOVE;
	return bits;
}

/*
 * One side compares two pointers that lie side by side, the begin and the end
 * of something; the other writes both. Who reads one before and one after has
 * the begin of one thing and the end of another.
 */
static bool is_begin_end(const struct race *race, struct strbuf *grounds)
{
	const struct race_side *read = reading_side(race), *write;
	const struct race_values *values = changed_values(race);
	uint8_t both;

	if (!read || !values || race->size != sizeof(uint64_t) ||
	    read->size != race->size || read->address != race->address)
		return false;
	write = other_side(race, read);
	if (write->access != ACCESS_WRITE)
		return false;
	both = covered(write, read);
	if (write->size == read->size && write->address == read->address)
		both |= write->pattern.pair;
	if ((read->pattern.pair & both) == 0 ||
	    !looks_like_pointer(pointer_of(values->before)) ||
	    !looks_like_pointer(pointer_of(values->after)))
		return false;
	strbuf_addf(grounds,
		    "one side compares two pointers side by side, the other "
		    "replaces both, and one was seen to change from 0x%" PRIx64
		    " to 0x%" PRIx64 " between",
		    pointer_of(values->before), pointer_of(values->after));
	return true;
}

enum { CACHE_LINE = 64 };

/* Did bytes change on both sides of the border of two cache lines? */
static bool changed_across(const struct race *race, uint64_t *ret_border)
{
	uint64_t border = (race->address / CACHE_LINE + 1) * CACHE_LINE;
	bool below = false, above = false;

	for (uint32_t i = 0; i < race->size && i < X86_ACCESS_MAX; i++) {
		if (race->changed[i] == 0)
			continue;
		below |= race->address + i < border;
		above |= race->address + i >= border;
	}
	*ret_border = border;
	return below && above;
}

/* It compares all of what it reads: 8 bytes at most. */
static bool uses_all(const struct race_side *read)
{
	uint64_t all = read->size >= 8 ? UINT64_MAX
				       : (UINT64_C(1) << 8 * read->size) - 1;

	return read->size <= 8 && read->pattern.compared &&
	       (read->pattern.used & all) == all;
}

/* Read at once, and written by two stores, of which this is one. */
static bool written_in_halves(const struct race_side *read,
			      const struct race_side *write)
{
	uint8_t wanted;

	if (write->access != ACCESS_WRITE || read->size != 2 * write->size ||
	    !uses_all(read))
		return false;
	if (write->address == read->address)
		wanted = PATTERN_PAIR_ABOVE;
	else if (write->address == read->address + write->size)
		wanted = PATTERN_PAIR_BELOW;
	else
		return false;
	return write->pattern.pair & wanted;
}

/*
 * Parts of two writes in one value. No processor promises that an access
 * across two cache lines is made at once (Intel SDM 9.1.1), and one that is
 * written by two instructions is not.
 */
static bool is_torn_value(const struct race *race, struct strbuf *grounds)
{
	const struct race_side *read = reading_side(race);
	uint64_t border;

	if (race->size > 1 && race->sides[0].address != 0 &&
	    race->sides[1].address != 0 && !race->sides[0].atomic &&
	    !race->sides[1].atomic && changed_across(race, &border)) {
		strbuf_addf(grounds,
			    "it crosses the cache lines at 0x%" PRIx64
			    ", so that it is not accessed at once, and was "
			    "seen to change on both sides",
			    border);
		return true;
	}
	if (!read || race->joined || !changed_values(race) ||
	    !written_in_halves(read, other_side(race, read)))
		return false;
	strbuf_addf(grounds,
		    "%" PRIu32 " bytes are read at once and compared, and "
		    "written by two stores, one of which was seen alone",
		    read->size);
	return true;
}

/*
 * A value that was tested is read again to be followed or to index, and was
 * seen to change when one of the reads was about to be made.
 */
static bool is_read_twice(const struct race *race, struct strbuf *grounds)
{
	const struct race_side *read = reading_side(race);
	const struct race_values *values = changed_values(race);

	/* they change while the read is held, not while the write is */
	if (!read || !(other_side(race, read)->access & ACCESS_WRITE) ||
	    !read->pattern.retested || !read->pattern.dereferenced || !values ||
	    race->size > 8)
		return false;
	strbuf_addf(grounds,
		    "it is tested and then read again to be used in an "
		    "address, and was seen to change from 0x%" PRIx64
		    " to 0x%" PRIx64 " before a read",
		    pointer_of(values->before), pointer_of(values->after));
	return true;
}

const struct harm_sign harm_signs[] = {
	{ "fault", replayed_fault },
	{ "state-change", replayed_overlap },
	{ "reference-count", is_reference_count },
	{ "cleared-pointer", is_cleared_pointer },
	{ "begin-end", is_begin_end },
	{ "torn-value", is_torn_value },
	{ "read-twice", is_read_twice },
	{ NULL, NULL },
};

const struct harm_sign *harm_find(const struct race *race, bool named,
				  struct strbuf *grounds)
{
	for (const struct harm_sign *sign = harm_signs; sign->name; sign++) {
		/* every change of it is fine, and so is what that changes */
		if (named && sign->fits == replayed_overlap)
			continue;
		if (sign->fits(race, grounds))
			return sign;
	}
	return NULL;
}
