/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The opcode tables of the plain decoder, after the opcode maps of Intel SDM
 * volume 2, appendix A: all of the one-byte map, and of the others what is
 * common or what Capstone gets wrong. Opcodes without an entry are Capstone's.
 */
#include "x86/decode-opcodes.h"

#include "x86/decode-parts.h"

enum group {
	GROUP_ARITH,
	GROUP_SHIFT,
	GROUP_F6,
	GROUP_F7,
	GROUP_FE,
	GROUP_FF,
	GROUP_POP,
	GROUP_MOV,
	GROUP_FROM_SEG,
	GROUP_TO_SEG,
	GROUP_BIT,
	GROUP_PAIR,
	GROUP_STATE,
	GROUP_D8,
	GROUP_D9,
	GROUP_DB,
	GROUP_DC,
	GROUP_DA,
	GROUP_DD,
	GROUP_DE,
	GROUP_DF,
	GROUPS,
};

/* clang-format off */
#define R ACCESS_READ
#define W ACCESS_WRITE
#define RMW ACCESS_RMW

#define NONE(imm_) { .act = ACT_NONE, .imm = (imm_) }
#define MODRM(kind_, size_, imm_, flags_) \
	{ .act = ACT_MODRM, .kind = (kind_), .size = (size_), .imm = (imm_), \
	  .flags = (flags_) }
#define GROUP(group_, size_, imm_) \
	{ .act = ACT_GROUP, .size = (size_), .imm = (imm_), .extra = (group_) }
#define ACT(act_, imm_) { .act = (act_), .size = SIZE_STACK, .imm = (imm_) }
#define STRING(to_, from_, size_) \
	{ .act = ACT_STRING, .kind = (to_), .size = (size_), .extra = (from_) }
#define REFUSE(refusal_, imm_) \
	{ .act = ACT_REFUSE, .imm = (imm_), .extra = (refusal_) }
#define REFUSE_MODRM(refusal_) \
	{ .act = ACT_REFUSE_MODRM, .flags = FLAG_MEMORY, .extra = (refusal_) }
#define REFUSE_MODRM_ANY(refusal_) \
	{ .act = ACT_REFUSE_MODRM, .extra = (refusal_) }
#define INVALID_MODRM REFUSE_MODRM_ANY(X86_REFUSED_UNDECODABLE)
#define PREFIXED { .act = ACT_PREFIXED }
#define X87(kind_, size_) MODRM(kind_, size_, IMM_NONE, FLAG_MEMORY)

/* One row of the arithmetic block: add, or, adc, sbb, and, sub, xor. */
#define ARITH(base_) \
	[base_] = MODRM(RMW, 1, IMM_NONE, FLAG_LOCK), \
	[(base_) + 1] = MODRM(RMW, SIZE_V, IMM_NONE, FLAG_LOCK), \
	[(base_) + 2] = MODRM(R, 1, IMM_NONE, 0), \
	[(base_) + 3] = MODRM(R, SIZE_V, IMM_NONE, 0), \
	[(base_) + 4] = NONE(IMM_1), [(base_) + 5] = NONE(IMM_Z)

