/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The output of a command in a file of bounded size: its beginning and its end,
 * with a note between them when something was cut. Writing never fails: output
 * that cannot be kept is counted.
 */
#ifndef SWEEP_CAPTURE_H
#define SWEEP_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

struct capture {
	int fd; /* negative: the file could not be made */
	uint64_t head, written; /* room for the beginning, and used */
	char *tail; /* a ring; NULL: no memory, only the beginning is kept */
	size_t tail_room;
	uint64_t tail_bytes; /* that went into it */
	int error; /* errno of the first failure; 0: none */
};

/* At most `limit' bytes, half of them of the end. */
void capture_open(struct capture *capture, const char *path, uint64_t limit);
void capture_add(struct capture *capture, const char *bytes, size_t n);

/* Write the end, and close. Returns how many bytes were cut. */
uint64_t capture_close(struct capture *capture);

#endif
