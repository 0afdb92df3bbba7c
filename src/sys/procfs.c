/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What /proc tells of a thread; see procfs.h.
 */
#include "sys/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

/* Read a whole small file; the text is NUL-terminated. */
static struct error *procfs_read(const char *path, char *text, size_t size)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return error_os(errno == ENOENT ? ESRCH : errno, "open %s",
				path);
	n = read(fd, text, size - 1);
	if (n < 0)
		return error_os(errno, "read %s", path);
	text[n] = '\0';
	return NULL;
}

struct error *procfs_text(pid_t tid, const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	return procfs_read(path, text, size);
}

/* The number after "\nNAME:\t"; 0 when there is no such line. */
static uint64_t status_field(const char *text, const char *name, int base)
{
	const char *line = strstr(text, name);

	return line ? strtoull(line + strlen(name), NULL, base) : 0;
}

struct error *procfs_status(pid_t tid, struct thread_status *ret)
{
	struct error *err;
	const char *state;
	char text[4096];

	err = procfs_text(tid, "status", text, sizeof(text));
	if (err)
		return err;
	ret->blocked = status_field(text, "\nSigBlk:\t", 16);
	ret->ignored = status_field(text, "\nSigIgn:\t", 16);
	ret->caught = status_field(text, "\nSigCgt:\t", 16);
	ret->pending = status_field(text, "\nSigPnd:\t", 16);
	ret->tgid = (pid_t)status_field(text, "\nTgid:\t", 10);
	ret->parent = (pid_t)status_field(text, "\nPPid:\t", 10);
	ret->tracer = (pid_t)status_field(text, "\nTracerPid:\t", 10);
	state = strstr(text, "\nState:\t");
	ret->state = state ? state[strlen("\nState:\t")] : '?';
	return NULL;
}

void procfs_name(pid_t pid, pid_t tid, char *name, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid,
		 (int)tid);
	name[0] = '\0';
	error_free(procfs_read(path, name, size));
	name[strcspn(name, "\n")] = '\0';
}

struct error *procfs_cpu_time(pid_t pid, pid_t tid, uint64_t *ret_ns)
{
	struct error *err;
	char text[128];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid,
		 (int)tid);
	err = procfs_read(path, text, sizeof(text));
	if (err)
		return err;
	*ret_ns = strtoull(text, NULL, 10);
	return NULL;
}

static bool futex_waits_for_ever(uint64_t operation, uint64_t timeout)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI:
		return timeout == 0;
	default:
		return false;
	}
}

bool procfs_system_call(pid_t tid, int *ret_number,
			uint64_t ret_args[PROCFS_ARGUMENTS])
{
	struct error *err;
	char text[256];
	char path[64];
	char *at, *end;
	long number;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	err = procfs_read(path, text, sizeof(text));
	if (err) {
		error_free(err);
		return false;
	}
	/* "202 uaddr op val ... sp pc", "-1 sp pc" or "running" */
	number = strtol(text, &end, 10);
	if (end == text || number < 0)
		return false;
	for (int i = 0; i < PROCFS_ARGUMENTS; i++) {
		at = end;
		ret_args[i] = strtoull(at, &end, 16);
		if (end == at)
			return false;
	}
	*ret_number = (int)number;
	return true;
}

bool procfs_stack_pointer(pid_t tid, uint64_t *ret)
{
	struct error *err;
	char text[256];
	char path[64];
	char *last, *end;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	err = procfs_read(path, text, sizeof(text));
	if (err) {
		error_free(err);
		return false;
	}
	/* the last field but one, in both forms */
	last = strrchr(text, ' ');
	if (!last)
		return false;
	*last = '\0';
	last = strrchr(text, ' ');
	if (!last)
		return false;
	*ret = strtoull(last + 1, &end, 16);
	return *end == '\0' && *ret != 0;
}

bool procfs_waits_for_threads(pid_t tid)
{
	uint64_t args[PROCFS_ARGUMENTS];
	int number;

	return procfs_system_call(tid, &number, args) && number == SYS_futex &&
	       futex_waits_for_ever(args[1], args[3]);
}

/* Those of sockets do only with a time-out of the socket's (socket(7)). */
static const int noticing_calls[] = {
	SYS_epoll_wait,	  SYS_epoll_pwait,   SYS_epoll_pwait2,
	SYS_semop,	  SYS_semtimedop,    SYS_rt_sigtimedwait,
	SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter,
	SYS_recvfrom,	  SYS_recvmsg,	     SYS_recvmmsg,
	SYS_sendto,	  SYS_sendmsg,	     SYS_sendmmsg,
	SYS_accept,	  SYS_accept4,	     SYS_connect,
};

bool procfs_notices_stops(pid_t tid)
{
	uint64_t args[PROCFS_ARGUMENTS];
	int number;

	if (!procfs_system_call(tid, &number, args))
		return false;
	for (size_t i = 0;
	     i < sizeof(noticing_calls) / sizeof(noticing_calls[0]); i++) {
		if (noticing_calls[i] == number)
			return true;
	}
	return false;
}

struct error *procfs_threads(pid_t pid, bool (*visit)(pid_t tid, void *data),
			     void *data)
{
	cleanup_closedir DIR *dir = NULL;
	const struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return error_os(errno == ENOENT ? ESRCH : errno, "open %s",
				path);
	while ((entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !visit(tid, data))
			break;
	}
	return NULL;
}