static const struct entry one_byte[256] = {
	ARITH(0x00), ARITH(0x08), ARITH(0x10), ARITH(0x18),
	ARITH(0x20), ARITH(0x28), ARITH(0x30),
	/* cmp */
	[0x38] = MODRM(R, 1, IMM_NONE, 0),
	[0x39] = MODRM(R, SIZE_V, IMM_NONE, 0),
	[0x3a] = MODRM(R, 1, IMM_NONE, 0),
	[0x3b] = MODRM(R, SIZE_V, IMM_NONE, 0),
	[0x3c] = NONE(IMM_1),
	[0x3d] = NONE(IMM_Z),
	[0x50 ... 0x57] = ACT(ACT_PUSH, IMM_NONE),
	[0x58 ... 0x5f] = ACT(ACT_POP, IMM_NONE),
	/* movsxd */
	[0x63] = MODRM(R, 4, IMM_NONE, FLAG_NO16),
	[0x68] = ACT(ACT_PUSH, IMM_Z),
	/* imul */
	[0x69] = MODRM(R, SIZE_V, IMM_Z, 0),
	[0x6a] = ACT(ACT_PUSH, IMM_1),
	[0x6b] = MODRM(R, SIZE_V, IMM_1, 0),
	/* ins, outs */
	[0x6c ... 0x6f] = REFUSE(X86_REFUSED_SYSTEM, IMM_NONE),
	[0x70 ... 0x7f] = ACT(ACT_BRANCH, IMM_1),
	[0x80] = GROUP(GROUP_ARITH, 1, IMM_1),
	[0x81] = GROUP(GROUP_ARITH, SIZE_V, IMM_Z),
	[0x83] = GROUP(GROUP_ARITH, SIZE_V, IMM_1),
	/* test, xchg, mov */
	[0x84] = MODRM(R, 1, IMM_NONE, 0),
	[0x85] = MODRM(R, SIZE_V, IMM_NONE, 0),
	[0x86] = { .act = ACT_XCHG, RMW, 1, IMM_NONE, FLAG_LOCK, 0 },
	[0x87] = { .act = ACT_XCHG, RMW, SIZE_V, IMM_NONE, FLAG_LOCK, 0 },
	[0x88] = MODRM(W, 1, IMM_NONE, 0),
	[0x89] = MODRM(W, SIZE_V, IMM_NONE, 0),
	[0x8a] = MODRM(R, 1, IMM_NONE, 0),
	[0x8b] = MODRM(R, SIZE_V, IMM_NONE, 0),
	[0x8c] = GROUP(GROUP_FROM_SEG, 2, IMM_NONE),
	/* lea */
	[0x8d] = MODRM(ACCESS_NONE, 0, IMM_NONE, FLAG_MEMORY),
	[0x8e] = GROUP(GROUP_TO_SEG, 2, IMM_NONE),
	[0x8f] = GROUP(GROUP_POP, SIZE_STACK, IMM_NONE),
	/* nop, xchg of registers, cbw, cwd */
	[0x90 ... 0x99] = NONE(IMM_NONE),
	[0x9b] = NONE(IMM_NONE),
	[0x9c] = ACT(ACT_PUSH, IMM_NONE),
	[0x9d] = ACT(ACT_POP, IMM_NONE),
	[0x9e ... 0x9f] = NONE(IMM_NONE),
	[0xa0] = { .act = ACT_MOFFS, R, 1, IMM_NONE, 0, 0 },
	[0xa1] = { .act = ACT_MOFFS, R, SIZE_V, IMM_NONE, 0, 0 },
	[0xa2] = { .act = ACT_MOFFS, W, 1, IMM_NONE, 0, 0 },
	[0xa3] = { .act = ACT_MOFFS, W, SIZE_V, IMM_NONE, 0, 0 },
	/* movs, cmps */
	[0xa4] = STRING(W, R, 1),
	[0xa5] = STRING(W, R, SIZE_V),
	[0xa6] = STRING(R, R, 1),
	[0xa7] = STRING(R, R, SIZE_V),
	[0xa8] = NONE(IMM_1),
	[0xa9] = NONE(IMM_Z),
	/* stos, lods, scas */
	[0xaa] = STRING(W, ACCESS_NONE, 1),
	[0xab] = STRING(W, ACCESS_NONE, SIZE_V),
	[0xac] = STRING(ACCESS_NONE, R, 1),
	[0xad] = STRING(ACCESS_NONE, R, SIZE_V),
	[0xae] = STRING(R, ACCESS_NONE, 1),
	[0xaf] = STRING(R, ACCESS_NONE, SIZE_V),
	[0xb0 ... 0xb7] = NONE(IMM_1),
	[0xb8 ... 0xbf] = NONE(IMM_V),
	[0xc0] = GROUP(GROUP_SHIFT, 1, IMM_1),
	[0xc1] = GROUP(GROUP_SHIFT, SIZE_V, IMM_1),
	[0xc2] = ACT(ACT_RET, IMM_2),
	[0xc3] = ACT(ACT_RET, IMM_NONE),
	[0xc6] = GROUP(GROUP_MOV, 1, IMM_1),
	[0xc7] = GROUP(GROUP_MOV, SIZE_V, IMM_Z),
	[0xc8] = ACT(ACT_ENTER, IMM_3),
	[0xc9] = ACT(ACT_LEAVE, IMM_NONE),
	[0xca] = REFUSE(X86_REFUSED_FAR, IMM_2),
	[0xcb] = REFUSE(X86_REFUSED_FAR, IMM_NONE),
	[0xcc] = ACT(ACT_STOP, IMM_NONE),
	[0xcd] = NONE(IMM_1),
	[0xcf] = REFUSE(X86_REFUSED_FAR, IMM_NONE),
	[0xd0] = GROUP(GROUP_SHIFT, 1, IMM_NONE),
	[0xd1] = GROUP(GROUP_SHIFT, SIZE_V, IMM_NONE),
	[0xd2] = GROUP(GROUP_SHIFT, 1, IMM_NONE),
	[0xd3] = GROUP(GROUP_SHIFT, SIZE_V, IMM_NONE),
	/* xlat: al is its index */
	[0xd7] = REFUSE(X86_REFUSED_OTHER, IMM_NONE),
	[0xd8] = GROUP(GROUP_D8, 4, IMM_NONE),
	[0xd9] = GROUP(GROUP_D9, 4, IMM_NONE),
	[0xda] = GROUP(GROUP_DA, 4, IMM_NONE),
	[0xdb] = GROUP(GROUP_DB, 4, IMM_NONE),
	[0xdc] = GROUP(GROUP_DC, 8, IMM_NONE),
	[0xdd] = GROUP(GROUP_DD, 8, IMM_NONE),
	[0xde] = GROUP(GROUP_DE, 2, IMM_NONE),
	[0xdf] = GROUP(GROUP_DF, 2, IMM_NONE),
	/* loop, jrcxz */
	[0xe0 ... 0xe3] = ACT(ACT_BRANCH, IMM_1),
	/* in, out */
	[0xe4 ... 0xe7] = NONE(IMM_1),
	[0xe8] = ACT(ACT_CALL, IMM_Z),
	[0xe9] = ACT(ACT_JUMP, IMM_Z),
	[0xeb] = ACT(ACT_JUMP, IMM_1),
	[0xec ... 0xef] = NONE(IMM_NONE),
	[0xf1] = ACT(ACT_STOP, IMM_NONE),
	[0xf4] = ACT(ACT_STOP, IMM_NONE),
	[0xf5] = NONE(IMM_NONE),
	[0xf6] = GROUP(GROUP_F6, 1, IMM_NONE),
	[0xf7] = GROUP(GROUP_F7, SIZE_V, IMM_NONE),
	[0xf8 ... 0xfd] = NONE(IMM_NONE),
	[0xfe] = GROUP(GROUP_FE, 1, IMM_NONE),
	[0xff] = GROUP(GROUP_FF, SIZE_V, IMM_NONE),
};

