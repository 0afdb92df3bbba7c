/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recursive lock made of atomic operations, and near misses of it. The owner
 * is read without the lock, and compared with the identity of the reader, which
 * is the address of a thread-local variable.
 *
 *	recursive SECONDS KIND
 *
 * lock      no misuse                                        sync
 * mutex     the same, around a pthread_mutex_t                sync
 * stolen    another thread clears the owner without the lock suspect
 * key       what is compared is no identity: threads share it suspect
 * followed  the owner is used where it is another thread     suspect
 */
#include "target.h"

struct lock {
	uintptr_t owner;
	unsigned depth;
	int word;
	pthread_mutex_t mutex;
};

static struct lock lock, *volatile shared = &lock;
static __thread char self;
static const char *kind;
static unsigned long sum;

static void take(struct lock *at)
{
	while (__atomic_exchange_n(&at->word, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
}

NOINLINE static void enter(struct lock *at, uintptr_t id)
{
	if (__atomic_load_n(&at->owner, __ATOMIC_RELAXED) == id) {
		at->depth++;
		return;
	}
	take(at);
	__atomic_store_n(&at->owner, id, __ATOMIC_RELAXED);
	at->depth = 1;
}

NOINLINE static void leave(struct lock *at)
{
	if (--at->depth > 0)
		return;
	__atomic_store_n(&at->owner, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&at->word, 0, __ATOMIC_RELEASE);
}

NOINLINE static void enter_mutex(struct lock *at, uintptr_t id)
{
	if (__atomic_load_n(&at->owner, __ATOMIC_RELAXED) == id) {
		at->depth++;
		return;
	}
	pthread_mutex_lock(&at->mutex);
	__atomic_store_n(&at->owner, id, __ATOMIC_RELAXED);
	at->depth = 1;
}

NOINLINE static void leave_mutex(struct lock *at)
{
	if (--at->depth > 0)
		return;
	__atomic_store_n(&at->owner, 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&at->mutex);
}

NOINLINE static void steal(struct lock *at)
{
	__atomic_store_n(&at->owner, 0, __ATOMIC_RELAXED);
}

/* What is cached for the key, which is not read under the lock. */
NOINLINE static void look_up(struct lock *at, uintptr_t key)
{
	if (__atomic_load_n(&at->owner, __ATOMIC_RELAXED) == key)
		return;
	take(at);
	__atomic_store_n(&at->owner, key, __ATOMIC_RELAXED);
	at->depth = (unsigned)key;
	__atomic_store_n(&at->word, 0, __ATOMIC_RELEASE);
}

NOINLINE static uintptr_t enter_after(struct lock *at, uintptr_t id)
{
	uintptr_t owner = __atomic_load_n(&at->owner, __ATOMIC_RELAXED);

	if (owner == id) {
		at->depth++;
		return 0;
	}
	take(at);
	__atomic_store_n(&at->owner, id, __ATOMIC_RELAXED);
	at->depth = 1;
	return owner;
}

static void lock_round(struct lock *at, unsigned long i)
{
	enter(at, (uintptr_t)&self);
	if (i % 4 == 0) {
		enter(at, (uintptr_t)&self);
		sum++;
		leave(at);
	}
	sum = target_work((unsigned)sum, 20);
	leave(at);
}

static void mutex_round(struct lock *at, unsigned long i)
{
	enter_mutex(at, (uintptr_t)&self);
	if (i % 4 == 0) {
		enter_mutex(at, (uintptr_t)&self);
		sum++;
		leave_mutex(at);
	}
	sum = target_work((unsigned)sum, 20);
	leave_mutex(at);
}

static void followed_round(struct lock *at)
{
	uintptr_t before = enter_after(at, (uintptr_t)&self);

	sum += before & 7;
	leave(at);
}

static void *loop(void *arg)
{
	int second = arg != NULL;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		struct lock *at = shared;

		if (strcmp(kind, "lock") == 0) {
			lock_round(at, i);
		} else if (strcmp(kind, "mutex") == 0) {
			mutex_round(at, i);
		} else if (strcmp(kind, "key") == 0) {
			look_up(at, i % 5 + 1);
		} else if (strcmp(kind, "followed") == 0) {
			followed_round(at);
		} else if (second) {
			steal(at);
		} else {
			enter(at, (uintptr_t)&self);
			leave(at);
		}
		target_work((unsigned)i, 40);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	target_init(argc, argv, 2);
	kind = argc > 2 ? argv[2] : "lock";
	pthread_mutex_init(&lock.mutex, NULL);
	for (int i = 0; i < 2; i++)
		threads[i] = target_thread(loop, i ? &lock : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return target_done("recursive");
}
