/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that runs the command again and again, each time with the sides that
 * it is sent, and sends back what came of it. Both ways as lines of a report
 * (racewatch-json(5)): target records and, to end a batch, a summary, whose time is
 * the limit of the run; back come races and crashes besides, lines of notes, and the
 * summary has the command's exit status (128 + signal if that killed it), the time
 * of the run, and the CPU time of the command and of racewatch in it. So several
 * runs go on at a time, each with a session of its own.
 */
#ifndef HUNT_WORKER_H
#define HUNT_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/vec.h"

struct error;
struct holding_config;
struct notes;
struct report_record;

struct worker {
	pid_t pid;
	FILE *to, *from; /* from can be polled between two batches */
	bool busy;
};

/*
 * What the commands that this process starts have in RACEWATCH_JOB: those that run at
 * the same time have different numbers, from 1.
 */
void worker_number(uint64_t number);

/*
 * Fork it, with that number. config must stay as it is; end with worker_end().
 */
struct error *worker_start(const struct holding_config *config, uint64_t number,
			   struct worker *ret);

/*
 * Send it a batch: sides (const struct hunt_side *) with the times to hold each
 * for (uint64_t), as many, and of its run the back-end (holding_config) and the time
 * after which it is ended, if that is less than config->timeout_ns; 0: none.
 */
struct error *worker_send(struct worker *worker, const struct vec *sides,
			  const uint64_t *holds, const char *backend,
			  uint64_t limit_ns);

/*
 * What it has sent back, a record at a time: *ret_more is false at the end of the
 * batch, and record is the summary then. What its run could not do is a warning, if
 * new in notes. ERROR_OTHER: it has ended.
 */
struct error *worker_receive(struct worker *worker, struct notes *notes,
			     struct report_record *record, bool *ret_more);

/* Let it end by itself; now: end its run, which ends the command. */
void worker_end(struct worker *worker, bool now);

#endif
