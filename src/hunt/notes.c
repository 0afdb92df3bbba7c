/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kinds of notes; see notes.h.
 */
#include "hunt/notes.h"

#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 32 };

static const char DIGITS[] = "0123456789";

void notes_init(struct notes *notes)
{
	*notes = (struct notes){ .texts = VEC_INIT(char *) };
}

void notes_deinit(struct notes *notes)
{
	for (size_t i = 0; i < notes->texts.count; i++)
		free(*(char **)vec_at(&notes->texts, i));
	vec_deinit(&notes->texts);
}

/* But for numbers, which may have more digits in one of them. */
static bool notes_are_alike(const char *a, const char *b)
{
	while (*a && *b) {
		size_t in_a = strspn(a, DIGITS), in_b = strspn(b, DIGITS);

		if (!in_a != !in_b || (!in_a && *a != *b))
			return false;
		a += in_a ? in_a : 1;
		b += in_b ? in_b : 1;
	}
	return *a == *b;
}

bool notes_is_new(struct notes *notes, const char *text)
{
	char *copy;

	for (size_t i = 0; i < notes->texts.count; i++) {
		if (notes_are_alike(*(char **)vec_at(&notes->texts, i), text))
			return false;
	}
	copy = notes->texts.count < NOTES_MAX ? strdup(text) : NULL;
	if (copy && vec_push(&notes->texts, &copy))
		return true;
	free(copy);
	return false;
}
