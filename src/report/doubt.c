/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races whose accesses may be atomic operations; see doubt.h.
 */
#include "report/doubt.h"

#include <string.h>

#include "report/race.h"

/* A vector register: "%xmm0", "%ymm15", "%zmm31", "%mm0". */
static bool names_vector(const char *insn)
{
	return strstr(insn, "mm");
}

/* Not a string, a big-endian, a conditional or a non-temporal move. */
static bool is_plain_move(const char *insn)
{
	static const char *const others[] = { "movbe", "movnt", "movdir" };

	if (strncmp(insn, "mov", 3) != 0 || names_vector(insn) ||
	    strstr(insn, "), %es:("))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strncmp(insn, others[i], strlen(others[i])) == 0)
			return false;
	}
	return true;
}

/*
 * "addq" is of "add": with the letter of the size, or none where a register
 * tells it.
 */
static bool is_of(const char *insn, const char *const *mnemonics)
{
	size_t length = strcspn(insn, " ");

	for (size_t i = 0; mnemonics[i]; i++) {
		size_t own = strlen(mnemonics[i]);

		if (strncmp(insn, mnemonics[i], own) == 0 &&
		    (length == own ||
		     (length == own + 1 && strchr("bwlq", insn[own]))))
			return true;
	}
	return false;
}

/*
 * What compilers make of atomic loads and stores that are not sequentially
 * consistent. Current versions of clang compare memory with an atomic load.
 * clang 14 makes one instruction of a load, an operation and a store of the
 * same atomic variable, without a lock: "addq $1, counter". gcc makes moves.
 */
static bool is_atomic_form(const struct race_side *side)
{
	static const char *const compares[] = { "cmp", "test", NULL };
	static const char *const updates[] = { "add", "sub", "and", "or",
					       "xor", "inc", "dec", "neg",
					       "not", NULL };

	switch (side->access) {
	case ACCESS_READ:
		return is_plain_move(side->insn) || is_of(side->insn, compares);
	case ACCESS_WRITE:
		return is_plain_move(side->insn);
	case ACCESS_RMW:
		return is_of(side->insn, updates);
	default:
		return false;
	}
}

static bool is_word(const struct race_side *side)
{
	return side->size > 0 && side->size <= 8 &&
	       (side->size & (side->size - 1)) == 0 && side->address != 0 &&
	       side->address % side->size == 0;
}

/* The text of the line is in the record: only a macro may be missing. */
static bool side_shows_source(const struct race_side *side)
{
	const struct race_frame *top =
		side->frames.count ? vec_at(&side->frames, 0) : NULL;

	return side->missing != RACE_MISSES_MACRO && top && top->source;
}

static bool side_may_be_atomic(const struct race_side *side)
{
	return side->missing != RACE_MISSES_NOTHING && !side->atomic &&
	       !side->syscall && side->insn && is_atomic_form(side) &&
	       is_word(side) && !side_shows_source(side);
}

/* Something is said of it already, by the type of the variable or the code. */
static bool side_synchronizes(const struct race_side *side)
{
	return side->atomic || side->sync;
}

static bool same_bytes(const struct race_side *a, const struct race_side *b)
{
	return a->address == b->address && a->size == b->size;
}

/* Several members, or elements, at once: no operation has two operands. */
static bool spans_variables(const struct race *race)
{
	const char *name = race->variable.name;

	return name && (strchr(name, '{') || strstr(name, ".."));
}

/* It writes what it makes of the old value, not by a locked instruction. */
static bool updates_plainly(const struct race_side *side)
{
	return !side->atomic && (side->access == ACCESS_RMW ||
				 (side->pattern.change != PATTERN_UNKNOWN &&
				  side->pattern.change != PATTERN_CONSTANT));
}

enum race_missing race_doubt(const struct race *race)
{
	enum race_missing missing = RACE_MISSES_NOTHING;
	int doubtful = 0;

	if (race->verdict == VERDICT_SYNC || spans_variables(race) ||
	    (updates_plainly(&race->sides[0]) &&
	     updates_plainly(&race->sides[1])))
		return RACE_MISSES_NOTHING;
	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &race->sides[i];

		if (side->role == RACE_UNKNOWN || side_synchronizes(side))
			continue;
		if (!side_may_be_atomic(side))
			return RACE_MISSES_NOTHING;
		doubtful++;
		if (side->missing > missing)
			missing = (enum race_missing)side->missing;
	}
	if (doubtful == 2 && !same_bytes(&race->sides[0], &race->sides[1]))
		return RACE_MISSES_NOTHING;
	return missing;
}

const char *race_doubt_text(const struct race *race)
{
	switch (race_doubt(race)) {
	case RACE_MISSES_MACRO:
		return "behind a macro: may be an atomic";
	case RACE_MISSES_SOURCE:
		return "no source: may be an atomic";
	case RACE_MISSES_DEBUG:
		return "no debug information: may be an atomic";
	case RACE_MISSES_NOTHING:
		break;
	}
	return NULL;
}

void race_join_doubts(struct race *race, const struct race *other)
{
	if (race_doubt(race) && race_doubt(other))
		return;
	for (int i = 0; i < 2; i++)
		race->sides[i].missing = RACE_MISSES_NOTHING;
}
