/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A child whose first thread has exited while another goes on. Include after
 * <cmocka.h>.
 */
#ifndef TESTS_UNIT_HEADLESS_H
#define TESTS_UNIT_HEADLESS_H

#include "tracee.h"

#include <pthread.h>
#include <sys/syscall.h>

#include "sys/identity.h"

struct headless {
	pid_t pid; /* of the process, and of the thread that has exited */
	pid_t tid; /* of the one that lives */
	uint32_t *shared; /* [0]: that id, [1]: it may end */
};

static inline void *headless_thread(void *arg)
{
	uint32_t *shared = arg;

	tracee_tell(&shared[0], (uint32_t)syscall(SYS_gettid));
	tracee_await(&shared[1], 1);
	_exit(0);
}

static inline void headless_body(void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, headless_thread, arg);
	pthread_exit(NULL);
}

static inline struct headless headless_start(void)
{
	struct headless it = { .shared = tracee_share(2 * sizeof(uint32_t)) };
	struct identity identity;

	it.pid = tracee_fork(headless_body, it.shared);
	while (!__atomic_load_n(&it.shared[0], __ATOMIC_ACQUIRE))
		sched_yield();
	it.tid = (pid_t)it.shared[0];
	do {
		sched_yield();
		assert_ok(identity_read(it.pid, &identity));
	} while (identity.state != 'Z');
	return it;
}

/* Let it end, and wait for that. */
static inline void headless_end(const struct headless *it)
{
	tracee_tell(&it->shared[1], 1);
	waitpid(it->pid, NULL, 0);
	munmap(it->shared, 2 * sizeof(uint32_t));
}

#endif
