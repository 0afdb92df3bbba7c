/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Variables by address; see varindex.h. One pass over the DIEs of all units.
 * Types are passed over: a static member's definition stands outside.
 */
#include "image/varindex.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "image/debuginfo.h"
#include "image/die.h"
#include "image/elftext.h"
#include "image/image.h"

enum { DEPTH_MAX = 200 };

struct variable_index {
	size_t next; /* the unit to look through next */
	bool complete; /* all are, and what follows is in order */
	struct vec variables; /* of struct indexed_variable, by address */
	struct vec local; /* the thread-local ones, by offset */
};

/* The address in an expression that is nothing but an address. */
static bool expression_address(Dwarf_Attribute *location, Dwarf_Addr *ret)
{
	Dwarf_Attribute indirect;
	Dwarf_Block block;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_formblock(location, &block) != 0 || block.length == 0)
		return false;
	if (block.data[0] == DW_OP_addr && block.length == 1 + sizeof(*ret)) {
		memcpy(ret, block.data + 1, sizeof(*ret));
		return true;
	}
	if (block.data[0] != DW_OP_addrx &&
	    block.data[0] != DW_OP_GNU_addr_index)
		return false;
	return dwarf_getlocation(location, &ops, &count) == 0 && count == 1 &&
	       dwarf_getlocation_attr(location, &ops[0], &indirect) == 0 &&
	       dwarf_formaddr(&indirect, ret) == 0;
}

/* The offset in an expression that makes a thread-local address of it. */
static bool expression_offset(Dwarf_Attribute *location, Dwarf_Addr *ret)
{
	Dwarf_Attribute indirect;
	Dwarf_Block block;
	Dwarf_Op *ops;
	size_t count;
	uint8_t last;

	if (dwarf_formblock(location, &block) != 0 || block.length < 2)
		return false;
	last = block.data[block.length - 1];
	if ((last != DW_OP_GNU_push_tls_address &&
	     last != DW_OP_form_tls_address) ||
	    dwarf_getlocation(location, &ops, &count) != 0 || count != 2)
		return false;
	switch (ops[0].atom) {
	case DW_OP_addr:
	case DW_OP_const4u:
	case DW_OP_const8u:
		*ret = ops[0].number;
		return true;
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		return dwarf_getlocation_attr(location, &ops[0], &indirect) ==
			       0 &&
		       (dwarf_formaddr(&indirect, ret) == 0 ||
			dwarf_formudata(&indirect, ret) == 0);
	default:
		return false;
	}
}

static bool add_variable(struct variable_index *index, Dwarf_Die *die)
{
	struct indexed_variable variable = { .die = *die };
	Dwarf_Attribute location;

	if (!dwarf_attr(die, DW_AT_location, &location))
		return true;
	if (expression_address(&location, &variable.address))
		return variable.address == 0 ||
		       vec_push(&index->variables, &variable);
	return !expression_offset(&location, &variable.address) ||
	       vec_push(&index->local, &variable);
}

/* Look through the children of die; false when out of memory. */
static bool collect(struct variable_index *index, Dwarf_Die *die, int depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(die, &child) != 0)
		return true;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_variable:
			if (!add_variable(index, &child))
				return false;
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (!collect(index, &child, depth + 1))
				return false;
			break;
		default:
			break;
		}
	} while (die_next(&child));
	return true;
}

