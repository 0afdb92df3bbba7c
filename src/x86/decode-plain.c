/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plain instructions: integer, control flow and x87 memory forms, decoded
 * by our own tables after the opcode maps of Intel SDM volume 2, appendix A.
 * A disassembler's text and operand lists take six times the instructions that
 * this does (bench/counts.tab), and nine in ten instructions are here. What is
 * not in the tables is left to the library, encodings that are not valid included.
 */
#include "x86/decode-parts.h"

#include <string.h>

#include "x86/decode-opcodes.h"

/* The bytes of one instruction, read forward. */
struct cursor {
	const uint8_t *bytes;
	size_t size;
	size_t at;
	bool overrun;
};

static uint64_t take(struct cursor *cursor, size_t count)
{
	uint64_t value = 0;

	if (cursor->size - cursor->at < count) {
		cursor->overrun = true;
		cursor->at = cursor->size;
		return 0;
	}
	memcpy(&value, cursor->bytes + cursor->at, count);
	cursor->at += count;
	return value;
}

/* The same, as a signed number of 1, 2 or 4 bytes. */
static int64_t take_signed(struct cursor *cursor, size_t count)
{
	uint64_t value = take(cursor, count);

	switch (count) {
	case 1:
		return (int8_t)value;
	case 2:
		return (int16_t)value;
	default:
		return (int32_t)value;
	}
}

void decode_prefixes(const uint8_t *bytes, size_t size, struct prefixes *ret)
{
	struct prefixes found = { .length = 0 };

	for (; found.length < size; found.length++) {
		uint8_t byte = bytes[found.length];

		if ((byte & 0xf0) == 0x40) {
			found.rex = byte;
			continue;
		}
		if (byte == 0x66)
			found.operand16 = true;
		else if (byte == 0x67)
			found.addr32 = true;
		else if (byte == 0xf0)
			found.lock = true;
		else if (byte == 0xf2 || byte == 0xf3)
			found.repeat = byte;
		else if (byte == 0x64)
			found.segment = X86_SEG_FS;
		else if (byte == 0x65)
			found.segment = X86_SEG_GS;
		else if (byte != 0x26 && byte != 0x2e && byte != 0x36 &&
			 byte != 0x3e)
			break;
		/* REX counts only right before the opcode */
		found.rex = 0;
	}
	*ret = found;
}

static uint16_t operand_size(const struct prefixes *prefixes, uint8_t size)
{
	bool wide = (prefixes->rex & REX_W) != 0;

	switch (size) {
	case SIZE_V:
		return wide ? 8 : prefixes->operand16 ? 2 : 4;
	case SIZE_STACK:
		return !wide && prefixes->operand16 ? 2 : 8;
	case SIZE_PAIR:
		return wide ? 16 : 8;
	default:
		return size;
	}
}

static size_t immediate_size(const struct prefixes *prefixes, uint8_t imm)
{
	uint16_t size = operand_size(prefixes, SIZE_V);

	switch (imm) {
	case IMM_1:
		return 1;
	case IMM_2:
		return 2;
	case IMM_3:
		return 3;
	case IMM_Z:
		return size < 4 ? size : 4;
	case IMM_V:
		return size;
	default:
		return 0;
	}
}

static uint8_t extend(uint8_t field, const struct prefixes *prefixes, int bit)
{
	return (prefixes->rex & bit) != 0 ? field | 8 : field;
}

/* The SIB byte: base and index. True if a 32-bit displacement follows. */
static bool take_sib(struct cursor *cursor, const struct prefixes *prefixes,
		     uint8_t mod, struct mem_operand *operand)
{
	uint8_t sib = (uint8_t)take(cursor, 1);
	uint8_t index = extend((sib >> 3) & 7, prefixes, REX_X);

	if (index != X86_RSP) {
		operand->index = index;
		operand->scale = (uint8_t)(1 << (sib >> 6));
	}
	if ((sib & 7) == X86_RBP && mod == 0)
		return true;
	operand->base = extend(sib & 7, prefixes, REX_B);
	return false;
}

/* The address that follows a ModRM byte of a memory form. */
static void take_address(struct cursor *cursor, const struct prefixes *prefixes,
			 uint8_t modrm, struct mem_operand *operand)
{
	uint8_t mod = modrm >> 6;
	uint8_t rm = modrm & 7;
	bool wide = mod == 2;

	if (rm == X86_RSP) {
		wide |= take_sib(cursor, prefixes, mod, operand);
	} else if (rm == X86_RBP && mod == 0) {
		operand->base = X86_RIP;
		wide = true;
	} else {
		operand->base = extend(rm, prefixes, REX_B);
	}
	if (wide)
		operand->disp32 = (int32_t)take_signed(cursor, 4);
	else if (mod == 1)
		operand->disp32 = (int32_t)take_signed(cursor, 1);
	operand->disp = operand->disp32;
}

static const struct mem_operand no_operand = {
	.base = X86_REG_NONE,
	.index = X86_REG_NONE,
	.scale = 1,
	.bit_reg = X86_REG_NONE,
};

