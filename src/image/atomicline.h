/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Atomic operations by the source: compilers expand C's atomic operations
 * and GCC's built-in functions without a trace in the debug information but
 * the line and column, which are those of the operation's name. Private to
 * src/image.
 */
#ifndef IMAGE_ATOMICLINE_H
#define IMAGE_ATOMICLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_module;
struct debug_unit;

/* What is named, if anything. */
enum atomic_line { ATOMIC_LINE_NONE, ATOMIC_LINE_LOAD, ATOMIC_LINE_STORE };

/*
 * Which the source names where the line table says the code at a DWARF
 * address comes from, at that column. None when the source is not at hand
 * (sourcetext.h) or the table has no columns.
 */
enum atomic_line atomic_line_at(struct debug_module *debug,
				struct debug_unit *unit, uint64_t address);

/* Is the source of the code at a DWARF address at hand? */
bool atomic_line_is_at_hand(struct debug_module *debug, struct debug_unit *unit,
			    uint64_t address);

/*
 * Which the line names at the column, counted from 1: that of the name's
 * first character or, as g++ has it, of the bracket after the name.
 * Operations that read and write are not meant: their instructions tell, and
 * what else they access, such as the value expected, is plain.
 */
enum atomic_line atomic_line_names(const char *line, size_t size,
				   size_t column);

#endif
