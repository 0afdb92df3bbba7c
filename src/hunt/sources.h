/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the sides of a hunt come from: its store, if an earlier hunt has left them
 * there; a file of target records; a recording that is there; or one that is made
 * now.
 */
#ifndef HUNT_SOURCES_H
#define HUNT_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunt/target.h"

struct candidates;
struct error;
struct outcomes;

struct hunt_sources {
	char *const *argv; /* the command, to be recorded */
	const char *targets; /* a report with target records; or NULL */
	const char *trace; /* a folder with a recording; or NULL */
	const char *keep_trace; /* a folder for the recording; NULL: none */
	const char *recorder; /* "auto" or its name */
	uint64_t timeout_ns; /* of the recorded run; 0: none */
	uint64_t deadline_ns; /* as struct record_options has it */
	const char
		*until_exit_of; /* the client (session/companion.h); or NULL */
	uint64_t trace_memory; /* bytes for the recorder; 0: its own */
	bool code; /* by Valgrind: what is executed, too */
	/*
	 * Bytes of that for each thread; 0: all. Of a recording that is there, as
	 * struct hunt_pairing has it.
	 */
	uint64_t window;
	uint64_t registers; /* as struct hunt_pairing has it */
	bool transfer; /* as struct hunt_pairing has it */
	/* by breakpoints: of each instruction, by each thread; 0: as many as usual */
	uint32_t executions;
	const char *const *include; /* as struct record_options has them */
	size_t include_count;
	const char *program; /* as struct hunt_pairing has it; or NULL */
	struct candidates *candidates; /* as struct hunt_pairing has them */
	uint64_t most; /* sides at most; 0: all */
	const char *since; /* the store of an older hunt; or NULL */
};

struct hunt_found {
	bool kept; /* they were in the store */
	bool recorded; /* now: by this recorder, */
	const char *recorder;
	double slow_down; /* of CPU time; 0: not measured */
	/*
	 * Exit statuses of the command by itself and as it was recorded, as of a
	 * shell; the same: they do not differ, or one is not known.
	 */
	int bare_status, recorded_status;
	int status; /* of the recorded run; 0: it was ended, or none was made */
	bool cut; /* it was ended, by its time */
	bool paired; /* totals are those of the recording */
	struct hunt_totals totals;
	uint64_t sides; /* that are in the store now */
	uint64_t transferred; /* of these, ordered by a hand-over */
	uint64_t unchanged; /* of these, as in `since' */
};

/*
 * Fill the store, unless it has sides; the candidates learn of their sides either
 * way. Errors: those of the recorder, of reading a trace or a report, of kept_load();
 * ERROR_OTHER: the file has no targets.
 */
struct error *hunt_find_sides(const struct hunt_sources *sources,
			      struct outcomes *outcomes,
			      struct hunt_found *ret);

#endif
