/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which recorder records a run: the one that is asked for, or the first of those
 * that are installed and can run the command.
 */
#ifndef HUNT_RECORDERS_H
#define HUNT_RECORDERS_H

#include "hunt/record.h"

struct error;

struct recorders_result {
	struct record_result run;
	const char *name; /* the recorder's, as --recorder takes it */
	/* of the command by itself, as of a shell; -1: not known */
	int bare_status;
	double slow_down; /* of CPU time; 0: not measured, or none to speak of */
};

/*
 * Record the command as record_run() does. name: "auto" or a recorder's. "auto"
 * passes over one that is not installed, and one under which the command ends
 * otherwise than by itself where it says what it could not run (hunt/trouble.h);
 * that and the reason are told. Errors: those of the recorder.
 */
struct error *recorders_run(const char *name, char *const *argv,
			    const char *folder,
			    const struct record_options *options,
			    struct recorders_result *ret);

#endif
