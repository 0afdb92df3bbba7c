/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For test programs what in_turn is for scripts (tests/lib.sh): some checks take
 * turns by RACEWATCH_TEST_TURN, a number, or "all"; without it by the day. A long
 * run makes all.
 */
#ifndef HELPERS_TURN_H
#define HELPERS_TURN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Which turn it is; -1 when all checks are made. */
static inline long turn_now(void)
{
	const char *turn = getenv("RACEWATCH_TEST_TURN");

	if (getenv("RACEWATCH_TEST_LONG") || (turn && !strcmp(turn, "all")))
		return -1;
	return turn ? strtol(turn, NULL, 10) : (long)(time(NULL) / 86400);
}

/* Is it the turn of the check of that index, of which a run makes one in n? */
static inline bool turn_has(size_t index, size_t n)
{
	long turn = turn_now();

	return turn < 0 || (index + (size_t)turn) % n == 0;
}

/* Say how many checks were not made, in the form of tests/lib.sh. */
static inline void turn_tell(size_t left_out, size_t all)
{
	if (left_out)
		printf("# left out in turn %ld: %zu of %zu checks\n",
		       turn_now(), left_out, all);
}

#endif
