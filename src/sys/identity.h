/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who a process or thread is, of what /proc tells everybody (proc(5)): the
 * facts that decide whether it may be traced.
 */
#ifndef SYS_IDENTITY_H
#define SYS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

struct identity {
	pid_t tid;
	pid_t process; /* the thread group's id */
	pid_t tracer; /* 0: nobody; as seen from here */
	uid_t real_uid, uid; /* uid: the effective one */
	char state; /* 'R', 'S', 'D', 'T', 't', 'Z', 'X' */
	bool kernel; /* a kernel thread */
	unsigned int threads;
	unsigned int seccomp; /* 0: none, 1: strict, 2: filter */
	uint64_t capabilities; /* effective */
	uint64_t start_time; /* in clock ticks since boot */
	char name[16];
};

/* error_gone when there is none, or /proc hides it (hidepid). */
struct error *identity_read(pid_t tid, struct identity *ret);

/*
 * May the thread be made to execute a call that its program has not? A filter of
 * seccomp(2) may kill it for that. Not to be told: as if it had one.
 */
bool identity_has_no_filter(pid_t tid);

/*
 * Parse the texts of /proc/TID/status and /proc/TID/stat. ERROR_FORMAT if they
 * are not that.
 */
struct error *identity_parse(pid_t tid, const char *status, const char *stat,
			     struct identity *ret);

/*
 * A thread of the process that has not ended: the first one, or, when that has
 * exited before the others, another. 0 when there is none. The files of an
 * ended thread in /proc are empty.
 */
pid_t identity_live_thread(pid_t pid);

#endif
