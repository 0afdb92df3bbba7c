/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording for people: of each process its threads, its modules, the bytes
 * that threads share, and what was not recorded; of all, the conflicting accesses
 * and the sides (racewatch-report(1)).
 */
#ifndef HUNT_TRACE_PRINT_H
#define HUNT_TRACE_PRINT_H

#include <stdio.h>

struct error;

/* Lines of a kind that are printed; how many there are more is said. */
enum { TRACE_PRINT_LINES = 20, TRACE_PRINT_PARTNERS = 8 };

/* path: as traces_find() takes it. */
struct error *trace_print(const char *path, FILE *out);

/* The sides alone, as target records that are pending. */
struct error *trace_print_json(const char *path, FILE *out);

#endif
