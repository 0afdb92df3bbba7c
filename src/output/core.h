/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A core file of a process that is stopped and traced by nobody, written by
 * gcore(1) of gdb; then the process goes on. A child of ours does that, so that
 * the process goes on even when racewatch is killed meanwhile.
 */
#ifndef OUTPUT_CORE_H
#define OUTPUT_CORE_H

#include <stdbool.h>
#include <sys/types.h>

/* Start it; the caller reaps *ret. False: it could not be started. */
bool core_begin(int pid, pid_t *ret);

/* Say what came of it; makes sure that the process goes on. */
void core_ended(int pid, int status);

#endif
