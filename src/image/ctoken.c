/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tokens of C source text; see ctoken.h.
 */
#include "image/ctoken.h"

#include <string.h>

bool ctoken_is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

static bool begins(const struct ctokens *tokens, const char *text)
{
	size_t size = strlen(text);

	return (size_t)(tokens->end - tokens->at) >= size &&
	       memcmp(tokens->at, text, size) == 0;
}

/* Behind the next occurrence of a text, or at the end. */
static const char *behind(const struct ctokens *tokens, const char *text)
{
	const char *found = memmem(tokens->at, tokens->end - tokens->at, text,
				   strlen(text));

	return found ? found + strlen(text) : tokens->end;
}

static bool skip_one_space(struct ctokens *tokens)
{
	if (begins(tokens, "/*")) {
		tokens->at += 2;
		tokens->at = behind(tokens, "*/");
	} else if (begins(tokens, "//")) {
		tokens->at = behind(tokens, "\n");
	} else if (begins(tokens, "\\\n")) {
		tokens->at += 2;
	} else if (begins(tokens, "\\\r\n")) {
		tokens->at += 3;
	} else if (strchr(" \t\r\n\f\v", *tokens->at) && *tokens->at) {
		tokens->at++;
	} else {
		return false;
	}
	return true;
}

static const char *word_end(const struct ctokens *tokens)
{
	const char *at = tokens->at;

	while (at < tokens->end && ctoken_is_word_char(*at))
		at++;
	return at;
}

/* A text without its second quote ends with the line. */
static const char *text_end(const struct ctokens *tokens)
{
	const char *at = tokens->at + 1;

	while (at < tokens->end && *at != *tokens->at && *at != '\n') {
		if (*at == '\\' && at + 1 < tokens->end)
			at++;
		at++;
	}
	return at < tokens->end && *at != '\n' ? at + 1 : at;
}

struct ctoken ctoken_next(struct ctokens *tokens)
{
	struct ctoken token = { .kind = CTOKEN_END };

	while (tokens->at < tokens->end && skip_one_space(tokens))
		;
	token.text = tokens->at;
	if (tokens->at >= tokens->end)
		return token;
	if (ctoken_is_word_char(*tokens->at)) {
		bool digit = *tokens->at >= '0' && *tokens->at <= '9';

		token.kind = digit ? CTOKEN_NUMBER : CTOKEN_WORD;
		tokens->at = word_end(tokens);
	} else if (*tokens->at == '"' || *tokens->at == '\'') {
		token.kind = CTOKEN_TEXT;
		tokens->at = text_end(tokens);
	} else {
		token.kind = CTOKEN_MARK;
		tokens->at += begins(tokens, "->") || begins(tokens, "++") ||
					      begins(tokens, "--")
				      ? 2
				      : 1;
	}
	token.size = (size_t)(tokens->at - token.text);
	return token;
}

struct ctoken ctoken_peek(const struct ctokens *tokens)
{
	struct ctokens copy = *tokens;

	return ctoken_next(&copy);
}

bool ctoken_is(const struct ctoken *token, const char *text)
{
	return token->size == strlen(text) &&
	       memcmp(token->text, text, token->size) == 0;
}

bool ctoken_is_one_of(const struct ctoken *token, const char *const *words)
{
	for (size_t i = 0; words[i]; i++) {
		if (ctoken_is(token, words[i]))
			return true;
	}
	return false;
}

bool ctoken_skip_brackets(struct ctokens *tokens, struct ctokens *ret)
{
	struct ctoken token = ctoken_peek(tokens);
	size_t depth = 0;

	if (!ctoken_is(&token, "("))
		return false;
	if (ret)
		ret->at = token.text + 1;
	do {
		token = ctoken_next(tokens);
		if (ctoken_is(&token, "("))
			depth++;
		else if (ctoken_is(&token, ")"))
			depth--;
	} while (depth > 0 && token.kind != CTOKEN_END);
	if (ret)
		ret->end = token.text;
	return true;
}
