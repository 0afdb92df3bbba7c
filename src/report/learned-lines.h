/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a state that an earlier version of racewatch wrote, as JSON lines
 * (racewatch-state(5)). It is only read: learned-file.c replaces such a file.
 */
#ifndef REPORT_LEARNED_LINES_H
#define REPORT_LEARNED_LINES_H

struct error;
struct learned;

/*
 * Add what the regular file says; nothing unless all of it is right.
 * ERROR_FORMAT names file and line.
 */
struct error *learned_read_lines(struct learned *learned, const char *path);

#endif
