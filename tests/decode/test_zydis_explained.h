/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For test_zydis.c alone: what the comparison with Zydis takes for granted,
 * and the differences that are explained, each with the manual's word.
 */
#ifndef TESTS_DECODE_TEST_ZYDIS_EXPLAINED_H
#define TESTS_DECODE_TEST_ZYDIS_EXPLAINED_H

/* A class of differences, and how to know one. */
struct explanation {
	const char *reason;
	enum difference difference;
	bool (*covers)(const struct expected *expected,
		       const struct insn_access *ours);
};

/* Memory operands that Zydis shows as accessed and that are not. */
static bool is_address_only(const ZydisDecodedInstruction *insn)
{
	switch ((unsigned int)insn->mnemonic) {
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_CLWB:
	case ZYDIS_MNEMONIC_INVLPG:
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_CLDEMOTE:
	case ZYDIS_MNEMONIC_PREFETCHWT1:
	case ZYDIS_MNEMONIC_VGATHERPF0DPS:
	case ZYDIS_MNEMONIC_VGATHERPF0DPD:
	case ZYDIS_MNEMONIC_VGATHERPF0QPS:
	case ZYDIS_MNEMONIC_VGATHERPF0QPD:
	case ZYDIS_MNEMONIC_VGATHERPF1DPS:
	case ZYDIS_MNEMONIC_VGATHERPF1DPD:
	case ZYDIS_MNEMONIC_VGATHERPF1QPS:
	case ZYDIS_MNEMONIC_VGATHERPF1QPD:
	case ZYDIS_MNEMONIC_VSCATTERPF0DPS:
	case ZYDIS_MNEMONIC_VSCATTERPF0DPD:
	case ZYDIS_MNEMONIC_VSCATTERPF0QPS:
	case ZYDIS_MNEMONIC_VSCATTERPF0QPD:
	case ZYDIS_MNEMONIC_VSCATTERPF1DPS:
	case ZYDIS_MNEMONIC_VSCATTERPF1DPD:
	case ZYDIS_MNEMONIC_VSCATTERPF1QPS:
	case ZYDIS_MNEMONIC_VSCATTERPF1QPD:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
		return true;
	default:
		return insn->meta.category == ZYDIS_CATEGORY_PREFETCH;
	}
}

static bool is_masked(const ZydisDecodedInstruction *insn)
{
	return insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
	       insn->raw.evex.aaa != 0;
}

static bool is_masked_move(ZydisMnemonic mnemonic)
{
	switch ((unsigned int)mnemonic) {
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return true;
	default:
		return false;
	}
}

static bool is_xsave(const ZydisDecodedInstruction *insn)
{
	switch ((unsigned int)insn->mnemonic) {
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
		return true;
	default:
		return insn->meta.category == ZYDIS_CATEGORY_XSAVE ||
		       insn->meta.category == ZYDIS_CATEGORY_XSAVEOPT;
	}
}

static bool is_far(const ZydisDecodedInstruction *insn)
{
	switch ((unsigned int)insn->mnemonic) {
	case ZYDIS_MNEMONIC_LFS:
	case ZYDIS_MNEMONIC_LGS:
	case ZYDIS_MNEMONIC_LSS:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		return true;
	default:
		return insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	}
}

static bool is_x87_environment(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_FNSTENV ||
	       mnemonic == ZYDIS_MNEMONIC_FLDENV ||
	       mnemonic == ZYDIS_MNEMONIC_FNSAVE ||
	       mnemonic == ZYDIS_MNEMONIC_FRSTOR;
}

static bool is_system(const ZydisDecodedInstruction *insn)
{
	switch ((unsigned int)insn->meta.category) {
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_CET:
		return true;
	default:
		break;
	}
	switch ((unsigned int)insn->mnemonic) {
	case ZYDIS_MNEMONIC_INVPCID:
	case ZYDIS_MNEMONIC_ENCLV:
	case ZYDIS_MNEMONIC_PCONFIG:
	case ZYDIS_MNEMONIC_TDCALL:
	case ZYDIS_MNEMONIC_SEAMCALL:
	case ZYDIS_MNEMONIC_SEAMOPS:
	case ZYDIS_MNEMONIC_SEAMRET:
		return true;
	default:
		return false;
	}
}

