/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What put a side in order; see ordered.h.
 */
#include "hunt/ordered.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/same-text.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "report/recorded.h"
#include "report/target-record.h"
#include "x86/access.h"

static const struct recorded_access *
held_access(const struct recorded *recorded)
{
	for (size_t i = 0; i < recorded->accesses.count; i++) {
		const struct recorded_access *access =
			vec_at(&recorded->accesses, i);

		if (access->held)
			return access;
	}
	return NULL;
}

/* One lock, which both threads cannot have at a time. */
static bool excludes(const struct recorded_lock *a,
		     const struct recorded_lock *b)
{
	return a->address == b->address && a->kind == b->kind &&
	       !(a->shared && b->shared);
}

static const struct recorded_lock *common_lock(const struct recorded_access *a,
					       const struct recorded_access *b)
{
	for (size_t i = 0; i < a->locks.count; i++) {
		const struct recorded_lock *lock = vec_at(&a->locks, i);

		for (size_t j = 0; j < b->locks.count; j++) {
			if (excludes(lock, vec_at(&b->locks, j)))
				return lock;
		}
	}
	return NULL;
}

static char *lock_text(const struct recorded_lock *lock)
{
	struct strbuf text = { 0 };

	strbuf_addf(&text, "their common %s ",
		    recorded_lock_kind_name(lock->kind));
	if (lock->name)
		strbuf_addf(&text, "`%s`", lock->name);
	else
		strbuf_addf(&text, "at 0x%" PRIx64, lock->address);
	return strbuf_steal(&text);
}

char *ordered_by_lock(const struct hunt_side *side)
{
	const struct recorded *recorded = &side->recorded;
	const struct recorded_access *held = held_access(recorded);

	for (size_t i = 0; held && i < recorded->accesses.count; i++) {
		const struct recorded_access *other =
			vec_at(&recorded->accesses, i);
		const struct recorded_lock *lock;

		if (same_text(other->thread_path, held->thread_path) ||
		    !((other->access | held->access) & ACCESS_WRITE))
			continue;
		lock = common_lock(held, other);
		if (lock)
			return lock_text(lock);
	}
	return NULL;
}
