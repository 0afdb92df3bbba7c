/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes in, struct insn_access out. The only user of Capstone (4 or 5), whose
 * access directions are replaced by our own table. A decoder holds scratch
 * memory; it is not shared between threads.
 */
#ifndef X86_DECODE_H
#define X86_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "x86/access.h"

struct error;
struct decoder;

/* ERROR_NOMEM or ERROR_UNSUPPORTED. End with decoder_destroy(). */
struct error *decoder_create(struct decoder **ret);
void decoder_destroy(struct decoder *decoder);

/*
 * Decode the instruction at `address`, whose bytes are given (size: what is
 * known, at least 1). Always sets *ret: what cannot be decoded has refusal
 * X86_REFUSED_UNDECODABLE and no operands; its length is that of its encoding
 * where its shape is known (vector extensions newer than Capstone), else 1.
 * RIP-relative operands keep base X86_RIP.
 */
void decoder_decode(struct decoder *decoder, const uint8_t *bytes, size_t size,
		    uint64_t address, struct insn_access *ret);

/*
 * Write the instruction as AT&T text ("movq %rax, 8(%rbx)") into text, cut to
 * text_size (at least 1). ".byte 0x62, ..." if its length is known but not its
 * name; "(bad)" if undecodable.
 */
void decoder_text(struct decoder *decoder, const uint8_t *bytes, size_t size,
		  uint64_t address, char *text, size_t text_size);

/*
 * Of the function body `bytes` at `start`, find the instruction whose access
 * to the bytes of `watched` (its kind is not looked at) trapped, when the
 * thread stands at regs->rip with the registers after it. False, nothing set,
 * if no instruction could have been it: what else leads to rip is
 *
 *  - a call that reads its target from memory: rip is a function's first
 *    instruction; ask decode_find_call() with the caller's body;
 *  - a jump that does, behind a call of the function that it is in: ask
 *    decode_called() and decode_find_jump();
 *  - ret (rip follows a call) and other jumps into the function from another
 *    one, which cannot be told apart without knowing those;
 *  - the kernel, in a system call (rip follows `syscall`).
 *
 * Looked at are, the first that agrees winning: a rep string instruction at
 * rip in mid-way; the instruction that ends at rip and falls through; an
 * indirect jump of this function that reads memory; the instruction before a
 * conditional branch to or up to rip (fused pairs). Agreeing means that an
 * operand's address, computed from the registers, overlaps `watched`. An
 * instruction that ends at rip and has overwritten the registers of its
 * address (mov (%rax), %rax) stands if nothing else agrees, and so does a
 * refused one (*ret then has refusal set and no operands).
 *
 * The function is decoded forward from `start` along all direct branches,
 * never backward; padding, jump tables and overlapping code do no harm. Costs
 * one decoding of the function.
 */
bool decode_find_trapped(struct decoder *decoder, const uint8_t *bytes,
			 size_t size, uint64_t start,
			 const struct x86_registers *regs,
			 const struct mem_access *watched,
			 uint64_t *ret_address, struct insn_access *ret);

/*
 * The same for a call: the thread stands at a function's first instruction,
 * `return_address` is what lies at its stack pointer, and `bytes` is the body
 * of the function around that address. Finds the call if its target or the
 * return address it pushed overlaps `watched`.
 */
bool decode_find_call(struct decoder *decoder, const uint8_t *bytes,
		      size_t size, uint64_t start, uint64_t return_address,
		      const struct x86_registers *regs,
		      const struct mem_access *watched, uint64_t *ret_address,
		      struct insn_access *ret);

/*
 * What the direct call calls that ends at the return address, in this body of a
 * function. False: there is none, or not one only.
 */
bool decode_called(struct decoder *decoder, const uint8_t *bytes, size_t size,
		   uint64_t start, uint64_t return_address, uint64_t *ret);

/*
 * The same as decode_find_call() for a jump at a function's end to another one,
 * whose first instruction the thread stands at; `bytes' is the body that jumps.
 */
bool decode_find_jump(struct decoder *decoder, const uint8_t *bytes,
		      size_t size, uint64_t start,
		      const struct x86_registers *regs,
		      const struct mem_access *watched, uint64_t *ret_address,
		      struct insn_access *ret);

/* Of Capstone, as it is loaded. */
void decode_version(int *ret_major, int *ret_minor);

#endif
