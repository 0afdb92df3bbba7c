/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sweep: many runs of a command under racewatch run, one or more at a time,
 * until there were enough. Each run has a folder, a seed and an entry of the
 * plan; its result is written to the state file before the next run begins.
 * When a sweep is interrupted, it ends its runs in order; when it was killed,
 * it continues from the state file the next time.
 */
#ifndef SWEEP_SWEEP_H
#define SWEEP_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "sweep/results.h"

struct error;
struct strbuf;

struct sweep_config {
	char *const *command; /* with "{seed}" and "{run}" */
	const char *program; /* racewatch */
	const char *directory; /* that is there */
	const char *state_path;
	struct vec options; /* of char *: of every racewatch run */
	uint64_t seed; /* run n has seed + n */
	uint64_t first_run, runs; /* runs 0: no limit */
	uint64_t budget_ns; /* 0: none */
	uint64_t quiet; /* runs without a new race; 0: no limit */
	uint64_t jobs; /* at a time */
	uint64_t timeout_ns; /* of a run; 0: none */
	uint64_t output_limit;
	bool ignore_unlikely; /* races judged so are not counted */
};

/* Why it ended. */
enum sweep_end {
	SWEEP_DONE, /* all runs */
	SWEEP_QUIET,
	SWEEP_BUDGET,
	SWEEP_INTERRUPTED,
	SWEEP_GAVE_UP, /* racewatch failed, run after run */
	SWEEP_FAILED, /* itself: with an error */
};

struct sweep_progress {
	uint64_t elapsed_ns; /* of this sweep */
	uint64_t finished, runs; /* in the state; of how many, 0: not known */
	uint64_t running; /* ours */
	uint64_t races, quiet;
	uint64_t other_than_passed;
	/* when it ends, from now, as it goes; UINT64_MAX: not known */
	uint64_t left_ns;
	bool waits; /* only runs of other sweeps are under way */
};

struct sweep_sink {
	void *context;
	/* a run has ended; races_new of it are new */
	void (*finished)(void *context, const struct results *results,
			 const struct results_run *run);
	/* about once a second */
	void (*progress)(void *context, const struct sweep_progress *progress);
};

struct sweep_result {
	enum sweep_end end;
	int interrupted; /* signal */
	uint64_t elapsed_ns;
	uint64_t lost; /* runs whose end could not be recorded */
};

/*
 * Do it. `results', initialized by the caller, has all that the state file has
 * at the end, also after an error: what was found until then. SIGPIPE is
 * ignored afterwards.
 */
struct error *sweep_run(const struct sweep_config *config,
			const struct sweep_sink *sink, struct results *results,
			struct sweep_result *ret);

#endif
