/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The thread that waits when the tracer cannot; see deputy.h.
 */
#include "guardian/deputy.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/signals.h"
#include "sys/wait.h"

enum {
	DEPUTY_STACK = 64 * 1024,
	DEPUTY_NAP_NS = 1000 * 1000,
};

static void deputy_take(struct deputy *deputy)
{
	struct stop_reason stop;
	uint32_t count = deputy->count;

	for (; count < DEPUTY_STOPS && wait_came(&stop); count++) {
		deputy->stops[count] = (struct deputy_stop){
			.tid = stop.tid,
			.kind = stop.kind,
			.signal = stop.signal,
		};
		/* the guardian may not wait for the answer */
		__atomic_store_n(&deputy->count, count + 1, __ATOMIC_RELEASE);
	}
}

uint32_t deputy_count(const struct deputy *deputy)
{
	return __atomic_load_n(&deputy->count, __ATOMIC_ACQUIRE);
}

static void *deputy_main(void *data)
{
	struct deputy *deputy = data;

	/* as the tracer does */
	signals_block_all(NULL);
	for (;;) {
		uint32_t asked =
			__atomic_load_n(&deputy->asked, __ATOMIC_ACQUIRE);

		if (asked == deputy->answered) {
			syscall(SYS_futex, &deputy->asked, FUTEX_WAIT, asked,
				NULL, NULL, 0);
			continue;
		}
		/*
		 * Watchpoints of perf go with their files, before anybody runs
		 * into one whose stop nobody would wait for.
		 */
		syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
		deputy_take(deputy);
		__atomic_store_n(&deputy->answered, asked, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* All signals are blocked in the tracer, and so they are here. */
struct error *deputy_start(struct deputy *deputy)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int code = pthread_attr_init(&attributes);

	if (code != 0)
		return error_os(code, "start a thread");
	pthread_attr_setstacksize(&attributes, DEPUTY_STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	code = pthread_create(&thread, &attributes, deputy_main, deputy);
	pthread_attr_destroy(&attributes);
	/* pthread_create() opens two that the C library keeps for itself */
	signals_block_all(NULL);
	return code != 0 ? error_os(code, "start a thread") : NULL;
}

bool deputy_ask(struct deputy *deputy, uint64_t timeout_ns)
{
	static const struct timespec nap = { .tv_nsec = DEPUTY_NAP_NS };
	uint64_t end = clock_now_ns() + timeout_ns;
	uint32_t question =
		__atomic_add_fetch(&deputy->asked, 1, __ATOMIC_RELEASE);

	syscall(SYS_futex, &deputy->asked, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	while (__atomic_load_n(&deputy->answered, __ATOMIC_ACQUIRE) !=
	       question) {
		if (clock_now_ns() >= end)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

bool deputy_has_trap(const struct deputy *deputy, pid_t tid)
{
	/* the last of its stops: the first one may have been waited for */
	for (uint32_t i = deputy_count(deputy); i-- > 0;) {
		const struct deputy_stop *stop = &deputy->stops[i];

		if (stop->tid == tid)
			return stop->kind == STOP_SIGNAL &&
			       stop->signal == SIGTRAP;
	}
	return false;
}
