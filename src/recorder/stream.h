/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the threads execute (hunt/trace-stream.h). Translated code puts each step
 * into a buffer of words, as cheaply as it can; from there it is packed into the
 * stream of the thread that runs, before another one does.
 *
 * In the buffer, a step is its superblock's id << 16 | exit, recorder.sequence
 * before it, and its words. It always takes the words of its last exit. An event
 * is its enum trace_stream_event (id 0) and its numbers.
 */
#ifndef RECORDER_STREAM_H
#define RECORDER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "hunt/trace-stream.h"
#include "recorder/channels.h"
#include "recorder/superblocks.h"

struct packer;
struct recorder;
struct thread;

enum {
	STREAM_WORDS = 8192, /* of the buffer */
	/* at its end: a step may begin only before them */
	STREAM_SPARE = SUPERBLOCK_WORDS + 256,
	STREAM_HEAD = 2, /* words of a step before its own */
	STREAM_BROKEN = 0xffff, /* an exit: it was not left yet */
};

/* A chunk that is kept in memory. */
struct stream_kept {
	struct stream_kept *next;
	struct trace_stream head;
	unsigned char bytes[];
};

/* Of a thread. */
struct stream_thread {
	struct packer *packer; /* NULL: it has not run */
	struct trace_stream_end totals;
	uint64_t sequence; /* counted until its last step's end */
	uint32_t hidden; /* functions of memory that it is in */
	/* with a window: the chunks that are kept, the oldest first */
	struct stream_kept *oldest, *newest;
	uint64_t kept; /* bytes of them */
};

struct stream {
	bool on;
	uint64_t
		window; /* bytes that are kept of a thread; 0: all are written */
	uint64_t cursor; /* address of the next free word */
	uint64_t limit; /* a step may begin if cursor is not above it */
	uint64_t *words; /* STREAM_WORDS of them */
	uint64_t steps; /* of the process */
	struct superblocks superblocks;
	struct channels channels;
};

/* folder: of the trace. */
void stream_init(struct stream *stream, uint64_t window, const char *folder);
void stream_deinit(struct stream *stream);

/* Pack what is in the buffer: steps of the recorder's current thread. */
void stream_drain(struct recorder *recorder);

/*
 * An event of the current thread, while it runs; its numbers are as many as
 * TRACE_STREAM_NUMBERS says.
 */
void stream_event(struct recorder *recorder, enum trace_stream_event event,
		  const uint64_t *numbers);
/* Memory that a system call moved bytes to or from. */
struct stream_part {
	uint64_t address, size;
	uint64_t value; /* of the first eight bytes */
	uint32_t message; /* for the caller: of the system call, from 0 */
};

/*
 * TRACE_MOVED of a thread that does not run, and before it, in the same chunk, its
 * parts, of which there are STREAM_PARTS_MAX at most.
 */
enum { STREAM_PARTS_MAX = 1024 };
void stream_moved(struct recorder *recorder, struct thread *thread,
		  const uint64_t *numbers, const struct stream_part *parts,
		  uint32_t count);

/*
 * The current thread is about to get a signal, at the instruction at ip. If that
 * ends a step in the middle, what was executed is what is before the instruction,
 * or (done) the instruction, too.
 */
void stream_broken(struct recorder *recorder, uint64_t ip, bool done);

/* The current thread enters, or has left, a function of memory. */
void stream_hide(struct recorder *recorder, bool hidden);

/* All of a thread's steps go to the trace. It has ended. */
void stream_end(struct recorder *recorder, struct thread *thread);
/* Write what there is of all threads. They go on. */
void stream_flush(struct recorder *recorder);
/* In a child process: what the parent has packed is not of this trace. */
void stream_fork(struct recorder *recorder);

#endif
