/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Readable names by libiberty; see demangle.h.
 */
#include "base/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <string.h>

/* libiberty's own limit for C++; the others have none. */
enum { DEMANGLE_LENGTH_MAX = 1024 };

static bool demangle_is_d(const char *symbol)
{
	return symbol[0] == '_' && symbol[1] == 'D' &&
	       (isdigit((unsigned char)symbol[2]) ||
		strcmp(symbol + 2, "main") == 0);
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
	/* DMGL_PARAMS is not given: overloads share a name */
	return cplus_demangle(symbol, DMGL_AUTO | DMGL_ANSI);
}
