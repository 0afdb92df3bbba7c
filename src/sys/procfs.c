/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What /proc tells of a thread; see procfs.h.
 */
#include "sys/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
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

/* Read the beginning of a file. */
static bool procfs_line(const char *path, char *text, size_t size)
{
	struct error *err = procfs_read(path, text, size);
	bool read = !err;

	error_free(err);
	return read;
}

struct error *procfs_text(pid_t tid, const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	return procfs_read(path, text, size);
}

/* The number after "\nNAME:" and a blank; 0 when there is no such line. */
static uint64_t status_field(const char *text, const char *name, int base)
{
	const char *line = strstr(text, name);

	return line ? strtoull(line + strlen(name), NULL, base) : 0;
}

bool procfs_status_has(const char *text, const char *feature)
{
	static const char label[] = "\nx86_Thread_features:\t";
	const char *line = strstr(text, label);
	size_t length = strlen(feature), word;

	if (!line)
		return false;
	for (line += strlen(label); *line != '\0' && *line != '\n';
	     line += word + (line[word] == ' ')) {
		word = strcspn(line, " \n");
		if (word == length && strncmp(line, feature, length) == 0)
			return true;
	}
	return false;
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
	ret->process_pending = status_field(text, "\nShdPnd:\t", 16);
	ret->tgid = (pid_t)status_field(text, "\nTgid:\t", 10);
	ret->parent = (pid_t)status_field(text, "\nPPid:\t", 10);
	ret->tracer = (pid_t)status_field(text, "\nTracerPid:\t", 10);
	state = strstr(text, "\nState:\t");
	ret->shadow_stack = procfs_status_has(text, "shstk");
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

pid_t procfs_status_own(const char *text)
{
	static const char label[] = "\nNSpid:";
	const char *line = strstr(text, label);
	unsigned long own = 0;

	for (line = line ? line + strlen(label) : ""; *line == '\t';) {
		char *end;

		own = strtoul(line + 1, &end, 10);
		if (end == line + 1)
			return 0;
		line = end;
	}
	return own <= INT_MAX ? (pid_t)own : 0;
}

pid_t procfs_own_tid(pid_t pid, pid_t tid)
{
	char path[64], text[4096];
	struct error *err;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid,
		 (int)tid);
	err = procfs_read(path, text, sizeof(text));
	if (err) {
		error_free(err);
		return 0;
	}
	return procfs_status_own(text);
}

struct error *procfs_times(pid_t pid, pid_t tid, struct procfs_time *ret)
{
	struct error *err;
	char text[128];
	char path[64], *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid,
		 (int)tid);
	err = procfs_read(path, text, sizeof(text));
	if (err)
		return err;
	ret->ran_ns = strtoull(text, &end, 10);
	ret->waited_ns = strtoull(end, NULL, 10);
	return NULL;
}

struct error *procfs_cpu_time(pid_t pid, pid_t tid, uint64_t *ret_ns)
{
	struct procfs_time time;
	struct error *err = procfs_times(pid, tid, &time);

	if (!err)
		*ret_ns = time.ran_ns;
	return err;
}

enum { PROCFS_CPUCLOCK_SCHED = 2 };

bool procfs_process_cpu(pid_t pid, uint64_t *ret_ns)
{
	/*
	 * what clock_getcpuclockid(3) makes of it (linux/posix-timers.h), which
	 * asks the kernel each time whether there is such a process
	 */
	const clockid_t clock =
		(clockid_t)((~(unsigned int)pid << 3) | PROCFS_CPUCLOCK_SCHED);
	struct timespec time;

	if (clock_gettime(clock, &time) < 0)
		return false;
	*ret_ns = (uint64_t)time.tv_sec * UINT64_C(1000000000) +
		  (uint64_t)time.tv_nsec;
	return true;
}

/* user, nice, system, idle, iowait, irq, softirq, steal (proc(5)) */
enum { STAT_IDLE = 3, STAT_IOWAIT = 4, STAT_FIELDS = 8 };

/* The fields of a line of /proc/stat, added. */
static bool stat_add(const char *fields, uint64_t *busy, uint64_t *idle)
{
	const char *at = fields;
	char *end;

	for (int i = 0; i < STAT_FIELDS; i++, at = end) {
		uint64_t ticks = strtoull(at, &end, 10);

		if (end == at)
			return false;
		if (i == STAT_IDLE || i == STAT_IOWAIT)
			*idle += ticks;
		else
			*busy += ticks;
	}
	return true;
}

/*
 * The lines "cpu0 ...", "cpu1 ..." of those processors, added; false: not all
 * of them are there.
 */
static bool stat_add_some(const cpu_set_t *some, uint64_t *ret_busy,
			  uint64_t *ret_idle)
{
	cleanup_fclose FILE *file = fopen("/proc/stat", "re");
	uint64_t busy = 0, idle = 0;
	char line[512];
	int found = 0;

	while (file && fgets(line, sizeof(line), file) &&
	       strncmp(line, "cpu", 3) == 0) {
		char *end;
		unsigned long number = strtoul(line + 3, &end, 10);

		/* the first line, "cpu  ", is of all */
		if (line[3] == ' ' || end == line + 3 ||
		    number >= CPU_SETSIZE || !CPU_ISSET(number, some))
			continue;
		if (!stat_add(end, &busy, &idle))
			return false;
		found++;
	}
	if (found < CPU_COUNT(some))
		return false;
	*ret_busy = busy;
	*ret_idle = idle;
	return true;
}

