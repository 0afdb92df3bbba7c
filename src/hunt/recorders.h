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
	uint64_t cut_ns; /* the deadline has ended it after so long; 0: not */
	/* so, and after 100 times the time of the command by itself */
	bool hung;
	/* its status is not 0, and there was no time for one by itself */
	bool failed;
};

/*
 * Record the command as record_run() does. name: "auto" or a recorder's. "auto"
 * passes over one that is not installed, and one under which the command ends
 * otherwise than by itself where it says what it could not run (hunt/trouble.h);
 * that and the reason are told. With a deadline, each gets half of the time that is
 * left, and the command by itself a quarter; what was recorded until then counts,
 * unless the command hung and the recorder has said what it could not run. Errors:
 * those of the recorder.
 */
struct error *recorders_run(const char *name, char *const *argv,
			    const char *folder,
			    const struct record_options *options,
			    struct recorders_result *ret);

#endif
