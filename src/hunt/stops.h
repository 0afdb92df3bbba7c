/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traces (hunt/trace-format.h) of what a session tells of threads that stop at
 * breakpoints (wire/record.h): one of each process and each program that it runs.
 * Times are those of the stops, and promise no order of the accesses. There are
 * no locks, no blocks, and no calls of the system.
 *
 * That a thread was joined is concluded: another one has entered pthread_join(3)
 * for it, has left it, as its stack pointer shows at its next stop, and the thread
 * made no access after that.
 */
#ifndef HUNT_STOPS_H
#define HUNT_STOPS_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct session_recorded;
struct stops;

struct stops_options {
	const char *folder; /* for the traces */
	uint64_t memory; /* bytes for the tables of accesses; 0: 128 MiB */
};

struct error *stops_create(const struct stops_options *options,
			   struct stops **ret);

/* What a thread does, in the order of stops. ERROR_OTHER: no trace can be made. */
struct error *stops_take(struct stops *stops,
			 const struct session_recorded *news);

/*
 * End all traces, and free it; NULL is fine. status: of the process `pid', as of a
 * shell; those of others are not known.
 */
void stops_end(struct stops *stops, int pid, int status);

/* How many traces there are. */
size_t stops_count(const struct stops *stops);

#endif
