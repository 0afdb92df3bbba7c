/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The arguments of --at: a place in a program as a user names it. Parses it,
 * and compares it with names in debug information and symbols. aim.h finds the
 * instructions. Pure code.
 *
 * 	FILE:LINE		file.c:84, dir/file.c:84
 * 	FUNCTION		shard_add, cache::Shard::add, add, 'shard_*'
 * 	MODULE+0xOFFSET		libstore.so.1+0x1179; +0x1179: of the program
 *
 * Each may end in :read, :write or :rmw.
 */
#ifndef SAMPLING_WHERE_H
#define SAMPLING_WHERE_H

#include <stdbool.h>
#include <stdint.h>

struct error;

/* Places at a time. */
enum { WHERE_MAX = 64 };

enum where_kind { WHERE_LINE, WHERE_FUNCTION, WHERE_OFFSET };

struct where {
	const char *text; /* as it was given; borrowed */
	enum where_kind kind;
	/* the file, the function or the module; "": the program itself */
	char *name;
	int line;
	const char *build_id; /* of the module; borrowed; NULL: any */
	uint64_t offset; /* the file's own address, as reports have it */
	/*
	 * enum access_kind: which accesses are meant; ACCESS_NONE: all. READ
	 * and WRITE are met by an instruction that does both, too.
	 */
	uint8_t access;
};

/* ERROR_USAGE says what is wrong. End with where_deinit(). */
struct error *where_parse(const char *text, struct where *ret);
void where_deinit(struct where *where);

/* Is the path, as debug information has it, that of the file? */
bool where_is_file(const struct where *where, const char *path);

/*
 * Is it the function? linkage is its symbol, mangled or not, and name what
 * debug information calls it; one of the two may be NULL.
 */
bool where_is_function(const struct where *where, const char *linkage,
		       const char *name);

/* Is it the module with that path and soname (NULL: it has none)? */
bool where_is_module(const struct where *where, const char *path,
		     const char *soname, bool main);

/* Does an access of that kind (enum access_kind) count? */
bool where_is_access(const struct where *where, uint8_t kind);

#endif
