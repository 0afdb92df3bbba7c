/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Readable names by libiberty; see demangle.h.
 */
#include "base/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

/* libiberty's own limit for C++; the others have none. */
enum { DEMANGLE_LENGTH_MAX = 1024 };

/*
 * What a symbol stands for may be exponential in its length: each level of a
 * template can name the one before twice.
 */
struct demangle_output {
	jmp_buf full;
	size_t length;
	char text[4096];
};

static bool demangle_is_d(const char *symbol)
{
	return symbol[0] == '_' && symbol[1] == 'D' &&
	       (isdigit((unsigned char)symbol[2]) ||
		strcmp(symbol + 2, "main") == 0);
}

static void demangle_take(const char *text, size_t length, void *context)
{
	struct demangle_output *output = context;

	if (length >= sizeof(output->text) - output->length)
		longjmp(output->full, 1);
	memcpy(output->text + output->length, text, length);
	output->length += length;
}

/*
 * With a callback libiberty owns no memory but its stack, and may be left; with
 * Rust's v0, an identifier that is not ASCII is lost then. Rust is asked first: its
 * older names are those of C++ with a hash. DMGL_PARAMS is not given: overloads
 * share a name.
 */
static char *demangle_bounded(const char *symbol)
{
	struct demangle_output output;

	if (setjmp(output.full) != 0)
		return NULL;
	output.length = 0;
	if (!rust_demangle_callback(symbol, DMGL_ANSI, demangle_take,
				    &output)) {
		output.length = 0;
		if (!cplus_demangle_v3_callback(symbol, DMGL_ANSI,
						demangle_take, &output))
			return NULL;
	}
	return strndup(output.text, output.length);
}

char *demangle(const char *symbol)
{
	/*
	 * Asked first, since libiberty's automatic choice leaves D out, and
	 * since nearly all names of a C program end here.
	 */
	if (symbol[0] != '_' || strlen(symbol) > DEMANGLE_LENGTH_MAX)
		return NULL;
	if (demangle_is_d(symbol))
		return dlang_demangle(symbol, DMGL_NO_OPTS);
	return demangle_bounded(symbol);
}
