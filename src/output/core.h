/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a core file of a stopped process, which nobody may trace, by gcore(1)
 * of gdb; then continues the process. A child of ours does that, so that the
 * process continues even when racewatch is killed meanwhile.
 */
#ifndef OUTPUT_CORE_H
#define OUTPUT_CORE_H

#include <stdbool.h>
#include <sys/types.h>

/* Start it; the caller reaps *ret. False: it could not be started. */
bool core_begin(int pid, pid_t *ret);

/* Report the result; makes sure that the process continues. */
void core_ended(int pid, int status);

#endif
