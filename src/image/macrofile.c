/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The macros that a text defines; see macrofile.h.
 */
#include "image/macrofile.h"

#include <string.h>

#include "base/hash.h"

enum { DEFINITIONS_MAX = 1 << 17 };

struct definition {
	struct ctoken name;
	struct macro_definition is;
	size_t next; /* one more of that hash, as its place + 1; or 0 */
};

void macro_file_init(struct macro_file *file)
{
	*file = (struct macro_file){
		.definitions = VEC_INIT(struct definition),
		.includes = VEC_INIT(struct macro_include),
	};
}

void macro_file_deinit(struct macro_file *file)
{
	vec_deinit(&file->definitions);
	vec_deinit(&file->includes);
	map_deinit(&file->by_name);
	map_deinit(&file->functions);
}

bool macro_file_define(struct macro_file *file, const char *text, size_t size)
{
	struct ctokens tokens = { text, text + size };
	struct definition definition = { .name = ctoken_next(&tokens) };
	uint64_t hash, *first;

	if (definition.name.kind != CTOKEN_WORD ||
	    file->definitions.count >= DEFINITIONS_MAX)
		return true;
	/* a bracket right after the name begins its parameters */
	if (tokens.at < tokens.end && *tokens.at == '(')
		ctoken_skip_brackets(&tokens, &definition.is.params);
	definition.is.body = tokens;
	hash = hash_bytes(definition.name.text, definition.name.size);
	first = map_get(&file->by_name, hash);
	definition.next = first ? (size_t)*first : 0;
	return vec_push(&file->definitions, &definition) &&
	       map_set(&file->by_name, hash, file->definitions.count);
}

bool macro_file_find(const struct macro_file *file, const struct ctoken *name,
		     size_t n, struct macro_definition *ret)
{
	uint64_t *first =
		map_get(&file->by_name, hash_bytes(name->text, name->size));
	size_t at = first ? (size_t)*first : 0;

	while (at) {
		const struct definition *one =
			vec_at(&file->definitions, at - 1);

		if (one->name.size == name->size &&
		    memcmp(one->name.text, name->text, name->size) == 0 &&
		    n-- == 0) {
			*ret = one->is;
			return true;
		}
		at = one->next;
	}
	return false;
}

bool macro_file_has_function(const struct macro_file *file,
			     const struct ctoken *name)
{
	return map_get(&file->functions, hash_bytes(name->text, name->size));
}

/* To the end of the line, or of those that a backslash joins to it. */
static struct ctokens directive_of(struct ctokens *tokens)
{
	struct ctokens line = *tokens;
	const char *at = tokens->at;

	while (at < tokens->end && *at != '\n') {
		if (*at == '\\' && at + 1 < tokens->end && at[1] == '\r')
			at++;
		if (*at == '/' && at + 1 < tokens->end && at[1] == '*') {
			const char *end = memmem(at, tokens->end - at, "*/", 2);

			at = end ? end : tokens->end - 1;
		}
		at += *at == '\\' && at + 1 < tokens->end ? 2 : 1;
	}
	line.end = at < tokens->end ? at : tokens->end;
	tokens->at = line.end;
	return line;
}

static bool read_include(struct macro_file *file, struct ctokens line)
{
	struct ctoken token = ctoken_next(&line);
	struct macro_include include = { .quoted = token.kind == CTOKEN_TEXT };
	const char *end;

	if (token.size == 0)
		return true;
	end = memchr(token.text + 1, include.quoted ? '"' : '>',
		     (size_t)(line.end - token.text - 1));
	if ((!include.quoted && !ctoken_is(&token, "<")) || !end)
		return true;
	include.name.kind = CTOKEN_TEXT;
	include.name.text = token.text + 1;
	include.name.size = (size_t)(end - include.name.text);
	return vec_push(&file->includes, &include);
}

static bool read_directive(struct macro_file *file, struct ctokens line)
{
	struct ctoken word = ctoken_next(&line);

	if (ctoken_is(&word, "define"))
		return macro_file_define(file, line.at,
					 (size_t)(line.end - line.at));
	if (ctoken_is(&word, "include") || ctoken_is(&word, "include_next"))
		return read_include(file, line);
	return true;
}

static bool read_function(struct macro_file *file, const struct ctoken *name,
			  const struct ctokens *tokens)
{
	struct ctoken next = ctoken_peek(tokens);

	return !ctoken_is(&next, "(") ||
	       map_set(&file->functions, hash_bytes(name->text, name->size), 1);
}

/*
 * Functions are declared outside of all braces. As conditions may have two
 * braces for one, those at the beginning of a line are outside in any case.
 */
bool macro_file_read(struct macro_file *file, const char *text, size_t size)
{
	struct ctokens tokens = { text, text + size };
	struct ctoken token;
	size_t depth = 0;
	bool good = true;

	while (good && (token = ctoken_next(&tokens)).kind != CTOKEN_END) {
		bool first = token.text == text || token.text[-1] == '\n';

		if (ctoken_is(&token, "#"))
			good = read_directive(file, directive_of(&tokens));
		else if (ctoken_is(&token, "{"))
			depth = first ? 1 : depth + 1;
		else if (ctoken_is(&token, "}"))
			depth = first || depth == 0 ? 0 : depth - 1;
		else if (token.kind == CTOKEN_WORD && depth == 0)
			good = read_function(file, &token, &tokens);
	}
	return good;
}
