/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the search of reach.h begins; see pointers.h: the variables in scope
 * at the pc of each frame, and the globals that the frame's function refers to.
 */
#include "image/pointers.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "image/debuginfo.h"
#include "image/die.h"
#include "image/elftext.h"
#include "image/fieldpath.h"
#include "image/image.h"
#include "image/reach.h"
#include "image/scopes.h"
#include "image/unwind.h"
#include "image/variables.h"
#include "image/varindex.h"
#include "x86/access.h"

enum {
	/* further out, a pointer is hardly that of the access */
	FRAMES_MAX = 6,
	NESTED_MAX = 100,
	FUNCTION_MAX = 32 << 10, /* bytes looked at for globals */
	GLOBALS_MAX = 64,
};

/* How much worse a name is for where the variable is. */
enum {
	RANK_FRAME = 6, /* for each frame further out */
	RANK_GLOBAL = 1,
	RANK_LIBRARY = 5, /* in a function of a library's header */
};

/* One frame and where its code is. */
struct gathering {
	struct reach *reach;
	struct image *image;
	struct module *module;
	struct debug_module *debug;
	struct frame_view view;
	unsigned int rank;
};

/* Is it in a header of the C++ library or the like, even of one inlined? */
static bool is_library(Dwarf_Die *function)
{
	const char *file = die_file(function, DW_AT_decl_file);

	return file && (strncmp(file, "/usr/include/", 13) == 0 ||
			strncmp(file, "/usr/lib/", 9) == 0 ||
			strncmp(file, "/rustc/", 7) == 0 ||
			strncmp(file, "/usr/src/rustc", 14) == 0);
}

static void gather_variable(struct gathering *gathering, Dwarf_Die *die,
			    unsigned int rank)
{
	const char *name = dwarf_diename(die);
	struct location place;

	if (name && location_find(&gathering->view, die, &place))
		reach_add_variable(gathering->reach, die, strdup(name), &place,
				   rank);
}

/* The variables of the scope, and of those in it that hold the pc. */
static void gather_scope(struct gathering *gathering, Dwarf_Die *scope,
			 unsigned int rank, int depth)
{
	Dwarf_Die child;

	if (depth > NESTED_MAX || dwarf_child(scope, &child) != 0)
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			gather_variable(gathering, &child, rank);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (dwarf_haspc(&child, gathering->view.pc) == 1)
				gather_scope(gathering, &child, rank,
					     depth + 1);
			break;
		case DW_TAG_inlined_subroutine:
			if (dwarf_haspc(&child, gathering->view.pc) == 1)
				gather_scope(gathering, &child,
					     gathering->rank +
						     (is_library(&child)
							      ? RANK_LIBRARY
							      : 0),
					     depth + 1);
			break;
		default:
			break;
		}
	} while (die_next(&child));
}

static char *qualified_name(Dwarf_Die *die)
{
	struct strbuf name = { 0 };

	variables_add_name(die, &name);
	return strbuf_steal(&name);
}

static bool in_module(const struct module *module, uint64_t address)
{
	return address - module->start < module->end - module->start;
}

static bool gather_global(struct gathering *gathering, uint64_t address,
			  uint64_t *ret_start)
{
	struct debug_module *debug = gathering->debug;
	struct location place = { .in_memory = true };
	struct error *err;
	uint64_t start;
	bool found = false;
	Dwarf_Die die;

	err = variable_index_find(debug, address + debug->dwarf_shift, &die,
				  &start, &found);
	if (err) {
		gathering->reach->failed = true;
		error_free(err);
		return false;
	}
	if (!found)
		return false;
	*ret_start = start;
	place.address = start + gathering->view.bias;
	reach_add_variable(gathering->reach, &die, qualified_name(&die), &place,
			   gathering->rank + RANK_GLOBAL);
	return true;
}

/*
 * Globals that the function's code mentions, by address: relative to what
 * follows the four bytes (and perhaps an immediate), or absolute. Any four
 * bytes are taken for an address: those that are none lead to no variable, or
 * to one that has nothing to do with the bytes in question.
 */
static void gather_globals(struct gathering *gathering, uint64_t pc)
{
	static const uint8_t immediates[] = { 0, 1, 2, 4 };
	const struct module *module = gathering->module;
	const struct elf_function *function =
		elftext_function_at(module->text, pc);
	uint64_t seen[GLOBALS_MAX];
	const uint8_t *bytes;
	size_t count = 0;
	size_t size;

	bytes = function ? elftext_bytes(module->text, function->start, &size)
			 : NULL;
	if (!bytes)
		return;
	if (size > function->size)
		size = function->size;
	if (size > FUNCTION_MAX)
		size = FUNCTION_MAX;
	for (size_t i = 0; i + 4 <= size && count < GLOBALS_MAX; i++) {
		int32_t word;

		memcpy(&word, bytes + i, sizeof(word));
		for (size_t n = 0; n <= sizeof(immediates); n++) {
			uint64_t address = (uint64_t)(int64_t)word;
			uint64_t start;
			bool again = false;

			if (n < sizeof(immediates))
				address +=
					function->start + i + 4 + immediates[n];
			if (!in_module(module, address + module->bias) ||
			    elftext_function_at(module->text, address))
				continue;
			for (size_t s = 0; s < count; s++)
				again |= seen[s] == address;
			if (again || !gather_global(gathering, address, &start))
				continue;
			if (count < GLOBALS_MAX)
				seen[count++] = address;
		}
	}
}

/* Its globals lead to its own objects; it has thousands of them. */
static bool is_libc(const struct module *module)
{
	return strncmp(module->name, "libc.so.", 8) == 0 ||
	       strncmp(module->name, "libc-2", 6) == 0;
}

