/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies of instructions; see relocate.h. After the opcode maps of Intel SDM
 * volume 2, appendix A.
 */
#include "x86/relocate.h"

#include <stddef.h>
#include <string.h>

#include "x86/decode-parts.h"
#include "x86/int3.h"

enum { JUMP_REL32 = 0xe9, EMMS = 0x77, DISPLACEMENT = 4 };
/* ModRM without its reg field: an operand relative to rip */
enum { MODRM_RIP_MASK = 0xc7, MODRM_RIP = 5 };

/* Where ModRM is in an instruction that may be copied, or would be. */
struct shape {
	bool allowed, has_modrm;
	size_t modrm_at;
	size_t immediate; /* bytes of it */
};

struct range {
	uint8_t first, last;
};

static bool ranges_hold(const struct range *ranges, size_t count, uint8_t byte)
{
	for (size_t i = 0; i < count; i++) {
		if (byte >= ranges[i].first && byte <= ranges[i].last)
			return true;
	}
	return false;
}

#define RANGES_HOLD(ranges, byte) \
	ranges_hold(ranges, sizeof(ranges) / sizeof((ranges)[0]), byte)

/* Arithmetic of two operands: 00-3f, a row of eight for each. */
static bool is_arithmetic(uint8_t opcode)
{
	return opcode < 0x40 && (opcode & 7) < 6;
}

/* By the reg field of those that have one: which are none of the others. */
static bool one_byte_group_allows(uint8_t opcode, uint8_t modrm)
{
	uint8_t reg = modrm >> 3 & 7;

	switch (opcode) {
	case 0x8f: /* pop; the others are XOP */
	case 0xc6: /* mov; 7 is xabort */
	case 0xc7: /* mov; 7 is xbegin */
		return reg == 0;
	case 0xfe: /* inc, dec */
		return reg <= 1;
	case 0xff: /* inc, dec, push; calls and jumps between them */
		return reg <= 1 || reg == 6;
	default:
		return true;
	}
}

static size_t one_byte_immediate(const struct prefixes *prefixes,
				 uint8_t opcode, uint8_t modrm)
{
	static const struct range bytes[] = {
		{ 0x6a, 0x6b }, { 0x80, 0x80 }, { 0x83, 0x83 }, { 0xa8, 0xa8 },
		{ 0xb0, 0xb7 }, { 0xc0, 0xc1 }, { 0xc6, 0xc6 },
	};
	static const struct range words[] = {
		{ 0x68, 0x69 }, { 0x81, 0x81 }, { 0xa9, 0xa9 },
		{ 0xb8, 0xbf }, { 0xc7, 0xc7 },
	};
	bool wide = (prefixes->rex & REX_W) != 0;
	size_t word = prefixes->operand16 && !wide ? 2 : 4;

	if (opcode >= 0xa0 && opcode <= 0xa3) /* mov, by its address */
		return prefixes->addr32 ? 4 : 8;
	if (opcode >= 0xb8 && opcode <= 0xbf && wide) /* movabs */
		return 8;
	if (opcode == 0xc8) /* enter */
		return 3;
	/* test has one, the others of the group have none */
	if ((opcode == 0xf6 || opcode == 0xf7) && (modrm >> 3 & 7) > 1)
		return 0;
	if (opcode == 0xf6 || (is_arithmetic(opcode) && (opcode & 7) == 4) ||
	    RANGES_HOLD(bytes, opcode))
		return 1;
	return opcode == 0xf7 || (is_arithmetic(opcode) && (opcode & 7) == 5) ||
			       RANGES_HOLD(words, opcode)
		       ? word
		       : 0;
}

static struct shape one_byte_shape(const struct prefixes *prefixes,
				   const uint8_t *bytes, size_t size)
{
	static const struct range with_modrm[] = {
		{ 0x63, 0x63 }, { 0x69, 0x69 }, { 0x6b, 0x6b }, { 0x80, 0x81 },
		{ 0x83, 0x8d }, { 0x8f, 0x8f }, { 0xc0, 0xc1 }, { 0xc6, 0xc7 },
		{ 0xd0, 0xd3 }, { 0xf6, 0xf7 }, { 0xfe, 0xff },
	};
	static const struct range without[] = {
		{ 0x50, 0x5f }, { 0x68, 0x68 }, { 0x6a, 0x6a }, { 0x90, 0x99 },
		{ 0x9c, 0xbf }, { 0xc8, 0xc9 }, { 0xd7, 0xd7 },
	};
	size_t at = prefixes->length;
	struct shape shape = { .modrm_at = at + 1 };
	uint8_t opcode = bytes[at];

	shape.has_modrm = (is_arithmetic(opcode) && (opcode & 7) < 4) ||
			  RANGES_HOLD(with_modrm, opcode);
	if (shape.has_modrm)
		shape.allowed = at + 1 < size &&
				one_byte_group_allows(opcode, bytes[at + 1]);
	else
		shape.allowed = is_arithmetic(opcode) ||
				RANGES_HOLD(without, opcode);
	shape.immediate = one_byte_immediate(prefixes, opcode,
					     at + 1 < size ? bytes[at + 1] : 0);
	return shape;
}

/* The map 0f, without VEX or EVEX. */
static bool two_byte_has_modrm(uint8_t opcode)
{
	static const struct range without[] = {
		{ EMMS, EMMS }, { 0xa0, 0xa0 }, { 0xa2, 0xa2 },
		{ 0xa8, 0xa8 }, { 0xc8, 0xcf },
	};

	return !RANGES_HOLD(without, opcode);
}

