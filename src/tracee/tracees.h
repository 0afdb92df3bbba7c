/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All that is traced: processes and threads, and what is set in them. One per
 * tracer process; single-threaded. The files that set breakpoints and watches,
 * stop and resume threads use only this part of the tracer's state; the tracer
 * decides when and why.
 */
#ifndef TRACEE_TRACEES_H
#define TRACEE_TRACEES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "tracee/execpoint.h"
#include "tracee/process.h"
#include "tracee/watch.h"

struct addrspace;
struct error;
struct guardian;
struct stop_reason;
struct thread;
struct wire_stats;

struct tracees {
	struct wire_stats *stats; /* some are counted here */
	struct vec processes; /* of struct process *, owned */
	struct map threads; /* tid to struct thread * */
	/* stops waited for out of turn (writer.h), to be handled first */
	struct vec early; /* of struct stop_reason */
	struct watch watch;
	struct execpoints execpoints;
	struct guardian *guardian; /* for attach; else NULL */
	bool stuck; /* a request was refused: everything must be detached */
	bool displaced_told; /* that a program has no place for copies */
	bool restoring; /* all is being let go: nothing is set any more */
	struct vec notes; /* of struct error *, owned; see tracees_note() */
	uint32_t programs; /* numbers given so far */
	uint16_t last_tag; /* given to an address space */
	uint64_t signals_due_ns; /* sigstate_tick() is needed then */
};

/* Nothing is traced yet. stats must outlive it. */
void tracees_init(struct tracees *tracees, struct wire_stats *stats);
/* There must be no processes any more. */
void tracees_deinit(struct tracees *tracees);

/* NULL: no such thread is traced. */
struct thread *tracees_thread(const struct tracees *tracees, pid_t tid);

/* The first process with that pid, or NULL. */
struct process *tracees_process(const struct tracees *tracees, pid_t pid);

static inline struct process *tracees_process_at(const struct tracees *tracees,
						 size_t i)
{
	return *(struct process **)vec_at(&tracees->processes, i);
}

/* How many processes are watched; how many threads they have. */
size_t tracees_watched_count(const struct tracees *tracees);
uint32_t tracees_thread_count(const struct tracees *tracees);

/* Record a thread with its process and in the index. */
struct error *tracees_add_thread(struct tracees *tracees,
				 struct process *process, pid_t tid,
				 struct thread **ret);

/* The next stop that was waited for out of turn; false: there is none. */
bool tracees_take_early(struct tracees *tracees, struct stop_reason *ret);

/*
 * Record a failure to report to the user; takes err over. error_gone and NULL
 * are ignored. Only the first failures are kept.
 */
void tracees_note(struct tracees *tracees, struct error *err);
/* The next failure, which the caller frees; NULL: there is none. */
struct error *tracees_take_note(struct tracees *tracees);

/* A WIRE_SHARED message (sharing.h); one that is cut short is ignored. */
void tracees_told_shared(struct tracees *tracees, const void *payload,
			 size_t size);

/* An address space with a tag and a program of its own. */
struct error *tracees_make_space(struct tracees *tracees, pid_t pid,
				 struct addrspace **ret);

/*
 * That of another process with the same program at the same addresses, with a
 * tag of its own; before anything is armed (addrspace_join()).
 */
struct error *tracees_share_space(struct tracees *tracees,
				  const struct addrspace *sibling, pid_t pid,
				  struct addrspace **ret);

/*
 * The space of a fork child that has that of its parent so far, with a tag of
 * its own (addrspace_fork()).
 */
struct error *tracees_fork_space(struct tracees *tracees,
				 const struct process *child,
				 struct addrspace **ret);

#endif