/* Opcodes after 0f. */
static const struct entry two_byte[256] = {
	[0x05] = NONE(IMM_NONE), /* syscall */
	[0x0b] = ACT(ACT_STOP, IMM_NONE),
	[0x01] = PREFIXED,
	/* prefetchw, prefetch, the wide nops and endbr64 */
	[0x0d] = MODRM(ACCESS_NONE, 0, IMM_NONE, 0),
	[0x18] = MODRM(ACCESS_NONE, 0, IMM_NONE, 0),
	[0x1a ... 0x1b] = PREFIXED,
	[0x1c ... 0x1f] = MODRM(ACCESS_NONE, 0, IMM_NONE, 0),
	[0x2e ... 0x2f] = PREFIXED,
	[0x31] = NONE(IMM_NONE), /* rdtsc */
	/* cmov reads whatever the condition */
	[0x40 ... 0x4f] = MODRM(R, SIZE_V, IMM_NONE, 0),
	[0x60 ... 0x62] = PREFIXED,
	[0x7e] = PREFIXED,
	[0x80 ... 0x8f] = ACT(ACT_BRANCH, IMM_Z),
	[0x90 ... 0x9f] = MODRM(W, 1, IMM_NONE, 0), /* setcc */
	[0xa0] = ACT(ACT_PUSH, IMM_NONE),
	[0xa1] = ACT(ACT_POP, IMM_NONE),
	[0xa2] = NONE(IMM_NONE), /* cpuid */
	[0xa3] = { .act = ACT_BIT_TEST, R, SIZE_V, IMM_NONE, 0, 0 },
	[0xa4] = MODRM(RMW, SIZE_V, IMM_1, 0), /* shld */
	[0xa5] = MODRM(RMW, SIZE_V, IMM_NONE, 0),
	[0xa8] = ACT(ACT_PUSH, IMM_NONE),
	[0xa9] = ACT(ACT_POP, IMM_NONE),
	[0xab] = { .act = ACT_BIT_TEST, RMW, SIZE_V, IMM_NONE, FLAG_LOCK, 0 },
	[0xac] = MODRM(RMW, SIZE_V, IMM_1, 0), /* shrd */
	[0xad] = MODRM(RMW, SIZE_V, IMM_NONE, 0),
	[0xae] = { ACT_GROUP, 0, 0, IMM_NONE, FLAG_BARE, GROUP_STATE },
	[0xaf] = MODRM(R, SIZE_V, IMM_NONE, 0), /* imul */
	[0xb0] = MODRM(RMW, 1, IMM_NONE, FLAG_LOCK), /* cmpxchg */
	[0xb1] = MODRM(RMW, SIZE_V, IMM_NONE, FLAG_LOCK),
	[0xb3] = { .act = ACT_BIT_TEST, RMW, SIZE_V, IMM_NONE, FLAG_LOCK, 0 },
	[0xb6] = MODRM(R, 1, IMM_NONE, 0), /* movzx */
	[0xb7] = MODRM(R, 2, IMM_NONE, 0),
	[0xb8] = MODRM(R, SIZE_V, IMM_NONE, FLAG_F3), /* popcnt */
	[0xb9] = { .act = ACT_STOP_MODRM }, /* ud1 */
	[0xba] = GROUP(GROUP_BIT, SIZE_V, IMM_1),
	[0xbb] = { .act = ACT_BIT_TEST, RMW, SIZE_V, IMM_NONE, FLAG_LOCK, 0 },
	[0xbc] = MODRM(R, SIZE_V, IMM_NONE, 0), /* bsf, tzcnt */
	[0xbd] = MODRM(R, SIZE_V, IMM_NONE, 0),
	[0xbe] = MODRM(R, 1, IMM_NONE, 0), /* movsx */
	[0xbf] = MODRM(R, 2, IMM_NONE, 0),
	[0xc0] = MODRM(RMW, 1, IMM_NONE, FLAG_LOCK), /* xadd */
	[0xc1] = MODRM(RMW, SIZE_V, IMM_NONE, FLAG_LOCK),
	[0xc3] = MODRM(W, SIZE_V, IMM_NONE, FLAG_BARE | FLAG_MEMORY), /* movnti */
	[0xc7] = { ACT_GROUP, 0, 0, IMM_NONE, FLAG_BARE, GROUP_PAIR },
	[0xc8 ... 0xcf] = NONE(IMM_NONE), /* bswap */
	[0xff] = { .act = ACT_STOP_MODRM }, /* ud0 */
};

