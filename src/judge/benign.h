/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reasons why a race is less likely to be an error, from a table of rules, each
 * with a name, that look at one race's record: DataCollider, section 3.3, and
 * the reasons of the PLDI'07 replay classifier, section 5.4. A rule states its
 * evidence and claims no more; a race that it fits is "unlikely" to be an
 * error, never harmless.
 */
#ifndef JUDGE_BENIGN_H
#define JUDGE_BENIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct race;
struct strbuf;

struct benign_rule {
	const char *name; /* of the verdict's reason */
	/* special: of const char *, the user's special variables (globs) */
	bool (*fits)(const struct race *race, const struct vec *special,
		     struct strbuf *grounds);
};

/* In order; ends with a rule without a name. */
extern const struct benign_rule benign_rules[];

/*
 * The first rule that fits, or NULL. Its grounds, a sentence, are appended
 * (of others, nothing).
 */
const struct benign_rule *benign_find(const struct race *race,
				      const struct vec *special,
				      struct strbuf *grounds);

/* Is the variable a special one, whose races are fine by its name? */
bool benign_is_named(const struct race *race, const struct vec *special);

#endif
