/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The exclusion rules; see rules.h. Which parts of a module are sampled is in
 * runtimes.c.
 */
#include "sampling/rules.h"

#include "image/atomics.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/golang.h"

static const char *const rule_names[RULE_REFUSED] = {
	[RULE_SITE] = "site",
	[RULE_NO_ACCESS] = "no-access",
	[RULE_IMPLICIT_STACK] = "implicit-stack",
	[RULE_STACK] = "stack",
	[RULE_FRAME_POINTER] = "frame-pointer",
	[RULE_SEGMENT] = "segment",
	[RULE_READ_ONLY] = "read-only",
	[RULE_SYNCHRONIZING] = "synchronizing",
	[RULE_ATOMIC_CODE] = "atomic-code",
	[RULE_ATOMIC_TYPE] = "atomic-type",
	[RULE_GUARD] = "guard",
	[RULE_GO_CHECK] = "go-check",
	[RULE_PLT] = "plt",
	[RULE_RSEQ] = "rseq",
	[RULE_MODULE] = "module",
	[RULE_RUNTIME] = "runtime",
	[RULE_VARIANT] = "variant",
	[RULE_GLOB] = "glob",
	[RULE_AFTER_UNDECODABLE] = "after-undecodable",
};

static const char *const refusal_names[X86_REFUSALS] = {
	[X86_OK] = "refused",
	[X86_REFUSED_GATHER] = "refused-gather",
	[X86_REFUSED_SCATTER] = "refused-scatter",
	[X86_REFUSED_XSAVE] = "refused-xsave",
	[X86_REFUSED_MASKMOV] = "refused-maskmov",
	[X86_REFUSED_FAR] = "refused-far",
	[X86_REFUSED_X87_ENV] = "refused-x87-env",
	[X86_REFUSED_TILE] = "refused-tile",
	[X86_REFUSED_SYSTEM] = "refused-system",
	[X86_REFUSED_OTHER] = "refused-other",
	[X86_REFUSED_UNDECODABLE] = "refused-undecodable",
};

const char *rule_name(enum rule rule)
{
	if (rule < RULE_REFUSED)
		return rule_names[rule];
	if (rule < RULES)
		return refusal_names[rule - RULE_REFUSED];
	return "unknown";
}

bool rule_is_synchronization(enum rule rule)
{
	switch ((int)rule) {
	case RULE_SYNCHRONIZING:
	case RULE_ATOMIC_CODE:
	case RULE_ATOMIC_TYPE:
	case RULE_GUARD:
	case RULE_PLT:
		return true;
	default:
		return false;
	}
}

bool rules_fixed_address(uint64_t address, const struct insn_access *insn,
			 const struct mem_operand *operand, uint64_t *ret)
{
	if (operand->segment != X86_SEG_NONE || operand->string ||
	    operand->index != X86_REG_NONE || operand->bit_reg != X86_REG_NONE)
		return false;
	if (operand->base == X86_RIP)
		*ret = address + insn->length + (uint64_t)operand->disp;
	else if (operand->base == X86_REG_NONE)
		*ret = (uint64_t)operand->disp;
	else
		return false;
	if (operand->addr32)
		*ret &= UINT32_MAX;
	return true;
}

static enum rule rule_of_mark(enum atomics_mark mark)
{
	switch (mark) {
	case ATOMICS_CODE:
		return RULE_ATOMIC_CODE;
	case ATOMICS_TYPE:
		return RULE_ATOMIC_TYPE;
	case ATOMICS_GUARD:
		return RULE_GUARD;
	case ATOMICS_LOAD:
	case ATOMICS_STORE:
	case ATOMICS_NONE:
		break;
	}
	return RULE_SITE;
}

static bool insn_writes(const struct insn_access *insn)
{
	for (unsigned int i = 0; i < insn->operand_count; i++) {
		if (insn->operands[i].kind & ACCESS_WRITE)
			return true;
	}
	return false;
}

