/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which sites of a module a place of --at means (where.h), and why there are
 * none.
 *
 * The rules for modules and functions do not count there. Those for single
 * instructions do, for a line or a function, as long as they leave something
 * of it: of the line "total = a + b" it is the global that is meant, not the
 * locals. If they leave nothing, or if the place is one instruction, it is
 * taken whatever they say, as far as that is safe and of use: never an address
 * that is not known to start an instruction, a restartable sequence, the vDSO,
 * what cannot be decoded, or what touches nothing that is ever written.
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

/* Why there is nothing, from the least that was found to the most. */
enum aim_problem {
	AIM_NO_MODULE, /* the module is not that of the place */
	AIM_OTHER_BUILD, /* the module is another build than that of the place */
	AIM_NO_DEBUGINFO, /* no lines are known of it */
	AIM_NO_FILE,
	AIM_NO_FUNCTION, /* no function of that name, or around the offset */
	AIM_NO_LINE, /* the file has no code there */
	AIM_NO_INSTRUCTION, /* none starts at the offset */
	AIM_NO_ACCESS, /* nothing there touches memory in the way meant */
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
 * Keep in *best, which is empty at first, what found most. That the program
 * itself has no lines tells more than that a library has others. Takes `other'.
 */
void aim_merge(struct aim *best, struct aim *other);

/* Why there is nothing, in words: "cache has no code at line 84 of ..." */
void aim_explain(struct strbuf *out, const struct where *where,
		 const struct aim *aim);

#endif
