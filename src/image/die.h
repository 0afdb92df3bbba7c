/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small readings of DIEs that several files of src/image need.
 */
#ifndef IMAGE_DIE_H
#define IMAGE_DIE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* The mangled name, also through abstract origins; NULL if there is none. */
const char *die_linkage_name(Dwarf_Die *die);

/*
 * Go on to the next sibling; false: there is none. Not to one that stands before
 * it, as damaged information may have it: that would go on for ever.
 */
bool die_next(Dwarf_Die *die);

/* The DIE an attribute refers to, through abstract origins. */
bool die_referred(Dwarf_Die *die, unsigned int attribute, Dwarf_Die *ret);

/*
 * Put a type that is known here by its signature only (DW_AT_signature) in its
 * place. False for one that is declared and not defined.
 */
bool die_complete(Dwarf_Die *type);

/*
 * Put the type without typedefs and qualifiers, DIE_TYPEDEFS_MAX at most, in its place.
 * False: there are more, it is void, or declared and not defined.
 */
enum { DIE_TYPEDEFS_MAX = 32 };
bool die_plain(Dwarf_Die *type);

/* An unsigned attribute, or fallback. */
Dwarf_Word die_number(Dwarf_Die *die, unsigned int attribute,
		      Dwarf_Word fallback);

/* DW_AT_language of the unit the DIE is in; 0 if unknown. */
int die_language(Dwarf_Die *die);

/*
 * The file that an attribute with a file number names (DW_AT_decl_file,
 * DW_AT_call_file), or NULL.
 */
const char *die_file(Dwarf_Die *die, unsigned int attribute);

#endif
