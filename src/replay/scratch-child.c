/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the scratch process does by itself, before it is taken over; see
 * scratch-parts.h. Between fork(2) and its sleep it allocates and prints nothing.
 */
#include "replay/scratch-parts.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/passfd.h"
#include "sys/faultfd.h"
#include "sys/trace.h"

enum {
	/* how often the CPU time is read */
	CHILD_TICK_US = 4000,
	/* bytes that every C library registers for restartable sequences */
	CHILD_RSEQ_SIZE = 32,
	CHILD_FILES = 1024,
};

/* syscall; int3 */
static const uint8_t child_stub[] = { 0x0f, 0x05, 0xcc };

/*
 * No file of ours may stay open longer for it. Only the socket remains, as 0.
 */
static void child_close_files(int socket)
{
	if (socket != 0)
		dup2(socket, 0);
	if (close_range(1, ~0U, 0) == 0)
		return;
	for (int fd = 1; fd < CHILD_FILES; fd++)
		close(fd);
}

/*
 * Else the kernel would write to memory that is no more, at every return to user
 * code, and kill the process when it cannot.
 */
static void child_leave_rseq(void)
{
	char *area = (char *)__builtin_thread_pointer() + __rseq_offset;

	if (__rseq_size == 0 || syscall(SYS_rseq, area, CHILD_RSEQ_SIZE,
					RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0)
		return;
	syscall(SYS_rseq, area, __rseq_size, RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
}

static bool child_map_stub(void)
{
	void *page = mmap((void *)(uintptr_t)SCRATCH_STUB, SCRATCH_PAGE,
			  PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (page == MAP_FAILED)
		return false;
	memcpy(page, child_stub, sizeof(child_stub));
	return mprotect(page, SCRATCH_PAGE, PROT_READ | PROT_EXEC) == 0;
}

/*
 * Signals of a terminal are not for it. It may reserve what it likes; and reading
 * the time stamp counter is an error, as two runs never read the same.
 */
static bool child_prepare(void)
{
	struct itimerval timer = { .it_interval.tv_usec = CHILD_TICK_US,
				   .it_value.tv_usec = CHILD_TICK_US };
	struct rlimit limit;
	sigset_t none;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "rw-scratch");
	/* its parent may not be, and opens its memory */
	prctl(PR_SET_DUMPABLE, 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getrlimit(RLIMIT_AS, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_AS, &limit);
	}
	child_leave_rseq();
	return child_map_stub() &&
	       prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0 &&
	       setitimer(ITIMER_PROF, &timer, NULL) == 0;
}

static void child_body(int socket, bool faultfd)
{
	struct scratch_report report = { .faultfd = -1 };
	int fd = -1;

	child_close_files(socket);
	if (!child_prepare())
		report.code = errno;
	if (faultfd)
		fd = faultfd_open();
	if (fd < 0)
		report.faultfd_code = errno;
	if (!passfd_send(0, &report, sizeof(report), fd) || !trace_offer())
		_exit(1); /* exit-allowed: a forked child */
	for (;;)
		pause();
}

struct error *scratch_fork(bool faultfd, pid_t *ret_pid,
			   struct scratch_report *ret)
{
	cleanup_close int receive = -1;
	struct scratch_report report;
	int fds[2], fd;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		return error_os(errno, "make a pair of sockets");
	receive = fds[0];
	pid = fork();
	if (pid == 0)
		child_body(fds[1], faultfd);
	close(fds[1]);
	if (pid < 0)
		return error_os(errno, "start the scratch process");
	*ret_pid = pid;
	if (!passfd_receive(receive, 0, &report, sizeof(report), &fd))
		return error_create(ERROR_OTHER,
				    "the scratch process ended early");
	report.faultfd = fd;
	*ret = report;
	if (report.code)
		return error_os(report.code, "prepare the scratch process");
	return NULL;
}
