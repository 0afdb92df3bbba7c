/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a recording: a folder with trace.PID of each process, or one. */
#ifndef HUNT_TRACES_H
#define HUNT_TRACES_H

struct error;
struct vec;

/*
 * Append the paths (char *, for traces_free()), sorted: path itself if it is a
 * file, else its files trace.* that are not empty; a warning names the others.
 * ERROR_USAGE: there is none; ERROR_FORMAT: all are empty.
 */
struct error *traces_find(const char *path, struct vec *paths);
void traces_free(struct vec *paths);

/*
 * Wait until all traces of the folder are written, which processes do when they end:
 * at most two seconds, as `racewatch run' watches what outlives the command. What
 * writes the trace of one that was killed has a minute.
 */
void traces_await(const char *folder);

#endif