/*
 * Nested enter copies frame pointers, xlat has al for an index, movdir64b and
 * enqcmd write to an address in a register, key locker and bounds are rare.
 */
static bool is_other(const struct expected *expected)
{
	switch ((unsigned int)expected->insn.mnemonic) {
	case ZYDIS_MNEMONIC_XLAT:
		return true;
	case ZYDIS_MNEMONIC_ENTER:
		return (expected->insn.raw.imm[1].value.u & 31) != 0;
	case ZYDIS_MNEMONIC_MOVDIR64B:
	case ZYDIS_MNEMONIC_ENQCMD:
	case ZYDIS_MNEMONIC_ENQCMDS:
		return true;
	default:
		return expected->insn.mnemonic == ZYDIS_MNEMONIC_CLZERO ||
		       expected->insn.meta.category == ZYDIS_CATEGORY_PADLOCK ||
		       expected->insn.meta.category == ZYDIS_CATEGORY_MPX ||
		       expected->insn.meta.isa_ext == ZYDIS_ISA_EXT_KEYLOCKER ||
		       expected->insn.meta.isa_ext ==
			       ZYDIS_ISA_EXT_KEYLOCKER_WIDE;
	}
}

/* Does Zydis's class of the instruction bear out why we refuse it? */
static bool is_refused_class(const struct expected *expected, uint8_t refusal)
{
	const ZydisDecodedInstruction *insn = &expected->insn;

	switch (refusal) {
	case X86_REFUSED_GATHER:
		return insn->meta.category == ZYDIS_CATEGORY_GATHER ||
		       insn->meta.category == ZYDIS_CATEGORY_AVX2GATHER;
	case X86_REFUSED_SCATTER:
		return insn->meta.category == ZYDIS_CATEGORY_SCATTER;
	case X86_REFUSED_XSAVE:
		return is_xsave(insn);
	case X86_REFUSED_MASKMOV:
		return is_masked(insn) || is_masked_move(insn->mnemonic);
	case X86_REFUSED_FAR:
		return is_far(insn);
	case X86_REFUSED_X87_ENV:
		return is_x87_environment(insn->mnemonic);
	case X86_REFUSED_SYSTEM:
		return is_system(insn);
	case X86_REFUSED_TILE:
		return insn->meta.category == ZYDIS_CATEGORY_AMX_TILE;
	case X86_REFUSED_OTHER:
		return is_other(expected);
	default:
		return false;
	}
}

static bool is_narrow_transfer(const struct expected *expected,
			       const struct insn_access *ours)
{
	return ours->refusal == X86_REFUSED_UNDECODABLE &&
	       (expected->insn.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) !=
		       0 &&
	       expected->insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;
}

static bool is_repne_move(const struct expected *expected,
			  const struct insn_access *ours)
{
	(void)expected;
	return ours->rep == X86_REP;
}

static bool is_knc(const struct expected *expected,
		   const struct insn_access *ours)
{
	(void)ours;
	return expected->insn.meta.isa_ext == ZYDIS_ISA_EXT_KNC ||
	       expected->insn.meta.isa_ext == ZYDIS_ISA_EXT_KNCE ||
	       expected->insn.meta.isa_ext == ZYDIS_ISA_EXT_KNCV;
}

static bool is_lwp(const struct expected *expected,
		   const struct insn_access *ours)
{
	(void)ours;
	return expected->insn.meta.isa_set == ZYDIS_ISA_SET_LWP;
}

static const struct explanation explained[] = {
	{ "66 before a near transfer: Intel's processors ignore it, AMD's cut "
	  "rip to 16 bits (APM volume 3, \"JMP (Near)\"); refused",
	  DIFF_REJECT, is_narrow_transfer },
	{ "f2 before movs, stos and lods repeats as f3 does (test_decode proves "
	  "it by running one); Zydis ignores it",
	  DIFF_REP, is_repne_move },
	{ "light-weight profiling, gone since AMD's family 17h; unknown to "
	  "Capstone 4",
	  DIFF_LENGTH, is_lwp },
	{ "Knights Corner's own instructions: another length than ours",
	  DIFF_LENGTH, is_knc },
	{ "Knights Corner's own instructions: not decoded", DIFF_REJECT,
	  is_knc },
};

#endif
