/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source lines and functions to addresses; see codeplaces.h.
 */
#include "image/codeplaces.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/vec.h"
#include "image/debuginfo.h"
#include "image/die.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/scopes.h"

/* A search through the units of a module. */
struct codeplaces {
	const struct debug_module *debug;
	const struct code_match *match;
	int line;
	/* the rows of a file have the same pointer: what was said of the last */
	const char *path;
	bool matches;
	struct vec *places;
	struct code_found *found;
};

static int compare_places(const void *left, const void *right)
{
	const struct code_place *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void join_places(struct vec *places)
{
	size_t kept = 0;

	if (places->count == 0)
		return;
	qsort(places->items, places->count, places->size, compare_places);
	for (size_t i = 1; i < places->count; i++) {
		const struct code_place place =
			*(const struct code_place *)vec_at(places, i);
		struct code_place *last = vec_at(places, kept);

		if (place.start > last->end)
			*(struct code_place *)vec_at(places, ++kept) = place;
		else if (place.end > last->end)
			last->end = place.end;
	}
	places->count = kept + 1;
}

/* From addresses of the DWARF. False: out of memory. */
static bool add_place(const struct codeplaces *search, uint64_t start,
		      uint64_t end)
{
	uint64_t shift = search->debug->dwarf_shift;
	struct code_place place = { start - shift, end - shift };

	return start == 0 || start >= end || vec_push(search->places, &place);
}

static bool is_file(struct codeplaces *search, const char *path)
{
	if (!path)
		return false;
	if (path != search->path) {
		search->path = path;
		search->matches =
			search->match->file(search->match->context, path);
	}
	search->found->file |= search->matches;
	return search->matches;
}

/* The nearest to the line that is looked for. */
static void note_line(const struct codeplaces *search, int line)
{
	struct code_found *found = search->found;

	if (line < search->line && line > found->line_before)
		found->line_before = line;
	if (line > search->line &&
	    (found->line_after == 0 || line < found->line_after))
		found->line_after = line;
}

/*
 * Where the code of a row ends: at the next address that the table has. Several
 * rows may be of one address; each of them is taken for its line, as a report
 * may name any of them.
 */
static uint64_t row_end(Dwarf_Lines *lines, size_t count, size_t i,
			uint64_t start)
{
	Dwarf_Addr end;

	while (++i < count) {
		if (dwarf_lineaddr(dwarf_onesrcline(lines, i), &end) == 0 &&
		    end > start)
			return end;
	}
	return start;
}

/* One row of the table. False: out of memory. */
static bool take_row(struct codeplaces *search, Dwarf_Lines *lines,
		     size_t count, size_t i)
{
	Dwarf_Line *row = dwarf_onesrcline(lines, i);
	bool sequence_ends = false;
	Dwarf_Addr start;
	int line;

	dwarf_lineendsequence(row, &sequence_ends);
	if (sequence_ends || dwarf_lineno(row, &line) != 0 || line < 1 ||
	    !is_file(search, dwarf_linesrc(row, NULL, NULL)) ||
	    dwarf_lineaddr(row, &start) != 0)
		return true;
	note_line(search, line);
	return line != search->line ||
	       add_place(search, start, row_end(lines, count, i, start));
}

static bool search_lines(struct codeplaces *search, struct debug_unit *unit)
{
	Dwarf_Lines *lines;
	size_t count;

	if (dwarf_getsrclines(&unit->skeleton, &lines, &count) != 0)
		return true;
	for (size_t i = 0; i < count; i++) {
		if (!take_row(search, lines, count, i))
			return false;
	}
	return true;
}

static bool is_function(const struct codeplaces *search, Dwarf_Die *die)
{
	const char *linkage = die_linkage_name(die);
	const char *name = dwarf_diename(die);

	return (linkage || name) &&
	       search->match->function(search->match->context, linkage, name);
}

static bool take_scopes(const struct codeplaces *search,
			const struct unit_scopes *scopes,
			const struct vec *ranges)
{
	uint32_t last = UINT32_MAX;
	bool matches = false;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct scope_range *range = vec_at(ranges, i);

		if (range->scope != last) {
			struct scope *scope =
				vec_at(&scopes->scopes, range->scope);

			last = range->scope;
			matches = is_function(search, &scope->die);
		}
		if (matches && !add_place(search, range->start, range->end))
			return false;
	}
	return true;
}

static struct error *search_unit(struct codeplaces *search,
				 struct debug_unit *unit)
{
	struct unit_scopes *scopes;
	struct error *err;

	if (search->line > 0)
		return search_lines(search, unit) ? NULL : error_nomem;
	err = debug_unit_scopes(unit, &scopes);
	if (err)
		return err;
	return take_scopes(search, scopes, &scopes->functions) &&
			       take_scopes(search, scopes, &scopes->inlined)
		       ? NULL
		       : error_nomem;
}

static struct error *search_units(struct codeplaces *search,
				  struct image *image, struct module *module)
{
	struct debug_module *debug;
	struct error *err = debuginfo_module(image, module, &debug);

	if (err)
		return err;
	search->debug = debug;
	search->found->debuginfo = debug->units.count > 0;
	for (size_t i = 0; !err && i < debug->units.count; i++)
		err = search_unit(search, vec_at(&debug->units, i));
	return err;
}

struct error *codeplaces_line(struct image *image, struct module *module,
			      const struct code_match *match, int line,
			      struct vec *ret_places, struct code_found *ret)
{
	struct codeplaces search = {
		.match = match,
		.line = line,
		.places = ret_places,
		.found = ret,
	};
	struct error *err = search_units(&search, image, module);

	join_places(ret_places);
	return err;
}

static struct error *search_symbols(struct module *module,
				    const struct code_match *match,
				    struct vec *places)
{
	size_t count;
	const struct elf_function *functions =
		elftext_functions(module->text, &count);

	for (size_t i = 0; i < count; i++) {
		const struct elf_function *function = &functions[i];
		struct code_place place = { function->start,
					    function->start + function->size };

		if (function->name &&
		    match->function(match->context, function->name, NULL) &&
		    !vec_push(places, &place))
			return error_nomem;
	}
	return NULL;
}

struct error *codeplaces_function(struct image *image, struct module *module,
				  const struct code_match *match,
				  struct vec *ret_places,
				  struct code_found *ret)
{
	struct codeplaces search = {
		.match = match,
		.places = ret_places,
		.found = ret,
	};
	struct error *err = search_symbols(module, match, ret_places);

	if (!err)
		err = search_units(&search, image, module);
	join_places(ret_places);
	return err;
}
