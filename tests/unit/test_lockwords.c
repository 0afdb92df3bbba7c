/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/tracee/lockwords.c: locks of this C library, as it leaves them, and bytes
 * that are none.
 */
#include "tracee/lockwords.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include <cmocka.h>

_Static_assert(sizeof(pthread_mutex_t) == LOCKWORDS_MUTEX_SIZE, "a mutex");
_Static_assert(sizeof(pthread_rwlock_t) == LOCKWORDS_RWLOCK_SIZE, "an rwlock");

static bool holds_mutex(const pthread_mutex_t *mutex, pid_t own)
{
	return lockwords_is_held_mutex((const uint8_t *)mutex, own);
}

static bool holds_rwlock(const pthread_rwlock_t *rwlock, pid_t own)
{
	return lockwords_is_held_rwlock((const uint8_t *)rwlock, own);
}

static void *not_its_own(void *arg)
{
	assert_false(holds_mutex(arg, gettid()));
	return NULL;
}

/* Held by this thread between lock and unlock, and by no other. */
static void check_mutex(pthread_mutex_t *mutex)
{
	pthread_t thread;

	assert_false(holds_mutex(mutex, gettid()));
	assert_int_equal(pthread_mutex_lock(mutex), 0);
	assert_true(holds_mutex(mutex, gettid()));
	assert_false(holds_mutex(mutex, gettid() + 1));
	assert_false(holds_mutex(mutex, 0));
	assert_int_equal(pthread_create(&thread, NULL, not_its_own, mutex), 0);
	pthread_join(thread, NULL);
	assert_true(holds_mutex(mutex, gettid()));
	assert_int_equal(pthread_mutex_unlock(mutex), 0);
	assert_false(holds_mutex(mutex, gettid()));
}

struct kind {
	int type, robust, protocol, shared;
};

static void check_kind(const struct kind *kind)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t mutex;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, kind->type);
	pthread_mutexattr_setrobust(&attr, kind->robust);
	pthread_mutexattr_setprotocol(&attr, kind->protocol);
	pthread_mutexattr_setpshared(&attr, kind->shared);
	assert_int_equal(pthread_mutex_init(&mutex, &attr), 0);
	check_mutex(&mutex);
	pthread_mutex_destroy(&mutex);
	pthread_mutexattr_destroy(&attr);
}

static void a_mutex_of_each_kind_is_held_while_it_is(void **state)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL,
				     PTHREAD_MUTEX_RECURSIVE,
				     PTHREAD_MUTEX_ERRORCHECK,
				     PTHREAD_MUTEX_ADAPTIVE_NP };

	(void)state;
	for (size_t i = 0; i < 4 * 8; i++) {
		const struct kind kind = {
			.type = types[i / 8],
			.robust = i & 1 ? PTHREAD_MUTEX_ROBUST
					: PTHREAD_MUTEX_STALLED,
			.protocol = i & 2 ? PTHREAD_PRIO_INHERIT
					  : PTHREAD_PRIO_NONE,
			.shared = i & 4 ? PTHREAD_PROCESS_SHARED
					: PTHREAD_PROCESS_PRIVATE,
		};

		check_kind(&kind);
	}
}

static void a_recursive_mutex_is_held_to_the_last_unlock(void **state)
{
	pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	(void)state;
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	assert_true(holds_mutex(&mutex, gettid()));
	pthread_mutex_unlock(&mutex);
	assert_false(holds_mutex(&mutex, gettid()));
}

static void a_mutex_of_c11_is_one(void **state)
{
	static const int types[] = { mtx_plain, mtx_timed, mtx_recursive,
				     mtx_timed | mtx_recursive };
	mtx_t mutex;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		mtx_init(&mutex, types[i]);
		assert_false(
			lockwords_is_held_mutex((uint8_t *)&mutex, gettid()));
		mtx_lock(&mutex);
		assert_true(
			lockwords_is_held_mutex((uint8_t *)&mutex, gettid()));
		mtx_unlock(&mutex);
		assert_false(
			lockwords_is_held_mutex((uint8_t *)&mutex, gettid()));
		mtx_destroy(&mutex);
	}
}