/* Entries by the reg field; size and immediate default to the opcode's. */
static const struct entry groups[GROUPS][8] = {
	[GROUP_ARITH] = {
		[0 ... 6] = MODRM(RMW, 0, IMM_NONE, FLAG_LOCK),
		[7] = MODRM(R, 0, IMM_NONE, 0),
	},
	[GROUP_SHIFT] = { [0 ... 7] = MODRM(RMW, 0, IMM_NONE, 0) },
	[GROUP_F6] = {
		[0 ... 1] = MODRM(R, 0, IMM_1, 0),
		[2 ... 3] = MODRM(RMW, 0, IMM_NONE, FLAG_LOCK),
		[4 ... 7] = MODRM(R, 0, IMM_NONE, 0),
	},
	[GROUP_F7] = {
		[0 ... 1] = MODRM(R, 0, IMM_Z, 0),
		[2 ... 3] = MODRM(RMW, 0, IMM_NONE, FLAG_LOCK),
		[4 ... 7] = MODRM(R, 0, IMM_NONE, 0),
	},
	[GROUP_FE] = { [0 ... 1] = MODRM(RMW, 0, IMM_NONE, FLAG_LOCK) },
	[GROUP_FF] = {
		[0 ... 1] = MODRM(RMW, 0, IMM_NONE, FLAG_LOCK),
		[2] = { .act = ACT_CALL_MODRM, R, 8, IMM_NONE, 0, 0 },
		[3] = REFUSE_MODRM(X86_REFUSED_FAR),
		[4] = { .act = ACT_JUMP_MODRM, R, 8, IMM_NONE, 0, 0 },
		[5] = REFUSE_MODRM(X86_REFUSED_FAR),
		[6] = { .act = ACT_PUSH_MODRM, R, SIZE_STACK, IMM_NONE, 0, 0 },
	},
	/* the other reg fields are AMD's XOP prefix */
	[GROUP_POP] = {
		[0] = { .act = ACT_POP_MODRM, W, SIZE_STACK, IMM_NONE, 0, 0 },
	},
	[GROUP_MOV] = { [0] = MODRM(W, 0, IMM_NONE, 0) },
	/* there are six segment registers, and cs is not written */
	[GROUP_FROM_SEG] = {
		[0 ... 5] = MODRM(W, 0, IMM_NONE, 0),
		[6 ... 7] = INVALID_MODRM,
	},
	[GROUP_TO_SEG] = {
		[0] = MODRM(R, 0, IMM_NONE, 0),
		[1] = INVALID_MODRM,
		[2 ... 5] = MODRM(R, 0, IMM_NONE, 0),
		[6 ... 7] = INVALID_MODRM,
	},
	[GROUP_BIT] = {
		[4] = MODRM(R, 0, IMM_NONE, 0),
		[5 ... 7] = MODRM(RMW, 0, IMM_NONE, FLAG_LOCK),
	},
	/* cmpxchg8b, cmpxchg16b; the others take no memory or are refused */
	[GROUP_PAIR] = {
		[1] = MODRM(RMW, SIZE_PAIR, IMM_NONE, FLAG_LOCK | FLAG_MEMORY),
	},
	/* fxsave to clflush; their register forms are fences */
	[GROUP_STATE] = {
		[0 ... 1] = REFUSE_MODRM(X86_REFUSED_XSAVE),
		[2] = MODRM(R, 4, IMM_NONE, FLAG_MEMORY),
		[3] = MODRM(W, 4, IMM_NONE, FLAG_MEMORY),
		[4 ... 6] = REFUSE_MODRM(X86_REFUSED_XSAVE),
		[7] = MODRM(ACCESS_NONE, 0, IMM_NONE, FLAG_MEMORY),
	},
	[GROUP_D8] = { [0 ... 7] = X87(R, 0) },
	[GROUP_D9] = {
		[0] = X87(R, 0),
		[2 ... 3] = X87(W, 0),
		[4] = REFUSE_MODRM(X86_REFUSED_X87_ENV),
		[5] = X87(R, 2),
		[6] = REFUSE_MODRM(X86_REFUSED_X87_ENV),
		[7] = X87(W, 2),
	},
	[GROUP_DA] = { [0 ... 7] = X87(R, 0) },
	[GROUP_DB] = {
		[0] = X87(R, 0),
		[1 ... 3] = X87(W, 0),
		[5] = X87(R, 10),
		[7] = X87(W, 10),
	},
	[GROUP_DC] = { [0 ... 7] = X87(R, 0) },
	[GROUP_DD] = {
		[0] = X87(R, 0),
		[1 ... 3] = X87(W, 0),
		[4] = REFUSE_MODRM(X86_REFUSED_X87_ENV),
		[6] = REFUSE_MODRM(X86_REFUSED_X87_ENV),
		[7] = X87(W, 2),
	},
	[GROUP_DE] = { [0 ... 7] = X87(R, 0) },
	[GROUP_DF] = {
		[0] = X87(R, 0),
		[1 ... 3] = X87(W, 0),
		[4] = X87(R, 10),
		[5] = X87(R, 8),
		[6] = X87(W, 10),
		[7] = X87(W, 8),
	},
};
/* clang-format on */

