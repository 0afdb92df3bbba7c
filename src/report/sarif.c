/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places in SARIF; see sarif.h.
 */
#include "report/sarif.h"

#include "base/strbuf.h"
#include "report/phrase-locks.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/related.h"
#include "report/text.h"

/*
 * Where it is shown; a viewer wants a place, if only of the second side. Of code
 * that is not the program's own it is the object file: no sources of libraries
 * are where the program is developed.
 */
static json_t *result_locations(const struct race *race, struct object *result)
{
	json_t *array = json_array();
	const struct race_side *side = race_place_side(race);
	const struct race_frame *frame = race_frames_own(&side->frames);
	struct race_frame shown;

	if (!frame)
		return array;
	shown = *frame;
	if (shown.module && !race_frame_is_own(frame))
		shown.file = NULL;
	object_append(result, array, sarif_location(&shown, 0, NULL));
	return array;
}

static json_t *declaration(const struct race_variable *variable)
{
	struct race_frame place = { .file = variable->file,
				    .line = variable->line };
	struct strbuf message = { 0 };

	strbuf_add(&message, "declared here: ");
	sarif_add_text(&message,
		       variable->symbol ? variable->symbol : variable->name, 0);
	return sarif_location(&place, SARIF_DECLARATION, &message);
}

static void add_side_text(struct strbuf *message, const struct race *race,
			  const struct race_side *side)
{
	struct strbuf text = { 0 };

	phrase_add_side(&text, race, side);
	if (side->locks_known)
		strbuf_add(&text, "; ");
	phrase_add_holds(&text, side);
	sarif_add_text(message, strbuf_text(&text), 0);
	message->failed |= text.failed;
	strbuf_deinit(&text);
}

static json_t *related_locations(const struct race *race, struct object *result)
{
	const struct race_variable *variable = &race->variable;
	json_t *array = json_array();

	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &race->sides[i];
		struct strbuf message = { 0 };

		if (side->frames.count == 0)
			continue;
		add_side_text(&message, race, side);
		object_append(result, array,
			      sarif_location(vec_at(&side->frames, 0),
					     SARIF_FIRST_SIDE + i, &message));
	}
	if (variable->file && (variable->symbol || variable->name))
		object_append(result, array, declaration(variable));
	sarif_append_recorded(result, array, race);
	return array;
}

static json_t *stack_frame(const struct race_frame *frame, int tid)
{
	struct object object = object_begin(NULL);

	object_put(&object, "location", sarif_location(frame, 0, NULL));
	if (frame->module)
		object_put_text(&object, "module", frame->module);
	if (tid)
		object_put(&object, "threadId", json_integer(tid));
	return object_end(&object);
}

/* Ends the message. */
static json_t *stack(const struct vec *frames, int tid, struct strbuf *message)
{
	struct object object = object_begin(NULL);
	json_t *array = json_array();

	object_put(&object, "message", sarif_message(message));
	for (size_t i = 0; i < frames->count; i++)
		object_append(&object, array,
			      stack_frame(vec_at(frames, i), tid));
	object_put(&object, "frames", array);
	return object_end(&object);
}

static void append_stacks(struct object *result, json_t *array,
			  const struct race *race, const struct race_side *side)
{
	struct strbuf message = { 0 };

	if (side->frames.count > 0) {
		add_side_text(&message, race, side);
		object_append(result, array,
			      stack(&side->frames, side->tid, &message));
	}
	if (side->created.count > 0) {
		struct strbuf text = { 0 };

		phrase_add_thread(&text, side->tid, side->thread);
		strbuf_add(&text, " was created by ");
		phrase_add_thread(&text, side->creator, side->creator_thread);
		sarif_add_text(&message, strbuf_text(&text), 0);
		message.failed |= text.failed;
		strbuf_deinit(&text);
		object_append(result, array,
			      stack(&side->created, side->creator, &message));
	}
}

/* When the innermost frame of a side acted; threads run at the same time. */
static int execution_order(const struct race *race,
			   const struct race_side *side)
{
	if (race->evidence == EVIDENCE_COLLISION)
		return 1;
	/* the stalled thread made its access when the stall was over */
	return side->role == RACE_STALLED ? 2 : 1;
}

static json_t *flow_location(const struct race *race,
			     const struct race_side *side, size_t i)
{
	struct object object = object_begin(NULL);
	const struct race_frame *frame = vec_at(&side->frames, i);
	struct strbuf message = { 0 };

	if (i == 0) {
		add_side_text(&message, race, side);
		object_put(&object, "executionOrder",
			   json_integer(execution_order(race, side)));
	}
	object_put(&object, "location",
		   sarif_location(frame, 0, i == 0 ? &message : NULL));
	object_put(&object, "nestingLevel",
		   json_integer((json_int_t)(side->frames.count - 1 - i)));
	object_put_text(&object, "importance",
			i == 0 ? "essential" : "important");
	return object_end(&object);
}

/* A thread's calls, from the outermost to the access. */
static json_t *thread_flow(const struct race *race,
			   const struct race_side *side)
{
	struct object flow = object_begin(NULL);
	json_t *array = json_array();
	struct strbuf text = { 0 };

	phrase_add_thread(&text, side->tid, side->thread);
	object_put(&flow, "id", object_string(&text));
	for (size_t i = side->frames.count; i > 0; i--)
		object_append(&flow, array, flow_location(race, side, i - 1));
	object_put(&flow, "locations", array);
	return object_end(&flow);
}

static void put_code_flows(struct object *result, const struct race *race)
{
	json_t *flows = json_array(), *threads = json_array();
	struct object flow = object_begin(NULL);

	for (int i = 0; i < 2; i++) {
		if (race->sides[i].frames.count > 0)
			object_append(result, threads,
				      thread_flow(race, &race->sides[i]));
	}
	if (json_array_size(threads) == 0) {
		json_decref(threads);
		json_decref(object_end(&flow));
		json_decref(flows);
		return;
	}
	object_put(&flow, "threadFlows", threads);
	object_append(result, flows, object_end(&flow));
	object_put(result, "codeFlows", flows);
}

void sarif_put_places(struct object *result, const struct race *race)
{
	json_t *stacks = json_array();

	object_put(result, "locations", result_locations(race, result));
	object_put(result, "relatedLocations", related_locations(race, result));
	append_stacks(result, stacks, race, &race->sides[0]);
	append_stacks(result, stacks, race, &race->sides[1]);
	object_put(result, "stacks", stacks);
	put_code_flows(result, race);
}
