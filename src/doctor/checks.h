/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks whether racewatch can watch programs on this machine, as this user,
 * and a process: each check has its finding and what to change. For `racewatch
 * doctor`, and for the refusals of run and attach.
 */
#ifndef DOCTOR_CHECKS_H
#define DOCTOR_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/vec.h"

struct error;

/* From good to bad. */
enum check_verdict {
	CHECK_OK,
	CHECK_NOTE, /* worth knowing; nothing is lost by it */
	CHECK_WARNING, /* watching works, with a limit */
	CHECK_FAILED, /* it cannot be watched */
};

struct check {
	const char *name; /* a word, the same in every version */
	enum check_verdict verdict;
	char *finding;
	char *remedy; /* NULL: none needed */
};

struct checks {
	struct vec list; /* of struct check */
};

void checks_init(struct checks *checks);
void checks_deinit(struct checks *checks);

/* "ok", "note", "warning", "failed" */
const char *check_verdict_name(enum check_verdict verdict);

enum check_verdict checks_worst(const struct checks *checks);

/*
 * Check machine and user. Forks, traces and kills children; the caller must
 * have no other children that it waits for.
 */
struct error *checks_machine(struct checks *checks);

/* Check a process or thread; it is neither stopped nor traced. */
struct error *checks_process(pid_t pid, struct checks *checks);

/*
 * The reason why tracing fails here, or why pid cannot be attached to, as an
 * ERROR_REFUSED with the remedy; NULL if none is seen. If pid is a thread's id,
 * its process is checked.
 */
struct error *checks_refuse_machine(void);
struct error *checks_refuse_process(pid_t pid);

#endif
