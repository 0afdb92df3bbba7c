/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for code addresses; see symbols.h. DWARF first; a module or function
 * without it still has its ELF symbols.
 */
#include "image/symbols.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/demangle.h"
#include "base/error.h"
#include "image/debuginfo.h"
#include "image/die.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/namecache.h"
#include "image/scopes.h"

/* Where the code of a frame comes from, until it is copied. */
struct source_place {
	const char *file;
	int line, column;
	const char *folder; /* see struct code_frame */
};

void code_frames_clear(struct vec *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		struct code_frame *frame = vec_at(frames, i);

		free(frame->function);
		free(frame->file);
		free(frame->folder);
	}
	vec_clear(frames);
}

static char *demangled_or_same(const char *name)
{
	char *text = demangle(name);

	return text ? text : strdup(name);
}

/* The demangled name of a function's DIE; NULL if it has none. */
static struct error *function_name(Dwarf_Die *die, char **ret)
{
	const char *linkage = die_linkage_name(die);
	const char *name = dwarf_diename(die);

	if (!linkage && !name) {
		*ret = NULL;
		return NULL;
	}
	*ret = linkage ? demangled_or_same(linkage) : strdup(name);
	return *ret ? NULL : error_nomem;
}

/* function is handed over. */
static struct error *push_frame(struct vec *frames,
				const struct code_frame *common, char *function,
				const struct source_place *place)
{
	struct code_frame frame = *common;

	frame.function = function;
	frame.line = place->line;
	frame.column = place->column;
	frame.file = place->file ? strdup(place->file) : NULL;
	frame.folder = place->folder ? strdup(place->folder) : NULL;
	if ((place->file && !frame.file) || (place->folder && !frame.folder) ||
	    !vec_push(frames, &frame)) {
		free(frame.folder);
		free(frame.file);
		free(function);
		return error_nomem;
	}
	return NULL;
}

/* Has the row before another address? */
static bool row_is_first(Dwarf_Lines *lines, size_t i)
{
	Dwarf_Addr address, before;

	return i == 0 ||
	       dwarf_lineaddr(dwarf_onesrcline(lines, i), &address) != 0 ||
	       dwarf_lineaddr(dwarf_onesrcline(lines, i - 1), &before) != 0 ||
	       before != address;
}

static bool function_begins(struct debug_unit *unit, uint64_t address)
{
	const struct scope_range *function;
	struct unit_scopes *scopes;
	struct error *err = debug_unit_scopes(unit, &scopes);

	if (err) {
		error_free(err);
		return false;
	}
	function = unit_scopes_function(scopes, address);
	return function && function->start == address;
}

static bool same_file(Dwarf_Line *row, Dwarf_Line *other)
{
	const char *one = dwarf_linesrc(row, NULL, NULL);
	const char *two = dwarf_linesrc(other, NULL, NULL);

	return one && two && strcmp(one, two) == 0;
}

/*
 * Of several rows for one address the last is found, which may be no statement
 * of its own: the brace after "return x;" gets the load of x. The statement's
 * row, if there is one at that address, is what the reader looks for. But the
 * first row of a function is its head: no statement, whatever it says. And a row of
 * another file is of what was inlined there, without code of its own that is told
 * apart: gcc has the subscript of a std::vector in its caller's frame.
 */
static Dwarf_Line *statement_row(struct debug_unit *unit, Dwarf_Line *line)
{
	Dwarf_Addr address, other;
	Dwarf_Lines *lines;
	size_t count, i;
	bool statement;

	if (dwarf_linebeginstatement(line, &statement) != 0 || statement ||
	    dwarf_lineaddr(line, &address) != 0 ||
	    dwarf_getsrclines(&unit->skeleton, &lines, &count) != 0)
		return line;
	for (i = 0; i < count && dwarf_onesrcline(lines, i) != line;)
		i++;
	while (i-- > 0) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);

		if (dwarf_lineaddr(row, &other) != 0 || other != address)
			break;
		if (dwarf_linebeginstatement(row, &statement) != 0 ||
		    !statement)
			continue;
		if (row_is_first(lines, i) && function_begins(unit, address))
			break;
		if (!same_file(row, line))
			continue;
		return row;
	}
	return line;
}

