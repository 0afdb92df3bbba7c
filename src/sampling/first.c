/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first access of a function; see first.h. All ways to it are among the
 * instructions before it, if none behind it jumps back to or before it.
 */
#include "sampling/first.h"

#include "base/vec.h"
#include "sampling/scan.h"

/* The stack, below rbp too where that is the frame pointer; and by fs. */
static bool is_own(const struct mem_operand *operand)
{
	return operand->stack || operand->base == X86_RSP ||
	       operand->segment == X86_SEG_FS ||
	       (operand->base == X86_RBP && operand->disp < 0);
}

/* The displacement; of an operand that is relative to rip, the address. */
static int64_t place_of(const struct scan_site *site,
			const struct mem_operand *operand)
{
	if (operand->base != X86_RIP)
		return operand->disp;
	return operand->disp + (int64_t)(site->address + site->insn.length);
}

static bool is_load_of(const struct scan_site *site,
		       const struct scan_site *store)
{
	const struct mem_operand *a = &site->insn.operands[0];
	const struct mem_operand *b = &store->insn.operands[0];

	return site->insn.operand_count == 1 &&
	       store->insn.operand_count == 1 && a->kind == ACCESS_READ &&
	       a->size == b->size && a->base == b->base &&
	       a->index == b->index && a->scale == b->scale &&
	       place_of(site, a) == place_of(store, b);
}

/* Memory of others, or a call that does not take a lock. */
static bool touches(const struct scan_site *site,
		    const struct first_locks *locks)
{
	const struct insn_access *insn = &site->insn;

	if (insn->flow == X86_FLOW_CALL)
		return !locks || !locks->takes(locks->context, site);
	if (insn->refusal != X86_OK)
		return true;
	for (unsigned int i = 0; i < insn->operand_count; i++) {
		if (!is_own(&insn->operands[i]))
			return true;
	}
	return false;
}

/* The function begins at `start'. */
static bool may_lead_back(const struct scan_site *site, uint64_t start,
			  uint64_t address)
{
	const struct insn_access *insn = &site->insn;

	if (insn->flow != X86_FLOW_BRANCH && insn->flow != X86_FLOW_JUMP)
		return false;
	return insn->indirect ||
	       (insn->target >= start && insn->target <= address &&
		site->address >= address);
}

static const struct scan_site *site_at(const struct vec *insns,
				       uint64_t address)
{
	for (size_t i = 0; i < insns->count; i++) {
		const struct scan_site *site = vec_at(insns, i);

		if (site->address == address)
			return site;
	}
	return NULL;
}

bool first_access(const struct vec *insns, uint64_t address, bool update,
		  const struct first_locks *locks)
{
	const struct scan_site *access = site_at(insns, address);
	uint64_t start;

	if (!access)
		return false;
	start = ((const struct scan_site *)vec_at(insns, 0))->address;
	for (size_t i = 0; i < insns->count; i++) {
		const struct scan_site *site = vec_at(insns, i);

		if (may_lead_back(site, start, address))
			return false;
		if (site->address < address && touches(site, locks) &&
		    !(update && is_load_of(site, access)))
			return false;
	}
	return true;
}
