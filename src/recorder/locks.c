/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets are interned, so that equal ones have one number. A recursive lock that
 * is taken twice is in the set until its first release: locks rank, and never
 * prune, so that is no error.
 */
#include "recorder/locks.h"

#include "recorder/os.h"

void locksets_init(struct locksets *locksets)
{
	records_init(&locksets->all, sizeof(struct lockset));
	table_init(&locksets->by_locks);
	locksets->last = (struct lockset_pair){ 0 };
}

void locksets_deinit(struct locksets *locksets)
{
	records_deinit(&locksets->all);
	table_deinit(&locksets->by_locks);
}

static uint32_t hash_of(const struct lockset *set)
{
	uint64_t hash = set->count;

	for (uint32_t i = 0; i < set->count; i++)
		hash = hash * 0x100000001b3u ^ set->locks[i].address ^
		       set->locks[i].shared;
	return table_hash(hash, 2);
}

static bool equals(const struct lockset *a, const struct lockset *b)
{
	return a->count == b->count &&
	       os_compare(a->locks, b->locks, a->count * sizeof(*a->locks)) ==
		       0;
}

static uint16_t intern(struct locksets *locksets, const struct lockset *set)
{
	uint32_t hash = hash_of(set), at = 0, id;

	if (set->count == 0)
		return 0;
	while ((id = table_next(&locksets->by_locks, hash, &at)) != 0) {
		if (equals(lockset_at(locksets, (uint16_t)id), set))
			return (uint16_t)id;
	}
	if (locksets->all.count == LOCKSETS_MAX)
		return LOCKSET_UNKNOWN;
	id = records_add(&locksets->all);
	os_copy(lockset_at(locksets, (uint16_t)id), set, sizeof(*set));
	lockset_at(locksets, (uint16_t)id)->written = false;
	table_add(&locksets->by_locks, hash, id);
	return (uint16_t)id;
}

/* A copy of the set; empty when it is not known. */
static struct lockset copy_of(const struct locksets *locksets, uint16_t id)
{
	if (id == 0 || id == LOCKSET_UNKNOWN)
		return (struct lockset){ 0 };
	return *lockset_at(locksets, id);
}

uint16_t locksets_add(struct locksets *locksets, uint16_t id,
		      const struct trace_lock *lock)
{
	struct lockset set = copy_of(locksets, id);
	uint32_t i = set.count;

	if (set.count == LOCKS_HELD_MAX)
		return id;
	while (i > 0 && set.locks[i - 1].address >= lock->address)
		i--;
	if (i < set.count && set.locks[i].address == lock->address)
		return id;
	for (uint32_t j = set.count; j > i; j--)
		set.locks[j] = set.locks[j - 1];
	set.locks[i] = *lock;
	set.count++;
	return intern(locksets, &set);
}

uint16_t locksets_remove(struct locksets *locksets, uint16_t id,
			 uint64_t address)
{
	struct lockset set = copy_of(locksets, id);
	uint32_t n = 0;

	for (uint32_t i = 0; i < set.count; i++) {
		if (set.locks[i].address != address)
			set.locks[n++] = set.locks[i];
	}
	if (n == set.count)
		return id == LOCKSET_UNKNOWN ? 0 : id;
	set.count = n;
	return intern(locksets, &set);
}

uint16_t locksets_common(struct locksets *locksets, uint16_t a, uint16_t b)
{
	struct lockset first, second, common = { 0 };
	uint32_t i = 0, j = 0;

	if (a == b || a == 0 || b == LOCKSET_UNKNOWN)
		return a;
	if (b == 0 || a == LOCKSET_UNKNOWN)
		return b;
	if (locksets->last.a == a && locksets->last.b == b)
		return locksets->last.common;
	first = copy_of(locksets, a);
	second = copy_of(locksets, b);
	while (i < first.count && j < second.count) {
		if (first.locks[i].address == second.locks[j].address) {
			common.locks[common.count++] = first.locks[i];
			i++;
			j++;
		} else if (first.locks[i].address < second.locks[j].address) {
			i++;
		} else {
			j++;
		}
	}
	locksets->last =
		(struct lockset_pair){ a, b, intern(locksets, &common) };
	return locksets->last.common;
}
