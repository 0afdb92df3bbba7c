/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks that have the number of their owner in them, by the words of their
 * memory: pthread_mutex_t and pthread_rwlock_t of the GNU C library on x86-64,
 * and so what is made of them (mtx_t, std::mutex, std::shared_mutex). Each word
 * must be as it is while the lock is held. What is about to be taken or given
 * back may be missed. What is not held is not taken for held, unless the bytes are
 * a copy of a lock that was, or the lock was left by a thread that ended and whose
 * number this one has now.
 */
#ifndef TRACEE_LOCKWORDS_H
#define TRACEE_LOCKWORDS_H

#include <stdint.h>
#include <sys/types.h>

#include "wire/conflict.h"

enum {
	LOCKWORDS_MUTEX_SIZE = 40,
	LOCKWORDS_RWLOCK_SIZE = 56,
	LOCKWORDS_MUTEX_OWNER = 8, /* offset of the owner's word */
	LOCKWORDS_RWLOCK_OWNER = 24,
};

/*
 * Does the thread own such a lock? `own' is its number as gettid(2) has it there.
 * `bytes' are as many as the size says.
 */
bool lockwords_is_held_mutex(const uint8_t *bytes, pid_t own);
/* For writing: readers are counted, not named. */
bool lockwords_is_held_rwlock(const uint8_t *bytes, pid_t own);

#endif
