/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the threads of a recording executed, from its TRACE_STREAM chunks: the steps
 * of a thread, forwards and backwards, and the last write to some bytes. Chunks are
 * unpacked when they are needed, a few at a time.
 */
#ifndef HUNT_EXECUTED_H
#define HUNT_EXECUTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunt/translated.h"
#include "hunt/unpack.h"

struct error;
struct executed;
struct recording;

struct executed_totals {
	uint64_t steps, instructions; /* in the trace */
	uint64_t bytes; /* that these take */
	uint64_t dropped; /* steps that are not in it */
	size_t superblocks, threads;
	bool cut; /* some thread's steps may end too early: it was killed */
	bool partial; /* some superblock does not tell all of its accesses */
};

/*
 * Of a recording that stays open; one without steps is fine. ERROR_FORMAT: the
 * chunks contradict each other; also of the functions below, when they unpack.
 */
struct error *executed_create(const struct recording *recording,
			      struct executed **ret);
/* NULL is fine. */
void executed_destroy(struct executed *executed);

const struct executed_totals *executed_totals(const struct executed *executed);

/* NULL: there is none with that id. */
const struct translated *executed_superblock(const struct executed *executed,
					     uint32_t id);

/* A step or event of a thread. */
struct executed_cursor {
	struct executed *executed;
	uint32_t thread;
	size_t chunk; /* of the thread, from 0 */
	size_t step; /* in the chunk */
	struct unpacked unpacked; /* the chunk's */
};

/*
 * At the step of that number, or the thread's last one before it. *ret_found
 * false: the thread has none. The cursor is to be deinitialized either way.
 */
struct error *executed_seek(struct executed *executed, uint32_t thread,
			    uint64_t number, struct executed_cursor *ret,
			    bool *ret_found);
void executed_cursor_deinit(struct executed_cursor *cursor);

/* Where it is; valid until it is moved. */
const struct unpacked_step *executed_step(const struct executed_cursor *cursor);
/* The words of its step, or the numbers of its event. */
const uint64_t *executed_words(const struct executed_cursor *cursor);

/*
 * To the thread's step or event before or after it. *ret_moved false: there is
 * none, or it is not in the trace; the cursor stays.
 */
struct error *executed_previous(struct executed_cursor *cursor,
				bool *ret_moved);
struct error *executed_next(struct executed_cursor *cursor, bool *ret_moved);

enum executed_write_kind {
	EXECUTED_NONE = 0, /* no write of the trace */
	EXECUTED_STORE,
	EXECUTED_MOVED, /* by a system call: executed-moves.h */
	EXECUTED_HEAP, /* the bytes' heap block began or ended there */
};

struct executed_write {
	enum executed_write_kind kind;
	uint32_t thread;
	uint64_t number; /* of the step; else of the one before */
	/*
	 * EXECUTED_STORE: which of the step's accesses, from 0; else what is higher
	 * of later ones of the thread
	 */
	uint64_t place;
	/* the bytes, which may be more or others than those asked for, too */
	uint64_t address, size;
	uint64_t value;
	bool has_value;
	bool begins; /* EXECUTED_HEAP: a block */
};

/*
 * The last write to any of the bytes [address, address + size), by any thread, in
 * a step whose number is below `before'. Compare-and-swaps that failed wrote
 * nothing.
 */
struct error *executed_last_write(struct executed *executed, uint64_t address,
				  uint64_t size, uint64_t before,
				  struct executed_write *ret);

/*
 * The same, before a write: in its step too. Of it, kind, thread, number and place
 * count.
 */
struct error *executed_write_before(struct executed *executed, uint64_t address,
				    uint64_t size,
				    const struct executed_write *write,
				    struct executed_write *ret);

#endif
