/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records a run of a command and its children by breakpoints (tracer/record.h):
 * of their own code, and of what the rules include, each instruction that accesses
 * memory, the first times that it is executed. It needs nothing but what a hunt
 * needs anyway, and runs whatever the processor runs.
 */
#ifndef HUNT_RECORD_STOPS_H
#define HUNT_RECORD_STOPS_H

struct error;
struct record_options;
struct record_result;

/*
 * As record_run(). It makes a process for it, which ends with it. Errors: those
 * of session_run(); a signal has ended the recording.
 */
struct error *record_by_stops(char *const *argv, const char *folder,
			      const struct record_options *options,
			      struct record_result *ret);

#endif
