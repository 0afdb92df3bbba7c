/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that a recorder watches: their entries and returns say what they
 * did. Known by name, in any module, so that allocators and C libraries need
 * not be told apart.
 */
#ifndef RECORDER_NAMES_H
#define RECORDER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum watched {
	WATCH_NONE = 0,
	/* memory; the number says which argument is the size */
	WATCH_ALLOCATE, /* void *f(size) */
	WATCH_ALLOCATE_SECOND, /* void *f(_, size) */
	WATCH_CALLOC, /* void *f(n, size) */
	WATCH_REALLOC, /* void *f(old, size) */
	WATCH_MEMALIGN, /* int f(void **, _, size) */
	WATCH_FREE, /* void f(block, ...) */
	/* threads: int f(pthread_t, ...) */
	WATCH_JOIN,
	/* locks: int f(lock, ...), 0 for success */
	WATCH_LOCK,
	WATCH_UNLOCK,
	WATCH_READ_LOCK,
	WATCH_WRITE_LOCK,
	WATCH_RWLOCK_UNLOCK,
	WATCH_SPIN_LOCK,
	WATCH_SPIN_UNLOCK,
	/* OpenMP's: void f(lock); int f(lock), not 0 for success */
	WATCH_OMP_LOCK,
	WATCH_OMP_TEST,
	/* the same as LLVM has them: f(_, _, lock) */
	WATCH_KMP_LOCK,
	WATCH_KMP_TEST,
	WATCH_KMP_UNLOCK,
	/* of one lock, which is its library's: void f(void) */
	WATCH_CRITICAL,
	WATCH_CRITICAL_END,
	WATCH_WAIT, /* int f(condition, mutex, ...) */
	WATCH_SIGNAL,
	WATCH_BARRIER,
	WATCH_SEMAPHORE_WAIT,
	WATCH_SEMAPHORE_POST,
	/* a mem*, str* or wcs* function: accesses on behalf of its caller */
	WATCH_STRING,
};

/* The kind of the function of that name. */
enum watched names_find(const char *name, size_t length);

/* Whether text is as the pattern says: *, ? and [a-z] as in glob(7). */
bool names_match(const char *pattern, const char *text);

#endif
