/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signs that a race harms, from what replays came to (replayed.h), and from the
 * instructions and values of one race's record. In the manner of benign.h.
 */
#ifndef JUDGE_HARM_H
#define JUDGE_HARM_H

#include <stdbool.h>

struct race;
struct strbuf;

struct harm_sign {
	const char *name; /* of the verdict's reason */
	bool (*fits)(const struct race *race, struct strbuf *grounds);
};

/* In order; ends with a sign without a name. */
extern const struct harm_sign harm_signs[];

/*
 * The first sign that fits, or NULL; its grounds are appended. named: the
 * variable is a special one (benign_is_named()).
 */
const struct harm_sign *harm_find(const struct race *race, bool named,
				  struct strbuf *grounds);

#endif
