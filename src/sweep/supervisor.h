/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that supervises one run: it starts racewatch run with an empty
 * standard input, reads its output, waits for its end, and ends all processes
 * that the run has left behind. Orphaned descendants of the run become the
 * supervisor's children (PR_SET_CHILD_SUBREAPER), so that the processes of
 * simultaneous runs cannot be confused. When the sweep dies, by SIGKILL too,
 * the supervisor ends its run, and then itself.
 */
#ifndef SWEEP_SUPERVISOR_H
#define SWEEP_SUPERVISOR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "sweep/descendants.h"

struct error;

/* What a run inherits: all as it was when the sweep was started. */
struct supervisor_inherit {
	sigset_t mask;
	struct sigaction child_action; /* of SIGCHLD */
	struct rlimit files; /* RLIMIT_NOFILE */
};

struct supervisor_config {
	const char *program; /* racewatch */
	char *const *argv; /* its arguments, ended by NULL */
	const char *out_path, *err_path;
	uint64_t output_limit; /* bytes of each */
	uint64_t timeout_ns; /* that racewatch run was told; 0: none */
	uint64_t run, seed; /* for the environment */
	int lock_fd; /* held as long as a process of the run exists */
	const struct supervisor_inherit *inherit;
};

/* The supervisor's report at the end of the run. */
struct supervisor_result {
	int status; /* of racewatch run, as wait(2) has it */
	bool stopped; /* by supervisor_stop(), or because the sweep died */
	bool timed_out; /* by racewatch, or by the supervisor if that hung */
	uint64_t elapsed_ns;
	uint32_t left, away; /* processes that it left behind */
	char names[DESCENDANTS_NAMES]; /* of some of them */
	uint64_t cut_bytes; /* of output */
	int write_error; /* errno of writing the output; 0: none */
};

struct supervisor {
	pid_t pid;
	int result_fd; /* readable when it is over */
	int life_fd; /* the supervisor notices when it is closed */
};

struct error *supervisor_start(const struct supervisor_config *config,
			       struct supervisor *ret);

/* End the run early; the result is sent as usual. */
void supervisor_stop(struct supervisor *supervisor);

/*
 * Read the result, once result_fd is readable, and reap the supervisor. An
 * error when it died without one.
 */
struct error *supervisor_finish(struct supervisor *supervisor,
				struct supervisor_result *ret);

#endif
