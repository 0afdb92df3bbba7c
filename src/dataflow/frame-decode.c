/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an instruction does to addresses of locals; see frame-parts.h. One
 * look-up by opcode: this is done for every instruction that is decoded.
 */
#include "dataflow/frame-parts.h"

#include <string.h>

#include "dataflow/frame.h"
#include "x86/decode-parts.h"

/* What the opcode says of the operands. */
enum form {
	FORM_NONE, /* writes no general register */
	FORM_REG, /* writes the register of ModRM.reg */
	FORM_RM, /* writes ModRM.rm, if that is a register */
	FORM_LEA,
	FORM_MOV_RM, /* mov r, r/m */
	FORM_MOV_REG, /* mov r/m, r */
	FORM_ALU_IMM, /* 81, 83: by ModRM.reg: add, or, ..., cmp */
	FORM_UNARY, /* f7: test, not, neg, mul, ... */
	FORM_FF, /* inc, dec, push */
	FORM_IMM, /* mov $x, r: the register in the opcode */
	FORM_PUSH,
	FORM_POP,
	FORM_PUSH_OTHER, /* a number, the flags */
	FORM_POP_RM,
	FORM_POP_OTHER,
	FORM_LEAVE,
	FORM_XCHG, /* xchg r, r/m: both */
	FORM_XCHG_RAX,
	FORM_RAX, /* writes rax */
	FORM_RDX, /* writes rdx */
	FORM_0F, /* look at the next byte */
	FORM_PREFIX, /* other than REX */
};

/* clang-format off */
#define EIGHT(n, form) [(n) ... (n) + 7] = (form)

static const uint8_t forms[256] = {
	[0x01] = FORM_RM, [0x03] = FORM_REG, [0x05] = FORM_RAX,
	[0x09] = FORM_RM, [0x0b] = FORM_REG, [0x0d] = FORM_RAX,
	[0x0f] = FORM_0F,
	[0x11] = FORM_RM, [0x13] = FORM_REG, [0x15] = FORM_RAX,
	[0x19] = FORM_RM, [0x1b] = FORM_REG, [0x1d] = FORM_RAX,
	[0x21] = FORM_RM, [0x23] = FORM_REG, [0x25] = FORM_RAX,
	[0x29] = FORM_RM, [0x2b] = FORM_REG, [0x2d] = FORM_RAX,
	[0x31] = FORM_RM, [0x33] = FORM_REG, [0x35] = FORM_RAX,
	EIGHT(0x50, FORM_PUSH), EIGHT(0x58, FORM_POP),
	[0x63] = FORM_REG, [0x68] = FORM_PUSH_OTHER, [0x69] = FORM_REG,
	[0x6a] = FORM_PUSH_OTHER, [0x6b] = FORM_REG,
	[0x81] = FORM_ALU_IMM, [0x83] = FORM_ALU_IMM,
	[0x87] = FORM_XCHG, [0x89] = FORM_MOV_REG, [0x8b] = FORM_MOV_RM,
	[0x8d] = FORM_LEA, [0x8f] = FORM_POP_RM,
	EIGHT(0x90, FORM_XCHG_RAX), [0x98] = FORM_RAX, [0x99] = FORM_RDX,
	[0x9c] = FORM_PUSH_OTHER, [0x9d] = FORM_POP_OTHER,
	EIGHT(0xb8, FORM_IMM),
	[0xc1] = FORM_RM, [0xc7] = FORM_RM, [0xc9] = FORM_LEAVE,
	[0xd1] = FORM_RM, [0xd3] = FORM_RM,
	[0xf7] = FORM_UNARY, [0xff] = FORM_FF,
	[0x26] = FORM_PREFIX, [0x2e] = FORM_PREFIX, [0x36] = FORM_PREFIX,
	[0x3e] = FORM_PREFIX, [0x64] = FORM_PREFIX, [0x65] = FORM_PREFIX,
	[0x66] = FORM_PREFIX, [0x67] = FORM_PREFIX, [0xf0] = FORM_PREFIX,
	[0xf2] = FORM_PREFIX, [0xf3] = FORM_PREFIX,
};
/* clang-format on */

/* The same of those after 0x0f. */
/* clang-format off */
static const uint8_t forms_0f[256] = {
	EIGHT(0x40, FORM_REG), EIGHT(0x48, FORM_REG), /* cmov */
	[0xa4] = FORM_RM, [0xa5] = FORM_RM, [0xac] = FORM_RM,
	[0xad] = FORM_RM, [0xaf] = FORM_REG,
	[0xb3] = FORM_RM, [0xb6] = FORM_REG, [0xb7] = FORM_REG,
	[0xb8] = FORM_REG, [0xba] = FORM_RM, [0xbb] = FORM_RM,
	[0xbc] = FORM_REG, [0xbd] = FORM_REG, [0xbe] = FORM_REG,
	[0xbf] = FORM_REG, [0xab] = FORM_RM,
	[0x2c] = FORM_REG, [0x2d] = FORM_REG, [0x50] = FORM_REG,
	[0x7e] = FORM_RM, [0xd7] = FORM_REG,
};
/* clang-format on */