static int compare_variables(const void *left, const void *right)
{
	const struct indexed_variable *a = left;
	const struct indexed_variable *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static void sort_variables(struct vec *variables)
{
	if (variables->count)
		qsort(variables->items, variables->count, variables->size,
		      compare_variables);
}

static struct error *variable_index_create(struct variable_index **ret)
{
	struct variable_index *index = calloc(1, sizeof(*index));

	if (!index)
		return error_nomem;
	index->variables = (struct vec)VEC_INIT(struct indexed_variable);
	index->local = (struct vec)VEC_INIT(struct indexed_variable);
	*ret = index;
	return NULL;
}

/* About how many bytes of DWARF a unit has; of a split one not known. */
static uint64_t unit_size(const struct debug_module *module, size_t i)
{
	const uint64_t usual = UINT64_C(256) << 10;
	struct debug_unit *unit = vec_at(&module->units, i);
	struct debug_unit *next;

	if (i + 1 == module->units.count || unit->die.cu != unit->skeleton.cu)
		return usual;
	next = vec_at(&module->units, i + 1);
	return dwarf_dieoffset(&next->skeleton) -
	       dwarf_dieoffset(&unit->skeleton);
}

struct error *variable_index_work(struct debug_module *module, uint64_t size,
				  bool *ret_complete)
{
	struct variable_index *index = module->variables;
	uint64_t start = clock_now_ns();
	struct error *err;

	if (!index) {
		err = variable_index_create(&index);
		if (err)
			return err;
		module->variables = index;
	}
	while (index->next < module->units.count && size > 0) {
		struct debug_unit *unit = vec_at(&module->units, index->next);
		uint64_t had = unit_size(module, index->next);

		if (!collect(index, &unit->die, 0))
			return error_nomem;
		index->next++;
		size -= had < size ? had : size;
	}
	if (!index->complete && index->next == module->units.count) {
		sort_variables(&index->variables);
		sort_variables(&index->local);
		index->complete = true;
		log_debug(LOG_IMAGE, "%s: %zu variables, the last in %.1f ms",
			  module->module->path, index->variables.count,
			  (double)(clock_now_ns() - start) / CLOCK_NS_PER_MS);
	}
	*ret_complete = index->complete;
	return NULL;
}

void variable_index_destroy(struct variable_index *index)
{
	if (!index)
		return;
	vec_deinit(&index->variables);
	vec_deinit(&index->local);
	free(index);
}

/* The number of variables that start at or below address. */
static size_t count_up_to(const struct vec *variables, uint64_t address)
{
	size_t low = 0;
	size_t high = variables->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct indexed_variable *variable =
			vec_at(variables, middle);

		if (variable->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t type_size(struct indexed_variable *variable)
{
	Dwarf_Word size = 0;
	Dwarf_Die type;

	if (die_referred(&variable->die, DW_AT_type, &type) &&
	    dwarf_aggregate_size(&type, &size) != 0)
		size = 0;
	return size;
}

/*
 * The size of a variable: of its type or, where that is larger, of its symbol.
 * Types of declarations lack lengths, and arrays that end a struct are not in
 * its size.
 */
static uint64_t size_of(const struct debug_module *module,
			struct indexed_variable *variable)
{
	uint64_t at = variable->address - module->dwarf_shift;
	uint64_t size = type_size(variable);
	uint64_t start;
	uint64_t extent;

	if (elftext_data_symbol(module->module->text, at, &start, &extent) &&
	    start == at && extent > size)
		size = extent;
	return size;
}

/* The one that holds address; symbols: of module, or NULL. */
static const struct indexed_variable *
find_variable(const struct vec *variables, uint64_t address,
	      const struct debug_module *symbols)
{
	/* how many variables are looked at for one that is large enough */
	enum { NESTED_MAX = 16 };
	size_t count = count_up_to(variables, address);

	for (size_t i = 0; i < count && i < NESTED_MAX; i++) {
		struct indexed_variable *variable =
			vec_at(variables, count - 1 - i);
		uint64_t size = symbols ? size_of(symbols, variable)
					: type_size(variable);

		if (address - variable->address < size)
			return variable;
	}
	return NULL;
}

static struct error *find_in(struct debug_module *module, bool local,
			     uint64_t address, Dwarf_Die *ret_die,
			     uint64_t *ret_start, bool *ret_found)
{
	const struct indexed_variable *variable;
	bool complete;
	struct error *err = variable_index_work(module, UINT64_MAX, &complete);

	if (err)
		return err;
	variable =
		local ? find_variable(&module->variables->local, address, NULL)
		      : find_variable(&module->variables->variables, address,
				      module);
	*ret_found = variable != NULL;
	if (variable) {
		*ret_die = variable->die;
		*ret_start = variable->address;
	}
	return NULL;
}

struct error *variable_index_find(struct debug_module *module, uint64_t address,
				  Dwarf_Die *ret_die, uint64_t *ret_start,
				  bool *ret_found)
{
	return find_in(module, false, address, ret_die, ret_start, ret_found);
}

struct error *variable_index_find_local(struct debug_module *module,
					uint64_t offset, Dwarf_Die *ret_die,
					uint64_t *ret_start, bool *ret_found)
{
	return find_in(module, true, offset, ret_die, ret_start, ret_found);
}
