/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a hunt's recording knows of a race, in SARIF; see sarif.h.
 */
#include "report/sarif.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "report/phrase-recorded.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/text.h"

/* "make_shard cache.c:9" */
static void add_frame(struct strbuf *text, const struct race_frame *frame)
{
	phrase_add_function(text, frame);
	if (!frame->file)
		return;
	strbuf_add(text, " ");
	text_add_place(text, frame->file, frame->line);
}

/* The call in the program's own sources; NULL: there is no stack. */
static const struct race_frame *call_of(const struct vec *frames)
{
	return frames->count > 0 ? vec_at(frames, race_frames_find_own(frames))
				 : NULL;
}

/* The text is escaped and ended. */
static void add_escaped(struct strbuf *message, struct strbuf *text, int id)
{
	sarif_add_text(message, strbuf_text(text), id);
	message->failed |= text->failed;
	strbuf_deinit(text);
}

/* "mutex shards[3].lock (taken at [filler cache.c:13](5))" */
static void add_locks(struct strbuf *message, const struct race_side *side,
		      int *x_id)
{
	const struct vec *locks = &side->recorded.locks;
	struct strbuf text = { 0 };

	if (locks->count == 0) {
		phrase_add_locks(&text, &side->recorded);
		add_escaped(message, &text, 0);
	}
	for (size_t i = 0; i < locks->count; i++) {
		const struct recorded_lock *lock = vec_at(locks, i);
		const struct race_frame *call = call_of(&lock->taken);

		strbuf_add(message, i ? " and " : "");
		phrase_add_lock(&text, lock);
		add_escaped(message, &text, 0);
		if (!call)
			continue;
		strbuf_add(message, " (taken at ");
		add_frame(&text, call);
		add_escaped(message, &text, (*x_id)++);
		strbuf_add(message, ")");
	}
}

static void add_block(struct strbuf *message,
		      const struct recorded_block *block)
{
	const struct race_frame *call = call_of(&block->allocated);
	struct strbuf text = { 0 };

	if (block->size == 0)
		return;
	strbuf_add(message, " The bytes are in a block ");
	phrase_add_block(&text, block);
	add_escaped(message, &text, 0);
	if (call) {
		strbuf_add(message, " at ");
		add_frame(&text, call);
		add_escaped(message, &text, SARIF_ALLOCATION);
	}
	strbuf_add(message, ".");
}

void sarif_add_recorded(struct strbuf *message, const struct race *race)
{
	static const char *const which[] = { "first", "second" };
	int id = SARIF_LOCKS;

	if (race->recorded.address == 0)
		return;
	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &race->sides[i];

		if (side->recorded.first == 0) {
			strbuf_addf(message,
				    " The recording does not show the %s "
				    "access.",
				    which[i]);
			continue;
		}
		if (side->recorded.locks_unknown) {
			strbuf_addf(message,
				    " The recording does not say which locks "
				    "the %s held.",
				    which[i]);
			continue;
		}
		strbuf_addf(message, " In the recording the %s held ",
			    which[i]);
		add_locks(message, side, &id);
		strbuf_add(message, ".");
	}
	if (race->recorded.order_unknown)
		strbuf_add(message, " The recording does not say in which "
				    "order threads accessed the bytes.");
	add_block(message, &race->recorded.block);
}

static void append(struct object *result, json_t *array,
		   const struct race_frame *frame, int id, struct strbuf *text)
{
	struct strbuf message = { 0 };

	add_escaped(&message, text, 0);
	object_append(result, array, sarif_location(frame, id, &message));
}

static void append_locks(struct object *result, json_t *array,
			 const struct race_side *side, int *x_id)
{
	const struct vec *locks = &side->recorded.locks;

	for (size_t i = 0; i < locks->count; i++) {
		const struct recorded_lock *lock = vec_at(locks, i);
		const struct race_frame *call = call_of(&lock->taken);
		struct strbuf text = { 0 };

		if (!call)
			continue;
		phrase_add_lock(&text, lock);
		strbuf_add(&text, " was taken here in the recording");
		append(result, array, call, (*x_id)++, &text);
	}
}

/* "12: thread 0 wrote, in memset; no known lock" */
static void append_access(struct object *result, json_t *array,
			  const struct recorded_access *access)
{
	struct strbuf text = { 0 };

	if (access->frames.count == 0)
		return;
	strbuf_addf(&text, "recorded access %" PRIu64 ": ", access->first);
	phrase_add_recorded_thread(&text, access);
	strbuf_add(&text, " ");
	phrase_add_recorded_verb(&text, access);
	strbuf_add(&text, "; ");
	phrase_add_locks(&text, access);
	if (access->count > 1 || access->held)
		strbuf_add(&text, "; ");
	phrase_add_recorded_rest(&text, access);
	append(result, array, vec_at(&access->frames, 0), 0, &text);
}

void sarif_append_recorded(struct object *result, json_t *array,
			   const struct race *race)
{
	const struct recorded *recorded = &race->recorded;
	const struct race_frame *call = call_of(&recorded->block.allocated);
	struct strbuf text = { 0 };
	int id = SARIF_LOCKS;

	if (recorded->address == 0)
		return;
	if (recorded->block.size > 0 && call) {
		strbuf_add(&text, "block ");
		phrase_add_block(&text, &recorded->block);
		append(result, array, call, SARIF_ALLOCATION, &text);
	}
	append_locks(result, array, &race->sides[0], &id);
	append_locks(result, array, &race->sides[1], &id);
	for (size_t i = 0; i < recorded->accesses.count; i++)
		append_access(result, array, vec_at(&recorded->accesses, i));
}
