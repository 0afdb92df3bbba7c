/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The arguments of --at; see where.h.
 */
#include "sampling/where.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/demangle.h"
#include "base/error.h"
#include "x86/access.h"

static struct error *where_wrong(const char *why)
{
	return error_create(ERROR_USAGE, "%s", why);
}

/* The last colon that is not one of a "::" between C++ names; or NULL. */
static char *last_colon(char *text)
{
	for (size_t i = strlen(text); i-- > 0;) {
		if (text[i] != ':')
			continue;
		if (i > 0 && text[i - 1] == ':')
			i--;
		else
			return text + i;
	}
	return NULL;
}

/* Cut ":read", ":write" or ":rmw" off the name. */
static void take_access(struct where *where)
{
	static const struct {
		const char *word;
		uint8_t access;
	} words[] = {
		{ "read", ACCESS_READ },
		{ "write", ACCESS_WRITE },
		{ "rmw", ACCESS_RMW },
	};
	char *colon = last_colon(where->name);

	for (size_t i = 0; colon && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(colon + 1, words[i].word) == 0) {
			where->access = words[i].access;
			*colon = '\0';
			return;
		}
	}
}

static struct error *take_line(struct where *where, char *colon)
{
	char *end;
	long line;

	errno = 0;
	line = strtol(colon + 1, &end, 10);
	if (!isdigit((unsigned char)colon[1]) || *end || errno || line < 1 ||
	    line > INT_MAX)
		return where_wrong("a line number, read, write or rmw must "
				   "follow the colon");
	if (colon == where->name || colon[-1] == '/')
		return where_wrong("a file must precede the line number");
	where->kind = WHERE_LINE;
	where->line = (int)line;
	*colon = '\0';
	return NULL;
}

static struct error *take_offset(struct where *where, char *plus)
{
	char *end;

	errno = 0;
	where->offset = strtoull(plus + 1, &end, 16);
	if (strncmp(plus, "+0x", 3) != 0 || !isxdigit((unsigned char)plus[3]) ||
	    *end || errno)
		return where_wrong("an offset in a module must be +0x and "
				   "hexadecimal digits");
	where->kind = WHERE_OFFSET;
	*plus = '\0';
	return NULL;
}

static bool is_number(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (strncmp(text, "0x", 2) == 0)
		digits = 2 + strspn(text + 2, "0123456789abcdefABCDEF");
	return digits > 0 && text[digits] == '\0';
}

/* "f(int, char)" is "f", as reports have it; "operator()" stays. */
static void cut_parameters(char *name)
{
	char *bracket = strchr(name, '(');

	if (bracket && bracket - name >= 8 &&
	    strncmp(bracket - 8, "operator()", 10) == 0)
		bracket = strchr(bracket + 2, '(');
	if (bracket && bracket > name)
		*bracket = '\0';
}

static struct error *take_function(struct where *where)
{
	if (is_number(where->name))
		return where_wrong(
			"a number alone is no place: use FILE:LINE or "
			"MODULE+0xOFFSET");
	where->kind = WHERE_FUNCTION;
	cut_parameters(where->name);
	return NULL;
}

static struct error *where_take(struct where *where)
{
	char *colon, *plus;

	take_access(where);
	colon = last_colon(where->name);
	plus = strrchr(where->name, '+');
	if (!where->name[0])
		return where_wrong("must be FILE:LINE, FUNCTION or "
				   "MODULE+0xOFFSET");
	if (plus && isdigit((unsigned char)plus[1]))
		return take_offset(where, plus);
	if (colon)
		return take_line(where, colon);
	return take_function(where);
}

struct error *where_parse(const char *text, struct where *ret)
{
	struct where where = { .text = text, .name = strdup(text) };
	struct error *err = where.name ? where_take(&where) : error_nomem;

	if (err)
		free(where.name);
	else
		*ret = where;
	return err;
}

void where_deinit(struct where *where)
{
	free(where->name);
	where->name = NULL;
}