/* NULL where the file needs none. */
static const char *folder_of(Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute attribute;

	return file && file[0] != '/'
		       ? dwarf_formstring(
				 dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		       : NULL;
}

static void line_at(struct debug_unit *unit, uint64_t address,
		    struct source_place *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->skeleton, address);

	if (!line)
		return;
	line = statement_row(unit, line);
	ret->file = dwarf_linesrc(line, NULL, NULL);
	dwarf_lineno(line, &ret->line);
	dwarf_linecol(line, &ret->column);
	ret->folder = folder_of(&unit->skeleton, ret->file);
}

/* Where the function was called that the DIE says was inlined. */
static struct source_place call_place(struct debug_unit *unit, Dwarf_Die *die)
{
	struct source_place place = {
		.file = die_file(die, DW_AT_call_file),
		.line = (int)die_number(die, DW_AT_call_line, 0),
		.column = (int)die_number(die, DW_AT_call_column, 0),
	};

	place.folder = folder_of(&unit->skeleton, place.file);
	return place;
}

/* Frames by DWARF; *ret_found tells if there were any. */
static struct error *dwarf_frames(struct debug_unit *unit, uint64_t address,
				  struct code_frame *common,
				  struct source_place *place,
				  struct vec *frames, bool *ret_found)
{
	const struct scope_range *function;
	const struct scope_range *range;
	struct unit_scopes *scopes;
	struct scope *scope;
	uint32_t cursor;
	struct error *err;
	char *name;

	err = debug_unit_scopes(unit, &scopes);
	if (err)
		return err;
	function = unit_scopes_function(scopes, address);
	if (!function)
		return NULL;
	cursor = function->count;
	while ((range = unit_scopes_inlined(scopes, function, address,
					    &cursor))) {
		scope = vec_at(&scopes->scopes, range->scope);
		common->inlined = true;
		err = function_name(&scope->die, &name);
		if (!err)
			err = push_frame(frames, common, name, place);
		if (err)
			return err;
		*place = call_place(unit, &scope->die);
	}
	common->inlined = false;
	scope = vec_at(&scopes->scopes, function->scope);
	err = function_name(&scope->die, &name);
	if (!err)
		err = push_frame(frames, common, name, place);
	*ret_found = !err;
	return err;
}

/* By symbols without a size or a type, too, all of which are looked at. */
static const char *loose_symbol(const struct debug_module *debug,
				uint64_t address)
{
	GElf_Off offset;
	GElf_Sym symbol;

	return dwfl_module_addrinfo(debug->dwfl, address + debug->bias, &offset,
				    &symbol, NULL, NULL, NULL);
}

/* Of a function without a name, what is known of its start; asked for once. */
static const char *unnamed_symbol(struct debug_module *debug,
				  const struct elf_function *function)
{
	if (debug->unnamed != function) {
		debug->unnamed = function;
		debug->unnamed_symbol = loose_symbol(debug, function->start);
	}
	return debug->unnamed_symbol;
}

/* The function's name from ELF symbols alone. */
static struct error *elf_name(struct debug_module *debug,
			      const struct code_frame *common, char **ret)
{
	const struct elf_function *function =
		elftext_function_at(common->module->text, common->offset);
	const char *name;

	if (!function)
		name = loose_symbol(debug, common->offset);
	else
		name = function->name ? function->name
				      : unnamed_symbol(debug, function);
	if (!name) {
		*ret = NULL;
		return NULL;
	}
	*ret = demangled_or_same(name);
	return *ret ? NULL : error_nomem;
}

/* By debug information and symbols; *ret_lasting: they depend on no other file. */
static struct error *read_frames(struct image *image, struct code_frame *common,
				 struct vec *frames, bool *ret_lasting)
{
	struct source_place place = { 0 };
	struct debug_module *debug;
	struct debug_unit *unit;
	struct error *err;
	bool found = false;
	char *name;

