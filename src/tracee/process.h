/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One process: its threads, and the address space it uses, which it may share
 * with others (vfork).
 */
#ifndef TRACEE_PROCESS_H
#define TRACEE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct addrspace;
struct death;
struct error;
struct thread;

enum process_role {
	PROCESS_WATCHED,
	/*
	 * A child with a copy of the memory: cleaned and detached at its first
	 * stop, or as soon after it as that can be done.
	 */
	PROCESS_COPY,
	/*
	 * A child in the memory of a watched process (vfork, posix_spawn, clone
	 * with CLONE_VM): traced until it execs or exits. Breakpoints that it
	 * reaches are lifted, and it never stalls.
	 */
	PROCESS_GUEST,
};

struct process {
	pid_t pid;
	pid_t parent; /* that made it while it was watched; 0: none did */
	enum process_role role;
	struct addrspace *space; /* one user */
	/*
	 * of a fork child: its copy of the memory was not made before; 0: that
	 * is not known
	 */
	uint64_t copied_ns;
	/* its parent was a PROCESS_COPY then, whose memory it may use (vfork(2)) */
	bool of_copy;
	bool taken; /* PROCESS_COPY: its first stop was seen */
	/* and breakpoints may be left in it, so that it is traced still */
	bool unclean;
	/* a thread of it met one, which may have reset what it does with SIGTRAP */
	bool trapped;
	struct vec threads; /* of struct thread *, owned */
	/* SIGTRAP's disposition as last seen; see sigstate.h */
	bool trap_ignored, trap_caught;
	uint64_t trap_retry_ns; /* the handler is not asked for before */
	uint64_t trap_learned_ns; /* when either became known */
	uint64_t trap_looked_ns;
	uint64_t trap_doubt_ns; /* since when it looks reset; 0: it does not */
	/* SIG_IGN is to be put back then; 0: it is as it was */
	uint64_t trap_restore_ns;
	bool trap_action_known;
	bool trap_action_wanted; /* to be asked for at some thread's stop */
	uint8_t trap_action[32]; /* struct sigaction of the kernel */
	uint64_t syscall_address; /* of a syscall instruction; 0: unknown */
	uint64_t armed_ns; /* when breakpoints were last set */
	/* its CPU time, as last read; see processes_find_quiet() */
	uint64_t cpu_ns, cpu_then_ns, ran_ns;
	int calls_file; /* of procfs_process_calls(), owned */
	bool announced; /* the front end knows of it */
	bool waited; /* it has lived through a tick (announce.h) */
	bool execed; /* it runs another program, which was not reported yet */
	uint32_t threads_most; /* at a time, since it runs its program */
	bool ever_armed; /* they have been */
	struct death *death; /* of what it may die (death.h); or NULL */
};

/* Takes over one reference to the space, on success only. */
struct error *process_create(pid_t pid, enum process_role role,
			     struct addrspace *space, struct process **ret);
/* The threads must have gone, and what the tracer has recorded of its death. */
void process_destroy(struct process *process);

/*
 * Which of the watched processes (of struct process *) hardly run, by the
 * growth of their cpu_ns since the last call: their spaces become quiet, those
 * of others are not. A new process is neither.
 */
void processes_find_quiet(const struct vec *processes);

static inline struct thread *process_thread(const struct process *process,
					    size_t i)
{
	return *(struct thread **)vec_at(&process->threads, i);
}

#endif
