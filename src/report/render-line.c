/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line for each race, as compilers write warnings, for editors and problem
 * matchers:
 *
 *	src/cache.c:11:5: warning: data race on shards[3].used: write in
 *	shard_add races with read in shard_evict at src/cache.c:12:7 [racewatch]
 *
 * Only races that decide about the exit status have one. It stays when more is
 * known of the race, but one more is written when its other side is.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/map.h"
#include "report/path.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/related.h"
#include "report/render.h"
#include "report/text.h"

/* What was written of a race. */
enum { LINE_ONE_SIDE = 1, LINE_BOTH };

/* The path of the source, or else of the object file. */
static void add_place(const struct text *text, struct strbuf *line,
		      const struct race_frame *frame)
{
	if (frame->file && race_frame_is_own(frame))
		text_add_frame_place(text, line, frame);
	else if (frame->module)
		path_add(line, frame->module, text->folder);
	else
		strbuf_add(line, "racewatch");
}

/* Of the program's own, with a source file or not; or else the innermost. */
static const struct race_frame *actor(const struct race_side *side)
{
	for (size_t i = 0; i < side->frames.count; i++) {
		const struct race_frame *frame = vec_at(&side->frames, i);

		if (race_frame_is_own(frame))
			return frame;
	}
	return vec_at(&side->frames, 0);
}

/* "write in shard_add" */
static void add_access(struct strbuf *line, const struct race_side *side)
{
	strbuf_add(line, side->access == ACCESS_NONE
				 ? "access"
				 : access_kind_name(side->access));
	if (side->frames.count == 0)
		return;
	strbuf_add(line, " in ");
	phrase_add_function(line, actor(side));
}

static void add_other(const struct text *text, struct strbuf *line,
		      const struct race_side *side)
{
	if (side->role == RACE_UNKNOWN) {
		strbuf_add(line, "an access that was not seen");
		return;
	}
	add_access(line, side);
	if (side->frames.count == 0)
		return;
	strbuf_add(line, " at ");
	add_place(text, line, race_frames_own(&side->frames));
}

static void add_race(struct text *text, const struct race *race)
{
	struct strbuf *line = &text->line;
	const struct race_side *shown = race_place_side(race);
	const struct race_side *other =
		&race->sides[shown == &race->sides[0] ? 1 : 0];

	if (shown->frames.count > 0)
		add_place(text, line, race_frames_own(&shown->frames));
	else
		strbuf_add(line, "racewatch");
	strbuf_add(line, ": warning: data race on ");
	phrase_add_variable(line, race);
	strbuf_add(line, ": ");
	add_access(line, shown);
	strbuf_add(line, " races with ");
	add_other(text, line, other);
	strbuf_add(line, " [racewatch]");
	text_end_line(text, 0, 0);
}

/* Has enough been written of it already? */
static bool is_written(struct map *written, const struct race *race)
{
	const uint64_t *what = map_get(written, race->id);

	return what && (*what == LINE_BOTH || race_is_one_sided(race));
}

static struct error *line_race(struct renderer *renderer,
			       const struct race *race)
{
	const struct renderer plain = { .out = renderer->out,
					.style = { .paths = true } };
	struct map *written = renderer->state;
	struct text text;

	if (!race_is_actionable(race, renderer->ignore_unlikely) ||
	    race->status == STATUS_GONE)
		return NULL;
	if (!written)
		renderer->state = written = calloc(1, sizeof(*written));
	if (!written)
		return error_nomem;
	if (is_written(written, race))
		return NULL;
	if (!map_set(written, race->id,
		     race_is_one_sided(race) ? LINE_ONE_SIDE : LINE_BOTH))
		return error_nomem;
	text = text_begin(&plain);
	add_race(&text, race);
	return text_end(&text);
}

static struct error *line_run(struct renderer *renderer,
			      const struct run_record *run)
{
	(void)renderer;
	(void)run;
	return NULL;
}

static struct error *line_summary(struct renderer *renderer,
				  const struct run_summary *summary)
{
	(void)renderer;
	(void)summary;
	return NULL;
}

static struct error *line_finish(struct renderer *renderer)
{
	if (renderer->state)
		map_deinit(renderer->state);
	free(renderer->state);
	renderer->state = NULL;
	return NULL;
}

const struct renderer_ops render_line = {
	.name = "line",
	.run = line_run,
	.race = line_race,
	.summary = line_summary,
	.finish = line_finish,
};
