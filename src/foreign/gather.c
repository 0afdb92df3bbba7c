/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making candidates; see gather.h. */
#include "foreign/gather.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "foreign/foreign.h"
#include "foreign/function.h"
#include "foreign/intercept.h"
#include "report/combine.h"
#include "report/field.h"
#include "report/race.h"

struct gather_thread {
	char *label, *name;
	int tid;
	struct vec created; /* of struct race_frame */
};

void gather_init(struct gather *gather, const char *name,
		 struct foreign_report *report, struct map *keys)
{
	*gather = (struct gather){
		.name = name,
		.report = report,
		.keys = keys,
		.threads = VEC_INIT(struct gather_thread),
		.block = VEC_INIT(struct race_frame),
	};
}

static void thread_deinit(struct gather_thread *thread)
{
	free(thread->label);
	free(thread->name);
	race_frames_clear(&thread->created);
	vec_deinit(&thread->created);
}

static void drop_race(struct gather *gather)
{
	if (gather->race)
		race_free(gather->race);
	gather->race = NULL;
	gather->to = GATHER_NOWHERE;
	race_frames_clear(&gather->block);
}

void gather_forget_threads(struct gather *gather)
{
	for (size_t i = 0; i < gather->threads.count; i++)
		thread_deinit(vec_at(&gather->threads, i));
	vec_clear(&gather->threads);
	gather->to = GATHER_NOWHERE;
}

void gather_deinit(struct gather *gather)
{
	drop_race(gather);
	gather_forget_threads(gather);
	vec_deinit(&gather->threads);
	vec_deinit(&gather->block);
}

void gather_text(struct gather *gather, char **to, const struct scan *text)
{
	free(*to);
	*to = scan_copy(text);
	gather->failed |= !*to;
}

void gather_function(struct gather *gather, char **to, const struct scan *text)
{
	free(*to);
	*to = function_name(text);
	gather->failed |= !*to;
}

void gather_begin(struct gather *gather, const char *tool, size_t line)
{
	size_t place;

	gather_end(gather, false, &place);
	gather->race = malloc(sizeof(*gather->race));
	if (!gather->race) {
		gather->failed = true;
		return;
	}
	race_init(gather->race);
	gather->race->evidence = EVIDENCE_REPORTED;
	gather->race->verdict = VERDICT_SUSPECT;
	gather->race->count = 1;
	gather->race->pid = gather->pid;
	for (int i = 0; i < 2; i++) {
		gather->race->sides[i].role = i ? RACE_UNKNOWN : RACE_RACING;
		gather->race->sides[i].pattern.used = UINT64_MAX;
	}
	gather->race->backend = strdup(tool);
	gather->failed |= !gather->race->backend;
	gather->line = line;
	gather->accesses = 0;
	gather->bad = false;
	gather->block_address = gather->block_size = 0;
}

void gather_bad(struct gather *gather, size_t line, const char *what)
{
	if (!gather->race || gather->bad)
		return;
	gather->bad = true;
	log_warn("%s:%zu: %s; this report is left out", gather->name, line,
		 what);
}

void gather_access(struct gather *gather, const struct gather_access *access)
{
	struct race *race = gather->race;
	struct race_side *side;

	gather->to = GATHER_NOWHERE;
	if (!race || gather->accesses == 2)
		return;
	side = &race->sides[gather->accesses++];
	side->role = RACE_RACING;
	side->access = access->access;
	side->atomic = access->atomic;
	side->size = access->size < UINT32_MAX ? (uint32_t)access->size : 0;
	side->address = access->address;
	side->pid = gather->pid;
	if (gather->accesses == 1)
		race->address = access->address;
	gather_text(gather, &side->thread, &access->thread);
	gather->to = GATHER_ACCESS;
}

static struct gather_thread *find_thread(const struct gather *gather,
					 const struct scan *label)
{
	for (size_t i = 0; i < gather->threads.count; i++) {
		struct gather_thread *thread = vec_at(&gather->threads, i);

		if (strlen(thread->label) == label->length &&
		    memcmp(thread->label, label->at, label->length) == 0)
			return thread;
	}
	return NULL;
}

