/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The heir is a child of a child that ends at once, so that the program never waits
 * for it. Both are made without a signal at their end, which hides them from
 * wait(2) meanwhile. System calls are made here without a C library, which would
 * write errno: that is in memory which both processes share.
 */
#include "recorder/heir.h"

#include <asm/unistd.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <stddef.h>

#include "recorder/os.h"

/* Of headers of the C library. */
enum {
	CODE_INTERRUPTED = 4, /* EINTR */
	SIGNAL_KILL = 9,
	SET_MASK = 2, /* SIG_SETMASK */
	LOCK_NOW = 2 | 4, /* LOCK_EX | LOCK_NB */
	MOVE_ABOVE = 1030, /* F_DUPFD_CLOEXEC */
};

enum { STACK_FIRST = 4096 }; /* of the child that ends at once */

static long call(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

/*
 * A child that shares memory, and calls run(heir) on the stack below top, which does
 * not return. Its id; negative: there is none.
 */
static long spawn(void *top, void (*run)(struct heir *heir), struct heir *heir)
{
	void **stack = (void **)((uintptr_t)top & ~(uintptr_t)15);
	long result;

	*--stack = heir;
	*--stack = (void *)(uintptr_t)run;
	__asm__ volatile("xorl %%r8d, %%r8d\n\t"
			 "xorl %%r10d, %%r10d\n\t"
			 "syscall\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "popq %%rax\n\t"
			 "popq %%rdi\n\t"
			 "callq *%%rax\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(result)
			 : "0"((long)__NR_clone), "D"((long)CLONE_VM),
			   "S"(stack), "d"(0L)
			 : "rcx", "r8", "r10", "r11", "memory");
	return result;
}

static void end_process(void)
{
	for (;;)
		call(__NR_exit_group, 0, 0, 0, 0);
}

static void tell(struct heir *heir, uint32_t what)
{
	__atomic_store_n(&heir->ready, what, __ATOMIC_RELEASE);
	call(__NR_futex, (long)&heir->ready, FUTEX_WAKE, 1, 0);
}

static void await_told(struct heir *heir)
{
	while (__atomic_load_n(&heir->ready, __ATOMIC_ACQUIRE) == 0)
		call(__NR_futex, (long)&heir->ready, FUTEX_WAIT, 0, 0);
}

/* All but the trace's. False: the kernel cannot. */
static bool close_others(unsigned int fd)
{
	return (fd == 0 || call(__NR_close_range, 0, fd - 1, 0, 0) == 0) &&
	       call(__NR_close_range, fd + 1, (long)~0U, 0, 0) == 0;
}

/* In the heir, from its start to its end. */
static void wait_and_act(struct heir *heir)
{
	int fd = heir->fd;
	bool closed = close_others((unsigned int)fd);
	struct pollfd ended = {
		.fd = (int)call(__NR_pidfd_open, heir->pid, 0, 0, 0),
		.events = POLLIN,
	};

	call(__NR_setsid, 0, 0, 0, 0);
	call(__NR_prctl, PR_SET_NAME, (long)"racewatch-heir", 0, 0);
	if (!closed || ended.fd < 0) {
		tell(heir, HEIR_FAILED);
		end_process();
	}
	heir->number = (int)call(__NR_getpid, 0, 0, 0, 0);
	tell(heir, HEIR_READY);
	while (call(__NR_poll, (long)&ended, 1, -1, 0) == -CODE_INTERRUPTED)
		;
	heir->act(heir->context);
	end_process();
}

/* In the child that ends at once. */
static void start_and_end(struct heir *heir)
{
	if (spawn((char *)heir->stack + HEIR_STACK, wait_and_act, heir) < 0)
		tell(heir, HEIR_FAILED);
	end_process();
}

void heir_init(struct heir *heir)
{
	*heir = (struct heir){ .pidfd = -1, .fd = -1 };
}

static void start(struct heir *heir)
{
	const uint64_t all = UINT64_MAX;
	uint64_t before = 0;
	long child;

	/* they are blocked there for ever */
	call(__NR_rt_sigprocmask, SET_MASK, (long)&all, (long)&before,
	     sizeof(all));
	child = spawn((char *)heir->stack + STACK_FIRST, start_and_end, heir);
	if (child < 0)
		tell(heir, HEIR_FAILED);
	while (child > 0 &&
	       call(__NR_wait4, child, 0, (long)__WALL, 0) == -CODE_INTERRUPTED)
		;
	await_told(heir);
	call(__NR_rt_sigprocmask, SET_MASK, (long)&before, 0, sizeof(all));
}

static void send_kill(long pidfd)
{
	call(__NR_pidfd_send_signal, pidfd, SIGNAL_KILL, 0, 0);
}

/* Where the program does not see it, as it does not see the trace's. */
static bool hold(struct heir *heir)
{
	long pidfd = call(__NR_pidfd_open, heir->number, 0, 0, 0);
	long above;

	if (pidfd < 0)
		return false;
	above = call(__NR_fcntl, pidfd, MOVE_ABOVE, heir->fd + 1, 0);
	if (above < 0)
		send_kill(pidfd);
	call(__NR_close, pidfd, 0, 0, 0);
	heir->pidfd = above < 0 ? -1 : (int)above;
	return above >= 0;
}

bool heir_start(struct heir *heir, int fd, void (*act)(void *context),
		void *context)
{
	heir->act = act;
	heir->context = context;
	heir->fd = fd;
	heir->pid = os_pid();
	heir->ready = 0;
	if (!heir->stack)
		heir->stack = os_map(HEIR_STACK);
	call(__NR_flock, fd, LOCK_NOW, 0, 0);
	start(heir);
	return heir->ready == HEIR_READY && hold(heir);
}

static void forget(struct heir *heir)
{
	call(__NR_close, heir->pidfd, 0, 0, 0);
	heir->pidfd = -1;
}

void heir_dismiss(struct heir *heir)
{
	if (heir->pidfd < 0)
		return;
	send_kill(heir->pidfd);
	forget(heir);
}

void heir_fork(struct heir *heir)
{
	if (heir->pidfd >= 0)
		forget(heir);
}
