/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Being woken by the death of a process; see deathwatch.h.
 */
#include "sys/deathwatch.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

enum { DEATHWATCH_SIGNAL = SIGUSR1 };

struct error *deathwatch_own(struct deathwatch *watch)
{
	watch->pid = getpid();
	/* FUTEX_WAITERS: the kernel wakes only where somebody is said to wait */
	watch->word = (uint32_t)watch->pid | FUTEX_WAITERS;
	watch->node.next = &watch->head.list;
	watch->head.list.next = &watch->node;
	watch->head.futex_offset = (long)offsetof(struct deathwatch, word) -
				   (long)offsetof(struct deathwatch, node);
	watch->head.list_op_pending = NULL;
	if (syscall(SYS_set_robust_list, &watch->head, sizeof(watch->head)) < 0)
		return error_os(errno, "register the robust list");
	return NULL;
}

void deathwatch_disown(struct deathwatch *watch)
{
	syscall(SYS_set_robust_list, NULL, sizeof(watch->head));
	__atomic_store_n(&watch->word, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, &watch->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void deathwatch_wake(struct deathwatch *watch)
{
	__atomic_add_fetch(&watch->news, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &watch->news, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* That the signal comes at all ends the sleep. */
static void deathwatch_signalled(int signal)
{
	(void)signal;
}

struct error *deathwatch_prepare(void)
{
	struct sigaction action = { .sa_handler = deathwatch_signalled };
	sigset_t set;

	if (sigaction(DEATHWATCH_SIGNAL, &action, NULL) < 0)
		return error_os(errno, "handle a signal");
	sigemptyset(&set);
	sigaddset(&set, DEATHWATCH_SIGNAL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	if (prctl(PR_SET_PDEATHSIG, DEATHWATCH_SIGNAL) < 0)
		return error_os(errno, "ask for the parent's death");
	return NULL;
}

/* Sleep while both words are as they were; any return is a reason to look. */
static void deathwatch_sleep(struct deathwatch *watch, uint32_t word,
			     uint32_t news, uint64_t until_ns)
{
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / CLOCK_NS_PER_S),
		.tv_nsec = (long)(until_ns % CLOCK_NS_PER_S),
	};
	struct futex_waitv waiters[] = {
		{ .val = word,
		  .uaddr = (uintptr_t)&watch->word,
		  .flags = FUTEX_32 },
		{ .val = news,
		  .uaddr = (uintptr_t)&watch->news,
		  .flags = FUTEX_32 },
	};

	if (syscall(SYS_futex_waitv, waiters, 2, 0, &until, CLOCK_MONOTONIC) <
		    0 &&
	    (errno == ENOSYS || errno == EPERM))
		syscall(SYS_futex, &watch->word, FUTEX_WAIT_BITSET, word,
			&until, NULL, FUTEX_BITSET_MATCH_ANY);
}

bool deathwatch_wait(struct deathwatch *watch, uint32_t *seen,
		     uint64_t until_ns)
{
	for (;;) {
		uint32_t word = __atomic_load_n(&watch->word, __ATOMIC_ACQUIRE);
		uint32_t news = __atomic_load_n(&watch->news, __ATOMIC_ACQUIRE);

		if (word == 0 || (word & FUTEX_OWNER_DIED) ||
		    getppid() != watch->pid)
			return false;
		if (news != *seen) {
			*seen = news;
			return true;
		}
		if (clock_now_ns() >= until_ns)
			return true;
		deathwatch_sleep(watch, word, news, until_ns);
	}
}

bool deathwatch_died(const struct deathwatch *watch)
{
	return __atomic_load_n(&watch->word, __ATOMIC_ACQUIRE) != 0;
}