/* Moved to the end, where the next frames go. */
void gather_thread(struct gather *gather, const struct scan *label,
		   const struct scan *name, int tid)
{
	struct gather_thread fresh = {
		.created = VEC_INIT(struct race_frame),
		.tid = tid,
	};
	struct gather_thread *old = find_thread(gather, label);

	gather->to = GATHER_NOWHERE;
	gather_text(gather, &fresh.label, label);
	if (name)
		gather_text(gather, &fresh.name, name);
	if (old) {
		thread_deinit(old);
		vec_remove(&gather->threads,
			   (size_t)(old - (struct gather_thread *)
						  gather->threads.items));
	}
	if (!fresh.label || !vec_push(&gather->threads, &fresh)) {
		thread_deinit(&fresh);
		gather->failed = true;
		return;
	}
	gather->to = GATHER_THREAD;
}

void gather_block(struct gather *gather, uint64_t address, uint64_t size)
{
	gather->to = GATHER_NOWHERE;
	if (!gather->race)
		return;
	gather->race->variable.region = REGION_HEAP;
	gather->block_address = address;
	gather->block_size = size;
	race_frames_clear(&gather->block);
	gather->to = GATHER_BLOCK;
}

void gather_variable(struct gather *gather, const struct scan *name,
		     uint64_t offset, const struct scan *module,
		     uint64_t module_offset)
{
	struct race_variable *variable;

	gather->to = GATHER_NOWHERE;
	if (!gather->race)
		return;
	variable = &gather->race->variable;
	variable->region = REGION_GLOBAL;
	gather_text(gather, &variable->symbol, name);
	if (module && module->length > 0)
		gather_text(gather, &variable->module, module);
	variable->offset = offset;
	variable->module_offset = module_offset;
}

void gather_region(struct gather *gather, unsigned int region,
		   const struct scan *module)
{
	gather->to = GATHER_NOWHERE;
	if (!gather->race)
		return;
	gather->race->variable.region = region;
	if (module && module->length > 0)
		gather_text(gather, &gather->race->variable.module, module);
}

static struct vec *frames_of(struct gather *gather)
{
	switch (gather->to) {
	case GATHER_ACCESS:
		return &gather->race->sides[gather->accesses - 1].frames;
	case GATHER_THREAD:
		return &((struct gather_thread *)vec_at(
				 &gather->threads, gather->threads.count - 1))
				->created;
	case GATHER_BLOCK:
		return &gather->block;
	case GATHER_NOWHERE:
		break;
	}
	return NULL;
}

void gather_frame(struct gather *gather, struct race_frame *frame,
		  uint64_t address)
{
	struct vec *frames = frames_of(gather);
	struct race_frame *before;

	/* of what is not known at all there is nothing to say */
	if (!frames || (!frame->function && !frame->module && !frame->file)) {
		fields_deinit(&race_frame_fields, frame);
		return;
	}
	if (frames->count > 0 && address && address == gather->last) {
		before = vec_at(frames, frames->count - 1);
		before->inlined = true;
	}
	gather->last = address;
	if (vec_push(frames, frame))
		return;
	gather->failed = true;
	fields_deinit(&race_frame_fields, frame);
}

void gather_no_frames(struct gather *gather)
{
	gather->to = GATHER_NOWHERE;
}

static bool copy_frames(struct vec *to, const struct vec *from)
{
	for (size_t i = 0; i < from->count; i++) {
		struct race_frame *frame = vec_append(to);

		if (!frame)
			return false;
		fields_init(&race_frame_fields, frame);
		if (!fields_copy(&race_frame_fields, frame, vec_at(from, i)))
			return false;
	}
	return true;
}

/* What the report says of the side's thread elsewhere. */
static void complete_thread(struct gather *gather, struct race_side *side)
{
	const struct gather_thread *thread;
	struct scan label;

	if (!side->thread)
		return;
	label = scan_of(side->thread);
	thread = find_thread(gather, &label);
	if (!thread)
		return;
	side->tid = thread->tid;
	if (thread->name) {
		label = scan_of(thread->name);
		gather_text(gather, &side->thread, &label);
	}
	if (!copy_frames(&side->created, &thread->created))
		gather->failed = true;
}