/* Entries that depend on the mandatory prefix and on the operand's form. */
enum { PREFIX_NONE = 1, PREFIX_66 = 2, PREFIX_F3 = 4, PREFIX_F2 = 8 };
enum { PREFIX_ANY = 15 };
enum { FORM_MEMORY = 1, FORM_REGISTER = 2, FORM_ANY = 3 };
enum { ANY_REG = 0xff };

struct prefixed {
	uint8_t map;
	uint8_t first;
	uint8_t last;
	uint8_t prefixes; /* bit set */
	uint8_t form;
	uint8_t regs; /* bit set of ModRM reg fields */
	struct entry entry;
	uint8_t but_rms; /* bit set of ModRM rm fields it is not for */
};

#define NO_ACCESS MODRM(ACCESS_NONE, 0, IMM_NONE, 0)

/* clang-format off */
static const struct prefixed prefixed[] = {
	/* enclv, the vmcall family, pconfig; the tdcall family */
	{ MAP_0F, 0x01, 0x01, PREFIX_ANY, FORM_REGISTER, 1 << 0,
	  REFUSE_MODRM_ANY(X86_REFUSED_SYSTEM), 0 },
	{ MAP_0F, 0x01, 0x01, PREFIX_66, FORM_REGISTER, 1 << 1,
	  REFUSE_MODRM_ANY(X86_REFUSED_SYSTEM), 0x0f },
	/* clzero writes where rax says; monitorx, mwaitx, rdpru and system */
	{ MAP_0F, 0x01, 0x01, PREFIX_ANY, FORM_REGISTER, 1 << 7,
	  REFUSE_MODRM_ANY(X86_REFUSED_OTHER), 0xef },
	{ MAP_0F, 0x01, 0x01, PREFIX_ANY, FORM_REGISTER, 1 << 7, NO_ACCESS,
	  0x03 },
	/* serialize, rdpkru, wrpkru, suspending of load tracking */
	{ MAP_0F, 0x01, 0x01, PREFIX_ANY, FORM_REGISTER, 1 << 5, NO_ACCESS, 0 },
	/* rstorssp */
	{ MAP_0F, 0x01, 0x01, PREFIX_F3, FORM_MEMORY, 1 << 5,
	  REFUSE_MODRM(X86_REFUSED_SYSTEM), 0 },
	/* bounds (MPX); nops where they are not known */
	{ MAP_0F, 0x1a, 0x1b, PREFIX_ANY, FORM_MEMORY, 0x0f,
	  REFUSE_MODRM(X86_REFUSED_OTHER), 0 },
	{ MAP_0F, 0x1a, 0x1b, PREFIX_ANY, FORM_MEMORY, 0xf0, INVALID_MODRM, 0 },
	{ MAP_0F, 0x1a, 0x1b, PREFIX_ANY, FORM_REGISTER, ANY_REG, NO_ACCESS, 0 },
	/* ucomiss, comiss, ucomisd, comisd */
	{ MAP_0F, 0x2e, 0x2f, PREFIX_NONE, FORM_ANY, ANY_REG,
	  MODRM(R, 4, IMM_NONE, FLAG_VECTOR), 0 },
	{ MAP_0F, 0x2e, 0x2f, PREFIX_66, FORM_ANY, ANY_REG,
	  MODRM(R, 8, IMM_NONE, FLAG_VECTOR), 0 },
	/* punpckl of MMX registers */
	{ MAP_0F, 0x60, 0x62, PREFIX_NONE, FORM_ANY, ANY_REG,
	  MODRM(R, 4, IMM_NONE, 0), 0 },
	/* movq to an SSE register */
	{ MAP_0F, 0x7e, 0x7e, PREFIX_F3, FORM_ANY, ANY_REG,
	  MODRM(R, 8, IMM_NONE, FLAG_VECTOR), 0 },
	/* lfence, mfence, sfence */
	{ MAP_0F, 0xae, 0xae, PREFIX_NONE, FORM_REGISTER, 0xe0, NO_ACCESS, 0 },
	/* clwb, tpause, clflushopt */
	{ MAP_0F, 0xae, 0xae, PREFIX_66, FORM_ANY, 1 << 6, NO_ACCESS, 0 },
	{ MAP_0F, 0xae, 0xae, PREFIX_66, FORM_MEMORY, 1 << 7, NO_ACCESS, 0 },
	/* ptwrite, clrssbsy, incssp, umonitor, umwait */
	{ MAP_0F, 0xae, 0xae, PREFIX_F3, FORM_ANY, 1 << 4,
	  MODRM(R, SIZE_V, IMM_NONE, 0), 0 },
	{ MAP_0F, 0xae, 0xae, PREFIX_F3, FORM_MEMORY, 1 << 6,
	  REFUSE_MODRM(X86_REFUSED_SYSTEM), 0 },
	{ MAP_0F, 0xae, 0xae, PREFIX_F3, FORM_REGISTER, 0x60, NO_ACCESS, 0 },
	{ MAP_0F, 0xae, 0xae, PREFIX_F2, FORM_REGISTER, 1 << 6, NO_ACCESS, 0 },
	/* gf2p8mulb, then gf2p8affineqb and gf2p8affineinvqb */
	{ MAP_0F38, 0xcf, 0xcf, PREFIX_66, FORM_ANY, ANY_REG,
	  MODRM(R, 16, IMM_NONE, FLAG_VECTOR), 0 },
	{ MAP_0F3A, 0xce, 0xcf, PREFIX_66, FORM_ANY, ANY_REG,
	  MODRM(R, 16, IMM_1, FLAG_VECTOR), 0 },
	/* aesencwide to aesdec256kl: key locker handles */
	{ MAP_0F38, 0xd8, 0xd8, PREFIX_F3, FORM_MEMORY, ANY_REG,
	  REFUSE_MODRM(X86_REFUSED_OTHER), 0 },
	{ MAP_0F38, 0xdc, 0xdf, PREFIX_F3, FORM_MEMORY, ANY_REG,
	  REFUSE_MODRM(X86_REFUSED_OTHER), 0 },
	{ MAP_0F38, 0xdc, 0xdc, PREFIX_F3, FORM_REGISTER, ANY_REG, NO_ACCESS, 0 },
	{ MAP_0F38, 0xfa, 0xfb, PREFIX_F3, FORM_REGISTER, ANY_REG, NO_ACCESS, 0 },
	/* wruss, wrss: shadow stacks */
	{ MAP_0F38, 0xf5, 0xf5, PREFIX_66, FORM_MEMORY, ANY_REG,
	  REFUSE_MODRM(X86_REFUSED_SYSTEM), 0 },
	{ MAP_0F38, 0xf6, 0xf6, PREFIX_NONE, FORM_MEMORY, ANY_REG,
	  REFUSE_MODRM(X86_REFUSED_SYSTEM), 0 },
	/* movdir64b, enqcmd: 64 bytes to an address in a register */
	{ MAP_0F38, 0xf8, 0xf8, PREFIX_ANY & ~PREFIX_NONE, FORM_MEMORY, ANY_REG,
	  REFUSE_MODRM(X86_REFUSED_OTHER), 0 },
	/* movdiri */
	{ MAP_0F38, 0xf9, 0xf9, PREFIX_NONE, FORM_MEMORY, ANY_REG,
	  MODRM(W, SIZE_V, IMM_NONE, 0), 0 },
	/* hreset */
	{ MAP_0F3A, 0xf0, 0xf0, PREFIX_F3, FORM_REGISTER, 1 << 0,
	  MODRM(ACCESS_NONE, 0, IMM_1, 0), 0 },
};
/* clang-format on */

