/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which code runs, by a clock for each processor instead of one for each thread
 * (profile.h). Such a clock costs nothing when threads switch, and it is opened
 * once; but it interrupts whatever runs, and sees the watched program only while
 * that has the processor. So it is for programs with as many threads as there are
 * processors, where little time may be lost: a server of many processes switches
 * so often that a clock for each thread uses up its time at once. The period is
 * so long that the interrupts of all processors take one part in PROFILE_PART of
 * what may be lost, as if each hit the program.
 */
#ifndef TRACER_PROFILE_CPUS_H
#define TRACER_PROFILE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

struct profile;

/* Are clocks of processors to be used now? */
bool profile_by_cpus(const struct profile *profile);

/*
 * Sample from now on. False: they cannot be had, now or ever; then they were not
 * opened.
 */
bool profile_cpus_begin(struct profile *profile, uint64_t now);

/* Note what was sampled, and charge for it. */
void profile_cpus_read(struct profile *profile, uint64_t now);

/* A process is becoming another program: what is not read is forgotten. */
void profile_cpus_discard(struct profile *profile);

/* Sample no longer; what was sampled has been read. */
void profile_cpus_rest(struct profile *profile);

void profile_cpus_deinit(struct profile *profile);

#endif
