/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording: what is kept of it, and what the recorder's host (Valgrind, or
 * another) tells it. One thread runs at a time; the order of the calls is the
 * order of the accesses.
 */
#ifndef RECORDER_RECORDER_H
#define RECORDER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/heap.h"
#include "recorder/heir.h"
#include "recorder/holds.h"
#include "recorder/locks.h"
#include "recorder/modules.h"
#include "recorder/shadow.h"
#include "recorder/stacks.h"
#include "recorder/stream.h"
#include "recorder/uses.h"
#include "recorder/whole.h"
#include "recorder/writer.h"

enum { CALLS_MAX = 16 };

/* A watched function that a thread is in. */
struct watched_call {
	uint64_t sp; /* where its return address is */
	uint64_t arguments[3];
	uint32_t function;
	uint32_t context; /* of the call */
	bool muted; /* accesses are not recorded until it returns */
};

struct thread {
	uint32_t id, parent, ordinal; /* as trace_thread's */
	uint32_t children;
	int32_t tid;
	uint32_t context;
	uint64_t key; /* uses_key() */
	struct stack stack;
	/*
	 * Its accesses there are not recorded, but for those of bytes near
	 * which other threads have accessed it; size 0: all are.
	 */
	uint64_t stack_low, stack_size;
	bool reached; /* another thread has accessed its stack */
	uint64_t pointer; /* its pthread_t; 0: not known */
	uint64_t created, ended, joined; /* sequence numbers */
	uint32_t joiner, descriptor;
	uint16_t lockset;
	uint32_t held; /* the same locks, with the stacks: a hold */
	uint16_t muted; /* watched calls that are muted */
	uint32_t calls_count;
	struct watched_call calls[CALLS_MAX]; /* innermost last */
	struct stream_thread stream;
};

struct recorder_options {
	const char *folder; /* for the traces */
	uint32_t recorder; /* enum trace_recorder */
	uint32_t promises; /* enum trace_promise */
	uint64_t memory; /* bytes for all tables */
	uint64_t events_max; /* chunks of events, transfers and clocks */
	const char *file; /* of the program */
	int32_t pid, ppid; /* of the process; 0: the recorder is in it */
	bool whole; /* fold without limits, too: TRACE_WHOLE_CELL */
	bool code; /* what is executed, too: hunt/trace-stream.h */
	uint64_t window; /* with code: bytes of it for a thread; 0: all */
};

struct recorder {
	struct recorder_options options;
	struct writer writer;
	struct heir heir;
	void (*before_end)(void); /* of salvage_protect() */
	bool over; /* its trace has its end */
	struct modules modules;
	struct contexts contexts;
	struct uses uses;
	struct locksets locksets;
	struct holds holds;
	struct heap heap;
	struct shadow shadow;
	struct whole whole; /* with options.whole */
	struct stream stream; /* with options.code */
	bool whole_or_raw; /* each access is written, or folded without limits */
	struct records threads; /* ids are from 1 */
	struct thread *current; /* NULL: none runs */
	/*
	 * Not 0: the current thread's accesses to its own stack may be recorded.
	 * The caller passes them to recorder_access(); else it may skip those of
	 * instructions that access nothing else, which are not counted then.
	 */
	uint64_t on_stack;
	/* number of chunks of the shadow that were compared with stacks */
	uint32_t placed;
	uint64_t sequence;
	/*
	 * Where the accessed memory can be read, less its address: 0, unless the
	 * recorder is in another process, and has a copy of it.
	 */
	uint64_t copy;
	uint64_t start, busy, resumed; /* ns */
	uint64_t clock; /* ns: when trace_clock was written last */
	uint32_t clock_thread;
	uint32_t descriptors; /* ids given out */
	uint64_t cells, events;
	uint64_t dropped_events, dropped_locksets;
	uint32_t raw_count;
	struct trace_access_raw *raw; /* with TRACE_LOSSLESS */
};

/* Zeroed memory becomes a recording. */
void recorder_init(struct recorder *recorder,
		   const struct recorder_options *options);
/* Free what it has; its trace has ended. */
void recorder_deinit(struct recorder *recorder);
/*
 * Begin the trace of a program with argc arguments. False: its file cannot be
 * created; recorder->writer.path names it. Without one, nothing is kept.
 */
bool recorder_begin(struct recorder *recorder, const char *const *arguments,
		    uint32_t argc);
/* This is a child process with one thread, which begins a trace of its own. */
bool recorder_fork(struct recorder *recorder, struct thread *survivor);

/* Code of the file at path is mapped at address, from `offset' of it. */
void recorder_map(struct recorder *recorder, const char *path, uint64_t address,
		  uint64_t offset);

/* A thread is created by parent (NULL: the initial thread). */
struct thread *recorder_thread(struct recorder *recorder,
			       struct thread *parent);
/* It is about to execute its first instruction, or has executed its last. */
void recorder_thread_begins(struct recorder *recorder, struct thread *thread);
void recorder_thread_ends(struct recorder *recorder, struct thread *thread);

/* The thread runs from now on; NULL: none does. */
void recorder_runs(struct recorder *recorder, struct thread *thread);
/* The same at a time of os_ns() that has passed. */
void recorder_ran(struct recorder *recorder, struct thread *thread,
		  uint64_t ns);

/* The current thread accesses memory, which is readable now (copy). */
void recorder_access(struct recorder *recorder, struct site *site,
		     uint64_t address);
/* The same of any number of bytes. */
void recorder_range(struct recorder *recorder, struct site *site,
		    uint64_t address, uint64_t size);

/*
 * The kernel accesses memory, which is readable now, in a system call that the
 * thread makes with the instruction at ip. fd: its file, or -1.
 */
struct moved {
	uint64_t ip;
	uint64_t address, size;
	int number, fd;
	bool writes;
};

void recorder_moved(struct recorder *recorder, struct thread *thread,
		    const struct moved *moved);

/* The current thread calls, and has returned with a result. */
void recorder_call(struct recorder *recorder, uint64_t sp, uint64_t address);
void recorder_return(struct recorder *recorder, uint64_t sp, uint64_t result);

/* [address, address + size) is not what it was: unmapped, or mapped anew. */
void recorder_forget(struct recorder *recorder, uint64_t address,
		     uint64_t size);

#endif
