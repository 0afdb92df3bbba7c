/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread of the program, as QEMU runs it, and what it did since that was given
 * to the recording. QEMU's threads run at the same time and the recording takes
 * one thing at a time: each thread notes its accesses, calls and returns in a
 * buffer of its own, and gives the recording all of them under a lock.
 *
 * So the recording has the order of each thread, and not that of accesses of
 * different threads. What creates, joins and ends a thread or a block of memory
 * first gives the recording what all threads have noted (vcpus_give()): what
 * they did before it is before it in the recording, too.
 */
#ifndef RECORDER_QEMU_VCPU_H
#define RECORDER_QEMU_VCPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder/recorder.h"

enum {
	VCPUS_MAX =
		4096, /* threads at one time; more are not recorded: it is said */
	VCPU_WORDS = 8192, /* of the buffer */
	VCPU_NOTE_MAX = 2 + 10, /* words of a note: 64 bytes touch 9 granules */
	SYSCALL_ARGUMENTS = 6,
};

/* Kinds of notes: the low bits of the first word, the rest is a site's. */
enum vcpu_note { NOTE_ACCESS = 0, NOTE_CALL, NOTE_RETURN };

/* An access that QEMU tells of in parts of at most 8 bytes each. */
struct wide {
	const struct site *site; /* NULL: none is under way */
	uint64_t address; /* of all of it */
	uint32_t done; /* bytes */
};

struct vcpu {
	uint64_t *words; /* of VCPU_WORDS */
	_Atomic uint32_t end; /* notes [begin, end); set by the thread */
	uint32_t begin; /* under the lock */
	uint32_t limit; /* no note begins here or above; 0: not begun yet */
	struct thread *thread; /* NULL: it is not recorded any more */
	uint64_t stack_pointer; /* at first; 0: not known */
	uint64_t watched_sp; /* a return above it leaves a watched function */
	uint64_t called_sp; /* of the last call; 0: none */
	bool muted; /* its accesses are not recorded now */
	bool waits; /* it is in a system call */
	struct wide wide;
	int64_t number; /* the system call; -1: it is in none */
	uint64_t arguments[SYSCALL_ARGUMENTS];
	uint64_t syscall_ip; /* the instruction that made it */
};

/* All threads, by their processor's number. Of one process: it is static. */
struct vcpus {
	struct recorder recorder;
	struct vcpu *all[VCPUS_MAX];
	unsigned int count; /* numbers that were used: 0 to count - 1 */
	struct vcpu *forks; /* it is in fork(2); NULL: none */
	bool stacks; /* what a thread accesses on its own stack, too */
	bool over; /* the trace has ended: nothing more is recorded */
	bool told_too_many; /* threads: that there are more than VCPUS_MAX */
};

extern struct vcpus vcpus;

static inline struct vcpu *vcpu_at(unsigned int number)
{
	return number < VCPUS_MAX ? vcpus.all[number] : NULL;
}

/* The lock is held between them. They do not nest. */
void vcpus_lock(void);
void vcpus_unlock(void);

/*
 * A thread comes: parent creates it, NULL for the initial one. stack: its stack
 * pointer at first, pointer its pthread_t; 0: not known.
 */
void vcpu_create(unsigned int number, struct vcpu *parent, uint64_t stack,
		 uint64_t pointer);
/* It has executed its last instruction. */
void vcpu_end(struct vcpu *vcpu);
/* It is gone, and its number may be used again. */
void vcpu_destroy(unsigned int number);

/* The one whose thread makes the call; NULL: none, or it has not begun yet. */
struct vcpu *vcpu_this(void);

/* This is the child of vcpus.forks, which alone goes on in it. With the lock. */
void vcpus_forked(void);

/* Give the recording what the thread has noted. With the lock. */
void vcpu_give(struct vcpu *vcpu);
/* What all threads have noted. With the lock. */
void vcpus_give(void);

/*
 * The thread, which makes the call, has no room for a note, or has not begun:
 * now it has. Takes the lock.
 */
void vcpu_make_room(struct vcpu *vcpu);

/* Where its watched functions begin to return, after they have changed. */
void vcpu_note_watched(struct vcpu *vcpu);

/* It waits in a system call from now on, or not any more. With the lock. */
void vcpu_waits(struct vcpu *vcpu, bool waits);

/* Where the next note of VCPU_NOTE_MAX words goes. */
static inline uint64_t *vcpu_note(struct vcpu *vcpu)
{
	if (atomic_load_explicit(&vcpu->end, memory_order_relaxed) >=
	    vcpu->limit)
		vcpu_make_room(vcpu);
	return vcpu->words +
	       atomic_load_explicit(&vcpu->end, memory_order_relaxed);
}

/* It has that many words. */
static inline void vcpu_noted(struct vcpu *vcpu, uint32_t words)
{
	uint32_t end = atomic_load_explicit(&vcpu->end, memory_order_relaxed);

	atomic_store_explicit(&vcpu->end, end + words, memory_order_release);
}

/* Granules that bytes [address, address + size) are in. */
static inline uint32_t vcpu_granules(uint64_t address, uint32_t size)
{
	return (uint32_t)(address % 8 + size + 7) / 8;
}

#endif
