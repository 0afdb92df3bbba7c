/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of a compilation unit; see scopes.h. Ranges of inlined calls
 * are stored in the order of the tree, per range of their function, so an
 * outer call always comes before the calls inside it.
 */
#include "image/scopes.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/error.h"
#include "image/debuginfo.h"
#include "image/die.h"

/* Deeper trees than this are damaged or of no interest. */
enum { DEPTH_MAX = 200 };

static bool push_ranges(Dwarf_Die *die, uint32_t scope, struct vec *list)
{
	Dwarf_Addr start;
	Dwarf_Addr end;
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		struct scope_range range = { start, end, scope, 0, 0 };

		if (start != 0 && start < end && !vec_push(list, &range))
			return false;
	}
	return true;
}

static bool push_scope(struct unit_scopes *scopes, Dwarf_Die *die,
		       struct vec *list)
{
	struct scope scope = { *die, SCOPE_UNMARKED };

	return vec_push(&scopes->scopes, &scope) &&
	       push_ranges(die, (uint32_t)scopes->scopes.count - 1, list);
}

/* The inlined calls below die. False: no memory. */
static bool collect_inlined(struct unit_scopes *scopes, Dwarf_Die *die,
			    int depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(die, &child) != 0)
		return true;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_inlined_subroutine:
			if (!push_scope(scopes, &child, &scopes->inlined))
				return false;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			break;
		default:
			continue;
		}
		if (!collect_inlined(scopes, &child, depth + 1))
			return false;
	} while (die_next(&child));
	return true;
}

static bool add_function(struct unit_scopes *scopes, Dwarf_Die *die)
{
	size_t first_function = scopes->functions.count;
	uint32_t first = (uint32_t)scopes->inlined.count;
	uint32_t count;

	if (!push_scope(scopes, die, &scopes->functions))
		return false;
	/* a declaration, or the abstract instance of an inlined function */
	if (scopes->functions.count == first_function) {
		scopes->scopes.count--;
		return true;
	}
	if (!collect_inlined(scopes, die, 0))
		return false;
	count = (uint32_t)scopes->inlined.count - first;
	for (size_t i = first_function; i < scopes->functions.count; i++) {
		struct scope_range *range = vec_at(&scopes->functions, i);

		range->first = first;
		range->count = count;
	}
	return true;
}

/* Functions may be anywhere: nested, in namespaces, in local classes. */
static bool collect_functions(struct unit_scopes *scopes, Dwarf_Die *die,
			      int depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(die, &child) != 0)
		return true;
	do {
		bool inner = false;

		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (!add_function(scopes, &child))
				return false;
			inner = true;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type: /* of Rust, with methods */
			inner = true;
			break;
		default:
			break;
		}
		if (inner && dwarf_haschildren(&child) &&
		    !collect_functions(scopes, &child, depth + 1))
			return false;
	} while (die_next(&child));
	return true;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct scope_range *a = left;
	const struct scope_range *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

struct error *debug_unit_scopes(struct debug_unit *unit,
				struct unit_scopes **ret)
{
	struct unit_scopes *scopes = unit->scopes;

	if (scopes) {
		*ret = scopes;
		return NULL;
	}
	scopes = calloc(1, sizeof(*scopes));
	if (!scopes)
		return error_nomem;
	scopes->scopes = (struct vec)VEC_INIT(struct scope);
	scopes->functions = (struct vec)VEC_INIT(struct scope_range);
	scopes->inlined = (struct vec)VEC_INIT(struct scope_range);
	if (!collect_functions(scopes, &unit->die, 0)) {
		unit_scopes_destroy(scopes);
		return error_nomem;
	}
	if (scopes->functions.count)
		qsort(scopes->functions.items, scopes->functions.count,
		      scopes->functions.size, compare_ranges);
	unit->scopes = scopes;
	*ret = scopes;
	return NULL;
}

void unit_scopes_destroy(struct unit_scopes *scopes)
{
	if (!scopes)
		return;
	vec_deinit(&scopes->scopes);
	vec_deinit(&scopes->functions);
	vec_deinit(&scopes->inlined);
	free(scopes);
}

const struct scope_range *unit_scopes_function(const struct unit_scopes *scopes,
					       uint64_t address)
{
	size_t low = 0;
	size_t high = scopes->functions.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct scope_range *range =
			vec_at(&scopes->functions, middle);

		if (address < range->start)
			high = middle;
		else if (address >= range->end)
			low = middle + 1;
		else
			return range;
	}
	return NULL;
}

const struct scope_range *
unit_scopes_inlined(const struct unit_scopes *scopes,
		    const struct scope_range *function, uint64_t address,
		    uint32_t *cursor)
{
	while (*cursor > 0) {
		const struct scope_range *range =
			vec_at(&scopes->inlined, function->first + --*cursor);

		if (address >= range->start && address < range->end)
			return range;
	}
	return NULL;
}
