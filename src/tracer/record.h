/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording by breakpoints: each site has one from the program's first
 * instruction on, and each hit is told, with the bytes that it is about to access.
 * The breakpoint stays, and threads are stepped over it, until it has had
 * `executions' hits for each of the process's threads: then it is lifted, since
 * each hit stops the thread (bench/record-breakpoints.txt has what that costs).
 * When a thread is created, all are armed again, for as many hits: what it executes
 * first is seen, whatever others have done. Of the first RECORD_BIRTHS threads of a
 * program, since arming thousands of breakpoints takes milliseconds.
 *
 * While its process has one thread, a site has RECORD_ALONE times as many: the
 * executions of that thread are counted for as long as possible, and it can
 * hardly be a test's main work.
 *
 * A thread passes it by executing a copy of the instruction (tracee/displaced.h),
 * so that it stops all others. Calls, jumps and what else cannot be copied are
 * stepped over with the breakpoint lifted: threads that pass meanwhile are not
 * seen. So are those of a program in which there can be no copies, which is told.
 */
#ifndef TRACER_RECORD_H
#define TRACER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct breakpoint;
struct engine;
struct program_text;
struct thread;
struct x86_registers;

enum { RECORD_ALONE = 10, RECORD_THREADS = 16, RECORD_BIRTHS = 256 };

struct record {
	uint32_t executions; /* 0: nothing is recorded */
	struct vec programs; /* of struct record_program *, owned */
	uint64_t lost; /* news for which the channel had no room */
};

void record_init(struct record *record);
void record_deinit(struct record *record);

/* WIRE_RECORD: struct wire_site[] of a program, numbered from 1 on by their id. */
void record_take(struct engine *engine, const void *payload, size_t size);

/*
 * The stopped thread is at the breakpoint, rip on it. True: the breakpoint is
 * lifted; else it stays.
 */
bool record_hit(struct engine *engine, struct thread *thread,
		struct breakpoint *breakpoint,
		const struct x86_registers *regs);

/* The thread was created, in its creator's process, which is stopped. */
void record_born(struct engine *engine, const struct thread *thread);
/* It is in its first stop. */
void record_begun(struct engine *engine, const struct thread *thread);
void record_ended(struct engine *engine, const struct thread *thread);

/* No process runs the program any more. */
void record_leave(struct engine *engine, const struct program_text *text);

/* Arm what could not be armed before. */
void record_tick(struct engine *engine);
/* The watching ends: what was lost is told. */
void record_end(struct engine *engine);

#endif
