/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preloaded into racewatch, it makes the tracer hang in a read of the program's
 * memory: the first one after the file named by HANGING_WHEN has appeared. All
 * signals are blocked there, so that nothing but SIGKILL ends the wait, as in
 * the kernel's wait for a page that nobody provides. HANGING_HOW=loop: it does
 * not sleep, but runs for ever.
 */
#define _GNU_SOURCE
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

static void hang_when_told(void)
{
	const char *when = getenv("HANGING_WHEN");
	const char *how = getenv("HANGING_HOW");

	if (!when || !is_tracer() || access(when, F_OK))
		return;
	for (;;) {
		if (!how || strcmp(how, "loop") != 0)
			pause();
	}
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local,
			 unsigned long local_count, const struct iovec *remote,
			 unsigned long remote_count, unsigned long flags)
{
	hang_when_told();
	return syscall(SYS_process_vm_readv, pid, local, local_count, remote,
		       remote_count, flags);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
	hang_when_told();
	return syscall(SYS_pread64, fd, bytes, size, offset);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t offset)
{
	return pread(fd, bytes, size, offset);
}
