/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which race is to be brought about: REPORT#ID, the race of that number in a
 * saved report, and the two instructions that made its accesses.
 */
#ifndef PROVOKE_SCENARIO_H
#define PROVOKE_SCENARIO_H

#include <stdint.h>

#include "base/vec.h"
#include "report/race.h"

struct error;

struct scenario {
	char *path; /* of the report */
	uint64_t id;
	struct race race;
	struct vec
		places; /* of struct where: side a, which is race.sides[0], and b */
};

/*
 * "out.jsonl#3" as a path and a number. ERROR_USAGE. *ret_path is the caller's
 * to free.
 */
struct error *scenario_parse(const char *word, char **ret_path,
			     uint64_t *ret_id);

/*
 * Read the race, the last that has the number. ERROR_USAGE: the word is wrong;
 * ERROR_OTHER: the report has no such race, or does not say which two
 * instructions it was; or that of the file. End with scenario_deinit(), also
 * after an error.
 */
struct error *scenario_load(const char *word, struct scenario *ret);
void scenario_deinit(struct scenario *scenario);

/*
 * Are the files that have the two instructions still the builds that the report
 * is of? command: the program that is to be run, as it was found; NULL: none.
 * ERROR_OTHER names the one that is not. What cannot be told is no error.
 */
struct error *scenario_check_builds(const struct scenario *scenario,
				    const char *command);

#endif
