/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One traced thread. It owns its debug registers (as last written) and knows
 * whether it runs, is stopped, and who wants it to stay stopped.
 */
#ifndef TRACEE_THREAD_H
#define TRACEE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/wait.h"
#include "wire/message.h"
#include "x86/dregs.h"

struct error;
struct creation;
struct hold;
struct process;
struct step;

enum thread_state {
	THREAD_RUNNING, /* or in a stop not yet waited for */
	THREAD_STOPPED, /* in a ptrace-stop */
	THREAD_LISTENING, /* in group-stop */
	THREAD_GONE, /* vanished; its end is still to be waited for */
};

/* What is in the thread's four watch slots; see watch.h. */
struct thread_watch {
	/* generation of the watch in each slot; 0: none */
	uint64_t generation[DREGS_SLOTS];
	uint64_t address[DREGS_SLOTS];
	uint64_t control; /* DR7 as last written */
	bool shows_parent; /* never written, it reads as its creator's */
	int fds[DREGS_SLOTS]; /* perf events; -1: not open */
	/* what each of them had counted when a trap was last handled */
	uint64_t told[DREGS_SLOTS];
	/* counts from one trap to the next; 0 and 1: each traps */
	uint64_t periods[DREGS_SLOTS];
	/*
	 * a closed event had counted an access whose trap may still be pending:
	 * it comes at the end of the system call that made the access
	 */
	bool trap_pending;
	bool by_registers; /* perf cannot stop it: SIGTRAP is blocked */
	bool dirty; /* asked to stop for an update; it has not stopped yet */
};

/*
 * Where a thread is among those of its process: the n-th that was created by the
 * m-th that was created by ... its first thread, which has the length 0. Unlike
 * thread.path, new processes do not count.
 */
struct thread_place {
	uint32_t path[WIRE_PATH_MAX];
	uint32_t length;
	bool deep; /* it is farther down than can be told */
};

enum { THREAD_MASKS = 4 };

/* What is known of SIGTRAP in this thread; see sigstate.h. */
struct thread_signals {
	bool known;
	bool settled; /* looked at since it set itself up */
	bool lasting; /* the mask is not of a moment in pthread_create(3) */
	/* SIGTRAP is unblocked briefly, so that a pending one is delivered */
	bool draining;
	uint64_t mask; /* the last one seen */
	/*
	 * different ones, the last first: a thread has another one in its
	 * handlers, and in parts of glibc
	 */
	uint64_t masks[THREAD_MASKS];
	uint8_t masks_count;
	uint64_t born_ns;
	/* since when the mask may have been of all signals; 0: ever */
	uint64_t blocking_ns;
	/* number of system calls at which it may still stop (upstart.h) */
	uint8_t calls_left;
	uint64_t next_refresh_ns;
	uint64_t refresh_gap_ns;
};

/*
 * The lifted location at which a thread was last resumed. If it is armed again
 * before the thread has moved, the thread traps again, and this could repeat
 * without end. So after a few times in a row the location is not armed until
 * the thread is known to have run.
 */
struct thread_parking {
	uint64_t address; /* 0: nowhere */
	struct x86_registers regs; /* with these */
	uint64_t cpu_ns; /* its CPU time then, once it blocks */
	unsigned int times; /* in a row, without a sign of having moved */
	bool blocks; /* the location may not be armed */
};

/*
 * A copy of an instruction that it executes instead of the original, which has a
 * breakpoint (displaced.h).
 */
enum thread_displacement {
	DISPLACED_NOT,
	DISPLACED_DUE, /* at the original, it goes to the copy when resumed */
	DISPLACED_AWAY, /* was resumed at the copy; where it is now is not known */
};

struct thread_displaced {
	enum thread_displacement state;
	uint64_t address, copy;
	uint8_t length;
	/* a handler runs before the instruction has been executed: with these */
	bool interrupted;
	unsigned int interrupts; /* since it has last executed a copy */
	struct x86_registers regs;
};

struct thread {
	struct process *process;
	pid_t tid;
	pid_t own_tid; /* procfs_own_tid(), once it was asked; 0: not yet */
	size_t index; /* among the threads of its process */
	enum thread_state state;
	bool interrupting; /* an interrupt was sent, its stop not yet seen */
	bool drained; /* ready to be detached, with the others of its process */
	/* nothing of ours is left in it: the tracer's exit may detach it */
	bool left;
	bool vforking; /* waits for its child to exec or end (vfork(2)) */
	/* stopped in the middle of a system call: it can make no other */
	bool in_call;
	bool newborn; /* its first stop is still to come */
	bool stepping; /* was last resumed for one instruction */
	/* when it was last seen not to be in the middle of fork(2); 0: never */
	uint64_t unforked_ns;
	bool births_known; /* what it made before it was traced (underway.h) */
	int deliver; /* signal to hand over when it is resumed */
	uint64_t rests_until_ns; /* after a stall; not stalled before */
	struct hold *hold; /* keeps it stopped; NULL: nobody does */
	struct step *step; /* being stepped; NULL: no */
	struct thread_watch watch;
	struct thread_signals signals;
	struct thread_parking parking;
	struct thread_displaced displaced;
	/* its place among the births: n-th child of n-th child ... */
	uint32_t path[WIRE_PATH_MAX];
	uint32_t path_length;
	uint32_t births;
	struct thread_place place;
	uint32_t threads_made; /* that it has created in its process */
	bool profiled; /* it is being sampled (profile.h) */
	uint64_t profile_due_ns; /* it is not before; 0: it never was */
	struct creation *creation; /* creation.h; NULL: not kept */
};

/* A record for a thread that is traced; added to the process. */
struct error *thread_create(struct process *process, pid_t tid,
			    struct thread **ret);

/* Take the thread, which is not to be used any more, out of its process. */
void thread_unlist(const struct thread *thread);

/* Give a child its path: the births of its creator are counted. */
void thread_set_path(struct thread *child, struct thread *creator);

/* The same of its place among the threads of its process. */
void thread_set_place(struct thread *child, struct thread *creator);
/* It is the first of a process, or the only one of a new program. */
void thread_begin_place(struct thread *thread);
bool thread_is_at(const struct thread *thread,
		  const struct thread_place *place);

/* Ask a running thread to stop; harmless otherwise. */
void thread_interrupt(struct thread *thread);

/* Is SIGTRAP known to be blocked in the thread? */
bool thread_blocks_trap(const struct thread *thread);

/*
 * Handle the result of a request on the thread: error_gone marks it as
 * vanished; other errors are noted. True if there was no error.
 */
bool thread_ok(struct thread *thread, struct error *err);

#endif
