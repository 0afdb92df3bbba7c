/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of functions; see function.h. */
#include "foreign/function.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "foreign/scan.h"

enum { RUST_HASH = 16 }; /* digits */

static bool ends_in(const struct scan *text, const char *end)
{
	size_t length = strlen(end);

	return text->length >= length &&
	       memcmp(text->at + text->length - length, end, length) == 0;
}

static bool cut_end(struct scan *text, const char *end)
{
	if (!ends_in(text, end))
		return false;
	text->length -= strlen(end);
	return true;
}

/* Where the bracket that ends the text was opened; NULL: nowhere. */
static const char *opening(const struct scan *text)
{
	size_t depth = 0;

	for (size_t i = text->length; i-- > 0;) {
		depth += text->at[i] == ')';
		if (text->at[i] == '(' && --depth == 0)
			return text->at + i;
	}
	return NULL;
}

/* "operator()" has brackets of its own. */
static void cut_parameters(struct scan *text)
{
	struct scan before = *text;
	const char *open;

	while (cut_end(text, " const") || cut_end(text, " volatile") ||
	       cut_end(text, " &") || cut_end(text, " &&"))
		;
	if (!ends_in(text, ")") || !(open = opening(text)) || open == text->at)
		return;
	scan_cut(&before, open);
	if (!ends_in(&before, "operator"))
		scan_cut(text, open);
}

/* ".part.0", ".constprop.1", ".isra.0", ".cold", ".lto_priv.2" */
static void cut_copies(struct scan *text)
{
	static const char *const words[] = { ".constprop", ".isra",
					     ".part",	   ".cold",
					     ".lto_priv",  " [clone" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *at = scan_first(text, words[i]);

		if (at && at > text->at)
			scan_cut(text, at);
	}
}

static void cut_hash(struct scan *text)
{
	struct scan hash;
	size_t digits;

	if (text->length <= RUST_HASH + 3)
		return;
	hash.at = text->at + text->length - RUST_HASH - 3;
	if (memcmp(hash.at, "::h", 3) != 0)
		return;
	digits = strspn(hash.at + 3, "0123456789abcdef");
	if (digits >= RUST_HASH)
		scan_cut(text, hash.at);
}

/* Only of what has parameters or template arguments, where C++ writes one. */
static void cut_return_type(struct scan *text)
{
	const char *begin = text->at;
	int depth = 0;

	for (size_t i = 0; i < text->length; i++) {
		struct scan before = { text->at, i };
		char c = text->at[i];

		if (ends_in(&before, "operator"))
			break;
		depth += c == '<' || c == '(' || c == '{';
		depth -= c == '>' || c == ')' || c == '}';
		if (c == ' ' && depth == 0)
			begin = text->at + i + 1;
	}
	text->length -= (size_t)(begin - text->at);
	text->at = begin;
}

char *function_name(const struct scan *text)
{
	char *mangled = scan_copy(text), *demangled;
	struct scan name;

	if (!mangled)
		return NULL;
	name = scan_of(mangled);
	cut_copies(&name);
	if (name.length < text->length) {
		mangled[name.length] = '\0';
		name = scan_of(mangled);
	}
	demangled = demangle(mangled);
	if (demangled) {
		free(mangled);
		return demangled;
	}
	name = scan_of(mangled);
	cut_hash(&name);
	cut_parameters(&name);
	cut_return_type(&name);
	demangled = scan_copy(&name);
	free(mangled);
	return demangled;
}
