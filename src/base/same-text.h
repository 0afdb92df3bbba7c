/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparing strings that may be missing. */
#ifndef BASE_SAME_TEXT_H
#define BASE_SAME_TEXT_H

#include <stdbool.h>
#include <string.h>

/* Are both NULL, or the same text? */
static inline bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

#endif
