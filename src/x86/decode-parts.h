/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the decoder share; for src/x86/decode*.c alone.
 *
 * An instruction is first tried by decode-plain.c: our own tables for the
 * integer, control-flow and x87 memory instructions, nine in ten of what
 * compilers emit. Of the rest, EVEX goes to decode-vector.c, and everything
 * else to Capstone in decode-library.c, which gives identity, operands and
 * length; what an instruction does to its memory operand then comes from our
 * table in decode-fix.c, never from Capstone.
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
 * Set the decoder's marks of the function, which stay until the next call. It is
 * decoded along every path that direct branches show. False without memory.
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
 * Try the plain tables; *ret is zeroed but for what they set. False: not
 * covered, *ret is undefined. True may still mean undecodable (a lock prefix
 * where none is allowed), with its length.
 */
bool decode_plain(const struct prefixes *prefixes, const uint8_t *bytes,
		  size_t size, uint64_t address, struct insn_access *ret);

/* Decode by Capstone; *ret is zeroed. False if it cannot. Not for EVEX. */
bool decode_library(struct decoder *decoder, const struct prefixes *prefixes,
		    const uint8_t *bytes, size_t size, uint64_t address,
		    struct insn_access *ret);

/*
 * Decode a VEX or EVEX instruction by the shape of its encoding; *ret is
 * zeroed. False if it is neither, or malformed, or cut off. True may mean
 * undecodable, with its length.
 */
bool decode_vector(const struct prefixes *prefixes, const uint8_t *bytes,
		   size_t size, struct insn_access *ret);

/*
 * The address after the ModRM byte at `at`, as an operand of no kind and size.
 * Returns where the bytes after it begin; 0 if they are cut off. For a
 * register form that is the byte after ModRM, and *ret names no register.
 */
size_t decode_address(const struct prefixes *prefixes, const uint8_t *bytes,
		      size_t size, size_t at, struct mem_operand *ret);

/* The general registers an instruction writes, as a bit set by enum x86_reg. */
uint32_t decode_written(struct decoder *decoder, const uint8_t *bytes,
			size_t size, uint64_t address);

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

/* What the library path has to know of an instruction, by its Capstone id. */
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