/* Is it the whole of the path, or its last folders and file? */
static bool is_path_end(const char *path, const char *end)
{
	size_t length = strlen(path), wanted;

	while (strncmp(end, "./", 2) == 0)
		end += 2;
	wanted = strlen(end);
	return wanted <= length && strcmp(path + length - wanted, end) == 0 &&
	       (wanted == length || end[0] == '/' ||
		path[length - wanted - 1] == '/');
}

bool where_is_file(const struct where *where, const char *path)
{
	return path && is_path_end(path, where->name);
}

bool where_is_module(const struct where *where, const char *path,
		     const char *soname, bool main)
{
	if (!where->name[0])
		return main;
	return is_path_end(path, where->name) ||
	       (soname && strcmp(soname, where->name) == 0);
}

bool where_is_access(const struct where *where, uint8_t kind)
{
	return (kind & where->access) == where->access;
}

/* Is it the whole of the name, or its last scopes? */
static bool is_name_end(const char *name, size_t length, const char *end)
{
	size_t wanted = strlen(end);

	return wanted <= length &&
	       memcmp(name + length - wanted, end, wanted) == 0 &&
	       (wanted == length ||
		(length - wanted >= 2 && name[length - wanted - 1] == ':' &&
		 name[length - wanted - 2] == ':'));
}

/* How much of a name is there before what compilers add: "f.part.0". */
static size_t name_length(const char *name, const char *wanted)
{
	const char *clone = strstr(name, " [clone");
	size_t length = clone ? (size_t)(clone - name) : strlen(name);
	const char *dot = memchr(name, '.', length);

	if (dot && dot > name && !strchr(wanted, '.'))
		length = (size_t)(dot - name);
	return length;
}

/* "operator<", "operator->": its brackets are none. */
static size_t operator_length(const char *at)
{
	static const char word[] = "operator";
	size_t length = sizeof(word) - 1;

	if (strncmp(at, word, length) != 0)
		return 0;
	return length + strspn(at + length, "<>=-");
}

/* The name without template arguments, in a buffer of at least its size. */
static size_t strip_arguments(const char *name, size_t length, char *ret)
{
	size_t depth = 0, out = 0, in = 0;

	while (in < length) {
		size_t operator= operator_length(name + in);

		for (; operator> 0 && in<length; operator--, in++) {
			if (depth == 0)
				ret[out++] = name[in];
		}
		if (in == length)
			break;
		if (name[in] == '<')
			depth++;
		else if (name[in] == '>' && depth > 0)
			depth--;
		else if (depth == 0)
			ret[out++] = name[in];
		in++;
	}
	return out;
}

static bool is_glob(const char *name)
{
	return strpbrk(name, "*?") && !strstr(name, "operator*");
}

static bool name_matches(const char *wanted, const char *name)
{
	cleanup_free char *plain = NULL;
	size_t length;

	if (is_glob(wanted))
		return fnmatch(wanted, name, 0) == 0;
	length = name_length(name, wanted);
	if (is_name_end(name, length, wanted))
		return true;
	if (!memchr(name, '<', length))
		return false;
	plain = malloc(length + 1);
	return plain &&
	       is_name_end(plain, strip_arguments(name, length, plain), wanted);
}

/*
 * Names are taken apart only where they have the last part of what is looked
 * for in them: there may be millions.
 */
static bool may_match(const char *wanted, const char *linkage)
{
	size_t start = strlen(wanted), end;

	if (is_glob(wanted))
		return true;
	while (start > 0 && wanted[start - 1] != ':')
		start--;
	end = start + strcspn(wanted + start, "<");
	return end == start || strncmp(wanted + start, "operator", 8) == 0 ||
	       memmem(linkage, strlen(linkage), wanted + start, end - start);
}

bool where_is_function(const struct where *where, const char *linkage,
		       const char *name)
{
	cleanup_free char *demangled = NULL;

	if (name && name_matches(where->name, name))
		return true;
	if (!linkage || !may_match(where->name, linkage))
		return false;
	if (name_matches(where->name, linkage))
		return true;
	demangled = demangle(linkage);
	return demangled && name_matches(where->name, demangled);
}
