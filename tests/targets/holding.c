/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads write to a field of an object, with locks that do not help: which of
 * them each holds is known.
 *
 *	holding SECONDS ROW
 *
 * tests/run/holding.tab says what put() and look() hold in each row.
 */
#include "target.h"

#include <sys/mman.h>
#include <threads.h>

struct owner {
	long name;
	pthread_mutex_t mu;
};

struct box {
	long first;
	pthread_mutex_t mu;
	pthread_rwlock_t rw;
	long used;
	struct owner *owner;
	pthread_mutex_t *chosen;
};

struct locals {
	struct box *box;
	pthread_mutex_t *mu;
};

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t many[8];
pthread_mutex_t recursive, errorcheck, adaptive, robust, inherit;
pthread_mutex_t *shared, *allocated;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spin;
mtx_t c11, c11_recursive;
struct owner owner = { .mu = PTHREAD_MUTEX_INITIALIZER };

NOINLINE static void put(struct box *box, long value)
{
	box->used = value; /* RACE: put */
}

NOINLINE static void look(struct box *box, long value)
{
	box->used = value; /* RACE: look */
}

/* The lock is its caller's. */
NOINLINE static void put_for_caller(struct box *box, long value)
{
	put(box, value + 1);
	OPAQUE();
}

#define LOCK(mutex) pthread_mutex_lock(mutex)
#define UNLOCK(mutex) pthread_mutex_unlock(mutex)
#define NOTHING OPAQUE()

/* What the threads of a row do, again and again. */
#define ROW(name, before, after, other_before, other_after)         \
	NOINLINE static void name##_put(struct locals *in, long x)  \
	{                                                           \
		struct box *box = in->box;                          \
                                                                    \
		before;                                             \
		put(box, x);                                        \
		after;                                              \
	}                                                           \
	NOINLINE static void name##_look(struct locals *in, long x) \
	{                                                           \
		struct box *box = in->box;                          \
                                                                    \
		other_before;                                       \
		look(box, x);                                       \
		other_after;                                        \
	}

/* put() holds the mutex, look() nothing. */
#define MUTEX(name, mutex) \
	ROW(name, LOCK(mutex), UNLOCK(mutex), NOTHING, NOTHING)

ROW(none, NOTHING, NOTHING, NOTHING, NOTHING)
MUTEX(global, &mu)
MUTEX(member, &box->mu)
ROW(recursive, LOCK(&recursive); LOCK(&recursive), UNLOCK(&recursive);
    UNLOCK(&recursive), NOTHING, NOTHING)
MUTEX(errorcheck, &errorcheck)
MUTEX(adaptive, &adaptive)
MUTEX(robust, &robust)
MUTEX(inherit, &inherit)
MUTEX(shared, shared)
ROW(writer, pthread_rwlock_wrlock(&rw), pthread_rwlock_unlock(&rw), NOTHING,
    NOTHING)
ROW(member_writer, pthread_rwlock_wrlock(&box->rw),
    pthread_rwlock_unlock(&box->rw), NOTHING, NOTHING)
ROW(reader, pthread_rwlock_rdlock(&rw), pthread_rwlock_unlock(&rw), NOTHING,
    NOTHING)
ROW(c11, mtx_lock(&c11), mtx_unlock(&c11), NOTHING, NOTHING)
ROW(c11_recursive, mtx_lock(&c11_recursive), mtx_unlock(&c11_recursive),
    NOTHING, NOTHING)
ROW(two, LOCK(&mu); LOCK(&other), UNLOCK(&other); UNLOCK(&mu), NOTHING, NOTHING)
ROW(different, LOCK(&mu), UNLOCK(&mu), LOCK(&other), UNLOCK(&other))
ROW(caller, LOCK(&mu); put_for_caller(box, x), UNLOCK(&mu), NOTHING, NOTHING)
MUTEX(local, in->mu)
MUTEX(allocated, allocated)
MUTEX(array, &many[3])
ROW(released, LOCK(&mu); UNLOCK(&mu), NOTHING, LOCK(&box->mu);
    UNLOCK(&box->mu), NOTHING)
