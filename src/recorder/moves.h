/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls that move bytes, as events of the stream (TRACE_MOVED of
 * hunt/trace-stream.h): which memory, through which channel, and how much went
 * through that before.
 */
#ifndef RECORDER_MOVES_H
#define RECORDER_MOVES_H

#include <stdbool.h>
#include <stdint.h>

#include "hunt/trace-events.h"

struct channels;
struct recorder;
struct stream_part;
struct thread;

enum {
	MOVE_PARTS_ALL = 8192, /* of a system call */
	MOVE_ARGUMENTS = 6,
};

/* What the recorder's host knows of the process, which is the recorder's own. */
struct moves_host {
	/* can these bytes be read? */
	bool (*readable)(uint64_t address, uint64_t size);
	/*
	 * The channel that a descriptor sends to, or receives from; false: it has
	 * none that is known.
	 */
	bool (*identify)(struct channels *channels, int fd, bool receives,
			 struct trace_channel *ret);
	/* the position in the file; false: it has none */
	bool (*position)(int fd, uint64_t *ret);
};

/* What a system call does with one descriptor. */
struct move_end {
	int fd; /* -1: none */
	bool receives, peeks;
	uint32_t channel; /* 0: not known */
	uint32_t entered; /* channel_enter()'s */
	bool has_offset; /* of the file, as an argument: it is `offset' */
	uint64_t offset;
};

/* A system call that a thread is in. Zeroed: it has made none so far. */
struct move {
	const struct move_call *call; /* NULL: it moves no bytes */
	uint32_t number;
	uint64_t arguments[MOVE_ARGUMENTS];
	struct move_end ends[2]; /* the second: that splice(2) sends to */
	struct stream_part *parts; /* room for them is kept for the next call */
	uint32_t count, room;
	uint32_t messages;
};

/* The thread enters the system call of that number; not if no code is recorded. */
void moves_begin(struct recorder *recorder, struct move *move,
		 const struct moves_host *host, uint32_t number,
		 const uint64_t arguments[MOVE_ARGUMENTS]);
/* It has returned; result: negative if it failed. */
void moves_end(struct recorder *recorder, struct thread *thread,
	       struct move *move, const struct moves_host *host,
	       int64_t result);
/*
 * The kernel has written memory in the system call of that number. Nothing, if
 * moves_end() says it.
 */
void moves_wrote(struct recorder *recorder, struct thread *thread,
		 const struct move *move, const struct moves_host *host,
		 uint32_t number, uint64_t address, uint64_t size);
void move_deinit(struct move *move);

#endif
