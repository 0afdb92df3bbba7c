/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which instruction trapped? A data breakpoint reports after the access, so
 * rip is wherever the instruction led and only decoding forward can tell where
 * it was. The function is decoded along every path that direct branches show
 * (so data in the text and jumps into the middle of an instruction do no
 * harm); the instructions that could have led to rip are ranked by how well
 * their operands, computed from the registers after them, agree with the
 * bytes watched.
 */
#include "x86/decode.h"

#include <stdlib.h>
#include <string.h>

#include "x86/decode-parts.h"
#include "x86/effective.h"

/* How sure a candidate is; the higher wins. */
enum rank {
	RANK_NONE = 0,
	/* touches memory in a way that has no operands */
	RANK_REFUSED,
	/* disagrees, but has overwritten its own address */
	RANK_OVERWRITTEN,
	/* a rep that passed the bytes in one go with its last element */
	RANK_REP_NEAR,
	/* agrees, and a conditional branch stands between it and rip */
	RANK_FUSED,
	/* an indirect jump that agrees */
	RANK_JUMP,
	/* ends at rip and agrees */
	RANK_PREVIOUS,
	/* a rep at rip whose last element agrees */
	RANK_REP,
};

/* String instructions may finish a block before they trap (SDM volume 3). */
enum { REP_BLOCK = 64 };

/* The question, and the best answer so far. */
struct search {
	struct decoder *decoder;
	const uint8_t *bytes;
	size_t size;
	uint64_t start;
	const struct x86_registers *regs;
	const struct mem_access *watched;
	enum rank rank;
	uint64_t address;
	struct insn_access insn;
};

static void decode_at(const struct search *search, size_t at,
		      struct insn_access *ret)
{
	decoder_decode(search->decoder, search->bytes + at, search->size - at,
		       search->start + at, ret);
}

/* Decode straight on from `at`, until known ground or the end. */
static void walk(const struct search *search, size_t at)
{
	uint8_t *marks = search->decoder->marks;

	while (at < search->size && (marks[at] & DECODE_START) == 0) {
		struct insn_access insn;

		decode_at(search, at, &insn);
		marks[at] |= DECODE_START;
		if (insn.target - search->start < search->size)
			marks[insn.target - search->start] |= DECODE_TARGET;
		at += insn.length;
	}
}

bool decode_marks(struct decoder *decoder, const uint8_t *bytes, size_t size,
		  uint64_t start)
{
	const struct search search = {
		.decoder = decoder,
		.bytes = bytes,
		.size = size,
		.start = start,
	};
	bool found = true;

	if (decoder->marks_size < size) {
		uint8_t *marks = realloc(decoder->marks, size);

		if (!marks)
			return false;
		decoder->marks = marks;
		decoder->marks_size = size;
	}
	memset(decoder->marks, 0, size);
	walk(&search, 0);
	while (found) {
		found = false;
		for (size_t at = 0; at < size; at++) {
			if (decoder->marks[at] != DECODE_TARGET)
				continue;
			walk(&search, at);
			found = true;
		}
	}
	return true;
}

static void offer(struct search *search, enum rank rank, size_t at,
		  const struct insn_access *insn)
{
	if (rank <= search->rank)
		return;
	search->rank = rank;
	search->address = search->start + at;
	search->insn = *insn;
}

static uint32_t bit(uint8_t reg)
{
	return reg < X86_RIP ? UINT32_C(1) << reg : 0;
}

/*
 * The registers as they were before the instruction, as far as it moved them
 * by a known amount: the stack pointer and the string pointers. *written loses
 * those that were found.
 */
static struct x86_registers before(const struct search *search, size_t at,
				   const struct insn_access *insn,
				   uint32_t *written)
{
	struct x86_registers regs = *search->regs;
	bool down = (regs.rflags & (UINT64_C(1) << 10)) != 0;

	regs.rip = search->start + at;
	for (int i = 0; i < insn->operand_count; i++) {
		const struct mem_operand *operand = &insn->operands[i];

		if (operand->string) {
			regs.gpr[operand->base] += down ? operand->size
							: -operand->size;
		} else if (!operand->stack) {
			continue;
		} else if (operand->base == X86_RBP) {
			/* leave */
			regs.gpr[X86_RBP] = regs.gpr[X86_RSP] - operand->size;
		} else {
			regs.gpr[X86_RSP] += operand->kind == ACCESS_WRITE
						     ? operand->size
						     : -operand->size;
		}
		*written &= ~bit(operand->base);
	}
	return regs;
}

