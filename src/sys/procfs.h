/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of a thread from /proc (proc(5)), without stopping it. Small reads
 * of fixed size into the caller's stack; no allocation.
 */
#ifndef SYS_PROCFS_H
#define SYS_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

struct thread_status {
	/* signals, bit n-1 for signal n; pending for the thread alone */
	uint64_t blocked, ignored, caught, pending;
	uint64_t process_pending; /* for any of its process's threads */
	pid_t tgid, parent, tracer;
	char state; /* 'R', 'S', 'D', 'T', 't', 'Z', 'X' */
	bool shadow_stack; /* it has one: x86_Thread_features */
};

struct error *procfs_status(pid_t tid, struct thread_status *ret);

/* Does the text of such a file name the feature? Only exposed for tests. */
bool procfs_status_has(const char *text, const char *feature);

/*
 * Read /proc/TID/NAME, as much as fits in size bytes with the NUL that ends it.
 * error_gone: there is no such thread.
 */
struct error *procfs_text(pid_t tid, const char *name, char *text, size_t size);

/* The thread's name, NUL-terminated; "" when it cannot be read. */
void procfs_name(pid_t pid, pid_t tid, char *name, size_t size);

/*
 * The number that the thread itself has of it (gettid(2)): another one in a PID
 * namespace. 0: it cannot be told.
 */
pid_t procfs_own_tid(pid_t pid, pid_t tid);
/* The last number of NSpid in the text of such a file. For tests. */
pid_t procfs_status_own(const char *text);

/* Nanoseconds the thread has run on a CPU. */
struct error *procfs_cpu_time(pid_t pid, pid_t tid, uint64_t *ret_ns);

struct procfs_time {
	uint64_t
		ran_ns; /* on a CPU; while it runs, up to the last clock tick */
	uint64_t waited_ns; /* ready to run, until it ran */
};

/* Of the thread since its creation: the first two of its schedstat. */
struct error *procfs_times(pid_t pid, pid_t tid, struct procfs_time *ret);

/*
 * Nanoseconds that all threads of the process have run until now; false: it has
 * ended.
 */
bool procfs_process_cpu(pid_t pid, uint64_t *ret_ns);

/*
 * Calls of read(2), write(2) and their like that the process's threads have made
 * (/proc/PID/io; recvmsg(2), sendmsg(2) and their like are not counted); false:
 * it has gone, or the kernel does not count them. *fd: the file, which stays open
 * for the next time; -1: it is not open.
 */
bool procfs_process_calls(pid_t pid, int *fd, uint64_t *ret_calls);

/*
 * The number of pages of the process's mappings, except private writable ones
 * such as heap and stacks: it changes when a library or shared memory is mapped
 * or unmapped. False: it cannot be read.
 */
bool procfs_mapped(pid_t pid, uint64_t *ret_pages);

/*
 * The processors that the calling thread may run on (sched_getaffinity(2)), and
 * the clock ticks that they were busy and idle since the machine was started;
 * false when that cannot be told.
 */
bool procfs_processors(int *ret_processors, uint64_t *ret_busy,
		       uint64_t *ret_idle);

/* Arguments of a system call, as the thread passed them. */
enum { PROCFS_ARGUMENTS = 6 };

/*
 * The system call that the thread sleeps in. False when it runs, sleeps
 * elsewhere (a page fault), or that cannot be told.
 */
bool procfs_system_call(pid_t tid, int *ret_number,
			uint64_t ret_args[PROCFS_ARGUMENTS]);

/* The same, with where it is. */
struct procfs_wait {
	int number;
	uint64_t args[PROCFS_ARGUMENTS];
	uint64_t sp, pc;
};

bool procfs_wait(pid_t tid, struct procfs_wait *ret);

/* The stack pointer of a thread that sleeps; false while it runs. */
bool procfs_stack_pointer(pid_t tid, uint64_t *ret);

/* Who has to do something before a thread goes on. */
enum procfs_awaited {
	PROCFS_NOBODY, /* it runs, may be woken otherwise, or that is not known */
	PROCFS_THREADS, /* another thread: a futex wait without time-out */
	PROCFS_CHILDREN, /* a child of its process: wait4(2), waitid(2) */
};

enum procfs_awaited procfs_awaited(pid_t tid);

/* The same for a thread that is asked often, with an open file; -1: none. */
int procfs_open_call(pid_t tid);
enum procfs_awaited procfs_call_awaited(int fd);

/* Does the thread run, or wait for a processor? False: it sleeps, or is gone. */
bool procfs_runs(pid_t tid);

/*
 * Does the thread sleep in a system call that a stop would end early, with
 * EINTR? Others are restarted by the kernel (signal(7), "Interruption of
 * system calls ... by stop signals"; tests/run/sleepers.sh measures which).
 */
bool procfs_notices_stops(pid_t tid);
/* The same of a system call's number. */
bool procfs_call_notices_stops(uint64_t number);

/*
 * Call visit for each thread id of the process, until it returns false.
 */
struct error *procfs_threads(pid_t pid, bool (*visit)(pid_t tid, void *data),
			     void *data);

/*
 * The same for each child process of the thread. It may leave some out when others
 * end meanwhile. error_gone also where the kernel has no such list.
 */
struct error *procfs_children(pid_t pid, pid_t tid,
			      bool (*visit)(pid_t child, void *data),
			      void *data);

#endif
