/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes that were reported; see reported.h. */
#include "hunt/reported.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/error.h"
#include "base/same-text.h"
#include "base/vec.h"
#include "conflict/symbolize.h"
#include "foreign/valgrind.h"
#include "report/race.h"
#include "report/text.h"

uint64_t reported_offset(const struct race *reported)
{
	const char *tool = reported->backend;

	if (reported->evidence != EVIDENCE_REPORTED || !tool ||
	    (strcmp(tool, "helgrind") != 0 && strcmp(tool, "drd") != 0))
		return 0;
	return valgrind_offset(reported->address);
}

/* Behind the indices that are there. */
static const char *skip_indices(const char *name)
{
	const char *end;

	while (*name == '[' && (end = strchr(name, ']')) != NULL)
		name = end + 1;
	return name;
}

bool reported_same_name(const char *one, const char *two)
{
	one = skip_indices(one);
	two = skip_indices(two);
	while (*one && *one == *two && *one != '+') {
		one = skip_indices(one + 1);
		two = skip_indices(two + 1);
	}
	/* several members were accessed together: "state.{busy,level}" */
	if (*one == '{' || *two == '{')
		return true;
	/* the one is in the other, or at an offset in it */
	return strchr("+.", *one) && strchr("+.", *two);
}

/* As the frames of the race have it; NULL: it has none in this file. */
static const char *build_id_of(const struct race *met)
{
	for (int i = 0; i < 2; i++) {
		const struct vec *frames = &met->sides[i].frames;

		for (size_t j = 0; j < frames->count; j++) {
			const struct race_frame *frame = vec_at(frames, j);

			if (frame->build_id &&
			    same_text(frame->module, met->variable.module))
				return frame->build_id;
		}
	}
	return NULL;
}

static struct error *name_module(struct symbolizer *symbolizer,
				 const struct race *met)
{
	const char *build_id = build_id_of(met);

	return build_id ? symbolizer_add_module(symbolizer,
						met->variable.module, build_id)
			: NULL;
}

/* Of the symbol: there may be several of a name. */
static uint64_t begin_of(const struct race_variable *variable)
{
	return variable->module_offset - variable->offset;
}

/* Would the bytes that were reported have the same name? */
static struct error *compare_names(struct symbolizer *symbolizer,
				   const struct race *reported,
				   const struct race *met, uint64_t offset,
				   bool *ret_same)
{
	struct race bytes;
	bool changed;
	struct error *err = name_module(symbolizer, met);

	*ret_same = false;
	if (err)
		return err;
	race_init(&bytes);
	bytes.size = reported->size;
	bytes.variable.region = REGION_GLOBAL;
	bytes.variable.module = strdup(met->variable.module);
	bytes.variable.module_offset = offset;
	err = bytes.variable.module
		      ? symbolize_race(symbolizer, &bytes, &changed)
		      : error_nomem;
	*ret_same = !err && bytes.variable.name &&
		    begin_of(&bytes.variable) == begin_of(&met->variable) &&
		    reported_same_name(bytes.variable.name, met->variable.name);
	race_deinit(&bytes);
	return err;
}

static uint64_t end_of(uint64_t offset, uint32_t size)
{
	return offset + (size > 0 ? size : 1);
}

/*
 * "run::count" of "run(int) const::count.0" and "run(int) const::count (.0)": the
 * numbers are each build's own, and tools differ in the rest. NULL: out of memory.
 */
static char *plain_symbol(const char *symbol)
{
	static const char qualifier[] = " const";
	char *plain = demangle(symbol), *to;
	int depth = 0;

	if (!plain)
		plain = strdup(symbol);
	if (!plain)
		return NULL;
	to = plain;
	for (const char *at = plain; *at && (depth > 0 || *at != '.'); at++) {
		if (strncmp(at, qualifier, strlen(qualifier)) == 0)
			at += strlen(qualifier) - 1;
		else if (*at == '(' || *at == '[')
			depth++;
		else if (*at == ')' || *at == ']')
			depth--;
		else if (depth == 0 && *at != ' ')
			*to++ = *at;
	}
	*to = '\0';
	return plain;
}

/* Does it end with the other one, which may lack scopes? */
static bool ends_with(const char *symbol, const char *tail)
{
	size_t length = strlen(symbol), end = strlen(tail);

	return end <= length && strcmp(symbol + length - end, tail) == 0 &&
	       (end == length || symbol[length - end - 1] == ':');
}

static bool same_symbol(const char *reported, const char *met)
{
	char *one = plain_symbol(reported), *two = plain_symbol(met);
	bool same = !one || !two || ends_with(one, two) || ends_with(two, one);

	free(one);
	free(two);
	return same;
}

