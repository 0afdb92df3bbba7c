/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of rules; see benign.h.
 */
#include "judge/benign.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "judge/replayed.h"
#include "judge/syncness.h"
#include "report/code-patterns.h"
#include "report/race.h"

/* The bytes of a value, as a number; of 8 at most. */
static uint64_t number_of(const uint8_t *bytes, uint32_t size)
{
	uint64_t number = 0;

	for (uint32_t i = 0; i < size && i < 8; i++)
		number |= (uint64_t)bytes[i] << (8 * i);
	return number;
}

struct history {
	uint64_t rises;
	/* in a pair, or since an earlier pair, or back to be seen again */
	uint64_t falls;
	uint64_t changed; /* bits that differed in any pair */
	uint64_t low, high;
};

static struct history history_of(const struct race *race)
{
	struct history history = { .low = UINT64_MAX };
	uint64_t last = 0;

	for (size_t i = 0; i < race->values.count; i++) {
		const struct race_values *values = vec_at(&race->values, i);
		uint64_t before = number_of(values->before, race->size);
		uint64_t after = number_of(values->after, race->size);

		history.changed |= before ^ after;
		if (after > before)
			history.rises++;
		if (after < before || (i > 0 && before < last) ||
		    (after > before && values->count > 1))
			history.falls++;
		last = after;
		if (before < history.low)
			history.low = before;
		if (after > history.high)
			history.high = after;
	}
	return history;
}

/* Adds to it, and does nothing else with it. */
static bool side_counts_up(const struct race_side *side)
{
	return side->pattern.change == PATTERN_ADD &&
	       side->pattern.delta >= 0 && side->pattern.used == 0 &&
	       !side->pattern.tests_zero && !side->pattern.compared;
}

/*
 * A load, an addition and a store, each an instruction. A thread that is held
 * between its load and its store, as a stall does, takes back what others added
 * meanwhile.
 */
static bool side_adds_in_parts(const struct race_side *side)
{
	return side->pattern.change == PATTERN_ADD &&
	       (side->access == ACCESS_READ || side->access == ACCESS_WRITE);
}

/*
 * Increments only, of which the sum is used for nothing: an update that is lost
 * makes a statistic a little wrong. Not when another race shows that something
 * is decided by the number: that may be a count of references, or of what is
 * done. Nor when the value was seen to fall, unless an update in parts explains
 * that; whether such a fall is met depends on how long the threads are held.
 * Nor when one side reads: what for, its function seldom tells.
 */
static bool is_statistics_counter(const struct race *race,
				  const struct vec *special,
				  struct strbuf *grounds)
{
	struct history history = history_of(race);
	bool in_parts = side_adds_in_parts(&race->sides[0]) ||
			side_adds_in_parts(&race->sides[1]);

	(void)special;
	if (race->size > 8 || !side_counts_up(&race->sides[0]) ||
	    !side_counts_up(&race->sides[1]) || race->decides ||
	    (history.falls > 0 && !in_parts))
		return false;
	strbuf_add(grounds, "it is only added to, and the sum is used for "
			    "nothing there; ");
	strbuf_add(grounds, in_parts ? "it is loaded and stored apart, so "
				       "that it falls when updates are lost"
				     : "it was never seen to fall");
	if (history.rises > 0 && history.falls == 0)
		strbuf_addf(grounds, " (%" PRIu64 " to %" PRIu64 ")",
			    history.low, history.high);
	return true;
}

/* A mask of the access's bits as one of the race's first eight bytes. */
static uint64_t mask_at_race(const struct race *race,
			     const struct race_side *side, uint64_t mask)
{
	int64_t bytes = (int64_t)(side->address - race->address);

	if (bytes <= -8 || bytes >= 8)
		return 0;
	return bytes >= 0 ? mask << (8 * bytes) : mask >> (-8 * bytes);
}

/*
 * The bits of the race's first eight bytes that a write may change: all of its
 * bytes, which may begin before those, if nothing says more.
 */
static uint64_t changed_bits(const struct race *race,
			     const struct race_side *write)
{
	uint64_t bits = 0;

	if (write->pattern.change == PATTERN_BITS)
		return mask_at_race(race, write, write->pattern.changed);
	for (unsigned int i = 0; i < 8; i++) {
		if (race->address + i - write->address < write->size)
			bits |= UINT64_C(0xff) << (8 * i);
	}
	return bits;
}