size_t decode_modrm_address(const struct prefixes *prefixes,
			    const uint8_t *bytes, size_t size, size_t at,
			    struct mem_operand *ret)
{
	struct cursor cursor = { bytes, size, at, false };
	uint8_t modrm = (uint8_t)take(&cursor, 1);

	*ret = no_operand;
	ret->segment = prefixes->segment;
	ret->addr32 = prefixes->addr32;
	if (modrm < 0xc0)
		take_address(&cursor, prefixes, modrm, ret);
	return cursor.overrun ? 0 : cursor.at;
}

static struct mem_operand *add_operand(struct insn_access *insn,
				       const struct prefixes *prefixes,
				       uint8_t kind, uint16_t size)
{
	struct mem_operand *operand = &insn->operands[insn->operand_count++];

	*operand = no_operand;
	operand->kind = kind;
	operand->size = size;
	operand->segment = prefixes->segment;
	operand->addr32 = prefixes->addr32;
	return operand;
}

/* An implicit stack slot; segment and address size do not apply to it. */
static void add_stack(struct insn_access *insn, uint8_t kind, uint8_t base,
		      uint16_t size)
{
	static const struct prefixes none;
	struct mem_operand *operand = add_operand(insn, &none, kind, size);

	operand->base = base;
	operand->stack = true;
	if (kind == ACCESS_WRITE) {
		operand->disp32 = -(int32_t)size;
		operand->disp = operand->disp32;
	}
}

static void add_string(struct insn_access *insn,
		       const struct prefixes *prefixes,
		       const struct entry *entry)
{
	uint16_t size = operand_size(prefixes, entry->size);

	if (entry->kind != ACCESS_NONE) {
		struct mem_operand *to =
			add_operand(insn, prefixes, entry->kind, size);

		to->base = X86_RDI;
		to->string = true;
		to->segment = X86_SEG_NONE;
	}
	if (entry->extra != ACCESS_NONE) {
		struct mem_operand *from =
			add_operand(insn, prefixes, entry->extra, size);

		from->base = X86_RSI;
		from->string = true;
	}
	if (prefixes->repeat == 0)
		insn->rep = X86_REP_NONE;
	else if (entry->kind != ACCESS_READ)
		insn->rep = X86_REP;
	else
		insn->rep = prefixes->repeat == 0xf3 ? X86_REPE : X86_REPNE;
}

/* The ModRM operand: memory becomes an operand, a register nothing. */
static void add_modrm(struct insn_access *insn, struct cursor *cursor,
		      const struct prefixes *prefixes,
		      const struct entry *entry, uint8_t modrm)
{
	struct mem_operand *operand;

	if (modrm >= 0xc0)
		return;
	operand = add_operand(insn, prefixes, entry->kind,
			      operand_size(prefixes, entry->size));
	take_address(cursor, prefixes, modrm, operand);
	if (entry->act == ACT_BIT_TEST)
		operand->bit_reg = extend((modrm >> 3) & 7, prefixes, REX_R);
	if (entry->act == ACT_XCHG)
		insn->synchronizes = true;
	insn->vector = entry->flags & FLAG_VECTOR;
	if (entry->kind == ACCESS_NONE)
		insn->operand_count = 0;
}

static void add_moffs(struct insn_access *insn, struct cursor *cursor,
		      const struct prefixes *prefixes,
		      const struct entry *entry)
{
	struct mem_operand *operand =
		add_operand(insn, prefixes, entry->kind,
			    operand_size(prefixes, entry->size));

	operand->disp = (int64_t)take(cursor, prefixes->addr32 ? 4 : 8);
}

/* Flow, implicit stack slots and refusals: all but the ModRM operand. */
static void apply_act(struct insn_access *insn, const struct prefixes *prefixes,
		      const struct entry *entry)
{
	uint16_t size = operand_size(prefixes, SIZE_STACK);

	switch (entry->act) {
	case ACT_PUSH:
	case ACT_PUSH_MODRM:
		add_stack(insn, ACCESS_WRITE, X86_RSP, size);
		break;
	case ACT_POP:
	case ACT_POP_MODRM:
		add_stack(insn, ACCESS_READ, X86_RSP, size);
		break;
	case ACT_BRANCH:
		insn->flow = X86_FLOW_BRANCH;
		break;
	case ACT_JUMP:
	case ACT_JUMP_MODRM:
		insn->flow = X86_FLOW_JUMP;
		break;
	case ACT_CALL:
	case ACT_CALL_MODRM:
		insn->flow = X86_FLOW_CALL;
		add_stack(insn, ACCESS_WRITE, X86_RSP, 8);
		break;
	case ACT_RET:
		insn->flow = X86_FLOW_RET;
		add_stack(insn, ACCESS_READ, X86_RSP, 8);
		break;
	case ACT_LEAVE:
		add_stack(insn, ACCESS_READ, X86_RBP, size);
		break;
	case ACT_ENTER:
		add_stack(insn, ACCESS_WRITE, X86_RSP, size);
		break;
	case ACT_STOP:
	case ACT_STOP_MODRM:
		insn->flow = X86_FLOW_STOP;
		break;
	default:
		break;
	}
	insn->indirect = entry->act == ACT_JUMP_MODRM ||
			 entry->act == ACT_CALL_MODRM;
}

