/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What checks.c, checks-machine.c and checks-process.c share: tables of checks,
 * and how to write their results.
 */
#ifndef DOCTOR_CHECKS_LIST_H
#define DOCTOR_CHECKS_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "doctor/checks.h"

struct error;
struct identity;
struct image;

/* What the checks of one table share. */
struct check_context {
	/* machine */
	bool untraceable; /* the live tests would all say the same */
	bool perf_works;
	/* process */
	pid_t asked; /* as it was given */
	const struct identity *identity; /* of its first thread */
	pid_t live; /* a thread that has not ended */
	struct image *image; /* NULL: cannot be read */
	bool over; /* there is nothing more to look at */
};

/* Fill in verdict, finding and remedy of *ret, whose name is set. */
typedef void check_look(struct check_context *context, struct check *ret);

struct check_entry {
	const char *name;
	check_look *look;
	bool refuses; /* its failure is a reason not to try */
	bool traces; /* left out where nothing can be traced */
};

void check_find(struct check *check, enum check_verdict verdict,
		const char *format, ...) __attribute__((format(printf, 3, 4)));
void check_advise(struct check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Run a table into the list; entries may find nothing to say. */
struct error *checks_run(const struct check_entry *table, size_t count,
			 struct check_context *context, struct checks *checks);

/* The first failure among those that refuse, prefixed by `who' if not "". */
struct error *checks_refuse(const struct check_entry *table, size_t count,
			    struct check_context *context, const char *who);

/* Capabilities that would help, checks-advice.c. */
enum check_capability {
	CHECK_PTRACE,
	/* the same for a process whose /proc/PID/mem is not of our user */
	CHECK_OTHERS,
	CHECK_PERFMON,
	CHECK_RESTORE,
};

/*
 * Set the remedy: how to get a capability that racewatch lacks, which root may
 * lack too; with text before and after.
 */
void check_advise_capability(struct check *check, const char *before,
			     enum check_capability which, const char *after);

#define CHECK_CONTAINER "docker run or podman run with --cap-add=SYS_PTRACE"

/* checks-live.c */
check_look check_look_ptrace, check_look_memory, check_look_watch_perf,
	check_look_watch_ptrace, check_look_watch_cpu, check_look_execution,
	check_look_watch_value, check_look_registers;
/* checks-access.c */
check_look check_look_access;
/* checks-text.c */
check_look check_look_text;

/* Is the process in our namespace of that kind, as far as can be seen? */
bool check_same_namespace(const struct check_context *context,
			  const char *name);

/* CAP_* of linux/capability.h */
bool check_capable(const struct identity *identity, int capability);

#endif
