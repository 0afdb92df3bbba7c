/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a candidate of what a parser finds, piece by piece: a report begins, has
 * one or two accesses, each with a stack, threads with the stacks of their
 * creation, and a description of the bytes. Which piece the next frame belongs to
 * is kept here.
 *
 * Memory that is not there is told at the end, by gather_finish().
 */
#ifndef FOREIGN_GATHER_H
#define FOREIGN_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "foreign/scan.h"

struct error;
struct foreign_report;
struct race;
struct race_frame;

enum gather_frames {
	GATHER_NOWHERE,
	GATHER_ACCESS,
	GATHER_THREAD,
	GATHER_BLOCK
};

struct gather {
	const char *name; /* of the file */
	struct foreign_report *report;
	struct race *race; /* at work; NULL: none */
	size_t line; /* where it begins */
	int accesses; /* of it, so far */
	bool bad; /* it is malformed, and that was told */
	enum gather_frames to; /* whose the next frame is */
	uint64_t last; /* address of the frame before */
	struct vec threads; /* of struct gather_thread */
	struct vec block; /* of struct race_frame: where it was allocated */
	/* of the block; size 0: not known */
	uint64_t block_address, block_size;
	struct map *keys; /* of races that are there, to their places */
	int pid; /* of the next ones; 0: not known */
	bool failed; /* out of memory */
};

struct gather_access {
	unsigned int access; /* enum access_kind */
	bool atomic;
	uint64_t size, address; /* 0: not known */
	struct scan thread; /* as the report calls it: "T2", "#3" */
};

/* The keys are shared by all that gather into one report. */
void gather_init(struct gather *gather, const char *name,
		 struct foreign_report *report, struct map *keys);
void gather_deinit(struct gather *gather);

/* Ends the report before it. tool: "tsan", "helgrind", "drd". */
void gather_begin(struct gather *gather, const char *tool, size_t line);
/*
 * Threads that were told before are those of others: for reports that have all of
 * theirs, whose labels are used again in the next process.
 */
void gather_forget_threads(struct gather *gather);
/* NULL: what was said of it is malformed. */
void gather_access(struct gather *gather, const struct gather_access *access);
void gather_bad(struct gather *gather, size_t line, const char *what);

/* A thread's creation: its stack comes next. name: as pthread_setname_np(3) */
void gather_thread(struct gather *gather, const struct scan *label,
		   const struct scan *name, int tid);
/* Heap memory: the stack of its allocation comes next. size 0: not known */
void gather_block(struct gather *gather, uint64_t address, uint64_t size);
/* A variable, `offset' bytes before the access; module NULL: not known. */
void gather_variable(struct gather *gather, const struct scan *name,
		     uint64_t offset, const struct scan *module,
		     uint64_t module_offset);
/* What is no variable: of a stack, or a mapping. */
void gather_region(struct gather *gather, unsigned int region,
		   const struct scan *module);

/* Replace a text by a copy, or by the name of a function (function.h). */
void gather_text(struct gather *gather, char **to, const struct scan *text);
void gather_function(struct gather *gather, char **to, const struct scan *text);

/*
 * Takes what the frame owns. address: of its instruction, wherever that is counted
 * from; a frame with that of the next one was inlined there. 0: not known
 */
void gather_frame(struct gather *gather, struct race_frame *frame,
		  uint64_t address);
/* Frames that come next are nobody's. */
void gather_no_frames(struct gather *gather);

/*
 * The end of the report at work, if there is one: it joins the others if it has an
 * access with a stack, or `both' asks for two; else it is malformed. *ret_place:
 * which race it is now.
 */
bool gather_end(struct gather *gather, bool both, size_t *ret_place);
/* The same at the end of the file. */
struct error *gather_finish(struct gather *gather, bool both);

#endif
