/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks by their words; see lockwords.h. The names are those of glibc's
 * bits/struct_mutex.h, bits/struct_rwlock.h, nptl/pthreadP.h and
 * linux/futex.h.
 */
#include "tracee/lockwords.h"

#include <linux/futex.h>
#include <string.h>

enum {
	/* of a mutex, __data.__kind */
	KIND_TYPE = 3, /* PTHREAD_MUTEX_KIND_MASK_NP */
	KIND_RECURSIVE = 1,
	KIND_ROBUST = 16,
	KIND_INHERIT = 32,
	KIND_PROTECT = 64,
	/* __pthread_mutex_lock_full() takes these, and counts them once */
	KIND_FULL = KIND_ROBUST | KIND_INHERIT | KIND_PROTECT,
	KIND_SHARED = 128,
	KIND_NO_ELISION = 512,
	KIND_ALL = KIND_TYPE | KIND_FULL | KIND_SHARED | KIND_NO_ELISION,
	/* __data.__lock with priority protection: the ceiling above it */
	CEILING_SHIFT = 19,
	/* of an rwlock, __readers: a writer has it (pthread_rwlock_common.c) */
	READERS_WRITER = 3, /* PTHREAD_RWLOCK_WRPHASE and _WRLOCKED */
	PREFERENCES = 3, /* kinds of rwlocks: __flags is below */
	USERS_MAX = 1 << 22, /* PID_MAX_LIMIT: no more threads than that */
};

/* struct __pthread_mutex_s */
struct mutex_words {
	uint32_t lock, count, owner, users, kind;
	int16_t spins, elision;
	uint64_t previous, next; /* of the robust ones that the thread has */
};

/* struct __pthread_rwlock_arch_t */
struct rwlock_words {
	uint32_t readers, writers, write_phase, writers_futex;
	uint32_t pad3, pad4, owner, shared;
	uint8_t elision, pad1[7];
	uint64_t pad2;
	uint32_t flags, end;
};

_Static_assert(sizeof(struct mutex_words) == LOCKWORDS_MUTEX_SIZE,
	       "as pthread_mutex_t");
_Static_assert(sizeof(struct rwlock_words) == LOCKWORDS_RWLOCK_SIZE,
	       "as pthread_rwlock_t");

/* Is the futex's word that of a lock that is taken? */
static bool mutex_is_locked(const struct mutex_words *mutex)
{
	uint32_t lock = mutex->lock;

	if (mutex->kind & (KIND_ROBUST | KIND_INHERIT))
		return (lock & FUTEX_TID_MASK) == mutex->owner;
	if (mutex->kind & KIND_PROTECT)
		lock &= (UINT32_C(1) << CEILING_SHIFT) - 1;
	/* 2: others wait for it */
	return lock == 1 || lock == 2;
}

/* How often its owner has it is counted for some kinds only. */
static bool mutex_count_is_sane(const struct mutex_words *mutex)
{
	if ((mutex->kind & KIND_TYPE) == KIND_RECURSIVE)
		return mutex->count >= 1;
	return mutex->count <= ((mutex->kind & KIND_FULL) ? 1 : 0);
}

bool lockwords_is_held_mutex(const uint8_t *bytes, pid_t own)
{
	struct mutex_words mutex;

	memcpy(&mutex, bytes, sizeof(mutex));
	return own > 0 && mutex.owner == (uint32_t)own &&
	       (mutex.kind & ~(uint32_t)KIND_ALL) == 0 && mutex.users >= 1 &&
	       mutex.users <= USERS_MAX && mutex_count_is_sane(&mutex) &&
	       mutex_is_locked(&mutex) &&
	       ((mutex.kind & KIND_ROBUST) ||
		(mutex.previous == 0 && mutex.next == 0));
}

bool lockwords_is_held_rwlock(const uint8_t *bytes, pid_t own)
{
	static const uint8_t zeros[sizeof(((struct rwlock_words *)0)->pad1)];
	struct rwlock_words rwlock;

	memcpy(&rwlock, bytes, sizeof(rwlock));
	return own > 0 && rwlock.owner == (uint32_t)own &&
	       (rwlock.readers & READERS_WRITER) == READERS_WRITER &&
	       rwlock.shared <= 1 && rwlock.flags < PREFERENCES &&
	       rwlock.pad3 == 0 && rwlock.pad4 == 0 && rwlock.pad2 == 0 &&
	       rwlock.elision == 0 &&
	       memcmp(rwlock.pad1, zeros, sizeof(zeros)) == 0;
}
