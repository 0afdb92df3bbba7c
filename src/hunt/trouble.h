/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What Valgrind could not run of a command: an instruction (the trace says so), a
 * system call, a clone(2) that makes no thread of pthreads, a signal of its own
 * (its log says so).
 */
#ifndef HUNT_TROUBLE_H
#define HUNT_TROUBLE_H

#include <stdbool.h>

struct error;

/*
 * The first that the folder's traces and logs name, for the caller to free; *ret
 * NULL: none.
 */
struct error *trouble_find(const char *folder, char **ret);

/*
 * Why the folder's traces tell nothing, if they are of a recorder that does not go on
 * to a program that is executed: each process had one thread, and one has executed a
 * program. For the caller to free; *ret NULL: that is not so.
 */
struct error *trouble_executes(const char *folder, char **ret);

/* Has the folder traces or logs? */
struct error *trouble_has_files(const char *folder, bool *ret);

/* Remove the traces and logs from the folder. */
struct error *trouble_clear(const char *folder);

#endif