/*
 * A read of some bits and a write that changes others, by the instructions
 * around both: flags in one word, or a load wider than the field it is for.
 * Not two writes: each takes the other's back.
 */
static bool is_disjoint_bits(const struct race *race, const struct vec *special,
			     struct strbuf *grounds)
{
	const struct race_side *read = &race->sides[0];
	const struct race_side *write = &race->sides[1];
	uint64_t used, changed;

	(void)special;
	if (read->access != ACCESS_READ) {
		read = &race->sides[1];
		write = &race->sides[0];
	}
	if (read->access != ACCESS_READ || !(write->access & ACCESS_WRITE) ||
	    read->pattern.change != PATTERN_UNKNOWN ||
	    read->pattern.used == 0 || read->pattern.used == UINT64_MAX ||
	    write->size == 0 || read->address == 0 || write->address == 0 ||
	    race->size > 8)
		return false;
	used = mask_at_race(race, read, read->pattern.used);
	changed = changed_bits(race, write);
	if (changed == 0 || (used & changed) != 0 ||
	    (history_of(race).changed & used) != 0)
		return false;
	if (used == 0)
		strbuf_add(grounds, "the read makes no use of these bytes");
	else
		strbuf_addf(grounds,
			    "the read looks at the bits 0x%" PRIx64
			    " only, the write changes the bits 0x%" PRIx64
			    " only",
			    used, changed);
	return true;
}

/*
 * No sighting found another value than zero before the write. One that found
 * no change came after it.
 */
static bool was_zero(const struct race *race)
{
	bool zero = false;

	for (size_t i = 0; i < race->values.count; i++) {
		const struct race_values *values = vec_at(&race->values, i);

		if (number_of(values->before, race->size) == 0)
			zero = true;
		else if (memcmp(values->before, values->after, race->size) != 0)
			return false;
	}
	return zero;
}

/*
 * A value that is tested without a lock and, where that says "not yet", read
 * again under the lock that it is written under: a reader that comes too soon
 * takes the longer way. It is written last, once, and from zero: who finds
 * something else there finds what was made before. Or nothing is done but
 * under the lock, and the test only saves taking it: then any value will do. A
 * reader may lack the fence that other processors need and compilers may
 * reorder.
 */
static bool is_double_checked(const struct race *race,
			      const struct vec *special, struct strbuf *grounds)
{
	const struct race_side *read = &race->sides[0];

	(void)special;
	if (read->access != ACCESS_READ)
		read = &race->sides[1];
	if (!race_is_double_checked(race) || !read->pattern.compared ||
	    race->size != read->size || race->size > 8 ||
	    read->address % read->size != 0)
		return false;
	if (read->pattern.double_check == PATTERN_REREAD_ONLY &&
	    !read->pattern.dereferenced) {
		strbuf_addf(grounds,
			    "it is read again under the lock at 0x%" PRIx64
			    ", which the write is made under, and without the "
			    "lock nothing is done",
			    read->pattern.lock);
		return true;
	}
	if (!was_zero(race))
		return false;
	strbuf_addf(grounds,
		    "it is read again under the lock at 0x%" PRIx64
		    ", which the write is made under as the last thing, and "
		    "it was always zero before",
		    read->pattern.lock);
	return true;
}

/*
 * Variables that are known to be raced on by intent, such as a clock that one
 * thread keeps for all. Each was reported by racewatch, and its uses read in
 * the source of its program; racewatch-run(1) lists them.
 */
static const char *const special_variables[] = {
	"current_time", /* memcached: the clock, set once a second */
	NULL,
};

/* Who names it so; NULL: nobody does. */
static const char *special_by(const struct race *race,
			      const struct vec *special)
{
	const char *name = race->variable.name;
	const char *whose = NULL;

	if (!name)
		return NULL;
	for (size_t i = 0; special_variables[i]; i++) {
		if (strcmp(special_variables[i], name) == 0)
			whose = "racewatch's table";
	}
	for (size_t i = 0; special && !whose && i < special->count; i++) {
		if (fnmatch(*(const char *const *)vec_at(special, i), name,
			    0) == 0)
			whose = "--special-variable";
	}
	return whose;
}