/* Does an operand's address overlap the bytes watched? */
static bool agrees(const struct search *search, const struct insn_access *insn,
		   const struct mem_operand *operand,
		   const struct x86_registers *regs)
{
	struct mem_access access = {
		.address = effective_address(insn, operand, regs),
		.size = operand->size,
		.kind = operand->kind,
	};

	return mem_access_overlap(&access, search->watched);
}

/*
 * The rank of an instruction whose successor is rip: `rank` if an operand
 * agrees; less if none does, but the instruction has overwritten the
 * registers of one.
 */
static enum rank judge(const struct search *search, size_t at,
		       const struct insn_access *insn, enum rank rank)
{
	uint32_t written = 0;
	struct x86_registers regs;
	bool lost = false;

	if (insn->refusal != X86_OK)
		return RANK_REFUSED;
	if (insn->operand_count == 0)
		return RANK_NONE;
	written = decode_written(search->decoder, search->bytes + at,
				 search->size - at, search->start + at);
	regs = before(search, at, insn, &written);
	for (int i = 0; i < insn->operand_count; i++) {
		const struct mem_operand *operand = &insn->operands[i];

		if (agrees(search, insn, operand, &regs))
			return rank;
		lost |= (written & (bit(operand->base) | bit(operand->index) |
				    bit(operand->bit_reg))) != 0;
	}
	return lost ? RANK_OVERWRITTEN : RANK_NONE;
}

/* A rep string instruction at rip that has done some of its elements. */
static void try_rep(struct search *search, size_t at)
{
	bool down = (search->regs->rflags & (UINT64_C(1) << 10)) != 0;
	struct insn_access insn;

	decode_at(search, at, &insn);
	if (insn.rep == X86_REP_NONE || insn.refusal != X86_OK)
		return;
	for (int i = 0; i < insn.operand_count; i++) {
		const struct mem_operand *operand = &insn.operands[i];
		uint64_t next = effective_address(&insn, operand, search->regs);
		struct mem_access last = { next, operand->size, operand->kind };
		struct mem_access block = { next, REP_BLOCK, operand->kind };

		last.address += down ? last.size : -(uint64_t)last.size;
		block.address += down ? last.size : -(uint64_t)REP_BLOCK;
		if (mem_access_overlap(&last, search->watched))
			offer(search, RANK_REP, at, &insn);
		else if (mem_access_overlap(&block, search->watched))
			offer(search, RANK_REP_NEAR, at, &insn);
	}
}

/*
 * The first instruction from `at` on that ends at `end`: where it starts, or `end`
 * if there is none.
 */
static size_t next_ending_at(const struct search *search, size_t at, size_t end,
			     struct insn_access *ret)
{
	if (end > X86_INSN_MAX && at < end - X86_INSN_MAX)
		at = end - X86_INSN_MAX;
	for (; at < end; at++) {
		if ((search->decoder->marks[at] & DECODE_START) == 0)
			continue;
		decode_at(search, at, ret);
		if (at + ret->length == end)
			return at;
	}
	return end;
}

/* The same for a call, which returns to `end`. */
static size_t next_call(const struct search *search, size_t at, size_t end,
			struct insn_access *ret)
{
	at = next_ending_at(search, at, end, ret);
	while (at < end && ret->flow != X86_FLOW_CALL)
		at = next_ending_at(search, at + 1, end, ret);
	return at;
}

/* Does control go from the instruction to `address` by going on? */
static bool falls_through(const struct insn_access *insn, uint64_t address)
{
	if (insn->flow == X86_FLOW_NEXT)
		return true;
	/* call to the next instruction, to learn where it is */
	return insn->flow == X86_FLOW_CALL && insn->target == address;
}

/* Offer the instructions that end at `end`, ranked `rank` if they agree. */
static void try_previous(struct search *search, size_t end, enum rank rank)
{
	struct insn_access insn;
	size_t at = next_ending_at(search, 0, end, &insn);

	while (at < end) {
		enum rank found = RANK_NONE;

		if (falls_through(&insn, search->start + end))
			found = judge(search, at, &insn, rank);
		if (found == rank || rank == RANK_PREVIOUS)
			offer(search, found, at, &insn);
		at = next_ending_at(search, at + 1, end, &insn);
	}
}

