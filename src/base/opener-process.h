/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process that opens files, and its messages to and from opener.c. Not for
 * other files.
 */
#ifndef BASE_OPENER_PROCESS_H
#define BASE_OPENER_PROCESS_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/rights.h"

enum opener_what {
	OPENER_OPEN,
	OPENER_STAT,
};

/* Followed by the path and a NUL, in one message. */
struct opener_message {
	enum opener_what what;
	struct rights rights;
};

/* Codes beside those of errno. */
enum {
	OPENER_GOES_ON = -1, /* a large file is being copied */
	OPENER_IRREGULAR = -2,
};

/* With a descriptor when a file was opened. */
struct opener_answer {
	int code; /* 0: done */
	struct stat status;
};

/*
 * In a child of parent: serve requests from that socket until its end. Other
 * descriptors are closed. Does not return.
 */
_Noreturn void opener_process(int fd, pid_t parent);

#endif
