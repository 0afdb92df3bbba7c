/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trace of a recorded process: what a recorder writes and `hunt' reads.
 *
 * A file is a struct trace_header, then chunks: a struct trace_chunk and its
 * payload, which begins with the structure of that name below, and is padded
 * with zeros to a multiple of 8 bytes. `size' counts neither the
 * struct trace_chunk nor the padding, so strings behind a structure end
 * where it says. Numbers are little-endian. A chunk that speaks of a module,
 * thread, descriptor, lockset or block comes after the chunk that has its id.
 * A reader skips types that it does not know. The last chunk is TRACE_END;
 * without it, the process or its recorder was killed: what is there is valid,
 * counts are too low, and cells and uses of memory may be missing.
 *
 * Sequence numbers count the recorded accesses of the process, from 1. With
 * TRACE_TOTAL_ORDER, they are the order in which the accesses happened.
 *
 * Only fixed-width types: recorders without a C library include this file and
 * trace-events.h (the chunks from TRACE_LOCKSET on). Ids are from 1; 0 is none.
 */
#ifndef HUNT_TRACE_FORMAT_H
#define HUNT_TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_MAGIC "racetrc" /* and its zero: 8 bytes */
#define TRACE_VERSION 3
#define TRACE_STACK_MAX 8 /* return addresses of a stack top */
#define TRACE_GRANULE 8 /* bytes of memory that a cell speaks of */
#define TRACE_CROWDED 1 /* some instruction has no cell of the granule */
#define TRACE_NEVER UINT64_MAX /* a sequence number: not so far */

enum trace_recorder {
	TRACE_BY_VALGRIND = 1,
	TRACE_BY_QEMU,
	TRACE_BY_BREAKPOINTS,
};

enum trace_promise {
	TRACE_TOTAL_ORDER = 1, /* of accesses, across threads */
	TRACE_EXACT_VALUES = 2, /* nobody ran between access and read */
	TRACE_EXACT_LOCKS = 4, /* locksets are of pthreads' functions */
	TRACE_LOSSLESS = 8, /* TRACE_ACCESSES has every access, too */
};

struct trace_header {
	char magic[8];
	uint32_t version;
	uint32_t recorder; /* enum trace_recorder */
	uint32_t promises; /* bits of enum trace_promise */
	int32_t pid, ppid;
	uint32_t reserved;
	uint64_t start; /* CLOCK_REALTIME, in ns */
};

enum trace_type {
	TRACE_END = 1,
	TRACE_PROGRAM,
	TRACE_MODULE,
	TRACE_UNLOAD,
	TRACE_THREAD,
	TRACE_DESCRIPTOR,
	TRACE_USES,
	TRACE_CELL,
	TRACE_ACCESSES,
	TRACE_LOCKSET,
	TRACE_BLOCK,
	TRACE_FREE,
	TRACE_EVENT,
	TRACE_TRANSFER,
	TRACE_CLOCK,
	TRACE_UNABLE,
	TRACE_CELLS, /* trace-packed.h: the reader makes TRACE_CELL of it */
	TRACE_WHOLE_CELL = 64, /* a trace_cell of src/recorder/whole.h */
};

struct trace_chunk {
	uint32_t type; /* enum trace_type */
	uint32_t size; /* of the payload, without padding */
};

/* What was executed; behind it the file, then each argument, each with its zero. */
struct trace_program {
	uint32_t argc, reserved;
};

/*
 * A file that was mapped with code; behind it the path and its zero. The executable is
 * that whose path was executed, or the first. An offset is address - bias, as in ELF.
 */
struct trace_module {
	uint32_t id;
	uint32_t build_id_size; /* 0: none */
	uint8_t build_id[32];
	uint64_t bias;
	uint64_t low, high; /* the mapped range [low, high) */
	uint64_t sequence;
};

/* A module is no longer mapped. */
struct trace_unload {
	uint32_t module, reserved;
	uint64_t sequence;
};

/* An address of code: in a module, or module 0 and the address itself. */
struct trace_place {
	uint32_t module, reserved;
	uint64_t offset;
};

/*
 * A thread, written when it begins and again when it has ended or was joined:
 * the last one counts. Thread paths are `parent's path'.`ordinal'; the
 * initial thread's is 0.
 */
struct trace_thread {
	uint32_t id; /* 1: the initial thread */
	uint32_t parent; /* 0: of the initial thread */
	uint32_t ordinal; /* threads that the parent created before */
	int32_t tid; /* the kernel's, in the recording */
	uint64_t created; /* sequence numbers; TRACE_NEVER: not so far */
	uint64_t ended;
	uint64_t joined; /* when pthread_join returned, in thread `joiner' */
	uint32_t joiner;
	uint32_t descriptor; /* of its creation: a flags of 0, with the stack */
};

enum trace_access {
	TRACE_READS = 1,
	TRACE_WRITES = 2,
	TRACE_ATOMIC = 4, /* LOCK, xchg; a failed compare-and-swap only READS */
	TRACE_SYSCALL = 8, /* the kernel's access, in a system call made here */
	TRACE_STRING = 16, /* in a mem* or str* function of the C library */
	TRACE_RUNTIME = 32, /* in the loader or a threading runtime */
};

/*
 * An instruction's access and the stack top it was made with: what algorithm
 * 2 of the RaceHunter paper tells accesses apart by. Behind it are `depth'
 * return addresses as struct trace_place, innermost first.
 */
struct trace_descriptor {
	uint32_t id;
	uint32_t flags; /* bits of enum trace_access */
	struct trace_place place; /* the instruction */
	uint64_t function; /* offset of the function's entry; 0: not known */
	uint32_t size; /* bytes accessed; 0: it differs */
	uint32_t depth;
	char name[16]; /* of the function, with TRACE_STRING; cut off */
};

/*
 * How often a thread executed a descriptor in all. At the end, for each
 * instruction that has a cell: all its stacks and threads, so that the
 * shortest stack top that tells two executions apart can be found.
 */
struct trace_uses {
	uint32_t thread, descriptor;
	uint64_t executions;
};

/*
 * Accesses of one thread by one descriptor to bytes of one granule, in
 * granules that two or more threads accessed, one of them writing. One with
 * the thread, descriptor, address and `first' of an earlier one replaces it.
 */
struct trace_cell {
	uint64_t address; /* a multiple of TRACE_GRANULE */
	uint32_t thread, descriptor;
	uint32_t ordinal; /* of the first: executions of it before, from 0 */
	uint32_t count; /* accesses folded into this; UINT32_MAX: or more */
	uint64_t first, last; /* sequence numbers; last is up to 255 too low */
	uint64_t value; /* of the granule after (breakpoints: before) it */
	uint8_t mask; /* bytes accessed, bit i is address + i */
	uint8_t first_mask; /* by the first access */
	uint16_t flags; /* TRACE_CROWDED, or 0 */
	uint32_t lockset; /* at the first access; with stacks, if room */
	uint32_t common; /* lockset held at every access */
	uint32_t block; /* the heap block, or 0 */
};

/*
 * With TRACE_LOSSLESS, every access that the cells fold, in order: behind it
 * are `count' struct trace_access_raw. For measuring what folding loses.
 */
struct trace_accesses {
	uint64_t first; /* sequence number of the first one */
	uint32_t count, reserved;
};

struct trace_access_raw {
	uint64_t address;
	uint32_t descriptor;
	uint16_t thread;
	uint16_t size;
};

#endif
