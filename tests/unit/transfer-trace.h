/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that hand an address over, as a recorder would write what they execute.
 * The code of the superblocks is real; it is only decoded. Each test writes the
 * steps of its threads, and opens the trace then.
 */
#ifndef TESTS_TRANSFER_TRACE_H
#define TESTS_TRANSFER_TRACE_H

#include "function-code.h"

#include <string.h>

#include "base/error.h"
#include "hunt/recording.h"
#include "recorder/packer.h"
#include "trace-writer.h"

/* An object, memory that others receive its address in, and a stack. */
enum { OBJECT = 0x50000, BLOCK = 64, SLOT = 0x20000, OTHER = 0x30000 };
enum { STACK = 0x7000 };

/* mov %rbx, (%rdi): the address is stored. */
CODE(sends, "mov %rbx, (%rdi)\n");
CODE(sends_twice, "mov %rbx, (%rdi)\n"
		  "mov %rbx, (%rdi)\n");
CODE(swaps, "lock cmpxchg %rbx, (%rdi)\n");
/* It is received, moved through the stack, and used 8 bytes further on. */
CODE(receives, "mov (%rdi), %rax\n"
	       "mov %rax, -8(%rsp)\n"
	       "mov %rbx, %rcx\n"
	       "mov -8(%rsp), %rdx\n"
	       "add $8, %rdx\n");
CODE(uses, "mov (%rdx), %rsi\n");
CODE(writes, "mov %rsi, (%rdx)\n");
/* It is received, and handed on by another thread. */
CODE(relays, "mov (%rdi), %rax\n"
	     "mov %rax, (%rsi)\n");
/* An index that counts up, and what it selects. */
CODE(counts, "lock xadd %rax, (%rdi)\n");
CODE(selects, "mov (%r8,%rax,8), %rsi\n");
CODE(allocated, "lea 8(%rax), %rdx\n");
CODE(calls_kernel, "syscall\n");
CODE(stores_16, "movups %xmm0, (%rdi)\n");
/* A container is received, and an address goes through it. */
CODE(recycles, "mov (%rdi), %rbx\n"
	       "mov %rsi, (%rbx)\n"
	       "mov (%rbx), %rdx\n"
	       "add $8, %rdx\n");
/* The same of one that malloc(3) returned. */
CODE(reuses, "mov %rsi, (%rax)\n"
	     "mov (%rax), %rdx\n"
	     "add $8, %rdx\n");
CODE(loads_16, "movdqu (%rdi), %xmm0\n"
	       "movq %xmm0, %rdx\n"
	       "add $8, %rdx\n");
/* The same, by way of the stack: it is the second one. */
CODE(moves_16, "movdqu (%rdi), %xmm0\n"
	       "movaps %xmm0, %xmm1\n"
	       "movups %xmm1, -16(%rsp)\n"
	       "mov -8(%rsp), %rdx\n"
	       "add $8, %rdx\n");
/* The received address or another one. */
CODE(chooses, "mov (%rdi), %rax\n"
	      "test %rbx, %rbx\n"
	      "cmove %rax, %rbx\n"
	      "lea 8(%rbx), %rdx\n");

enum {
	SENDS = 1,
	SENDS_TWICE,
	SWAPS,
	RECEIVES,
	USES,
	RELAYS,
	COUNTS,
	SELECTS,
	ALLOCATED,
	STORES_16,
	CALLS,
	RECYCLES,
	REUSES,
	LOADS_16,
	CHOOSES,
	WRITES,
	MOVES_16,
};

enum { SLOTS_MAX = 4 };

static struct writer writer;
static struct packer packer;
static struct recording recording;
static struct decoder *decoder;
static uint64_t steps;

/* The accesses of a superblock: instruction, bytes, flags, 2: values are known. */
struct shape {
	uint8_t instruction, size, flags, words;
};

static const struct shape stores[] = { { 0, 8, TRACE_WRITES, 2 },
				       { 1, 8, TRACE_WRITES, 2 } };
static const struct shape loads[] = { { 0, 8, TRACE_READS, 2 } };
static const struct shape swap[] = {
	{ 0, 8, TRACE_READS | TRACE_ATOMIC, 2 },
	{ 0, 8, TRACE_WRITES | TRACE_ATOMIC, 3 },
};
static const struct shape through_stack[] = { { 0, 8, TRACE_READS, 2 },
					      { 1, 8, TRACE_WRITES, 1 },
					      { 3, 8, TRACE_READS, 1 } };
static const struct shape relay[] = { { 0, 8, TRACE_READS, 2 },
				      { 1, 8, TRACE_WRITES, 2 } };
static const struct shape wide[] = { { 0, 16, TRACE_WRITES, 1 } };
static const struct shape wide_load[] = { { 0, 16, TRACE_READS, 1 } };
static const struct shape wide_move[] = { { 0, 16, TRACE_READS, 1 },
					  { 2, 16, TRACE_WRITES, 1 },
					  { 3, 8, TRACE_READS, 2 } };
static const struct shape recycle[] = { { 0, 8, TRACE_READS, 2 },
					{ 1, 8, TRACE_WRITES, 2 },
					{ 2, 8, TRACE_READS, 2 } };
