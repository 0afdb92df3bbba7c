/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records a run of a command and its children into a folder: a trace of each
 * process, by our tool for Valgrind (src/recorder). The folder also gets
 * Valgrind's messages, as log.PID.
 */
#ifndef HUNT_RECORD_H
#define HUNT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

enum { RECORD_EXECUTIONS = 10 };

struct record_options {
	uint64_t memory; /* bytes for the tables of accesses; 0: 128 MiB */
	uint64_t timeout_ns; /* then the command is ended; 0: never */
	/*
	 * When all is to be over, by clock_now_ns(); 0: never. By recorders_run()
	 * alone, which gives a recorder half of the time until then.
	 */
	uint64_t deadline_ns;
	const char *
		until_exit_of; /* the client (session/companion.h); NULL: none */
	bool silent; /* the client has no standard streams but /dev/null */
	bool stacks; /* what a thread accesses on its own stack, too */
	bool lossless; /* TRACE_LOSSLESS */
	bool whole; /* TRACE_WHOLE_CELL, too: to measure what folding loses */
	bool code; /* what each thread executes, too: hunt/trace-stream.h */
	uint64_t window; /* with code: bytes of it for a thread; 0: all */
	/* by breakpoints only: executions by each thread; 0: RECORD_EXECUTIONS */
	uint32_t executions;
	const char *program; /* those with this path or name; NULL: all */
	/* modules, functions or source files besides the program's own: globs */
	const char *const *include;
	size_t include_count;
};

struct record_result {
	/* of the command, or of its client: exit status, or 128 + signal */
	int status;
	bool timed_out;
	uint64_t
		cpu_ns; /* of the command, by breakpoints 0; a client's is not in it */
};

/*
 * ERROR_UNSUPPORTED: racewatch was built without the tool, or Valgrind is not
 * installed; the message says what to install.
 */
struct error *record_check(void);

/* What `valgrind --version' prints, or "?"; after record_check(). */
void record_valgrind_version(char *ret, size_t size);

/*
 * Run argv, which is found as the shell finds it, with our standard streams,
 * and wait for it. The folder exists; traces that it has are kept. Errors:
 * record_check()'s; ERROR_NOT_FOUND, ERROR_CANNOT_RUN: the command does not
 * start; no trace was written, with what Valgrind said.
 */
struct error *record_run(char *const *argv, const char *folder,
			 const struct record_options *options,
			 struct record_result *ret);

/*
 * Start the client of a child, if there is one, and wait for the child, up to
 * options->timeout_ns; then it is ended: by SIGTERM, for which Valgrind completes
 * the trace, and a second later by SIGKILL.
 */
struct error *record_await(pid_t pid, const struct record_options *options,
			   struct record_result *result);

#endif
