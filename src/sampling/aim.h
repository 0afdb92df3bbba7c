/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sites of a module that a place of --at names (where.h), and why there are
 * none. The rules for modules and functions are ignored there. The rules for
 * single instructions apply in a line or a function, if they leave any
 * instruction: in the line "total = a + b" the global is sampled, not the
 * locals. If they leave none, or if the place is one instruction, they are
 * ignored too, as far as that is safe and useful. These are never sites: an
 * address that is not known to start an instruction, a restartable sequence,
 * the vDSO, an instruction that cannot be decoded, and one that accesses only
 * memory that is never written.
 */
#ifndef SAMPLING_AIM_H
#define SAMPLING_AIM_H

#include "base/vec.h"
#include "sampling/rules.h"
#include "sampling/where.h"

struct error;
struct module;
struct sampleset;
struct strbuf;

/* Why there are no sites, from the least that was found to the most. */
enum aim_problem {
	AIM_NO_MODULE, /* the module is not that of the place */
	AIM_OTHER_BUILD, /* the module is another build than that of the place */
	AIM_NO_DEBUGINFO, /* no lines are known of it */
	AIM_NO_FILE,
	AIM_NO_FUNCTION, /* no function of that name, or around the offset */
	AIM_NO_LINE, /* the file has no code there */
	AIM_NO_INSTRUCTION, /* none starts at the offset */
	AIM_NO_ACCESS, /* nothing there accesses memory in the given way */
	AIM_LEFT_OUT, /* what does may not be sampled: `rule' */
	AIM_FOUND,
};

struct aim {
	enum aim_problem problem;
	enum rule rule; /* of AIM_LEFT_OUT */
	int line_before, line_after; /* of AIM_NO_LINE; 0: none */
	char *module; /* the name of the module it was; NULL: no memory */
	bool main; /* it is the program itself */
};

/*
 * Append the ids (uint64_t) of the sites that the place means in a module that
 * has joined the set, of which new ones may join it. *ret is to be freed with
 * aim_deinit().
 */
struct error *aim_module(struct sampleset *set, struct module *module,
			 const struct where *where, struct vec *ids,
			 struct aim *ret);
void aim_deinit(struct aim *aim);

/*
 * Keep in *best, which is empty at first, the result that found most. That the
 * program has no lines is more useful than that a library has other lines.
 * Takes `other' over.
 */
void aim_merge(struct aim *best, struct aim *other);

/* Why there are no sites, in words: "cache has no code at line 84 of ..." */
void aim_explain(struct strbuf *out, const struct where *where,
		 const struct aim *aim);

#endif
