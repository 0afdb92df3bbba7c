/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The macros that a compilation unit's source uses. Private to src/image. Where
 * the unit has macro information (gcc -g3, DW_AT_macros), that says which there
 * are. Elsewhere the unit's source files are searched, and the headers they
 * include, as far as they are at hand (sourcetext.h); none of the
 * preprocessor's conditions is evaluated, so that a name may have several
 * definitions. At most 256 files are looked through for a unit.
 */
#ifndef IMAGE_MACROS_H
#define IMAGE_MACROS_H

#include "image/macrotext.h"

struct debug_unit;
struct macros;
struct source_texts;

/* Of a module, whose sources must outlive them; NULL: no memory. */
struct macros *macros_create(struct source_texts *sources);
/* NULL is fine. */
void macros_destroy(struct macros *macros);

/*
 * The meaning of a name in a unit's source file, see macro_meaning_at(); the
 * text given begins at the name's end. All zero if the unit is not of C or C++,
 * or when out of memory.
 */
void macros_meaning(struct macros *macros, struct debug_unit *unit,
		    const char *file, const struct ctoken *name,
		    struct ctokens arguments, struct macro_meaning *ret);

#endif
