/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looking through a line. Each call takes something from the front of the text,
 * and leaves it as it was if that is not there.
 */
#ifndef FOREIGN_SCAN_H
#define FOREIGN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a text, which need not end in NUL. */
struct scan {
	const char *at;
	size_t length;
};

struct scan scan_of(const char *text);

bool scan_word(struct scan *scan, const char *word);
void scan_spaces(struct scan *scan);
/* Decimal digits; of no more than 64 bits. */
bool scan_number(struct scan *scan, uint64_t *ret);
/* Hexadecimal digits after 0x. */
bool scan_address(struct scan *scan, uint64_t *ret);
/* What comes before the mark, which is taken too. */
bool scan_before(struct scan *scan, const char *mark, struct scan *ret);

/* Where the mark is in the text for the last time, or the first; NULL: nowhere. */
const char *scan_last(const struct scan *scan, const char *mark);
const char *scan_first(const struct scan *scan, const char *mark);

/* Cut the text off at a place in it. */
void scan_cut(struct scan *scan, const char *end);

/* A copy, to be freed; NULL when out of memory. */
char *scan_copy(const struct scan *scan);

#endif
