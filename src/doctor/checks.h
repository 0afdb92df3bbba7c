/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether this machine, this user and a process can be watched: everything
 * that can keep racewatch from it, each with what was found and what to
 * change. For `racewatch doctor`, and for the refusals of run and attach.
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
 * Look at machine and user. Children are forked, traced and killed for it; the
 * caller must have no others that it waits for.
 */
struct error *checks_machine(struct checks *checks);

/* Look at a process or thread; it is neither stopped nor traced. */
struct error *checks_process(pid_t pid, struct checks *checks);

/*
 * The reason why tracing fails here, or why pid cannot be attached to, as an
 * ERROR_REFUSED with the remedy; NULL if none is seen. The process of a thread
 * id is looked at.
 */
struct error *checks_refuse_machine(void);
struct error *checks_refuse_process(pid_t pid);

#endif
