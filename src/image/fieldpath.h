/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of a variable that some of its bytes belong to, by its DWARF type:
 * the path ("[3].used"), the type of the part, and the qualifiers along the
 * path. Private to src/image.
 */
#ifndef IMAGE_FIELDPATH_H
#define IMAGE_FIELDPATH_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

struct field_path {
	/* to be put after the variable's name; "" for all of it */
	struct strbuf path;
	struct strbuf type; /* of the part; "" when unknown */
	struct strbuf container; /* the innermost struct; "" if none */
	uint64_t inner; /* the bytes' offset in the part */
	bool is_volatile; /* the part, or what contains it */
	bool is_atomic; /* of an _Atomic or std::atomic kind */
};

/*
 * Find the part that has the bytes [offset, offset + size) of a variable of
 * that type. If the bytes belong to several members, these are listed:
 * "{busy,level}".
 */
void field_path_find(Dwarf_Die *type, uint64_t offset, uint64_t size,
		     struct field_path *path);

/* path->path.failed and the like are set when out of memory. */
void field_path_deinit(struct field_path *path);

/* Append the name of a type as its language writes it, roughly. */
void type_name_add(Dwarf_Die *type, struct strbuf *name);

#endif
