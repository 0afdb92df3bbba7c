/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The messages with threads as they were: about a conflict, about a death by a
 * signal; see message.h.
 */
#ifndef WIRE_CONFLICT_H
#define WIRE_CONFLICT_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/access.h"

enum { WIRE_NAME = 16 };

enum wire_evidence { WIRE_WATCHPOINT, WIRE_COLLISION, WIRE_VALUE_CHANGE };

enum { WIRE_PATH_MAX = 16, WIRE_BIRTH_STACK_MAX = 2048 };

/* The creator of a thread, in the system call that made it. */
struct wire_birth {
	bool present; /* false: not born while watched, or not kept */
	int32_t tid; /* of the creator */
	char name[WIRE_NAME]; /* and its name then */
	struct x86_registers regs;
	uint64_t stack_address;
	uint32_t stack_size; /* bytes of it that follow the structure */
};

/*
 * The vector registers of a thread, and memory near what its registers point
 * to: what is needed to tell which bytes of a load it uses (dataflow/uses.h).
 */
enum {
	WIRE_VECTORS_MAX = 2816, /* what x86/vectors.h reads of the area */
	WIRE_WINDOWS_MAX = 18,
	WIRE_WINDOW = 384,
	WIRE_MACHINE_MAX = WIRE_VECTORS_MAX + WIRE_WINDOWS_MAX * WIRE_WINDOW,
};

struct wire_window {
	uint64_t address;
	uint32_t size; /* bytes of it that follow the structure */
};

struct wire_machine {
	uint32_t vectors_size; /* the XSAVE area, before the windows; or 0 */
	uint32_t window_count;
	struct wire_window windows[WIRE_WINDOWS_MAX];
};

/*
 * Locks that the thread owns by their own words, found while it was held
 * (tracee/held.h).
 */
enum { WIRE_LOCKS_MAX = 8 };

enum wire_lock_kind {
	WIRE_LOCK_NONE,
	WIRE_LOCK_MUTEX, /* pthread_mutex_t, and what is made of it */
	WIRE_LOCK_RWLOCK, /* pthread_rwlock_t, for writing */
};

struct wire_lock {
	uint64_t address;
	uint32_t kind; /* enum wire_lock_kind */
};

struct wire_locks {
	bool looked; /* false: nothing is known of its locks */
	uint32_t count;
	struct wire_lock locks[WIRE_LOCKS_MAX];
};

/*
 * What may be the chunk of the GNU C library's malloc that has the raced bytes: the
 * words of its header, and the size of the chunk behind it, as they were while the
 * thread was held (tracee/held.h). Other words may look like such a header.
 */
enum { WIRE_CHUNKS_MAX = 6 };

struct wire_chunk {
	uint64_t address; /* of the header; the block begins behind it */
	uint64_t head; /* its size and three flags */
	uint64_t next; /* the same of the chunk behind; 0: it is mapped alone */
};

struct wire_chunks {
	uint32_t count;
	struct wire_chunk chunks[WIRE_CHUNKS_MAX];
};

struct wire_side {
	bool present; /* false: unknown origin */
	bool before; /* stands before its access (stalled, collision) */
	int32_t pid, tid;
	uint32_t program;
	char name[WIRE_NAME];
	uint64_t site; /* id when known (stalled, collision), else 0 */
	struct x86_registers regs;
	struct mem_access access; /* kind ACCESS_NONE when not known */
	/* the kernel made the access in this call; -1: it did not; -2: it did,
	 * in a call that is not known */
	int32_t syscall;
	uint32_t path_length;
	uint32_t path[WIRE_PATH_MAX];
	uint64_t stack_address;
	uint32_t stack_size; /* bytes of it that follow the structure */
	struct wire_birth birth;
	struct wire_machine machine;
	struct wire_locks locks;
	struct wire_chunks chunks;
};

struct wire_conflict {
	uint32_t evidence; /* enum wire_evidence */
	uint32_t watched; /* of the stalled access: which bytes were watched */
	uint32_t freeze; /* both wait for WIRE_JUDGED; 0: they go on */
	bool instance; /* WIRE_INSTANCE is the next message */
	uint64_t wall_ns;
	uint64_t stall_ns; /* as struct race has it */
	uint64_t elapsed_ns; /* from its begin to the conflict */
	uint64_t trap_address; /* of the watchpoint that fired, or 0 */
	/*
	 * Where side 1 has the bytes less where side 0 has them, modulo 2^64:
	 * not 0 only if the two are of different processes.
	 */
	uint64_t shift;
	uint8_t before[X86_ACCESS_MAX], after[X86_ACCESS_MAX];
	struct wire_side sides[2]; /* [0] was stalled */
};

/* A watched process has been killed by a signal. */
struct wire_crash {
	int32_t pid;
	int32_t signal;
	uint64_t wall_ns;
	bool has_address;
	uint64_t address; /* that could not be accessed */
	/*
	 * The thread as it got the signal; not present: it came from outside,
	 * or the thread could not be looked at.
	 */
	struct wire_side side;
};

#endif
