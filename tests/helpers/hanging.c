/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preloaded into racewatch, it makes the tracer hang when the file named by
 * HANGING_WHEN has appeared: in a read of the program's memory, while a thread
 * is held, or with HANGING_IN=wait where it waits for stops, so that threads
 * meet breakpoints and nobody waits for them. All signals are blocked there, so
 * that nothing but SIGKILL ends it, as in the kernel's wait for a page that
 * nobody provides. With HANGING_IN=naps it sleeps in the read, for a moment at a
 * time, until the file is gone, as it waits for threads that get no processor.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_tracer(void)
{
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	return !strcmp(name, "racewatch-trace") &&
	       syscall(SYS_gettid) == getpid();
}

static void hang_when_told(const char *where)
{
	const char *when = getenv("HANGING_WHEN");
	const char *in = getenv("HANGING_IN");
	int naps = in && !strcmp(in, "naps");

	if (!in || naps)
		in = "read";
	if (!when || strcmp(in, where) != 0 || !is_tracer())
		return;
	while (!access(when, F_OK)) {
		if (naps)
			usleep(10 * 1000);
		else
			pause();
	}
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
	  const sigset_t *mask)
{
	struct timespec copy;

	hang_when_told("wait");
	/* the kernel writes what is left of it */
	if (timeout)
		copy = *timeout;
	return (int)syscall(SYS_ppoll, fds, count, timeout ? &copy : NULL, mask,
			    8);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local,
			 unsigned long local_count, const struct iovec *remote,
			 unsigned long remote_count, unsigned long flags)
{
	hang_when_told("read");
	return syscall(SYS_process_vm_readv, pid, local, local_count, remote,
		       remote_count, flags);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
	hang_when_told("read");
	return syscall(SYS_pread64, fd, bytes, size, offset);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t offset)
{
	return pread(fd, bytes, size, offset);
}
