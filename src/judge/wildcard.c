/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patterns of suppressions; see wildcard.h. The parts between asterisks are
 * looked for from left to right, each as early as possible, the last one at
 * the end where the pattern asks for it: no trial has to be taken back.
 */
#include "judge/wildcard.h"

#include <string.h>

/* The pattern's part that is still to be matched, and the text's. */
struct wildcard {
	const char *at, *end; /* of the pattern, without "^" and "$" */
	const char *text;
	bool loose; /* characters of the text may be passed over first */
};

static bool wildcard_literal(struct wildcard *wildcard, size_t length)
{
	const char *found = wildcard->text;

	if (wildcard->loose)
		found = memmem(found, strlen(found), wildcard->at, length);
	else if (strncmp(found, wildcard->at, length) != 0)
		found = NULL;
	if (!found)
		return false;
	wildcard->text = found + length;
	wildcard->at += length;
	wildcard->loose = false;
	return true;
}

static bool wildcard_last(const struct wildcard *wildcard)
{
	size_t length = (size_t)(wildcard->end - wildcard->at);
	size_t left = strlen(wildcard->text);

	if (left < length || (left > length && !wildcard->loose))
		return false;
	return memcmp(wildcard->text + left - length, wildcard->at, length) ==
	       0;
}

bool wildcard_matches(const char *pattern, const char *text)
{
	size_t anchor = strcspn(pattern, "$");
	struct wildcard wildcard = {
		.at = pattern + (*pattern == '^'),
		.end = pattern + anchor,
		.text = text,
		.loose = *pattern != '^',
	};

	if (!text || !*text)
		return false;
	while (wildcard.at < wildcard.end) {
		size_t length = strcspn(wildcard.at, "*$");

		if (length == 0) {
			wildcard.loose = true;
			wildcard.at++;
			continue;
		}
		if (pattern[anchor] == '$' &&
		    wildcard.at + length == wildcard.end)
			return wildcard_last(&wildcard);
		if (!wildcard_literal(&wildcard, length))
			return false;
	}
	return pattern[anchor] != '$' || wildcard.loose || !*wildcard.text;
}

bool wildcard_says_something(const char *pattern)
{
	pattern += *pattern == '^';
	return *pattern != '\0' && *pattern != '$';
}
