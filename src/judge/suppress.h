/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Suppressions: rules, read from files, that say which races are not to be
 * reported, and why. racewatch-suppressions(5) is the format's reference. A
 * race that is suppressed stays a race: its record names the rule.
 *
 * All files are read before a race is judged. Afterwards only the `used'
 * counters change.
 */
#ifndef JUDGE_SUPPRESS_H
#define JUDGE_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct error;
struct race;
struct strbuf;

struct suppress_rule {
	char *text; /* as it is written, the lines with blanks between */
	const char *file; /* of the suppressions */
	int line; /* where it begins */
	char *reason, *bug; /* or NULL */
	char *expires; /* "2027-01-31": the last day it applies; or NULL */
	bool expired; /* it does not apply any more */
	bool ignored; /* about something else than races: never applies */
	bool optional; /* of a file of defaults: no warning if unused */
	/* races that it matched, also those that another suppressed first */
	uint64_t used;
	struct vec alternatives; /* of struct suppress_alternative */
};

struct suppressions {
	struct vec rules; /* of struct suppress_rule, in order */
	struct vec files; /* of char * */
	bool by_values; /* some rule looks at the values */
	int64_t today; /* in days since 1970-01-01, UTC */
};

/* Empty, and today is today. */
void suppressions_init(struct suppressions *suppressions);
void suppressions_deinit(struct suppressions *suppressions);

/*
 * Add the rules of a file. ERROR_FORMAT with "FILE:LINE: ..." when it is not as
 * it should be, or unreasonably large; the rules before stay.
 */
struct error *suppressions_read(struct suppressions *suppressions,
				const char *path);

/* The same of a text; name is what its errors and rules call it. */
struct error *suppressions_parse(struct suppressions *suppressions,
				 const char *name, const char *text,
				 size_t size);

/* Do not warn of unused rules of these files. */
void suppressions_set_optional(struct suppressions *suppressions);

/*
 * Set race->suppressed by the first rule that applies, unless it is set
 * already. *ret_settled: it will stay suppressed, whatever values are seen.
 * ERROR_NOMEM.
 */
struct error *suppressions_judge(struct suppressions *suppressions,
				 struct race *race, bool *ret_settled);

/*
 * The race was seen again, after it had been suppressed here and not settled:
 * clear race->suppressed if the values that were seen do not agree with the
 * rule any more.
 */
struct error *suppressions_judge_again(struct suppressions *suppressions,
				       struct race *race);

/*
 * Append a rule that suppresses this race: by names, or by build-id and offset,
 * or by fingerprint. To be completed with a reason, which its comments ask for.
 */
void suppression_write(struct strbuf *out, const struct race *race);

#endif