static enum rule rules_code(struct image *image, struct module *module,
			    uint64_t address, const struct insn_access *insn,
			    unsigned int flags)
{
	enum atomics_mark mark = atomics_code(image, module, address,
					      !(flags & RULES_NO_MACROS));

	if ((mark == ATOMICS_LOAD && !insn_writes(insn)) ||
	    (mark == ATOMICS_STORE && insn_writes(insn)))
		mark = ATOMICS_CODE;
	return rule_of_mark(mark);
}

enum rule rules_data(struct image *image, uint64_t address)
{
	struct module *module = image_module_at(image, address);

	if (!module || !module->text)
		return RULE_SITE;
	return rule_of_mark(
		atomics_data(image, module, address - module->bias));
}

static enum rule rules_fixed(struct image *image, struct module *module,
			     uint64_t address, const struct insn_access *insn,
			     const struct mem_operand *operand,
			     unsigned int flags)
{
	uint64_t target;

	if (!rules_fixed_address(address, insn, operand, &target))
		return RULE_SITE;
	if (elftext_readonly(module->text, target, operand->size))
		return RULE_READ_ONLY;
	if (flags & RULES_NO_MARKS)
		return RULE_SITE;
	return rule_of_mark(atomics_data(image, module, target));
}

static enum rule rules_operand(const struct rules *rules, struct image *image,
			       struct module *module, uint64_t address,
			       const struct insn_access *insn,
			       const struct mem_operand *operand,
			       unsigned int flags)
{
	if (operand->stack)
		return RULE_IMPLICIT_STACK;
	if (operand->segment != X86_SEG_NONE)
		return RULE_SEGMENT;
	if (!rules->include_stack && operand->base == X86_RSP)
		return RULE_STACK;
	if (!rules->include_stack && (flags & RULES_FRAME_POINTER) &&
	    operand->base == X86_RBP)
		return RULE_FRAME_POINTER;
	return rules_fixed(image, module, address, insn, operand, flags);
}

/*
 * An instruction is a site if one of its operands is worth watching; what is
 * known of its explicit operand names the rule rather than a push beside it.
 */
static enum rule rules_operands(const struct rules *rules, struct image *image,
				struct module *module, uint64_t address,
				const struct insn_access *insn,
				unsigned int flags)
{
	enum rule found = RULE_IMPLICIT_STACK;

	for (unsigned int i = 0; i < insn->operand_count; i++) {
		enum rule rule = rules_operand(rules, image, module, address,
					       insn, &insn->operands[i], flags);

		if (rule == RULE_SITE)
			return RULE_SITE;
		if (found == RULE_IMPLICIT_STACK)
			found = rule;
	}
	return found;
}

static bool rules_go_check(const struct module *module, uint64_t address,
			   const struct insn_access *insn)
{
	enum { BEFORE = 8 }; /* what a stack check may have before it */
	const struct mem_operand *operand = &insn->operands[0];
	const uint8_t *bytes;
	size_t size;

	if (insn->operand_count != 1 || operand->kind != ACCESS_READ)
		return false;
	if (operand->size == 1) {
		bytes = elftext_bytes(module->text, address, &size);
		return bytes && go_nil_check(bytes, size);
	}
	if (operand->base != X86_R14 || operand->disp != 0x10)
		return false;
	bytes = elftext_bytes(module->text, address - BEFORE, &size);
	return bytes && go_stack_check(bytes, size, BEFORE);
}

enum rule rules_classify(const struct rules *rules, struct image *image,
			 struct module *module, uint64_t address,
			 const struct insn_access *insn, unsigned int flags)
{
	enum rule rule;

	if (insn->refusal != X86_OK)
		return RULE_REFUSED + insn->refusal;
	if (insn->operand_count == 0)
		return RULE_NO_ACCESS;
	if (elftext_in_plt(module->text, address))
		return RULE_PLT;
	if (elftext_in_rseq(module->text, address))
		return RULE_RSEQ;
	if (insn->synchronizes)
		return RULE_SYNCHRONIZING;
	rule = rules_operands(rules, image, module, address, insn, flags);
	if (rule == RULE_SITE && rules_go_check(module, address, insn))
		return RULE_GO_CHECK;
	if (rule != RULE_SITE || (flags & RULES_NO_MARKS))
		return rule;
	return rules_code(image, module, address, insn, flags);
}
