/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Misspelt words; see spelling.h. The distance is the optimal string alignment
 * one: Levenshtein's, with swapped neighbours as one edit.
 */
#include "base/spelling.h"

#include <stdbool.h>
#include <string.h>

enum { SPELLING_MAX = 63 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool is_swapped(const char *a, size_t i, const char *b, size_t j)
{
	return i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
}

/* Neither is longer than SPELLING_MAX. */
static size_t count_edits(const char *a, const char *b)
{
	/* of the first i bytes of a and the first j of b; three rows of i */
	size_t rows[3][SPELLING_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2], *spare;
	size_t length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		spare = before;
		before = last;
		last = row;
		row = spare;
		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			row[j] = least(last[j], row[j - 1]) + 1;
			row[j] = least(row[j],
				       last[j - 1] + (a[i - 1] != b[j - 1]));
			if (is_swapped(a, i, b, j))
				row[j] = least(row[j], before[j - 2] + 1);
		}
	}
	return row[length];
}

void spelling_offer(struct spelling *spelling, const char *word,
		    const char *candidate)
{
	size_t length = strlen(word), edits;

	if (length > SPELLING_MAX || strlen(candidate) > SPELLING_MAX)
		return;
	edits = count_edits(word, candidate);
	if (edits > (length + 2) / 3 ||
	    (spelling->word && edits >= spelling->edits))
		return;
	*spelling = (struct spelling){ .word = candidate, .edits = edits };
}
