/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of one compilation unit by address, and what was inlined into
 * each. Private to src/image. Built when the unit is first used; a lookup then
 * costs a binary search, and a pass over one function's inlined calls.
 */
#ifndef IMAGE_SCOPES_H
#define IMAGE_SCOPES_H

#include <elfutils/libdw.h>
#include <stdint.h>

#include "base/vec.h"

struct debug_unit;
struct error;

enum scope_mark { SCOPE_UNMARKED, SCOPE_PLAIN, SCOPE_ATOMIC };

/* A DW_TAG_subprogram or DW_TAG_inlined_subroutine. */
struct scope {
	Dwarf_Die die;
	/* enum scope_mark; for the use of atomics.c */
	uint8_t mark;
};

struct unit_scopes {
	struct vec scopes; /* of struct scope */
	struct vec functions; /* of struct scope_range, by start */
	struct vec inlined; /* of struct scope_range, by function */
};

/* Addresses as in the DWARF. */
struct scope_range {
	uint64_t start, end;
	uint32_t scope; /* index in scopes */
	/* of a function: its inlined calls, outer before inner */
	uint32_t first, count;
};

/* The scopes of unit, built if need be. */
struct error *debug_unit_scopes(struct debug_unit *unit,
				struct unit_scopes **ret);
void unit_scopes_destroy(struct unit_scopes *scopes);

/* The function that holds the DWARF address, or NULL. */
const struct scope_range *unit_scopes_function(const struct unit_scopes *scopes,
					       uint64_t address);

/*
 * The inlined call before *cursor that holds the address, innermost first;
 * NULL at the end. Start with *cursor = function->count.
 */
const struct scope_range *
unit_scopes_inlined(const struct unit_scopes *scopes,
		    const struct scope_range *function, uint64_t address,
		    uint32_t *cursor);

#endif
