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
 * The process of a thread id, which is told when it is not the id itself;
 * unknown ones come back as they are.
 */
int pid_resolve(int pid);

#endif
