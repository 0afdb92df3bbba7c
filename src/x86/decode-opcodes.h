/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The opcode tables of the decoder: what an opcode says before its operands are
 * read. For src/x86/decode*.c alone.
 */
#ifndef X86_DECODE_OPCODES_H
#define X86_DECODE_OPCODES_H

#include <stdbool.h>
#include <stdint.h>

struct prefixes;

/* How an opcode is laid out and what it does besides its operand. */
enum act {
	ACT_UNKNOWN = 0, /* left to the library */
	ACT_NONE, /* opcode and immediate only */
	ACT_MODRM, /* ModRM operand with the entry's kind */
	ACT_GROUP, /* the ModRM reg field chooses (within the tables) */
	ACT_PREFIXED, /* prefixes and form choose (within the tables) */
	ACT_PUSH, /* register or immediate */
	ACT_POP,
	ACT_PUSH_MODRM,
	ACT_POP_MODRM,
	ACT_BRANCH,
	ACT_JUMP,
	ACT_CALL,
	ACT_JUMP_MODRM,
	ACT_CALL_MODRM,
	ACT_RET,
	ACT_LEAVE,
	ACT_ENTER,
	ACT_STOP,
	ACT_STOP_MODRM,
	ACT_STRING, /* kind: of the rdi operand, then from: of the rsi one */
	ACT_MOFFS,
	ACT_BIT_TEST, /* ModRM, bit offset in the reg field's register */
	ACT_XCHG,
	ACT_REFUSE,
	ACT_REFUSE_MODRM,
};

/* Operand sizes that depend on prefixes; others are given in bytes. */
enum { SIZE_V = 100, SIZE_STACK, SIZE_PAIR };

enum immediate { IMM_NONE, IMM_1, IMM_2, IMM_3, IMM_Z, IMM_V };

enum {
	FLAG_LOCK = 1, /* a lock prefix is allowed with memory */
	FLAG_BARE = 2, /* not with 66, f2, f3: those are in `prefixed` */
	FLAG_F3 = 4, /* only with f3 */
	FLAG_MEMORY = 8, /* not with a register operand */
	FLAG_NO16 = 16, /* not with 66 */
	FLAG_VECTOR = 32, /* a register operand is xmm */
};

struct entry {
	uint8_t act; /* enum act */
	uint8_t kind; /* enum access_kind */
	uint8_t size;
	uint8_t imm; /* enum immediate */
	uint8_t flags;
	/* enum x86_refusal, enum access_kind, or a group, by act */
	uint8_t extra;
};

/* Opcode maps: one byte, 0f, 0f 38, 0f 3a; half precision has 5 and 6. */
enum opcode_map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_REGISTERS = 7 };

/*
 * The entry of an opcode; ACT_UNKNOWN if the tables do not have it. modrm is
 * the byte after the opcode and is looked at where there is a ModRM byte.
 */
struct entry decode_entry(const struct prefixes *prefixes, uint8_t map,
			  uint8_t opcode, uint8_t modrm);

/* Does an instruction of this act have a ModRM byte? */
bool decode_has_modrm(uint8_t act);

/*
 * How large a vector instruction's memory operand is: a number of bytes, or
 * one of these, in terms of the vector length (Intel SDM volume 2, section
 * 2.7.5, calls them tuple types). _B has a broadcast form, whose element has 4
 * or 8 bytes by W; _B2 and _B4 one with elements of 2 and 4.
 */
enum tuple {
	TUPLE_NONE, /* registers only */
	FULL = 100,
	FULL_B,
	FULL_B2,
	HALF,
	HALF_B4,
	HALF_B2,
	QUARTER,
	QUARTER_B2,
	EIGHTH,
	/* 8 bytes for 16, else full */
	DUPLICATE,
	/* full, but displacements count elements: of 4 or 8, of 1 or 2 */
	PACKED,
	PACKED_SMALL,
};

struct vector_rule {
	uint8_t map;
	uint8_t kind; /* enum access_kind */
	uint8_t tuple; /* enum tuple, or bytes */
	uint8_t encodings; /* bits of mandatory prefix * 2 + W */
	uint8_t range_count;
	const uint8_t *ranges; /* pairs: first and last opcode */
};

/*
 * The rule for a VEX or EVEX opcode, by the bit of its prefix (none, 66, f3,
 * f2) and W; NULL if there is none. For VEX there are only those that Capstone
 * 4 lacks.
 */
const struct vector_rule *decode_vector_rule(bool evex, uint8_t map,
					     uint8_t encoding, uint8_t opcode);

#endif