static void an_rwlock_is_held_by_its_writer(void **state)
{
	static const int kinds[] = {
		PTHREAD_RWLOCK_PREFER_READER_NP,
		PTHREAD_RWLOCK_PREFER_WRITER_NP,
		PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP
	};
	pthread_rwlockattr_t attr;
	pthread_rwlock_t rwlock;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		pthread_rwlockattr_init(&attr);
		pthread_rwlockattr_setkind_np(&attr, kinds[i]);
		pthread_rwlock_init(&rwlock, &attr);
		assert_false(holds_rwlock(&rwlock, gettid()));
		pthread_rwlock_wrlock(&rwlock);
		assert_true(holds_rwlock(&rwlock, gettid()));
		assert_false(holds_rwlock(&rwlock, gettid() + 1));
		pthread_rwlock_unlock(&rwlock);
		assert_false(holds_rwlock(&rwlock, gettid()));
		pthread_rwlock_rdlock(&rwlock);
		assert_false(holds_rwlock(&rwlock, gettid()));
		pthread_rwlock_unlock(&rwlock);
		pthread_rwlock_destroy(&rwlock);
	}
}

/* A word that a held lock does not have there, but for its spins, or its users. */
static void each_word_must_be_that_of_a_held_lock(void **state)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

	(void)state;
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < sizeof(mutex); i += sizeof(uint32_t)) {
		pthread_mutex_t changed = mutex;

		memset((char *)&changed + i, 0x5a, sizeof(uint32_t));
		assert_int_equal(holds_mutex(&changed, gettid()), i == 20);
	}
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	for (size_t i = 0; i < sizeof(rwlock); i += sizeof(uint32_t)) {
		pthread_rwlock_t changed = rwlock;
		/* readers and writers that wait, and what follows the lock */
		bool free = i == 4 || i == 8 || i == 12 || i == 52;

		memset((char *)&changed + i, 0x5c, sizeof(uint32_t));
		assert_int_equal(holds_rwlock(&changed, gettid()), free);
	}
	pthread_rwlock_unlock(&rwlock);
}

/* Between the unlock's first store and its last, and the lock's. */
static void a_lock_in_between_is_not_held(void **state)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	(void)state;
	pthread_mutex_lock(&mutex);
	mutex.__data.__owner = 0;
	assert_false(holds_mutex(&mutex, gettid()));
	mutex.__data.__owner = gettid();
	mutex.__data.__nusers = 0;
	assert_false(holds_mutex(&mutex, gettid()));
	mutex.__data.__nusers = 1;
	mutex.__data.__lock = 0;
	assert_false(holds_mutex(&mutex, gettid()));
	mutex.__data.__lock = 2;
	assert_true(holds_mutex(&mutex, gettid()));
	pthread_mutex_unlock(&mutex);
}

static void neither_kind_is_taken_for_the_other(void **state)
{
	struct {
		pthread_mutex_t mutex;
		char end[32];
	} one = { .mutex = PTHREAD_MUTEX_INITIALIZER };
	pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

	(void)state;
	pthread_mutex_lock(&one.mutex);
	assert_false(lockwords_is_held_rwlock((uint8_t *)&one, gettid()));
	pthread_mutex_unlock(&one.mutex);
	pthread_rwlock_wrlock(&rwlock);
	assert_false(lockwords_is_held_mutex((uint8_t *)&rwlock, gettid()));
	/* its owner's word, where a mutex has its own */
	assert_false(
		lockwords_is_held_mutex((uint8_t *)&rwlock + 16, gettid()));
	pthread_rwlock_unlock(&rwlock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mutex_of_each_kind_is_held_while_it_is),
		cmocka_unit_test(a_recursive_mutex_is_held_to_the_last_unlock),
		cmocka_unit_test(a_mutex_of_c11_is_one),
		cmocka_unit_test(an_rwlock_is_held_by_its_writer),
		cmocka_unit_test(each_word_must_be_that_of_a_held_lock),
		cmocka_unit_test(a_lock_in_between_is_not_held),
		cmocka_unit_test(neither_kind_is_taken_for_the_other),
	};

	return cmocka_run_group_tests_name("lockwords", tests, NULL, NULL);
}
