/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the decoder share; for src/x86/decode*.c, and for those
 * that look at Capstone's operands or do without it.
 *
 * An instruction is decoded by tables of our own, and by Capstone if these have
 * no entry for it. The tables are decode-opcodes.c for integer, control-flow and
 * x87 instructions, nine in ten of what compilers emit, and
 * decode-vector-rules.c for EVEX and what else Capstone 4 does not know. Of
 * Capstone, decode-library.c takes identity, operands and length. What an
 * instruction does to its memory operand comes from our table in decode-fix.c,
 * never from Capstone.
 *
 * Why there are tables: a program that is started is held for 50 ms at most until
 * the locations in its own code are armed. 1 MB of code, some 240 000
 * instructions, is to be decoded in that time, in which a processor executes 300
 * to 500 million instructions. Capstone alone executes 3 122 for each (bench/counts,
 * part "capstone"), 750 million in all; the tables and Capstone together execute
 * 502 (part "decode"), 120 million in all. Capstone 4 spends most of them on the
 * instruction's text, which it cannot leave out.
 */
#ifndef X86_DECODE_PARTS_H
#define X86_DECODE_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "x86/access.h"

struct cs_insn;

struct decoder {
	/* Capstone's handle, and the instruction that it decoded last */
	size_t capstone;
	struct cs_insn *insn;
	/* enum decode_mark, one byte per byte of a function; decode_marks() */
	uint8_t *marks;
	size_t marks_size;
};

/* Flags of one byte of a function. */
enum decode_mark {
	DECODE_START = 1, /* an instruction starts there */
	DECODE_TARGET = 2, /* a direct branch leads there */
};

/*
 * Set the decoder's marks of the function, which are valid until the next call.
 * The function is decoded along every path of direct branches. False when out
 * of memory.
 */
bool decode_marks(struct decoder *decoder, const uint8_t *bytes, size_t size,
		  uint64_t start);

/* The prefixes of an instruction, legacy and REX. */
struct prefixes {
	uint8_t length; /* bytes before the opcode */
	uint8_t rex; /* 0x40..0x4f, or 0 */
	uint8_t repeat; /* 0xf2, 0xf3, or 0 */
	uint8_t segment; /* enum x86_segment */
	bool operand16; /* 0x66 */
	bool addr32; /* 0x67 */
	bool lock;
};

/* The bytes after the prefixes that tell the encoding. */
enum { BYTE_ESCAPE = 0x0f, BYTE_XOP = 0x8f };
enum { BYTE_VEX2 = 0xc5, BYTE_VEX3 = 0xc4, BYTE_EVEX = 0x62 };

enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

/* Read the prefixes; at most `size` bytes. */
void decode_prefixes(const uint8_t *bytes, size_t size, struct prefixes *ret);

/*
 * Try the plain tables; *ret is zeroed. False: not covered, *ret is undefined but
 * for its length, which is 0. True may still mean undecodable (a lock prefix
 * where none is allowed), with its length.
 */
bool decode_plain(const struct prefixes *prefixes, const uint8_t *bytes,
		  size_t size, uint64_t address, struct insn_access *ret);

/* Decode by Capstone; *ret is zeroed. False if it cannot. Not for EVEX. */
bool decode_library(struct decoder *decoder, const struct prefixes *prefixes,
		    const uint8_t *bytes, size_t size, uint64_t address,
		    struct insn_access *ret);

/* A vector instruction by the fields of its encoding. */
struct vector_insn {
	uint8_t map; /* 1: 0F, 2: 0F38, 3: 0F3A; others with EVEX */
	uint8_t prefix; /* 0, 1: 66, 2: F3, 3: F2 */
	uint8_t opcode, modrm;
	bool vex, evex, wide;
	unsigned int length; /* of its vectors, bytes; 128 is not valid */
	uint8_t reg, second, rm; /* register numbers; rm if not memory */
	bool memory;
	uint8_t mask; /* 0: none */
	bool zeroing, broadcast;
	uint8_t rex; /* REX_R, REX_X and REX_B, from whatever prefix */
	uint8_t modrm_at; /* where ModRM is, or the end */
	/* by vector_insn_decode() alone */
	uint8_t immediate;
	struct insn_access access; /* its length; the address in operands[0] */
};

/*
 * Read the fields of an instruction of map 0F and up, as far as its opcode says
 * that it has them. False: it is another, or cut off before its opcode.
 */
bool decode_encoding(const struct prefixes *prefixes, const uint8_t *bytes,
		     size_t size, struct vector_insn *ret);

/*
 * Decode a VEX or EVEX instruction by decode-vector-rules.c; *ret is zeroed. True
 * may mean undecodable, with its length. False: there is no rule for it; *ret has
 * the length that its encoding tells, and 0 if that is malformed or cut off.
 */
bool decode_vector(const struct prefixes *prefixes, const uint8_t *bytes,
		   size_t size, struct insn_access *ret);

/*
 * The address after the ModRM byte at `at`, as an operand of no kind and size.
 * Returns where the bytes after it begin; 0 if they are cut off. For a
 * register form that is the byte after ModRM, and *ret names no register.
 */
size_t decode_modrm_address(const struct prefixes *prefixes,
			    const uint8_t *bytes, size_t size, size_t at,
			    struct mem_operand *ret);

/* The general registers an instruction writes, as a bit set by enum x86_reg. */
uint32_t decode_written(struct decoder *decoder, const uint8_t *bytes,
			size_t size, uint64_t address);

/* The same, of one that is decoded. */
uint32_t decode_insn_written(const struct decoder *decoder,
			     const struct cs_insn *insn);
/* Capstone's names of general registers, as such bits. */
uint32_t decode_register_set(const uint16_t *regs, uint8_t count);

/*
 * Our name of one of Capstone's general registers, of any width; X86_REG_NONE
 * for others.
 */
uint8_t decode_register(unsigned int reg);

/* What an instruction does to a memory operand that is its first operand. */
enum first_effect {
	/* not known to take memory there: refused */
	FIRST_UNKNOWN = 0,
	FIRST_READ = ACCESS_READ,
	FIRST_WRITE = ACCESS_WRITE,
	FIRST_RMW = ACCESS_RMW,
};

/* What decode-library.c needs to know of an instruction, by its Capstone id. */
struct insn_fix {
	uint8_t first; /* enum first_effect */
	uint8_t refusal; /* enum x86_refusal: always refused, if not X86_OK */
	uint8_t flow; /* enum x86_flow */
	uint8_t size; /* bytes accessed, where Capstone's size is wrong; or 0 */
	bool no_access; /* its memory operand is an address only */
};

/* The entry of an id, all zero if there is none. Other operands are read. */
const struct insn_fix *decode_fix(unsigned int id);

#endif