bool decode_has_modrm(uint8_t act)
{
	switch (act) {
	case ACT_MODRM:
	case ACT_PUSH_MODRM:
	case ACT_POP_MODRM:
	case ACT_JUMP_MODRM:
	case ACT_CALL_MODRM:
	case ACT_STOP_MODRM:
	case ACT_BIT_TEST:
	case ACT_XCHG:
	case ACT_REFUSE_MODRM:
		return true;
	default:
		return false;
	}
}

static uint8_t mandatory_prefix(const struct prefixes *prefixes)
{
	if (prefixes->repeat != 0)
		return prefixes->repeat == 0xf3 ? PREFIX_F3 : PREFIX_F2;
	return prefixes->operand16 ? PREFIX_66 : PREFIX_NONE;
}

static struct entry prefixed_entry(const struct prefixes *prefixes, uint8_t map,
				   uint8_t opcode, uint8_t modrm)
{
	uint8_t prefix = mandatory_prefix(prefixes);
	uint8_t form = modrm < 0xc0 ? FORM_MEMORY : FORM_REGISTER;
	uint8_t reg = (uint8_t)(1 << ((modrm >> 3) & 7));

	for (size_t i = 0; i < sizeof(prefixed) / sizeof(prefixed[0]); i++) {
		const struct prefixed *known = &prefixed[i];

		if (known->map == map && opcode >= known->first &&
		    opcode <= known->last && (known->prefixes & prefix) != 0 &&
		    (known->form & form) != 0 && (known->regs & reg) != 0 &&
		    (known->but_rms & (1 << (modrm & 7))) == 0)
			return known->entry;
	}
	return (struct entry){ .act = ACT_UNKNOWN };
}

