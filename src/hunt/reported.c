/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes that were reported; see reported.h. */
#include "hunt/reported.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/same-text.h"
#include "base/vec.h"
#include "conflict/symbolize.h"
#include "foreign/valgrind.h"
#include "report/race.h"

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

/* Would it have the same name? */
static struct error *compare_names(struct symbolizer *symbolizer,
				   const struct race *reported,
				   const struct race *met, bool *ret_same)
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
	bytes.variable.module_offset = reported_offset(reported);
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

struct error *reported_elsewhere(struct symbolizer *symbolizer,
				 const struct race *reported,
				 const struct race *met, bool *ret)
{
	const struct race_variable *variable = &met->variable;
	uint64_t offset = reported_offset(reported);
	bool same = false;
	struct error *err = NULL;

	*ret = false;
	if (offset == 0 || variable->region != REGION_GLOBAL ||
	    variable->module_offset == 0)
		return NULL;
	if (offset < end_of(variable->module_offset, met->size) &&
	    variable->module_offset < end_of(offset, reported->size))
		return NULL;
	if (variable->name && variable->module)
		err = compare_names(symbolizer, reported, met, &same);
	*ret = !same;
	return err;
}