static const struct shape reuse[] = { { 0, 8, TRACE_WRITES, 2 },
				      { 1, 8, TRACE_READS, 2 } };

static struct trace_slot slot_of(const struct shape *shape)
{
	struct trace_slot slot = {
		.instruction = shape->instruction,
		.size = shape->size,
		.flags = shape->flags,
		.conditional = shape->words > 2,
		.address = { .source = TRACE_FROM_WORD },
	};

	if (shape->words > 1)
		slot.value.source = TRACE_FROM_WORD;
	return slot;
}

static uint16_t lengths_of(const uint8_t *code, size_t size, uint8_t *lengths)
{
	uint16_t count = 0;

	for (size_t i = 0; i < size; i += lengths[count++]) {
		struct insn_access access;

		decoder_decode(decoder, code + i, size - i, at(code), &access);
		lengths[count] = access.length;
	}
	return count;
}

static void superblock(uint32_t id, const uint8_t *code, const uint8_t *end,
		       const struct shape *shapes, uint16_t count)
{
	struct trace_superblock head = { .id = id,
					 .size = (uint32_t)(end - code),
					 .place = { 1, 0, 0x100 * id },
					 .address = 0x1000 + 0x100 * id,
					 .slots = count,
					 .exits = 1 };
	struct trace_slot slots[SLOTS_MAX];
	uint8_t lengths[16];
	unsigned char behind[512];
	size_t size = 0;

	for (uint16_t i = 0; i < count; i++) {
		slots[i] = slot_of(&shapes[i]);
		head.words = (uint16_t)(head.words + shapes[i].words);
	}
	head.instructions = lengths_of(code, head.size, lengths);
	memcpy(behind, slots, size = count * sizeof(*slots));
	memcpy(behind + size,
	       &(struct trace_exit){ .instructions = head.instructions,
				     .slots = count,
				     .words = head.words },
	       sizeof(struct trace_exit));
	size += sizeof(struct trace_exit);
	memcpy(behind + size, lengths, head.instructions);
	size += head.instructions;
	memcpy(behind + size, code, head.size);
	writer_chunk(&writer, TRACE_SUPERBLOCK, &head, sizeof(head), behind,
		     size + head.size);
}

#define SUPERBLOCK(id, name, shapes, count) \
	superblock(id, name##_start, name##_end, shapes, count)

static int trace_set_up(void **state)
{
	decoder = *state;
	writer_begin(&writer);
	for (uint32_t thread = 1; thread <= 3; thread++)
		writer_thread(&writer, thread, thread > 1, thread - 2, 0, 0, 0,
			      0);
	SUPERBLOCK(SENDS, sends, stores, 1);
	SUPERBLOCK(SENDS_TWICE, sends_twice, stores, 2);
	SUPERBLOCK(SWAPS, swaps, swap, 2);
	SUPERBLOCK(RECEIVES, receives, through_stack, 3);
	SUPERBLOCK(USES, uses, loads, 1);
	SUPERBLOCK(RELAYS, relays, relay, 2);
	SUPERBLOCK(COUNTS, counts, swap, 2);
	SUPERBLOCK(SELECTS, selects, loads, 1);
	SUPERBLOCK(ALLOCATED, allocated, NULL, 0);
	SUPERBLOCK(STORES_16, stores_16, wide, 1);
	SUPERBLOCK(CALLS, calls_kernel, NULL, 0);
	SUPERBLOCK(RECYCLES, recycles, recycle, 3);
	SUPERBLOCK(REUSES, reuses, reuse, 2);
	SUPERBLOCK(LOADS_16, loads_16, wide_load, 1);
	SUPERBLOCK(CHOOSES, chooses, loads, 1);
	SUPERBLOCK(WRITES, writes, stores, 1);
	SUPERBLOCK(MOVES_16, moves_16, wide_move, 3);
	steps = 0;
	return 0;
}

static int trace_tear_down(void **state)
{
	(void)state;
	writer_remove(&writer);
	return 0;
}

/* The thread runs from now on: a chunk of its own. */
static void runs(uint32_t thread)
{
	packer_begin(&packer, thread, steps + 1, steps);
}

static void stops(void)
{
	packer_end(&packer);
	writer_chunk(&writer, TRACE_STREAM, &packer.head, sizeof(packer.head),
		     packer.bytes, packer.head.size);
}

static void step(uint32_t id, const uint64_t *words, uint32_t count)
{
	packer_step(&packer, &(struct packer_step){ .id = id,
						    .count = count + 1,
						    .instructions = 1,
						    .accesses = 1,
						    .words = words });
	steps++;
}

#define STEP(id, ...)                               \
	step(id, (const uint64_t[]){ __VA_ARGS__ }, \
	     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static inline void event(enum trace_stream_event kind, uint64_t a, uint64_t b,
			 uint64_t c)
{
	const uint64_t numbers[] = { a, b, c };

	packer_event(&packer, kind, numbers);
}

/* The object's address is received in `slot', and used. */
static inline void receive_and_use(uint64_t slot, uint64_t object)
{
	STEP(RECEIVES, slot, object, STACK, STACK);
	STEP(USES, object + 8, 0);
}

#endif
