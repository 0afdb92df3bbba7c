/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Atomic operations by the source: compilers expand C's atomic operations and
 * GCC's built-in functions, and the debug information has only the line and
 * column of the operation's name. Private to src/image.
 */
#ifndef IMAGE_ATOMICLINE_H
#define IMAGE_ATOMICLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/ctoken.h"

struct debug_module;
struct debug_unit;

/* What is named, if anything: none of these, or several. */
enum {
	ATOMIC_LINE_NONE = 0,
	ATOMIC_LINE_LOAD = 1 << 0,
	ATOMIC_LINE_STORE = 1 << 1,
	/*
	 * Perhaps: a macro has an operation of that kind beside other accesses,
	 * or its definition is not found.
	 */
	ATOMIC_LINE_MAYBE = 1 << 2,
};

/*
 * The operations that the source names at the line and column from which, by
 * the line table, the code at a DWARF address comes: directly or, if macros are
 * looked up, by a macro (macros.h). None when the source is not at hand
 * (sourcetext.h) or the table has no columns.
 */
unsigned int atomic_line_at(struct debug_module *debug, struct debug_unit *unit,
			    uint64_t address, bool macros);

/* Is the source of the code at a DWARF address at hand? */
bool atomic_line_is_at_hand(struct debug_module *debug, struct debug_unit *unit,
			    uint64_t address);

/*
 * The word of a line at a column, counted from 1: that of the word's first
 * character or, as g++ has it, of the bracket after it. False: there is none.
 */
bool atomic_line_word(const char *line, size_t size, size_t column,
		      struct ctoken *ret);

/*
 * The operations that the word names. Not those that read and write: their
 * instructions show them, and their other accesses, such as to the expected
 * value, are plain.
 */
unsigned int atomic_line_names(const struct ctoken *word);

#endif
