/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one x86-64 instruction does to memory, as plain data: made by
 * x86/decode from bytes, carried to the tracer in a wire site, turned into
 * addresses by x86/effective. Nothing here needs a decoder or a process.
 */
#ifndef X86_ACCESS_H
#define X86_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/code-pattern.h"

enum { X86_INSN_MAX = 15, X86_OPERANDS_MAX = 2, X86_ACCESS_MAX = 64 };

enum access_kind {
	ACCESS_NONE = 0,
	ACCESS_READ = 1,
	ACCESS_WRITE = 2,
	/* read-modify-write: both bits */
	ACCESS_RMW = 3,
};

/* Registers of an address, in the order of the instruction encoding. */
enum x86_reg {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_R8,
	X86_R9,
	X86_R10,
	X86_R11,
	X86_R12,
	X86_R13,
	X86_R14,
	X86_R15,
	X86_RIP,
	X86_REG_NONE,
};

enum x86_segment { X86_SEG_NONE, X86_SEG_FS, X86_SEG_GS };

/*
 * One memory operand. Its address is
 *   segment base + (base + index * scale + disp),
 * the sum in parentheses cut to 32 bits with addr32. For base X86_RIP the
 * value of rip is the address of the *next* instruction. x86/effective adds
 * what moves an address besides: bit_reg, and rsp under pop.
 */
struct mem_operand {
	uint8_t kind; /* enum access_kind */
	uint8_t base; /* enum x86_reg */
	uint8_t index; /* enum x86_reg */
	uint8_t scale; /* 1, 2, 4, 8 */
	uint8_t segment; /* enum x86_segment */
	bool addr32;
	/* rsi or rdi side of a string instruction (moves by itself) */
	bool string;
	/* pushed or popped by push, pop, call, ret, enter, leave */
	bool stack;
	/*
	 * btc/bts/btr/bt with a register bit offset: the address moves with
	 * the register by bytes beyond the operand; then bit_reg is it.
	 */
	uint8_t bit_reg; /* enum x86_reg */
	/* bytes accessed, 1..64 (per element for string instructions) */
	uint16_t size;
	int32_t disp32; /* scaled, if EVEX scales it; 0 with moffs */
	/* full displacement (sign-extended disp32, or the moffs address) */
	int64_t disp;
};

enum x86_rep { X86_REP_NONE, X86_REP, X86_REPE, X86_REPNE };

enum x86_flow {
	X86_FLOW_NEXT, /* falls through only */
	X86_FLOW_BRANCH, /* conditional: target or next */
	X86_FLOW_JUMP, /* target only */
	X86_FLOW_CALL, /* target, later next */
	X86_FLOW_RET,
	X86_FLOW_STOP, /* hlt, ud2, int3: nothing follows */
};

/* Why an instruction is not watched although it touches memory. */
enum x86_refusal {
	X86_OK = 0,
	X86_REFUSED_GATHER,
	X86_REFUSED_SCATTER,
	X86_REFUSED_XSAVE, /* xsave, xrstor, fxsave, fxrstor families */
	X86_REFUSED_MASKMOV, /* masked stores and loads */
	X86_REFUSED_FAR, /* far jmp/call/ret, lds and the like, iret */
	X86_REFUSED_X87_ENV, /* fsave, frstor, fstenv, fldenv */
	X86_REFUSED_TILE, /* AMX tile loads and stores */
	X86_REFUSED_SYSTEM, /* privileged and descriptor table instructions */
	X86_REFUSED_OTHER, /* known to touch memory in a way not modelled */
	X86_REFUSED_UNDECODABLE,
	X86_REFUSALS, /* count */
};

struct insn_access {
	uint8_t length; /* bytes, 1..15 */
	uint8_t operand_count; /* 0: touches no memory (or refused) */
	bool synchronizes; /* lock prefix, or xchg with memory */
	/* it accesses memory and has xmm, ymm or zmm among its operands */
	bool vector;
	uint8_t rep; /* enum x86_rep */
	uint8_t flow; /* enum x86_flow */
	uint8_t refusal; /* enum x86_refusal */
	bool indirect; /* branch, jump or call through register or memory */
	/* clflush, prefetch, lea, nop: an address but no access: no operand */
	/* Target of a direct branch, jump or call; 0 if there is none. */
	uint64_t target;
	struct mem_operand operands[X86_OPERANDS_MAX];
	/* implicit stack push/pop traffic is an operand with `stack` set */
};

/* The registers an address is computed from, by enum x86_reg. */
struct x86_registers {
	uint64_t gpr[16];
	uint64_t rip;
	uint64_t rflags;
	uint64_t fs_base;
	uint64_t gs_base;
	/* the system call a stopped thread is in, as the kernel tells it */
	uint64_t orig_rax;
};

/* One access to actual bytes. */
struct mem_access {
	uint64_t address;
	uint32_t size;
	uint8_t kind; /* enum access_kind */
};

/* "read", "write", "read-modify-write". */
static inline const char *access_kind_name(unsigned int kind)
{
	switch (kind) {
	case ACCESS_READ:
		return "read";
	case ACCESS_WRITE:
		return "write";
	case ACCESS_RMW:
		return "read-modify-write";
	default:
		return "none";
	}
}

#endif
