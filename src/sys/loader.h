/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the dynamic loader of a process tells debuggers of libraries that come
 * and go: struct r_debug of <link.h>, which the entry DT_DEBUG of the executable's
 * dynamic section points to. The loader calls an empty function when it begins to
 * map or unmap, and again when that is done: before it runs the constructors of
 * what it has mapped.
 */
#ifndef SYS_LOADER_H
#define SYS_LOADER_H

#include <stdint.h>

struct error;
struct memory;

struct loader_debug {
	uint64_t address; /* of struct r_debug */
	uint64_t function; /* that is called (r_brk) */
};

/*
 * In a process that stands at the entry of its program (AT_ENTRY), or later.
 * ERROR_UNSUPPORTED: it has no dynamic loader.
 */
struct error *loader_find(const struct memory *memory,
			  struct loader_debug *ret);

enum loader_state {
	LOADER_AT_REST, /* all that is mapped is told; or it cannot be told */
	LOADER_MAPS, /* it is about to map libraries, or in the midst of that */
	LOADER_UNMAPS, /* as before, to unmap them */
};

enum loader_state loader_state(const struct memory *memory,
			       const struct loader_debug *debug);

#endif