/* Everything a frame knows. */
static struct error *gather_frame(struct gathering *gathering,
				  const struct unwind_frame *frame)
{
	uint64_t pc = frame->is_return ? frame->pc - 1 : frame->pc;
	struct module *module = image_module_at(gathering->image, pc);
	const struct scope_range *function;
	struct unit_scopes *scopes;
	struct debug_unit *unit;
	struct scope *scope;
	struct error *err;

	if (!module || !module->text)
		return NULL;
	gathering->module = module;
	err = debuginfo_module(gathering->image, module, &gathering->debug);
	if (err)
		return err;
	unit = debug_module_unit(gathering->debug, pc - module->bias);
	if (!unit)
		return NULL;
	err = debug_unit_scopes(unit, &scopes);
	if (err)
		return err;
	gathering->view.bias = module->bias - gathering->debug->dwarf_shift;
	gathering->view.pc = pc - gathering->view.bias;
	function = unit_scopes_function(scopes, gathering->view.pc);
	if (!function)
		return NULL;
	scope = vec_at(&scopes->scopes, function->scope);
	gathering->view.function = scope->die;
	gathering->view.registers = &frame->registers;
	gather_scope(gathering, &scope->die,
		     gathering->rank +
			     (is_library(&scope->die) ? RANK_LIBRARY : 0),
		     0);
	if (!gathering->reach->own_only && !is_libc(module))
		gather_globals(gathering, pc - module->bias);
	return NULL;
}

/* Is the address in the frame's part of the stack? */
static bool owns(const struct unwind_frame *frame, uint64_t address)
{
	return address >= frame->registers.gpr[X86_RSP] &&
	       address < frame->registers.cfa;
}

static char *copy_text(const struct strbuf *text, bool *failed)
{
	const char *from = strbuf_text(text);
	char *copy = from[0] ? strdup(from) : NULL;

	*failed |= text->failed || (from[0] && !copy);
	return copy;
}

/* What the DIE of a variable, or of the object's type, says. */
static struct error *describe(struct reach *reach, uint32_t size,
			      struct data_name *ret)
{
	struct reach_found *found = &reach->found;
	Dwarf_Die *die = found->is_variable ? &found->variable : &found->type;
	struct field_path path = { 0 };
	struct strbuf symbol = { 0 };
	const char *file = die_file(die, DW_AT_decl_file);
	int tag = dwarf_tag(&found->type);
	bool failed = false;

	field_path_find(&found->type, found->offset, size, &path);
	if (found->is_variable)
		strbuf_add(&symbol, dwarf_diename(&found->variable));
	else if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
		 tag == DW_TAG_union_type)
		type_name_add(&found->type, &symbol);
	ret->name = found->name;
	found->name = NULL;
	ret->symbol = copy_text(&symbol, &failed);
	ret->type = copy_text(&path.type, &failed);
	ret->container = copy_text(&path.container, &failed);
	ret->offset = found->offset;
	ret->inner = path.inner;
	ret->file = file ? strdup(file) : NULL;
	ret->line = (int)die_number(die, DW_AT_decl_line, 0);
	failed |= file && !ret->file;
	field_path_deinit(&path);
	strbuf_deinit(&symbol);
	return failed ? error_nomem : NULL;
}

/* What the C library's code knows is seldom of the program's types. */
static bool in_libc(struct image *image, const struct unwind_frame *frame)
{
	const struct module *module = image_module_at(
		image, frame->is_return ? frame->pc - 1 : frame->pc);

	return module && is_libc(module);
}

/* libc: look at the C library's frames too, and not only where it has the bytes */
static struct error *gather_frames(struct gathering *gathering,
				   const struct pointer_query *query, bool libc)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < query->frame_count; i++) {
		const struct unwind_frame *frame = &query->frames[i];
		bool own_only = i >= FRAMES_MAX;

		if (!libc && !own_only)
			own_only = in_libc(gathering->image, frame);
		gathering->reach->own_only = own_only;
		gathering->rank = (unsigned int)i * RANK_FRAME;
		if (!own_only || owns(frame, query->address))
			err = gather_frame(gathering, frame);
	}
	return err;
}

/*
 * The C library's debug information takes several times as long to read as the
 * program's: it is asked only where the access is its own and no other function
 * has a name for the bytes.
 */
static struct error *search_frames(struct gathering *gathering,
				   const struct pointer_query *query)
{
	struct reach *reach = gathering->reach;
	struct error *err = gather_frames(gathering, query, false);

	if (err)
		return err;
	reach_search(reach);
	if (reach->failed || reach->found.name || query->frame_count == 0 ||
	    !in_libc(gathering->image, &query->frames[0]))
		return NULL;
	reach_deinit(reach);
	reach_init(reach, query);
	err = gather_frames(gathering, query, true);
	if (!err)
		reach_search(reach);
	return err;
}

struct error *pointers_name(struct image *image,
			    const struct pointer_query *query,
			    struct data_name *ret, unsigned int *ret_rank,
			    bool *ret_found)
{
	struct gathering gathering = { .image = image,
				       .view = { .memory = query->memory } };
	struct data_name name = { 0 };
	struct error *err;
	struct reach reach;

	reach_init(&reach, query);
	gathering.reach = &reach;
	err = search_frames(&gathering, query);
	if (!err && reach.failed)
		err = error_nomem;
	*ret_found = !err && reach.found.name;
	if (*ret_found) {
		*ret_rank = reach.found.rank;
		err = describe(&reach, query->size, &name);
	}
	reach_deinit(&reach);
	if (err) {
		data_name_deinit(&name);
		return err;
	}
	if (*ret_found) {
		name.region = ret->region;
		name.module = ret->module;
		name.module_offset = ret->module_offset;
		*ret = name;
	}
	return NULL;
}
