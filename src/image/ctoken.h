/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tokens of C source text, as far as it takes to see what a macro calls.
 * Private to src/image. Comments and line continuations are skipped. The text
 * need not be C at all: whatever stands there is some token.
 */
#ifndef IMAGE_CTOKEN_H
#define IMAGE_CTOKEN_H

#include <stdbool.h>
#include <stddef.h>

enum ctoken_kind {
	CTOKEN_END,
	CTOKEN_WORD, /* an identifier or a keyword */
	CTOKEN_NUMBER,
	CTOKEN_TEXT, /* a string or a character, with its quotes */
	/* "->", "++", "--", or one character */
	CTOKEN_MARK,
};

struct ctoken {
	enum ctoken_kind kind;
	const char *text; /* not terminated */
	size_t size;
};

/* A place in a text; next is the token that comes after it. */
struct ctokens {
	const char *at, *end;
};

/* Take the next token; that of the end is empty, as often as it is taken. */
struct ctoken ctoken_next(struct ctokens *tokens);

/* The next token, which is not taken. */
struct ctoken ctoken_peek(const struct ctokens *tokens);

bool ctoken_is(const struct ctoken *token, const char *text);
/* One of the words of a list that ends with NULL. */
bool ctoken_is_one_of(const struct ctoken *token, const char *const *words);

/*
 * Where a bracket "(" is next, take all up to the one that closes it, or to
 * the end. What is between the two is *ret, if that is not NULL.
 */
bool ctoken_skip_brackets(struct ctokens *tokens, struct ctokens *ret);

bool ctoken_is_word_char(char c);

#endif