/* Open, the file of the process, or -1. */
static int procfs_open(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool procfs_process_calls(pid_t pid, int *fd, uint64_t *ret_calls)
{
	char text[256];
	ssize_t n;

	if (*fd < 0)
		*fd = procfs_open(pid, "io");
	n = *fd < 0 ? -1 : pread(*fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = '\0';
	*ret_calls = status_field(text, "\nsyscr: ", 10) +
		     status_field(text, "\nsyscw: ", 10);
	return true;
}

bool procfs_mapped(pid_t pid, uint64_t *ret_pages)
{
	unsigned long long size, data;
	char text[128], path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	/* a process that has ended has 0 of all */
	if (!procfs_line(path, text, sizeof(text)) ||
	    sscanf(text, "%llu %*u %*u %*u %*u %llu", &size, &data) != 2 ||
	    size == 0)
		return false;
	*ret_pages = size - data;
	return true;
}

bool procfs_processors(int *ret_processors, uint64_t *ret_busy,
		       uint64_t *ret_idle)
{
	char text[256];
	cpu_set_t own;

	*ret_processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
	/* it fails where there are more than such a set can hold */
	if (sched_getaffinity(0, sizeof(own), &own) == 0 &&
	    CPU_COUNT(&own) < *ret_processors &&
	    stat_add_some(&own, ret_busy, ret_idle)) {
		*ret_processors = CPU_COUNT(&own);
		return true;
	}
	*ret_busy = *ret_idle = 0;
	return procfs_line("/proc/stat", text, sizeof(text)) &&
	       strncmp(text, "cpu ", 4) == 0 &&
	       stat_add(text + 4, ret_busy, ret_idle);
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

/* "202 uaddr op val ... sp pc", "-1 sp pc" or "running" */
static bool call_parse_all(const char *text, struct procfs_wait *ret)
{
	uint64_t *const words[] = { &ret->args[0], &ret->args[1], &ret->args[2],
				    &ret->args[3], &ret->args[4], &ret->args[5],
				    &ret->sp,	   &ret->pc };
	const char *at;
	char *end;
	long number;

	number = strtol(text, &end, 10);
	if (end == text || number < 0)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		at = end;
		*words[i] = strtoull(at, &end, 16);
		if (end == at)
			return false;
	}
	ret->number = (int)number;
	return true;
}

static bool call_parse(const char *text, int *ret_number,
		       uint64_t ret_args[PROCFS_ARGUMENTS])
{
	struct procfs_wait wait;

	if (!call_parse_all(text, &wait))
		return false;
	*ret_number = wait.number;
	memcpy(ret_args, wait.args, sizeof(wait.args));
	return true;
}

bool procfs_wait(pid_t tid, struct procfs_wait *ret)
{
	char text[256];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	return procfs_line(path, text, sizeof(text)) &&
	       call_parse_all(text, ret);
}

bool procfs_system_call(pid_t tid, int *ret_number,
			uint64_t ret_args[PROCFS_ARGUMENTS])
{
	char text[256];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	return procfs_line(path, text, sizeof(text)) &&
	       call_parse(text, ret_number, ret_args);
}

bool procfs_runs(pid_t tid)
{
	char text[256];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	return procfs_line(path, text, sizeof(text)) &&
	       strncmp(text, "running", strlen("running")) == 0;
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

/* futex_waitv(waiters, count, flags, timeout, clock); Linux 5.16 */
enum { CALL_FUTEX_WAITV = 449 };

static enum procfs_awaited call_awaited(int number,
					const uint64_t args[PROCFS_ARGUMENTS])
{
	bool futex = number == CALL_FUTEX_WAITV
			     ? args[3] == 0
			     : number == SYS_futex &&
				       futex_waits_for_ever(args[1], args[3]);

	if (futex)
		return PROCFS_THREADS;
	return number == SYS_wait4 || number == SYS_waitid ? PROCFS_CHILDREN
							   : PROCFS_NOBODY;
}

enum procfs_awaited procfs_awaited(pid_t tid)
{
	uint64_t args[PROCFS_ARGUMENTS];
	int number;

	return procfs_system_call(tid, &number, args)
		       ? call_awaited(number, args)
		       : PROCFS_NOBODY;
}

int procfs_open_call(pid_t tid)
{
	return procfs_open(tid, "syscall");
}

enum procfs_awaited procfs_call_awaited(int fd)
{
	uint64_t args[PROCFS_ARGUMENTS];
	char text[256];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	int number;

	if (n <= 0)
		return PROCFS_NOBODY;
	text[n] = '\0';
	return call_parse(text, &number, args) ? call_awaited(number, args)
					       : PROCFS_NOBODY;
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

bool procfs_call_notices_stops(uint64_t number)
{
	for (size_t i = 0;
	     i < sizeof(noticing_calls) / sizeof(noticing_calls[0]); i++) {
		if ((uint64_t)noticing_calls[i] == number)
			return true;
	}
	return false;
}

bool procfs_notices_stops(pid_t tid)
{
	uint64_t args[PROCFS_ARGUMENTS];
	int number;

	return procfs_system_call(tid, &number, args) &&
	       procfs_call_notices_stops((uint64_t)number);
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

struct error *procfs_children(pid_t pid, pid_t tid,
			      bool (*visit)(pid_t child, void *data),
			      void *data)
{
	cleanup_fclose FILE *file = NULL;
	char path[64];
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
		 (int)tid);
	file = fopen(path, "re");
	if (!file)
		return error_os(errno == ENOENT ? ESRCH : errno, "open %s",
				path);
	while (fscanf(file, "%d", &child) == 1 && visit((pid_t)child, data))
		;
	return NULL;
}