ROW(spin, pthread_spin_lock(&spin), pthread_spin_unlock(&spin), NOTHING,
    NOTHING)
MUTEX(owner, &box->owner->mu)
MUTEX(chosen, box->chosen)
ROW(trylock, while (pthread_mutex_trylock(&mu)), UNLOCK(&mu), NOTHING, NOTHING)
ROW(waited, LOCK(&other); UNLOCK(&other);
    LOCK(&mu), UNLOCK(&mu), NOTHING, NOTHING)
ROW(two_members, LOCK(&box->mu);
    pthread_rwlock_wrlock(&box->rw), pthread_rwlock_unlock(&box->rw);
    UNLOCK(&box->mu), NOTHING, NOTHING)
ROW(looker, NOTHING, NOTHING, LOCK(&other), UNLOCK(&other))

typedef void row_step(struct locals *in, long x);

static const struct row {
	const char *name;
	row_step *put, *look;
} rows[] = {
#define ENTRY(name)                            \
	{                                      \
#name, name##_put, name##_look \
	}
	ENTRY(none),	  ENTRY(global),	ENTRY(member),
	ENTRY(recursive), ENTRY(errorcheck),	ENTRY(adaptive),
	ENTRY(robust),	  ENTRY(inherit),	ENTRY(shared),
	ENTRY(writer),	  ENTRY(member_writer), ENTRY(reader),
	ENTRY(c11),	  ENTRY(c11_recursive), ENTRY(two),
	ENTRY(different), ENTRY(caller),	ENTRY(local),
	ENTRY(allocated), ENTRY(array),		ENTRY(released),
	ENTRY(spin),	  ENTRY(owner),		ENTRY(chosen),
	ENTRY(trylock),	  ENTRY(waited),	ENTRY(two_members),
	ENTRY(looker),
};

static const struct row *row;
static struct locals locals;

static void *put_loop(void *arg)
{
	unsigned x = 1;

	pthread_setname_np(pthread_self(), "put");
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		row->put(&locals, x);
		x = target_work(x, 40);
	}
	return arg;
}

static void *look_loop(void *arg)
{
	unsigned x = 2;

	pthread_setname_np(pthread_self(), "look");
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		row->look(&locals, x);
		x = target_work(x, 30);
	}
	return arg;
}

static void make(pthread_mutex_t *mutex, int type, int is_robust, int protocol)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setrobust(&attr, is_robust);
	pthread_mutexattr_setprotocol(&attr, protocol);
	target_check(!pthread_mutex_init(mutex, &attr), "pthread_mutex_init");
}

static void *room(size_t size, int flags)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    flags | MAP_ANONYMOUS, -1, 0);

	target_check(memory != MAP_FAILED, "mmap");
	return memory;
}

static void make_all(void)
{
	make(&recursive, PTHREAD_MUTEX_RECURSIVE, 0, 0);
	make(&errorcheck, PTHREAD_MUTEX_ERRORCHECK, 0, 0);
	make(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0);
	make(&robust, 0, PTHREAD_MUTEX_ROBUST, 0);
	make(&inherit, 0, 0, PTHREAD_PRIO_INHERIT);
	shared = room(sizeof(*shared), MAP_SHARED);
	make(shared, 0, 0, 0);
	allocated = room(sizeof(*allocated), MAP_PRIVATE);
	mtx_init(&c11, mtx_plain);
	mtx_init(&c11_recursive, mtx_timed | mtx_recursive);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_rwlock_init(&locals.box->rw, NULL);
}

int main(int argc, char **argv)
{
	pthread_mutex_t local = PTHREAD_MUTEX_INITIALIZER;

	target_init(argc, argv, 2);
	locals.box = calloc(1, sizeof(*locals.box));
	target_check(locals.box && argc > 2, "usage");
	locals.mu = &local;
	locals.box->owner = &owner;
	locals.box->chosen = &many[5];
	make_all();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].name, argv[2]) == 0)
			row = &rows[i];
	}
	target_check(row != NULL, "no such row");
	target_race(put_loop, look_loop);
	free(locals.box);
	return target_done("holding");
}