/* The instruction after its prefixes. */
struct bytes {
	struct prefixes prefixes;
	const uint8_t *bytes;
	size_t size;
	size_t at; /* of the byte after the opcode */
	uint8_t opcode, modrm;
};

static uint8_t field_reg(const struct bytes *in)
{
	return (uint8_t)((in->modrm >> 3 & 7) |
			 ((in->prefixes.rex & REX_R) != 0 ? 8 : 0));
}

static uint8_t field_rm(const struct bytes *in)
{
	return (uint8_t)((in->modrm & 7) |
			 ((in->prefixes.rex & REX_B) != 0 ? 8 : 0));
}

static uint8_t field_opcode(const struct bytes *in)
{
	return (uint8_t)((in->opcode & 7) |
			 ((in->prefixes.rex & REX_B) != 0 ? 8 : 0));
}

static bool is_wide(const struct bytes *in)
{
	return (in->prefixes.rex & REX_W) != 0;
}

static bool sets(struct frame_insn *ret, uint8_t reg)
{
	ret->act = FRAME_SET;
	ret->to = reg;
	return true;
}

static bool sets_rm(const struct bytes *in, struct frame_insn *ret)
{
	return in->modrm >= 0xc0 && sets(ret, field_rm(in));
}

static bool takes_lea(const struct bytes *in, struct frame_insn *ret)
{
	ret->reg = field_reg(in);
	if (!is_wide(in) || in->modrm >= 0xc0 ||
	    decode_modrm_address(&in->prefixes, in->bytes, in->size, in->at,
				 &ret->operand) == 0)
		return sets(ret, ret->reg);
	ret->act = FRAME_LEA;
	return true;
}

static bool takes_mov(const struct bytes *in, const struct insn_access *insn,
		      bool store, struct frame_insn *ret)
{
	ret->reg = field_reg(in);
	if (in->modrm >= 0xc0) {
		ret->act = is_wide(in) ? FRAME_COPY : FRAME_SET;
		ret->to = store ? field_rm(in) : ret->reg;
		if (!store)
			ret->reg = field_rm(in);
		return true;
	}
	if (!is_wide(in) || insn->operand_count == 0)
		return !store && sets(ret, ret->reg);
	ret->act = store ? FRAME_STORE : FRAME_LOAD;
	ret->operand = insn->operands[0];
	return true;
}

static bool takes_number(const struct bytes *in, struct frame_insn *ret)
{
	bool narrow = in->opcode == 0x83;
	uint8_t kind = in->modrm >> 3 & 7;
	int32_t number;

	if (kind == 7 || in->modrm < 0xc0) /* cmp */
		return false;
	if (!is_wide(in) || (kind != 0 && kind != 5) ||
	    in->size < in->at + (narrow ? 2 : 5))
		return sets_rm(in, ret);
	if (narrow)
		number = (in->bytes[in->at + 1] ^ 0x80) - 0x80;
	else
		memcpy(&number, in->bytes + in->at + 1, sizeof(number));
	ret->act = FRAME_ADD;
	ret->to = field_rm(in);
	ret->number = kind == 0 ? number : (int32_t)(0 - (uint32_t)number);
	return true;
}

static bool pushes(struct frame_insn *ret, uint8_t reg)
{
	ret->act = FRAME_PUSH;
	ret->reg = reg;
	return true;
}

static bool pops(struct frame_insn *ret, uint8_t reg)
{
	ret->act = FRAME_POP;
	ret->to = reg;
	return true;
}

static bool takes_ff(const struct bytes *in, struct frame_insn *ret)
{
	if ((in->modrm >> 3 & 7) == 6)
		return pushes(ret,
			      in->modrm >= 0xc0 ? field_rm(in) : X86_REG_NONE);
	return sets_rm(in, ret);
}

static bool takes_0f(struct bytes *in, struct frame_insn *ret)
{
	uint8_t opcode;

	if (in->at + 1 >= in->size)
		return false;
	opcode = in->bytes[in->at++];
	in->modrm = in->bytes[in->at];
	/* movq r, xmm */
	if (opcode == 0x6e && is_wide(in) && in->modrm >= 0xc0) {
		ret->act = FRAME_TO_VECTOR;
		ret->reg = field_rm(in);
		return true;
	}
	/* movq xmm, xmm and the like write no general register */
	if (opcode == 0x7e && (!in->prefixes.operand16 || in->prefixes.repeat))
		return false;
	switch (forms_0f[opcode]) {
	case FORM_REG:
		return sets(ret, field_reg(in));
	case FORM_RM:
		return sets_rm(in, ret);
	default:
		return false;
	}
}

