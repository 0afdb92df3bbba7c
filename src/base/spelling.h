/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a misspelt word was to be. */
#ifndef BASE_SPELLING_H
#define BASE_SPELLING_H

#include <stddef.h>

/* The word that is the nearest yet; zero at first. */
struct spelling {
	const char *word; /* NULL: none is near */
	size_t edits;
};

/*
 * Take the candidate if it is nearer to the word than what was offered before: in
 * letters to add, remove, replace, or swap with the next. At most one letter in
 * three is wrong. Both are compared up to 63 bytes; longer words are near nothing.
 */
void spelling_offer(struct spelling *spelling, const char *word,
		    const char *candidate);

#endif
