/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races by their sides; see sides.h.
 */
#include "judge/sides.h"

#include "base/error.h"
#include "base/hash.h"
#include "report/race.h"
#include "report/related.h"

/* What is compared of a side. */
struct sides_entry {
	struct race_side_key key;
	uint64_t symbol; /* digest of the variable's; 0: it has none */
	bool named; /* side_is_named() */
	bool sync; /* of synchronization */
	bool alone; /* the other side was not seen */
	uint64_t taken; /* digest of the race that it stands for; 0: none yet */
	/* index plus one of another entry of the same key; 0: none */
	size_t same_names, same_code;
};

void sides_init(struct sides *sides)
{
	*sides = (struct sides){ .entries = VEC_INIT(struct sides_entry) };
}

void sides_deinit(struct sides *sides)
{
	vec_deinit(&sides->entries);
	map_deinit(&sides->by_names);
	map_deinit(&sides->by_code);
}

bool side_is_named(const struct race_side *side)
{
	const struct race_frame *frame;

	if (side->syscall || side->role == RACE_UNKNOWN)
		return true;
	if (side->frames.count == 0)
		return false;
	frame = vec_at(&side->frames, 0);
	return frame->function;
}

const char *race_symbol(const struct race *race)
{
	return race->variable.symbol ? race->variable.symbol
				     : race->variable.name;
}

/* False for a side of which nothing is told. */
static bool describe(const struct race *race, int i, struct sides_entry *ret)
{
	const struct race_side *side = &race->sides[i];
	const char *symbol = race_symbol(race);

	if (side->role == RACE_UNKNOWN ||
	    (side->frames.count == 0 && !side->syscall))
		return false;
	*ret = (struct sides_entry){
		.symbol = symbol ? hash_text(symbol) : 0,
		.named = side_is_named(side),
		.sync = race->verdict == VERDICT_SYNC,
		.alone = race_is_one_sided(race),
	};
	race_side_key(race, i, &ret->key);
	return true;
}

static size_t entry_before(const struct map *map, uint64_t key)
{
	const uint64_t *index = map_get(map, key);

	return index ? (size_t)*index + 1 : 0;
}

static struct error *add(struct sides *sides, struct sides_entry *entry)
{
	size_t index = sides->entries.count;

	entry->same_names = entry_before(&sides->by_names, entry->key.names);
	entry->same_code = entry_before(&sides->by_code, entry->key.code);
	if (!vec_push(&sides->entries, entry) ||
	    !map_set(&sides->by_names, entry->key.names, index) ||
	    !map_set(&sides->by_code, entry->key.code, index))
		return error_nomem;
	return NULL;
}

struct error *sides_add(struct sides *sides, const struct race *race)
{
	struct error *err = NULL;

	for (int i = 0; !err && i < 2; i++) {
		struct sides_entry entry;

		if (describe(race, i, &entry))
			err = add(sides, &entry);
	}
	return err;
}

/* The code is the same: do names tell the two apart? */
static bool names_allow(const struct sides_entry *a,
			const struct sides_entry *b)
{
	if (a->symbol && b->symbol)
		return a->symbol == b->symbol;
	return !a->named || !b->named;
}

static bool may_be(const struct sides_entry *entry,
		   const struct sides_entry *side, bool alone, uint64_t taker)
{
	return entry->alone == alone && entry->sync == side->sync &&
	       (!alone || entry->taken == 0 || entry->taken == taker);
}

/* An entry of that side; alone: that nobody but the taker has taken. */
static struct sides_entry *find(struct sides *sides,
				const struct sides_entry *side, bool alone,
				uint64_t taker)
{
	struct sides_entry *entry;

	for (size_t i = entry_before(&sides->by_names, side->key.names); i > 0;
	     i = entry->same_names) {
		entry = vec_at(&sides->entries, i - 1);
		if (may_be(entry, side, alone, taker))
			return entry;
	}
	for (size_t i = entry_before(&sides->by_code, side->key.code); i > 0;
	     i = entry->same_code) {
		entry = vec_at(&sides->entries, i - 1);
		if (may_be(entry, side, alone, taker) &&
		    names_allow(entry, side))
			return entry;
	}
	return NULL;
}

/* A record with one side that stands for the race that has this side. */
static bool take(struct sides *sides, const struct sides_entry *side,
		 const struct race *race)
{
	uint64_t taker = hash_text(race->fingerprint);
	struct sides_entry *entry;

	if (find(sides, side, false, taker))
		return false;
	entry = find(sides, side, true, taker);
	if (entry && !race->suppressed.rule)
		entry->taken = taker;
	return entry;
}

bool sides_know(struct sides *sides, const struct race *race)
{
	bool known = false;

	for (int i = 0; i < 2; i++) {
		struct sides_entry side;

		if (!describe(race, i, &side))
			continue;
		if (side.alone)
			known = find(sides, &side, false, 0) || known;
		else
			known = take(sides, &side, race) || known;
	}
	return known;
}