bool benign_is_named(const struct race *race, const struct vec *special)
{
	return special_by(race, special);
}

static bool is_special_variable(const struct race *race,
				const struct vec *special,
				struct strbuf *grounds)
{
	const char *whose = special_by(race, special);

	if (!whose)
		return false;
	strbuf_addf(grounds, "%s names the variable %s", whose,
		    race->variable.name);
	return true;
}

/* It has all of its bytes at once. */
static bool is_whole(const struct race *race, const struct race_side *side)
{
	return side->address == race->address && side->size == race->size &&
	       side->size <= 8 && side->address % side->size == 0;
}

/*
 * A flag or a number that one side writes at once and the other reads at once,
 * and that is declared volatile: somebody thought of another thread. Not where
 * the read is part of an update, nor where what is read is followed or taken
 * for an index: volatile orders no other accesses.
 */
static bool is_volatile_flag(const struct race *race, const struct vec *special,
			     struct strbuf *grounds)
{
	const struct race_side *read = &race->sides[0];
	const struct race_side *write = &race->sides[1];

	(void)special;
	if (read->access != ACCESS_READ) {
		read = &race->sides[1];
		write = &race->sides[0];
	}
	if (!syncness_is_volatile(race) || race->joined || race->size == 0 ||
	    read->access != ACCESS_READ || !(write->access & ACCESS_WRITE) ||
	    !is_whole(race, read) || !is_whole(race, write) ||
	    read->pattern.change != PATTERN_UNKNOWN ||
	    read->pattern.dereferenced || read->pattern.retested)
		return false;
	strbuf_add(grounds, "the variable is volatile, and is read and written "
			    "at once; that makes no update atomic and orders "
			    "no other accesses");
	return true;
}

/*
 * A pointer to a function that is chosen at the first call. A thread that reads
 * it calls the function that chooses or the one that is chosen.
 */
static bool is_dispatch(const struct race *race, const struct vec *special,
			struct strbuf *grounds)
{
	(void)special;
	if (!race->sides[0].pattern.dispatch ||
	    !race->sides[1].pattern.dispatch)
		return false;
	strbuf_add(grounds, "the pointer is only called, and is written by the "
			    "function that it points to at first, which "
			    "chooses another one");
	return true;
}

/*
 * A plain load or store in a function that also changes the place by a locked
 * instruction: somebody thought of other threads. Such an access may be one of a
 * lock's, but not where plain.h says so. Not what is made of the old value, nor a
 * store over what others add to.
 */
static bool is_locked_beside(const struct race *race, const struct vec *special,
			     struct strbuf *grounds)
{
	bool found = false;

	(void)special;
	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &race->sides[i];
		const struct code_pattern *pattern = &side->pattern;

		if (side->sync || side->role == RACE_UNKNOWN)
			continue;
		if (!pattern->locked_beside ||
		    (pattern->change != PATTERN_UNKNOWN &&
		     pattern->change != PATTERN_CONSTANT) ||
		    ((side->access & ACCESS_WRITE) && pattern->locked_adds))
			return false;
		found = true;
	}
	if (found)
		strbuf_add(grounds,
			   "its function also changes it by a locked "
			   "instruction, or waits on it by futex(2), but this "
			   "access is plain");
	return found;
}

const struct benign_rule benign_rules[] = {
	{ RACE_REPLAY_SAME_NAME, replayed_same },
	{ RACE_REPLAY_EITHER_NAME, replayed_either },
	{ "statistics-counter", is_statistics_counter },
	{ "disjoint-bits", is_disjoint_bits },
	{ "double-checked", is_double_checked },
	{ "special-variable", is_special_variable },
	{ "volatile", is_volatile_flag },
	{ "dispatch", is_dispatch },
	{ "locked-beside", is_locked_beside },
	{ NULL, NULL },
};

const struct benign_rule *benign_find(const struct race *race,
				      const struct vec *special,
				      struct strbuf *grounds)
{
	for (const struct benign_rule *rule = benign_rules; rule->name;
	     rule++) {
		if (rule->fits(race, special, grounds))
			return rule;
	}
	return NULL;
}