/* Far calls, jumps and returns are refused, but where they lead is known. */
static uint8_t far_flow(uint8_t opcode, uint8_t modrm)
{
	if (opcode != 0xff)
		return X86_FLOW_RET;
	return ((modrm >> 3) & 7) == 3 ? X86_FLOW_CALL : X86_FLOW_JUMP;
}

static void refuse(struct insn_access *insn, uint8_t refusal)
{
	insn->refusal = refusal;
	insn->operand_count = 0;
}

static bool is_direct(uint8_t act)
{
	return act == ACT_BRANCH || act == ACT_JUMP || act == ACT_CALL;
}

static bool is_near_transfer(uint8_t act)
{
	return is_direct(act) || act == ACT_JUMP_MODRM ||
	       act == ACT_CALL_MODRM || act == ACT_RET;
}

/* The immediate, and the target if it is that of a direct branch. */
static void take_immediate(struct insn_access *insn, struct cursor *cursor,
			   const struct prefixes *prefixes,
			   const struct entry *entry, uint64_t address)
{
	size_t size = immediate_size(prefixes, entry->imm);
	int64_t distance;

	if (!is_direct(entry->act)) {
		uint64_t value = take(cursor, size);

		/* nested levels copy frame pointers besides */
		if (entry->act == ACT_ENTER && ((value >> 16) & 31) != 0)
			refuse(insn, X86_REFUSED_OTHER);
		return;
	}
	/* near transfers are 64-bit whatever the prefixes */
	if (entry->imm == IMM_Z)
		size = 4;
	distance = take_signed(cursor, size);
	insn->target = address + cursor->at + (uint64_t)distance;
}

/* Read the opcode and, if there is one, the ModRM byte. */
static struct entry take_entry(struct cursor *cursor,
			       const struct prefixes *prefixes,
			       uint8_t *ret_opcode, uint8_t *ret_modrm)
{
	uint8_t map = MAP_ONE;
	uint8_t opcode = (uint8_t)take(cursor, 1);
	uint8_t next;
	struct entry entry;

	if (opcode == BYTE_ESCAPE) {
		map = MAP_0F;
		opcode = (uint8_t)take(cursor, 1);
		if (opcode == 0x38 || opcode == 0x3a) {
			map = opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
			opcode = (uint8_t)take(cursor, 1);
		}
	}
	next = cursor->at < cursor->size ? cursor->bytes[cursor->at] : 0;
	entry = decode_entry(prefixes, map, opcode, next);
	*ret_opcode = opcode;
	*ret_modrm = 0;
	if (decode_has_modrm(entry.act))
		*ret_modrm = (uint8_t)take(cursor, 1);
	return entry;
}

/*
 * Encodings that are not valid or not the same everywhere: lock where none is
 * allowed, and the operand-size prefix on a near transfer, which Intel's
 * processors ignore and AMD's obey.
 */
static bool is_refused_encoding(const struct prefixes *prefixes,
				const struct entry *entry, uint8_t modrm)
{
	if (prefixes->lock &&
	    ((entry->flags & FLAG_LOCK) == 0 || modrm >= 0xc0))
		return true;
	return prefixes->operand16 && (prefixes->rex & REX_W) == 0 &&
	       is_near_transfer(entry->act);
}

bool decode_plain(const struct prefixes *prefixes, const uint8_t *bytes,
		  size_t size, uint64_t address, struct insn_access *ret)
{
	struct cursor cursor = { bytes, size, prefixes->length, false };
	uint8_t modrm;
	uint8_t opcode;
	struct entry entry = take_entry(&cursor, prefixes, &opcode, &modrm);

	if (entry.act == ACT_UNKNOWN || cursor.overrun)
		return false;
	if (decode_has_modrm(entry.act))
		add_modrm(ret, &cursor, prefixes, &entry, modrm);
	else if (entry.act == ACT_STRING)
		add_string(ret, prefixes, &entry);
	else if (entry.act == ACT_MOFFS)
		add_moffs(ret, &cursor, prefixes, &entry);
	apply_act(ret, prefixes, &entry);
	take_immediate(ret, &cursor, prefixes, &entry, address);
	if (cursor.overrun)
		return false;
	ret->length = (uint8_t)cursor.at;
	ret->synchronizes |= prefixes->lock;
	if (entry.act == ACT_REFUSE || entry.act == ACT_REFUSE_MODRM) {
		refuse(ret, entry.extra);
		if (entry.extra == X86_REFUSED_FAR)
			ret->flow = far_flow(opcode, modrm);
		ret->indirect = opcode == 0xff;
	}
	if (is_refused_encoding(prefixes, &entry, modrm)) {
		uint8_t length = ret->length;

		memset(ret, 0, sizeof(*ret));
		ret->length = length;
		ret->refusal = X86_REFUSED_UNDECODABLE;
	}
	return true;
}