/* "bytes 8..15 of a block of 48 of make_pool", as recordings have it */
static void name_block(struct gather *gather)
{
	struct race *race = gather->race;
	uint64_t at = race->address - gather->block_address;
	uint64_t size = race->sides[0].size ? race->sides[0].size : 1;
	const struct race_frame *caller;
	struct strbuf name = { 0 };

	if (race->variable.region != REGION_HEAP || gather->block_address == 0)
		return;
	strbuf_addf(&name, "bytes %" PRIu64 "..%" PRIu64 " of a block", at,
		    at + size - 1);
	if (gather->block_size > 0)
		strbuf_addf(&name, " of %" PRIu64, gather->block_size);
	caller = intercept_caller(&gather->block);
	if (caller && caller->function)
		strbuf_addf(&name, " of %s", caller->function);
	race->variable.name = strbuf_steal(&name);
	gather->failed |= !race->variable.name;
}

/* NULL: it has none. */
static bool same_name(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) == 0 : one == other;
}

/*
 * A line may access several sizes, or members of a variable: then none tells which
 * access it was.
 */
static struct error *combine(struct race *first, struct race *race)
{
	bool bytes = !first->variable.symbol && !race->variable.symbol &&
		     !same_name(first->variable.name, race->variable.name);
	bool members = first->variable.symbol &&
		       (first->address == 0 ||
			first->variable.offset != race->variable.offset);
	bool differs[2];
	struct error *err = race_normalize(first);

	if (!err)
		err = race_normalize(race);
	for (int i = 0; !err && i < 2; i++)
		differs[i] = first->sides[i].size != race->sides[i].size;
	if (!err)
		err = race_combine(first, race);
	for (int i = 0; !err && i < 2; i++) {
		if (differs[i])
			first->sides[i].size = 0;
	}
	if (!err && members)
		first->address = 0;
	if (!err && bytes) {
		free(first->variable.name);
		first->variable.name = NULL;
	}
	return err;
}

/* It joins those of the same key. */
static struct error *add_race(struct gather *gather, size_t *ret_place)
{
	struct vec *races = &gather->report->races;
	uint8_t key[COMBINE_KEY_SIZE];
	const uint64_t *place;
	uint64_t hash;
	struct error *err = race_key(gather->race, key);

	if (err)
		return err;
	hash = hash_bytes(key, sizeof(key));
	place = map_get(gather->keys, hash);
	if (place) {
		struct race *first = *(struct race **)vec_at(races, *place);

		*ret_place = (size_t)*place;
		err = combine(first, gather->race);
		/* of one run, however often it is reported */
		first->runs = 0;
		first->id = *place + 1;
		return err;
	}
	*ret_place = races->count;
	gather->race->id = races->count + 1;
	if (!map_set(gather->keys, hash, races->count) ||
	    !vec_push(races, &gather->race))
		return error_nomem;
	gather->race = NULL;
	return NULL;
}

static bool has_stack(const struct race *race, int side)
{
	return race->sides[side].frames.count > 0;
}

bool gather_end(struct gather *gather, bool both, size_t *ret_place)
{
	struct race *race = gather->race;
	struct error *err = NULL;

	if (!race)
		return false;
	if (!gather->bad &&
	    (!has_stack(race, 0) || (both && gather->accesses < 2)))
		gather_bad(gather, gather->line,
			   "a report begins here and lacks an access or its "
			   "stack");
	if (gather->bad) {
		gather->report->malformed++;
		drop_race(gather);
		return false;
	}
	complete_thread(gather, &race->sides[0]);
	complete_thread(gather, &race->sides[1]);
	name_block(gather);
	err = add_race(gather, ret_place);
	gather->failed |= err != NULL;
	error_free(err);
	drop_race(gather);
	return !gather->failed;
}

struct error *gather_finish(struct gather *gather, bool both)
{
	size_t place;

	gather_end(gather, both, &place);
	return gather->failed ? error_nomem : NULL;
}
