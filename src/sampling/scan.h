/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One function's instructions, decoded from its start and judged by the
 * rules: which are sites, and how many each rule left out.
 */
#ifndef SAMPLING_SCAN_H
#define SAMPLING_SCAN_H

#include <stdint.h>

#include "base/vec.h"
#include "sampling/locals.h"
#include "sampling/rules.h"
#include "x86/access.h"

struct decoder;
struct elf_function;
struct error;
struct image;
struct module;

struct scan_site {
	uint64_t address; /* in the file */
	enum rule rule; /* RULE_SITE, but for scan_function_all() */
	struct insn_access insn;
};

struct scanner {
	struct decoder *decoder; /* owned */
	struct image *image; /* borrowed */
	const struct rules *rules; /* borrowed */
	uint64_t module_id; /* of the last function, and the flags for it */
	unsigned int module_flags;
	/*
	 * Do not read debug information of libraries that the user did not
	 * include; set by the owner. Reading it takes longer than a short
	 * program, and it is read for both sides of a conflict anyway.
	 */
	bool own_marks;
	struct vec targets; /* of uint64_t: branches ahead, this function's */
	struct vec guards; /* of uint64_t: guard variables, this function's */
	struct locals locals; /* this function's */
};

struct scan_counts {
	uint64_t rules[RULES]; /* instructions, by rule; [RULE_SITE]: sites */
	uint64_t locals; /* of the sites: of locals others may reach */
	uint64_t instructions;
	uint64_t bytes;
	uint64_t functions;
};

struct error *scanner_init(struct scanner *scanner, struct image *image,
			   const struct rules *rules);
void scanner_deinit(struct scanner *scanner);

/*
 * Decode the function and append its sites (struct scan_site, by address) to
 * *sites, unless `sites` is NULL. counts is added to, if not NULL. `whole` is
 * what rules_function() said: when not RULE_SITE, no sites come, and those
 * there were count under it. ERROR_NOMEM only.
 */
struct error *scan_function(struct scanner *scanner, struct module *module,
			    const struct elf_function *function,
			    enum rule whole, struct vec *sites,
			    struct scan_counts *counts);

/*
 * Append every instruction of the function (struct scan_site), whatever rule
 * leaves it out. Instructions after one that cannot be decoded are left out
 * while it is not known where an instruction starts. ERROR_NOMEM only.
 */
struct error *scan_function_all(struct scanner *scanner, struct module *module,
				const struct elf_function *function,
				struct vec *insns);

/* Decode the one instruction at a file address. */
void scan_instruction(struct scanner *scanner, const struct module *module,
		      uint64_t address, struct insn_access *ret);

#endif