	err = debuginfo_module(image, common->module, &debug);
	if (err)
		return err;
	unit = debug_module_unit(debug, common->offset);
	*ret_lasting = !debug->fetched && !(unit && unit->split);
	if (unit) {
		uint64_t address = common->offset + debug->dwarf_shift;

		line_at(unit, address, &place);
		err = dwarf_frames(unit, address, common, &place, frames,
				   &found);
	}
	if (err || found)
		return err;
	err = elf_name(debug, common, &name);
	return err ? err : push_frame(frames, common, name, &place);
}

/*
 * The names that earlier runs left of a library; those of the program itself
 * change with it, and its debug information is read for more than names.
 */
static struct error *kept_names(struct image *image, struct module *module,
				struct name_cache **ret)
{
	struct debug_module *debug;
	struct error *err;

	*ret = NULL;
	if (module->main || module->vdso || image_servers_limit(image))
		return NULL;
	err = debuginfo_unread(image, module, &debug);
	if (!err && !debug->names_tried) {
		debug->names_tried = true;
		err = name_cache_open(elftext_build_id(module->text),
				      elftext_file(module->text),
				      elftext_debug_file(module->text),
				      &debug->names);
	}
	if (!err)
		*ret = debug->names;
	return err;
}

static struct error *use_names(const struct name_frame *names, size_t count,
			       const struct code_frame *common,
			       struct vec *frames)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < count; i++) {
		const struct source_place place = { .file = names[i].file,
						    .line = names[i].line,
						    .column = names[i].column };
		struct code_frame frame = *common;
		char *function = strdup(names[i].function);

		frame.inlined = names[i].inlined;
		err = function ? push_frame(frames, &frame, function, &place)
			       : error_nomem;
	}
	return err;
}

/* Keep the frames from the one at `first' on, if all have a name. */
static struct error *keep_names(struct name_cache *cache, uint64_t offset,
				const struct vec *frames, size_t first)
{
	size_t count = frames->count - first;
	cleanup_free struct name_frame *names = calloc(count, sizeof(*names));

	if (!names)
		return error_nomem;
	for (size_t i = 0; i < count; i++) {
		const struct code_frame *frame = vec_at(frames, first + i);

		if (!frame->function)
			return NULL;
		names[i] = (struct name_frame){ frame->function, frame->file,
						frame->line, frame->column,
						frame->inlined };
	}
	return name_cache_add(cache, offset, names, count);
}

static struct error *module_frames(struct image *image,
				   struct code_frame *common,
				   struct vec *frames)
{
	const struct name_frame *names = NULL;
	size_t first = frames->count, count = 0;
	struct name_cache *cache;
	bool lasting = false;
	struct error *err = kept_names(image, common->module, &cache);

	if (!err && cache)
		names = name_cache_find(cache, common->offset, &count);
	if (err || names)
		return err ? err : use_names(names, count, common, frames);
	err = read_frames(image, common, frames, &lasting);
	if (!err && cache && lasting)
		err = keep_names(cache, common->offset, frames, first);
	return err;
}

bool symbols_have_debuginfo(struct image *image, struct module *module)
{
	struct debug_module *debug = NULL;

	if (!module->text)
		return false;
	error_free(debuginfo_module(image, module, &debug));
	return debug && debug->units.count > 0;
}

struct error *symbols_frames(struct image *image, uint64_t pc, bool is_return,
			     struct vec *frames)
{
	uint64_t address = is_return ? pc - 1 : pc;
	static const struct source_place nowhere;
	struct code_frame common = {
		.module = image_module_at(image, address),
		.offset = address,
	};

	if (!common.module)
		return push_frame(frames, &common, NULL, &nowhere);
	common.offset -= common.module->bias;
	if (!common.module->text)
		return push_frame(frames, &common, NULL, &nowhere);
	return module_frames(image, &common, frames);
}