static bool two_byte_allowed(uint8_t opcode)
{
	static const struct range allowed[] = {
		{ 0x0d, 0x0d }, /* prefetch */
		{ 0x10, 0x1f }, { 0x28, 0x2f }, { 0x40, 0x7f }, { 0x90, 0xa0 },
		{ 0xa2, 0xa5 }, { 0xa8, 0xa8 }, { 0xab, 0xb8 }, { 0xba, 0xfe },
	};

	return RANGES_HOLD(allowed, opcode);
}

static size_t vector_immediate(const struct vector_insn *insn)
{
	static const struct range all[] = { { 0x70, 0x73 },
					    { 0xc2, 0xc2 },
					    { 0xc4, 0xc6 } };
	static const struct range legacy[] = { { 0xa4, 0xa4 },
					       { 0xac, 0xac },
					       { 0xba, 0xba } };

	if (insn->map != 1)
		return insn->map == 3;
	if (RANGES_HOLD(all, insn->opcode))
		return 1;
	if (insn->vex)
		return 0;
	/* extrq, insertq of AMD */
	if (insn->opcode == 0x78 && insn->prefix != 0)
		return 2;
	return RANGES_HOLD(legacy, insn->opcode);
}

static struct shape vector_shape(const struct prefixes *prefixes,
				 const uint8_t *bytes, size_t size)
{
	struct vector_insn insn;
	struct shape shape = { 0 };

	if (!decode_encoding(prefixes, bytes, size, &insn))
		return shape;
	shape.modrm_at = insn.modrm_at;
	if (insn.evex)
		shape.allowed = (insn.map >= 1 && insn.map <= 3) ||
				insn.map == 5 || insn.map == 6;
	else if (insn.vex || insn.map != 1)
		shape.allowed = insn.map >= 1 && insn.map <= 3;
	else
		shape.allowed = two_byte_allowed(insn.opcode);
	shape.has_modrm = insn.map != 1 ||
			  (insn.vex ? insn.opcode != EMMS
				    : two_byte_has_modrm(insn.opcode));
	shape.immediate = vector_immediate(&insn);
	return shape;
}

static struct shape shape_of(const struct prefixes *prefixes,
			     const uint8_t *bytes, size_t size)
{
	uint8_t first;

	if (prefixes->length >= size)
		return (struct shape){ 0 };
	first = bytes[prefixes->length];
	if (first == BYTE_ESCAPE || first == BYTE_VEX2 || first == BYTE_VEX3 ||
	    first == BYTE_EVEX)
		return vector_shape(prefixes, bytes, size);
	return one_byte_shape(prefixes, bytes, size);
}

/* Are these all of its bytes, and no more? A part of it would do something else. */
static bool is_whole(const struct prefixes *prefixes, const struct shape *shape,
		     const uint8_t *bytes, size_t size)
{
	struct mem_operand operand;
	size_t end = shape->modrm_at;

	if (shape->has_modrm)
		end = decode_modrm_address(prefixes, bytes, size, end,
					   &operand);
	return end > 0 && end + shape->immediate == size;
}

/* What the decoder says of it: is an operand relative to rip? */
static bool has_relative_operand(const struct insn_access *insn)
{
	for (int i = 0; i < insn->operand_count; i++) {
		if (insn->operands[i].base == X86_RIP)
			return true;
	}
	return false;
}

/* The distance as an instruction has it; false: it is too far. */
static bool put_distance(uint64_t from, uint64_t to, uint8_t *ret)
{
	int64_t distance = (int64_t)(to - from);
	int32_t near = (int32_t)distance;

	if (near != distance)
		return false;
	memcpy(ret, &near, sizeof(near));
	return true;
}

/* `copy' has the bytes of the original. */
static bool move_operand(const struct shape *shape, size_t size, uint64_t from,
			 uint64_t to, uint8_t *copy)
{
	size_t at = shape->modrm_at + 1;
	int32_t displacement;

	if (at + DISPLACEMENT > size)
		return false;
	memcpy(&displacement, copy + at, sizeof(displacement));
	return put_distance(to + size,
			    from + size + (uint64_t)(int64_t)displacement,
			    copy + at);
}

bool relocate(const struct insn_access *insn, const uint8_t *bytes,
	      uint64_t from, uint64_t to, uint8_t ret[RELOCATE_SIZE])
{
	size_t size = insn->length;
	struct prefixes prefixes;
	struct shape shape;
	bool relative;

	if (insn->flow != X86_FLOW_NEXT || insn->refusal != X86_OK ||
	    size == 0 || size > X86_INSN_MAX)
		return false;
	decode_prefixes(bytes, size, &prefixes);
	shape = shape_of(&prefixes, bytes, size);
	if (!shape.allowed || !is_whole(&prefixes, &shape, bytes, size))
		return false;
	relative = shape.has_modrm &&
		   (bytes[shape.modrm_at] & MODRM_RIP_MASK) == MODRM_RIP;
	/* both must have understood it alike */
	if (insn->operand_count > 0 && has_relative_operand(insn) != relative)
		return false;
	memset(ret, X86_INT3, RELOCATE_SIZE);
	memcpy(ret, bytes, size);
	/* cut to 32 bits, the address may be another one there */
	if (relative &&
	    (prefixes.addr32 || !move_operand(&shape, size, from, to, ret)))
		return false;
	ret[size] = JUMP_REL32;
	return put_distance(to + size + RELOCATE_JUMP, from + size,
			    ret + size + 1);
}
