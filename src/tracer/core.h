/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every part of the tracer uses: the phase, the traced processes, and the
 * channel to the front end with what is counted and noted for it. One per tracer
 * process; single-threaded. The parts have a pointer to it; the whole is engine.h.
 */
#ifndef TRACER_CORE_H
#define TRACER_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/vec.h"
#include "tracee/held.h"
#include "tracee/tracees.h"
#include "wire/channel.h"
#include "wire/message.h"

struct error;
struct process;

enum phase {
	PHASE_STARTING, /* the command has not been executed yet */
	PHASE_WATCHING,
	PHASE_RELEASING, /* threads are detached as they stop */
	PHASE_RELEASED, /* nothing is traced; a child may still run */
	PHASE_DONE,
};

struct core {
	enum phase phase;
	struct tracees tracees;
	struct channel channel;
	struct wire_stats stats;
	struct vec returned; /* of struct wire_returned, to be sent */
	unsigned int notes_sent;
	int perf_ready; /* perfwatch_keep_ready(); -1: not open */
	struct rng rng;
	struct held held;
};

/* Nothing is traced; the channel takes fd over. */
struct error *core_init(struct core *core, int fd, uint64_t seed);
/* There must be no processes any more. */
void core_deinit(struct core *core);

/* Can any other thread reach what the process's threads access? */
bool core_may_race(const struct core *core, const struct process *process);

/*
 * Several processes may share one program, which is counted once: at this one?
 */
bool core_counts_text(const struct process *process);

/*
 * How many breakpoints of the pool are in the text of watched processes, and how
 * many of sites to be armed once.
 */
size_t core_armed(const struct core *core);
size_t core_armed_once(const struct core *core);

/* Tell the front end that this site is no longer armed. */
void core_return_site(struct core *core, uint32_t program, uint64_t id,
		      enum wire_returned_why why);

/* Send the failures (tracees_note()). */
void core_send_notes(struct core *core);

/* A warning for the user, once in a while; consumes err. */
void core_note(struct core *core, struct error *err);
/* The same, however many there were before. */
void core_note_last(struct core *core, struct error *err);

#endif