/* An indirect jump that reads its target. */
static void try_jump(struct search *search, size_t at,
		     const struct insn_access *insn)
{
	if (insn->flow == X86_FLOW_JUMP && insn->operand_count != 0 &&
	    judge(search, at, insn, RANK_JUMP) == RANK_JUMP)
		offer(search, RANK_JUMP, at, insn);
}

/*
 * Branches to `rip`: indirect jumps that read their target; and conditional
 * ones, which the processor may have fused with the instruction before, the
 * trap then coming after both.
 */
static void try_branches(struct search *search, uint64_t rip)
{
	for (size_t at = 0; at < search->size; at++) {
		struct insn_access insn;

		if ((search->decoder->marks[at] & DECODE_START) == 0)
			continue;
		decode_at(search, at, &insn);
		try_jump(search, at, &insn);
		if (insn.flow == X86_FLOW_BRANCH &&
		    (insn.target == rip ||
		     search->start + at + insn.length == rip))
			try_previous(search, at, RANK_FUSED);
	}
}

/* The best candidate, if there is one. */
static bool answer(const struct search *search, uint64_t *ret_address,
		   struct insn_access *ret)
{
	if (search->rank == RANK_NONE)
		return false;
	*ret_address = search->address;
	*ret = search->insn;
	return true;
}

bool decode_find_trapped(struct decoder *decoder, const uint8_t *bytes,
			 size_t size, uint64_t start,
			 const struct x86_registers *regs,
			 const struct mem_access *watched,
			 uint64_t *ret_address, struct insn_access *ret)
{
	struct search search = {
		.decoder = decoder,
		.bytes = bytes,
		.size = size,
		.start = start,
		.regs = regs,
		.watched = watched,
	};
	size_t end = regs->rip - start;

	if (end > size || !decode_marks(decoder, bytes, size, start))
		return false;
	if (end < size)
		try_rep(&search, end);
	try_previous(&search, end, RANK_PREVIOUS);
	if (search.rank < RANK_JUMP)
		try_branches(&search, regs->rip);
	return answer(&search, ret_address, ret);
}

bool decode_find_call(struct decoder *decoder, const uint8_t *bytes,
		      size_t size, uint64_t start, uint64_t return_address,
		      const struct x86_registers *regs,
		      const struct mem_access *watched, uint64_t *ret_address,
		      struct insn_access *ret)
{
	struct search search = {
		.decoder = decoder,
		.bytes = bytes,
		.size = size,
		.start = start,
		.regs = regs,
		.watched = watched,
	};
	size_t end = return_address - start;
	struct insn_access insn;
	size_t at;

	if (end > size || !decode_marks(decoder, bytes, size, start))
		return false;
	at = next_call(&search, 0, end, &insn);
	for (; at < end; at = next_call(&search, at + 1, end, &insn)) {
		if (judge(&search, at, &insn, RANK_PREVIOUS) == RANK_PREVIOUS)
			offer(&search, RANK_PREVIOUS, at, &insn);
	}
	return answer(&search, ret_address, ret);
}

bool decode_called(struct decoder *decoder, const uint8_t *bytes, size_t size,
		   uint64_t start, uint64_t return_address, uint64_t *ret)
{
	struct search search = {
		.decoder = decoder,
		.bytes = bytes,
		.size = size,
		.start = start,
	};
	size_t end = return_address - start;
	struct insn_access insn;
	uint64_t target = 0;
	int calls = 0;
	size_t at;

	if (end > size || !decode_marks(decoder, bytes, size, start))
		return false;
	at = next_call(&search, 0, end, &insn);
	for (; at < end; at = next_call(&search, at + 1, end, &insn)) {
		if (insn.indirect)
			continue;
		target = insn.target;
		calls++;
	}
	if (calls != 1)
		return false;
	*ret = target;
	return true;
}

bool decode_find_jump(struct decoder *decoder, const uint8_t *bytes,
		      size_t size, uint64_t start,
		      const struct x86_registers *regs,
		      const struct mem_access *watched, uint64_t *ret_address,
		      struct insn_access *ret)
{
	struct search search = {
		.decoder = decoder,
		.bytes = bytes,
		.size = size,
		.start = start,
		.regs = regs,
		.watched = watched,
	};
	struct insn_access insn;

	if (!decode_marks(decoder, bytes, size, start))
		return false;
	for (size_t at = 0; at < size; at++) {
		if ((decoder->marks[at] & DECODE_START) == 0)
			continue;
		decode_at(&search, at, &insn);
		try_jump(&search, at, &insn);
	}
	return answer(&search, ret_address, ret);
}
