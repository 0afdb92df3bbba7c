/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian: a small third process, for a tracer that attaches. An int3
 * kills a program that nobody traces. So when the tracer dies, by SIGKILL or a
 * bug, the guardian writes the original text back and clears the debug
 * registers that the tracer set.
 *
 * It does so too when the tracer is stuck (heartbeat.h): it continues a tracer
 * that was stopped, and kills one that hangs, after it has made sure that the
 * threads of the program survive that (guardstuck.h).
 *
 * It checks the tracer four times a second, and sleeps otherwise. It is in a
 * session of its own and has no file of the others open. If it is killed, the
 * program is not harmed, but is no longer protected.
 */
#ifndef GUARDIAN_GUARDIAN_H
#define GUARDIAN_GUARDIAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct error;
struct guardtable;
struct heartbeat;
struct wire_site;

struct guardian {
	pid_t pid; /* 0: it has ended and was waited for */
	struct guardtable *table;
	struct vec free_list; /* of uint32_t: entries of the table */
	uint32_t texts; /* numbers given out */
	bool deputized; /* a thread looks at the table until the process ends */
};

/*
 * Fork it. The caller is the tracer, and single-threaded. Early, while it is
 * small.
 */
struct error *guardian_start(struct heartbeat *heartbeat,
			     struct guardian **ret);

/*
 * Nothing is armed any more: end it and wait for its end. NULL is fine. The
 * table stays mapped if there is a deputy.
 */
void guardian_stop(struct guardian *guardian);

/* The functions below do nothing, and succeed, where guardian is NULL. */

/* A number for a text, which one address space or several hold; never 0. */
uint32_t guardian_add_text(struct guardian *guardian);

/* An address space in which the breakpoints of that text will be armed. */
struct error *guardian_add_space(struct guardian *guardian, uint32_t text,
				 pid_t pid, uint32_t *ret_space);
/*
 * Wait until the guardian has opened the files of the process of that space, a
 * second at most: then they may be closed to it. An error: it has not. Nobody is
 * waited for when it has ended.
 */
struct error *guardian_await_space(const struct guardian *guardian,
				   uint32_t space);
void guardian_remove_space(struct guardian *guardian, uint32_t space);
/*
 * The process of that space is in a group-stop now, or is no longer: one whose
 * user has stopped it stays stopped when the tracer is killed.
 */
void guardian_note_stopped(struct guardian *guardian, uint32_t space,
			   bool stopped);

/* Is there room for another breakpoint? */
bool guardian_has_room(const struct guardian *guardian);

/*
 * The site is about to be armed; false: there is no room, do not arm it. *ret
 * is never 0.
 */
bool guardian_add(struct guardian *guardian, uint32_t text,
		  const struct wire_site *site, uint32_t *ret_entry);
/* Its text was restored. */
void guardian_remove(struct guardian *guardian, uint32_t entry);

/* Debug registers are about to be set by ptrace. */
void guardian_note_registers(struct guardian *guardian);

/*
 * Start the thread that the guardian needs in a stuck tracer (deputy.h); the
 * tracer must not fork after this.
 */
struct error *guardian_deputize(struct guardian *guardian);

/* A child ended: was it the guardian? True once. */
bool guardian_ended(struct guardian *guardian, pid_t pid);

#endif
