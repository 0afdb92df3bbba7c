/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words for held locks; see phrase-locks.h.
 */
#include "report/phrase-locks.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/phrase.h"
#include "report/race.h"

static void add_lock(struct strbuf *line, const struct recorded_lock *lock)
{
	if (lock->name) {
		utf8_add_visible(line, lock->name);
		strbuf_add(line, " (");
	}
	strbuf_addf(line, "%s at 0x%" PRIx64,
		    recorded_lock_kind_name(lock->kind), lock->address);
	if (lock->kind == RECORDED_RWLOCK)
		strbuf_add(line,
			   lock->shared ? ", for reading" : ", for writing");
	if (lock->name)
		strbuf_add(line, ")");
}

bool phrase_add_holds(struct strbuf *line, const struct race_side *side)
{
	if (!side->locks_known)
		return false;
	strbuf_add(line, "holds ");
	for (size_t i = 0; i < side->locks.count; i++) {
		strbuf_add(line, i ? ", " : "");
		add_lock(line, vec_at(&side->locks, i));
	}
	if (side->locks.count == 0)
		strbuf_add(line, "no lock found");
	return true;
}

/* Its name, or else where it is. */
static void add_short(struct strbuf *line, const struct recorded_lock *lock)
{
	if (lock->name)
		utf8_add_visible(line, lock->name);
	else
		add_lock(line, lock);
}

static void add_side(struct strbuf *line, const struct race_side *side)
{
	phrase_add_thread(line, side->tid, side->thread);
	strbuf_add(line, " holds ");
	for (size_t i = 0; i < side->locks.count; i++) {
		strbuf_add(line, i ? ", " : "");
		add_short(line, vec_at(&side->locks, i));
	}
}

/* The first lock that both hold; NULL: none. */
static const struct recorded_lock *common(const struct race_side sides[2])
{
	for (size_t i = 0; i < sides[0].locks.count; i++) {
		const struct recorded_lock *lock = vec_at(&sides[0].locks, i);

		for (size_t j = 0; j < sides[1].locks.count; j++) {
			const struct recorded_lock *other =
				vec_at(&sides[1].locks, j);

			if (lock->address == other->address &&
			    sides[0].pid == sides[1].pid)
				return lock;
		}
	}
	return NULL;
}

bool phrase_add_lock_pair(struct strbuf *line, const struct race *race)
{
	const struct race_side *sides = race->sides;
	size_t counts[] = { sides[0].locks.count, sides[1].locks.count };
	const struct recorded_lock *both = common(sides);
	int holder = counts[0] ? 0 : 1;

	if (!sides[0].locks_known || !sides[1].locks_known ||
	    counts[0] + counts[1] == 0)
		return false;
	if (both) {
		strbuf_add(line, "both hold ");
		add_short(line, both);
		return true;
	}
	add_side(line, &sides[holder]);
	strbuf_add(line, counts[holder] == 1 ? ", " : "; ");
	if (counts[0] && counts[1]) {
		add_side(line, &sides[1]);
		strbuf_add(line, "; no common lock was found");
		return true;
	}
	phrase_add_thread(line, sides[1 - holder].tid,
			  sides[1 - holder].thread);
	strbuf_add(line, counts[holder] == 1 ? " does not" : " none of them");
	return true;
}
