/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chunks that say what each thread executed: superblocks of code, and the
 * executions of these, the steps, with the address of each access and the values
 * of those of 4 and 8 bytes. hunt/trace-format.h has the rules; these chunks are
 * there if the recorder was asked for them (--record-code).
 *
 * A step has a number: steps of the process are counted from 1, in the order in
 * which they were executed, across threads. It executes a superblock from its
 * first instruction to one of its exits, the last of which is its end. Steps of
 * the functions that allocate and free memory are left out; TRACE_HEAP stands for
 * them.
 */
#ifndef HUNT_TRACE_STREAM_H
#define HUNT_TRACE_STREAM_H

#include <stdint.h>

#include "hunt/trace-format.h"

#define TRACE_STREAM_VERSION 2
/* Of one TRACE_STREAM, at most: bytes; steps and events; their words. */
#define TRACE_STREAM_BYTES 65536
#define TRACE_STREAM_STEPS 131072
#define TRACE_STREAM_WORDS 524288

/* Values of trace_chunk's type, beside those of enum trace_type. */
enum trace_stream_type {
	TRACE_SUPERBLOCK = 32,
	TRACE_STREAM,
	TRACE_STREAM_END,
	TRACE_CHANNEL, /* hunt/trace-events.h */
};

/*
 * Where the address or the value of an access comes from. The step has words;
 * those that a slot needs follow on those of the slot before: its address, its
 * value, and whether it was executed, if these are asked for.
 */
enum trace_source {
	TRACE_FROM_NOTHING = 0, /* a value: not recorded */
	TRACE_FROM_WORD, /* the next word */
	TRACE_FROM_CONSTANT, /* offset */
	TRACE_FROM_ADDRESS, /* the address of slot `of', plus offset */
	TRACE_FROM_VALUE, /* the value of slot `of', plus offset */
};

struct trace_operand {
	uint64_t offset;
	uint16_t of;
	uint8_t source; /* enum trace_source */
	uint8_t reserved[5];
};

/*
 * An access: TRACE_READS or TRACE_WRITES, never both. An instruction that does
 * both has two slots. Values are extended with zeros. A value is what was read, or
 * what is written.
 */
struct trace_slot {
	uint16_t instruction; /* from 0 */
	uint16_t size; /* bytes */
	uint8_t flags; /* bits of enum trace_access */
	uint8_t conditional; /* 1: a word says whether it was done (not 0) */
	uint8_t reserved[2];
	struct trace_operand address, value;
};

/* What has been executed when the superblock is left there. */
struct trace_exit {
	uint16_t instructions, slots;
	uint16_t words;
	uint16_t reserved;
};

enum trace_superblock_ends {
	TRACE_ENDS_JUMP = 0, /* or it goes on with the next instruction */
	TRACE_ENDS_CALL,
	TRACE_ENDS_RETURN,
	TRACE_ENDS_SYSCALL,
	TRACE_ENDS_OTHER,
};

/*
 * Code without a jump into it or out of its middle, other than by exits. Behind
 * it are `slots' struct trace_slot, `exits' struct trace_exit, the lengths of its
 * instructions in bytes (uint8_t each), and its `size' bytes of code. With a
 * name, it is the entry of that function of the C library, whose three first
 * arguments are the first words of a step.
 */
struct trace_superblock {
	uint32_t id;
	uint32_t size; /* bytes of code */
	struct trace_place place; /* its first instruction */
	uint64_t address; /* the same, in the recording */
	uint16_t instructions, slots, exits, words;
	uint8_t ends; /* enum trace_superblock_ends, of the last exit */
	uint8_t cut; /* 1: it has more accesses than there are slots */
	uint8_t reserved[6];
	char name[16]; /* cut off; "": none */
};

/*
 * Steps of one thread, one after another, with gaps where other threads ran.
 * Behind it are `size' bytes, which are, one after another:
 *
 *	0eeewwss: a step. s: its superblock, 0 or 1: the one that is predicted
 *		first or second, 2: a number of the superblock follows. w: 1: the
 *		words that are predicted wrongly follow, 0: there are none. e: its
 *		exit, 0: as predicted, 1 to 6: exit e - 1, 7: a number follows.
 *		The words begin with a bit for each, in whole bytes, the first in
 *		the lowest bit; then numbers, of those with a bit of 1: the signed
 *		difference to the word that it was last, as 2 * d or -2 * d - 1.
 *	10nnnnnn: n + 1 steps, with superblock (the first), exit and words as
 *		predicted.
 *	11kkkkkk: an event, enum trace_stream_event; then as many numbers as it
 *		has.
 *
 * A number is in groups of 7 bits, the lowest first; a byte's highest bit says
 * that more follow. hunt/trace-predict.h has the predictions; they begin anew
 * with each chunk. The first word of each step is how many accesses were counted
 * (trace-format.h's sequence numbers) until the thread's next step.
 */
struct trace_stream {
	uint32_t version; /* TRACE_STREAM_VERSION */
	uint32_t thread;
	uint32_t size;
	uint32_t moves; /* TRACE_MOVED in it */
	uint64_t first, last; /* numbers of steps */
	uint64_t steps, instructions; /* in it */
	uint64_t sequence; /* accesses that were counted before it */
};

enum trace_stream_event {
	/* others ran, or were counted: steps, accesses since the last one */
	TRACE_RESUMED = 0,
	/*
	 * a superblock was left in its first instruction, which faulted: its id.
	 * When a later one faults, the step is one of a superblock that ends
	 * before that instruction. What the faulting instruction did itself is
	 * not recorded
	 */
	TRACE_BROKEN,
	/*
	 * a function of memory: the heap block that has ended (0: none), the one
	 * that begins (0: none), its size. Of both, the bytes were copied. Three
	 * zeros: it failed, or was left by longjmp(3)
	 */
	TRACE_HEAP,
	/*
	 * A system call has moved bytes: its number; 1 + its descriptor, or the
	 * id of its queue (0: none); the id of its TRACE_CHANNEL (0: not known);
	 * how many bytes, or messages, went that way through the channel before,
	 * or the position in a file; bytes that were moved; bits of enum
	 * trace_moved. A call that moves several messages has one for each.
	 * splice(2) and its like have two: what they received, then what they
	 * sent.
	 */
	TRACE_MOVED,
	/*
	 * Memory that the next TRACE_MOVED of the same chunk moved bytes from or
	 * to, in their order: address, bytes, and the first of these, eight at
	 * most, as a value. Of sent ones, it was read before the call.
	 */
	TRACE_MOVED_PART,
	TRACE_STREAM_EVENTS,
};

/* The numbers behind each event. */
#define TRACE_STREAM_NUMBERS  \
	{                     \
		2, 1, 3, 6, 3 \
	}
enum { TRACE_STREAM_NUMBERS_MAX = 6 };

enum trace_moved {
	TRACE_RECEIVED = 1, /* else it sent them */
	/*
	 * another call that moves bytes in the same direction through the channel
	 * was in the kernel at the same time: which was first is not known
	 */
	TRACE_MOVED_UNSURE = 2,
	TRACE_MOVED_PEEKED = 4, /* they are still there: MSG_PEEK, tee(2) */
};

/* When all of a thread's steps are written. */
struct trace_stream_end {
	uint32_t thread, reserved;
	uint64_t steps, instructions; /* executed in all */
	uint64_t bytes; /* of all chunks */
	uint64_t dropped; /* steps that found no room (--transfer-window) */
};

#endif
