/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The front end's event loop: starts the tracer, keeps its queue of sites
 * filled, turns conflicts into races, passes signals on, and ends the watching
 * when it is time. Races and other results are passed to a sink at once.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/run.h"
#include "sampling/where.h"
#include "schedule/effort.h"
#include "wire/hunt.h"
#include "wire/message.h"
#include "wire/tracing.h"

struct error;
struct crash;
struct image;
struct judge;
struct race;
struct pidref;
struct learned;
struct session_recorded;
struct session_recording;
struct rules;
struct sources;
struct vec;

struct session_config {
	char *const *argv; /* the command; NULL: attach to pids */
	const int *pids; /* attach to these processes */
	size_t pid_count;
	const struct pidref *held; /* pid_count, of pids; NULL: not held */
	struct tracing tracing;
	/*
	 * How long processes that outlive argv are watched; 0: until all have
	 * ended.
	 */
	uint64_t rest_ns;
	bool debuginfod; /* see image_ask_servers() */
	uint64_t seed;
	struct effort_plan effort;
	uint64_t duration_ns; /* stop watching after; 0: never */
	uint64_t timeout_ns; /* end the program after; 0: never */
	bool halt_on_race;
	/* leave the program stopped at the first race */
	bool stop_at_race;
	bool ignore_unlikely; /* races judged so do not count */
	/* of each race, to be replayed in every order; 0: none */
	uint32_t replay_instances;
	bool shows_all; /* whatever does not count is shown with the races */
	const struct rules *rules;
	struct judge *judge; /* of races; NULL: none */
	struct sources *sources; /* of new races; NULL: none */
	/* what is known of locations, to which the run adds; NULL: nothing */
	struct learned *learned;
	/* half of the stalls are where it says races are likely */
	bool guided;
	const struct vec *at; /* of struct where, WHERE_MAX; NULL: none */
	/*
	 * A race to be provoked: nothing is sampled, and the places of `at' are
	 * its sides. When it was, the watching ends. NULL: none.
	 */
	const struct wire_provoke *provoke;
	/*
	 * Sides to be provoked (struct session_side), HUNT_SIDES_MAX at most:
	 * nothing is sampled, and when all have been tried, the watching ends.
	 * NULL: none. Only with argv.
	 */
	const struct vec *hunt;
	/* To be recorded, and nothing is sampled. NULL: not. Only with argv. */
	const struct session_recording *record;
	bool silent; /* argv has no standard streams but /dev/null */
	/*
	 * What the front end keeps once the tracer runs (sys/sandbox.h), which
	 * adds the processes it may signal. NULL: all it has.
	 */
	const struct sandbox *sandbox;
};

enum { HUNT_SIDES_MAX = WIRE_HUNT_SIDES };

/* A side of a hunt: what it is says report/target-record.h. */
struct session_side {
	uint64_t id; /* becomes the target of its race */
	struct wire_hunt wire; /* but for what is found in a program */
	const char *program; /* path of the executable; NULL: any */
	struct where where; /* the instruction: WHERE_OFFSET */
	/*
	 * of struct where: instructions of partners; those in code that many
	 * execute, for other bytes; return addresses
	 */
	const struct vec *partners, *busy, *stack;
};

/* All counters, at any time after the start. */
struct session_counts {
	/* so far, but for what only the end tells, and without lists */
	struct run_summary sum;
	int pid;
	char backend[WIRE_NAME]; /* "" before the start */
	bool kernel_accesses;
	bool sandboxed; /* as config.sandbox says; else why was noted */
	bool generated_seen; /* see struct generated */
	/* all modules were read; see struct sampleset, at the end */
	bool modules_read;
	uint64_t own_functions;
	const char *excluded_by;
	bool own_complete; /* all functions of the own modules were decoded */
	bool sites_complete; /* no function is left to decode */
	uint64_t unused; /* conflicts about bytes loaded and not used */
};

struct session_sink {
	void *context;
	/*
	 * Watching begins; image is that of the first process, and stays
	 * until the session ends.
	 */
	void (*started)(void *context, const struct session_counts *counts,
			const struct image *image);
	/*
	 * A race was seen; the first time, or again with its count raised or
	 * its verdict graver. The first time comes again when the judge has
	 * taken a suppression back. Borrowed; valid until the session ends.
	 */
	void (*race)(void *context, const struct race *race, bool first);
	/*
	 * A process of another user is watched: from now on, only our user may
	 * read what is written. Called once, before any of its races is
	 * reported.
	 */
	void (*foreign)(void *context);
	/* A watched process has died by a signal. Borrowed for the call. */
	void (*crash)(void *context, const struct crash *crash);
	/* About five times a second. */
	void (*status)(void *context, const struct session_counts *counts);
	/*
	 * config.stop_at_race: these processes (0: none) are stopped at the
	 * race reported last, and not traced any more.
	 */
	void (*stopped)(void *context, const int pids[2]);
	/* A warning from the tracer. */
	void (*note)(void *context, const char *text);
	/* config.provoke: something has come of it. Each replaces the last. */
	void (*provoked)(void *context, const struct wire_provoked *provoked);
	/*
	 * config.hunt: what came of a side in one of the programs that ran.
	 * race: what was met (WIRE_HUNT_MET); NULL: two reads, or nothing new.
	 * waits (struct session_wait, borrowed): with WIRE_HUNT_ALONE, what the
	 * side's others did meanwhile; some may be of other sides.
	 */
	void (*hunted)(void *context, const struct wire_hunted *news,
		       const struct race *race, const struct vec *waits);
	/* config.record: what a thread does, in the order of stops */
	void (*recorded)(void *context, const struct session_recorded *news);
	/*
	 * Before the session ends: the last counts, with all races alive, and
	 * numbered, which those that do not count are only now. Only these
	 * counts have the lists of sum: coverage, also of libraries that were
	 * unloaded; at, of each place of config.at; and programs that had a
	 * second thread or samples, that with the most samples first. They are
	 * the receiver's to free, by fields_deinit(&summary_fields).
	 */
	void (*ended)(void *context, const struct session_counts *counts);
};

enum session_end {
	SESSION_EXITED, /* the program ended; status as wait(2) gives it */
	SESSION_LEFT, /* attach: the program goes on without us */
};

struct session_result {
	enum session_end end;
	int status;
	bool timed_out; /* config.timeout_ns ended the program */
	bool halted; /* config.halt_on_race did */
	bool stopped; /* config.stop_at_race stopped it */
	int interrupted; /* the signal that ended the watching, or 0 */
	int asked; /* the last that asked for an end, the program's or ours; or 0 */
};

/*
 * Run a session from start to end. Call it early, before much memory is used:
 * it forks. Handles SIGPIPE, SIGCHLD and signals_terminating() meanwhile;
 * SIGPIPE is ignored afterwards, SIGXFSZ from the start. Afterwards the first of
 * each that asks for the end is spared, unless SIGINT or SIGTERM came before.
 * Errors: the tracer's own (ERROR_CANNOT_RUN, ...), or ERROR_OTHER: it died.
 */
struct error *session_run(const struct session_config *config,
			  const struct session_sink *sink,
			  struct session_result *ret);

#endif
