/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a suppression is made of: alternatives, each of conditions that must
 * all hold. Private to suppress*.c and supp*.c.
 */
#ifndef JUDGE_SUPPRULE_H
#define JUDGE_SUPPRULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct error;
struct race;
struct suppress_rule;

enum suppress_key {
	/* of one side's stack */
	KEY_RACE,
	KEY_RACE_TOP,
	KEY_CALLED_FROM_LIB,
	KEY_FUNCTION,
	KEY_FILE,
	KEY_MODULE,
	KEY_CODE,
	/* of the race */
	KEY_VARIABLE,
	KEY_TYPE,
	KEY_ADDRESS,
	KEY_VALUES,
	KEY_BITS,
	KEY_FINGERPRINT,
	/* of ThreadSanitizer, about other things than races */
	KEY_IGNORED,
};

struct suppress_condition {
	enum suppress_key key;
	bool against; /* of the other side */
	/* a pattern, or a build-id or module, or a fingerprint; may be NULL */
	char *text;
	uint64_t low, high; /* numbers, the last one included */
};

struct suppress_alternative {
	struct vec conditions; /* of struct suppress_condition */
};

static inline bool suppress_key_is_of_side(enum suppress_key key)
{
	return key <= KEY_CODE;
}

static inline bool suppress_key_is_of_values(enum suppress_key key)
{
	return key == KEY_VALUES || key == KEY_BITS;
}

void suppress_rule_deinit(struct suppress_rule *rule);

/* suppmatch.c: one of the rule's alternatives, all of its conditions. */
bool suppress_rule_matches(const struct suppress_rule *rule,
			   const struct race *race);

/* The same by an alternative that does not look at values. */
bool suppress_rule_settles(const struct suppress_rule *rule,
			   const struct race *race);

#endif
