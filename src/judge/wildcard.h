/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The patterns of suppressions, with ThreadSanitizer's rules: "*" stands for
 * any characters, "^" at the beginning for the beginning of the text and "$"
 * for its end; otherwise a pattern matches wherever it occurs. What follows
 * "$" is passed over.
 */
#ifndef JUDGE_WILDCARD_H
#define JUDGE_WILDCARD_H

#include <stdbool.h>

/* A text that is NULL or empty matches nothing. */
bool wildcard_matches(const char *pattern, const char *text);

/* There is something in it besides "^" and "$". */
bool wildcard_says_something(const char *pattern);

#endif