static bool takes(struct bytes *in, const struct insn_access *insn,
		  struct frame_insn *ret)
{
	switch ((enum form)forms[in->opcode]) {
	case FORM_NONE:
		return false;
	case FORM_REG:
		return sets(ret, field_reg(in));
	case FORM_RM:
		return sets_rm(in, ret);
	case FORM_LEA:
		return takes_lea(in, ret);
	case FORM_MOV_RM:
		return takes_mov(in, insn, false, ret);
	case FORM_MOV_REG:
		return takes_mov(in, insn, true, ret);
	case FORM_ALU_IMM:
		return takes_number(in, ret);
	case FORM_UNARY:
		return (in->modrm >> 3 & 7) < 4 ? sets_rm(in, ret)
						: sets(ret, X86_RDX);
	case FORM_FF:
		return takes_ff(in, ret);
	case FORM_IMM:
		return sets(ret, field_opcode(in));
	case FORM_PUSH:
		return pushes(ret, field_opcode(in));
	case FORM_POP:
		return pops(ret, field_opcode(in));
	case FORM_PUSH_OTHER:
		return pushes(ret, X86_REG_NONE);
	case FORM_POP_RM:
		return pops(ret, in->modrm >= 0xc0 ? field_rm(in) : X86_RAX);
	case FORM_POP_OTHER:
		return pops(ret, X86_RAX);
	case FORM_LEAVE:
		ret->act = FRAME_LEAVE;
		return true;
	case FORM_XCHG:
		return sets(ret, field_reg(in));
	case FORM_XCHG_RAX:
		return field_opcode(in) != X86_RAX &&
		       sets(ret, field_opcode(in));
	case FORM_RAX:
		return sets(ret, X86_RAX);
	case FORM_RDX:
		return sets(ret, X86_RDX);
	case FORM_0F:
		return takes_0f(in, ret);
	case FORM_PREFIX:
		break;
	}
	return false;
}

/* Forms that matter though no register or slot has an address. */
#define ALONE                                                          \
	(1u << FORM_LEA | 1u << FORM_RM | 1u << FORM_MOV_RM |          \
	 1u << FORM_MOV_REG | 1u << FORM_ALU_IMM | 1u << FORM_FF |     \
	 1u << FORM_PUSH | 1u << FORM_POP | 1u << FORM_PUSH_OTHER |    \
	 1u << FORM_POP_RM | 1u << FORM_POP_OTHER | 1u << FORM_LEAVE | \
	 1u << FORM_PREFIX)

/* Forms whose operand in memory is of no interest; then, while none has. */
#define REGISTER (1u << FORM_RM | 1u << FORM_ALU_IMM)
#define REGISTER_ALONE (1u << FORM_MOV_RM | 1u << FORM_MOV_REG)

bool frame_matters(const uint8_t *bytes, size_t size, bool holds)
{
	size_t at = size > 2 && (bytes[0] & 0xf0) == 0x40;
	uint32_t form = 1u << forms[bytes[at]];
	bool in_memory = size > at + 1 && bytes[at + 1] < 0xc0;

	if (holds)
		return !(form & 1u << FORM_NONE) &&
		       !(in_memory && (form & REGISTER));
	return (form & ALONE) &&
	       !(in_memory && (form & (REGISTER | REGISTER_ALONE)));
}

void frame_decode(const uint8_t *bytes, size_t size,
		  const struct insn_access *insn, struct frame_insn *ret)
{
	struct bytes in = { .bytes = bytes, .size = size };

	ret->act = FRAME_NOTHING;
	if (size > insn->length)
		in.size = insn->length;
	if (forms[bytes[0]] == FORM_PREFIX)
		decode_prefixes(bytes, in.size, &in.prefixes);
	else if ((bytes[0] & 0xf0) == 0x40)
		in.prefixes = (struct prefixes){ .length = 1, .rex = bytes[0] };
	in.at = in.prefixes.length;
	if (in.at >= in.size)
		return;
	in.opcode = bytes[in.at++];
	in.modrm = in.at < in.size ? bytes[in.at] : 0;
	if (!takes(&in, insn, ret))
		ret->act = FRAME_NOTHING;
}

/* After 0x8d, lea: a base of rsp or rbp; after 0x89, mov: from rsp. */
static bool is_taken(const uint8_t *bytes)
{
	if (bytes[0] == 0x89)
		return bytes[1] >= 0xe0 && bytes[1] <= 0xe7 && bytes[1] != 0xe5;
	if ((bytes[1] & 7) == X86_RSP)
		return bytes[1] < 0xc0 && (bytes[2] & 7) == X86_RSP;
	return (bytes[1] & 0xc7) == 0x45 || (bytes[1] & 0xc7) == 0x85;
}

static bool takes_by(const uint8_t *bytes, size_t size, uint8_t opcode)
{
	const uint8_t *at = bytes;
	const uint8_t *end = bytes + size;

	while (end - at > 2) {
		at = memchr(at, opcode, (size_t)(end - at));
		if (!at || end - at < 3)
			return false;
		if (is_taken(at))
			return true;
		at++;
	}
	return false;
}

bool frame_takes_address(const uint8_t *bytes, size_t size)
{
	return takes_by(bytes, size, 0x8d) || takes_by(bytes, size, 0x89);
}
