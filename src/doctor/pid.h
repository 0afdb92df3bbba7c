/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Process ids on the command line.
 */
#ifndef DOCTOR_PID_H
#define DOCTOR_PID_H

struct error;

/* A positive decimal number, or ERROR_USAGE. */
struct error *pid_parse(const char *text, int *ret);

/*
 * The process of a thread id; a note is printed if the two differ. Unknown ids
 * are returned unchanged.
 */
int pid_resolve(int pid);

#endif