/* May the opcode's entry be used with these prefixes? */
static bool allows(const struct entry *entry, const struct prefixes *prefixes)
{
	if ((entry->flags & FLAG_BARE) != 0 &&
	    (prefixes->operand16 || prefixes->repeat != 0))
		return false;
	if ((entry->flags & FLAG_NO16) != 0 && prefixes->operand16)
		return false;
	return (entry->flags & FLAG_F3) == 0 || prefixes->repeat == 0xf3;
}

struct entry decode_entry(const struct prefixes *prefixes, uint8_t map,
			  uint8_t opcode, uint8_t modrm)
{
	struct entry entry = { .act = ACT_PREFIXED };

	if (map == MAP_ONE)
		entry = one_byte[opcode];
	else if (map == MAP_0F)
		entry = two_byte[opcode];
	if (entry.act == ACT_GROUP && allows(&entry, prefixes)) {
		const struct entry *member =
			&groups[entry.extra][(modrm >> 3) & 7];
		uint8_t size = member->size != 0 ? member->size : entry.size;
		uint8_t imm = member->imm != IMM_NONE ? member->imm : entry.imm;

		entry = *member;
		entry.size = size;
		entry.imm = imm;
	}
	if ((entry.flags & FLAG_MEMORY) != 0 && modrm >= 0xc0)
		entry.act = ACT_UNKNOWN;
	if (entry.act == ACT_PREFIXED || entry.act == ACT_UNKNOWN ||
	    !allows(&entry, prefixes))
		return prefixed_entry(prefixes, map, opcode, modrm);
	return entry;
}