/* Is the one a global variable's, and the other one of the heap? */
static bool other_region(enum race_region one, enum race_region two)
{
	return (one == REGION_GLOBAL && two == REGION_HEAP) ||
	       (one == REGION_HEAP && two == REGION_GLOBAL);
}

/* The innermost frame of the program; NULL: it has none with a line. */
static const struct race_frame *reported_frame(const struct race *reported)
{
	const struct vec *frames = &reported->sides[0].frames;

	for (size_t i = 0; i < frames->count; i++) {
		const struct race_frame *frame = vec_at(frames, i);

		if (frame->offset > 0)
			return frame->file && frame->line > 0 ? frame : NULL;
	}
	return NULL;
}

/*
 * Does the module that the race was met in have the reported line where the report
 * does? In another build, another variable may be at the reported address.
 */
static struct error *is_same_build(struct symbolizer *symbolizer,
				   const struct race *reported,
				   const struct race *met, bool *ret)
{
	const struct race_frame *claimed = reported_frame(reported);
	const char *build_id = build_id_of(met);
	struct vec frames = VEC_INIT(struct race_frame);
	struct race_frame *frame;
	struct error *err = NULL;
	bool changed;

	*ret = false;
	if (!claimed || !build_id || !met->variable.module)
		return NULL;
	frame = vec_append(&frames);
	if (frame) {
		frame->module = strdup(met->variable.module);
		frame->build_id = strdup(build_id);
		frame->offset = claimed->offset;
	}
	err = frame && frame->module && frame->build_id
		      ? symbolize_frames(symbolizer, &frames, &changed)
		      : error_nomem;
	for (size_t i = 0; !err && i < frames.count; i++) {
		frame = vec_at(&frames, i);
		*ret |= frame->line == claimed->line && frame->file &&
			strcmp(text_base_name(frame->file),
			       text_base_name(claimed->file)) == 0;
	}
	race_frames_clear(&frames);
	vec_deinit(&frames);
	return err;
}

/* Where the reported bytes are in the module that the race was met in; 0: not known. */
static struct error *find_offset(struct symbolizer *symbolizer,
				 const struct race *reported,
				 const struct race *met, bool by_line,
				 uint64_t *ret)
{
	bool same = true;
	struct error *err = NULL;

	*ret = 0;
	if (reported->variable.symbol && met->variable.symbol) {
		/* several members were reported, or a part that clang made */
		if (reported->address != 0 &&
		    !strchr(reported->variable.symbol, '.'))
			*ret = begin_of(&met->variable) +
			       reported->variable.offset;
		return NULL;
	}
	if (by_line)
		err = is_same_build(symbolizer, reported, met, &same);
	if (!err && same)
		*ret = reported_offset(reported);
	return err;
}

/*
 * Is it another member of a block of the heap? Blocks of one size that have the member
 * where its type has it are that structure; elements of an array may be any.
 */
static bool is_other_member(const struct race *reported, const struct race *met)
{
	const struct race_variable *variable = &met->variable;
	const struct recorded_block *block = &met->recorded.block;
	uint64_t first, last, size;

	if (!variable->container || !reported->variable.name ||
	    block->size == 0 ||
	    met->recorded.address - block->address != variable->offset ||
	    sscanf(reported->variable.name,
		   "bytes %" SCNu64 "..%" SCNu64 " of a block of %" SCNu64,
		   &first, &last, &size) != 3)
		return false;
	return size == block->size &&
	       (last < variable->offset ||
		first >= end_of(variable->offset, met->size));
}

struct error *reported_elsewhere(struct symbolizer *symbolizer,
				 const struct race *reported,
				 const struct race *met, bool by_line,
				 bool *ret)
{
	const struct race_variable *variable = &met->variable;
	const char *symbol = reported->variable.symbol;
	uint64_t offset;
	bool same = false;
	struct error *err;

	*ret = other_region(reported->variable.region, variable->region) ||
	       is_other_member(reported, met);
	if (*ret || variable->region != REGION_GLOBAL ||
	    variable->module_offset == 0)
		return NULL;
	if (symbol && variable->symbol &&
	    !same_symbol(symbol, variable->symbol)) {
		*ret = true;
		return NULL;
	}
	err = find_offset(symbolizer, reported, met, by_line, &offset);
	if (err || offset == 0 ||
	    (offset < end_of(variable->module_offset, met->size) &&
	     variable->module_offset < end_of(offset, reported->size)))
		return err;
	if (variable->name && variable->module)
		err = compare_names(symbolizer, reported, met, offset, &same);
	*ret = !err && !same;
	return err;
}
