/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where sides come from; see sources.h.
 */
#include "hunt/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "hunt/earlier.h"
#include "hunt/kept.h"
#include "hunt/outcomes.h"
#include "hunt/recorders.h"
#include "hunt/tempfolder.h"
#include "hunt/transfer-tell.h"
#include "report/read.h"
#include "report/record.h"
#include "report/text.h"

static void sides_free(struct vec *sides)
{
	for (size_t i = 0; i < sides->count; i++)
		hunt_side_deinit(vec_at(sides, i));
	vec_deinit(sides);
}

/* Those of a report, whatever came of them there. */
static struct error *sides_of_report(const char *path, struct vec *sides)
{
	struct report_record record;
	struct reader *reader;
	bool more = true;
	struct error *err = reader_open(path, &reader);

	if (err)
		return err;
	report_record_init(&record);
	while (!err && !(err = reader_next(reader, &record, &more)) && more) {
		if (record.type != REPORT_TARGET)
			continue;
		if (!vec_push(sides, &record.target.side))
			err = error_nomem;
		else
			hunt_side_init(&record.target.side);
	}
	report_record_deinit(&record);
	reader_close(reader);
	if (!err && sides->count == 0)
		err = error_create(ERROR_OTHER, "%s has no targets", path);
	return err;
}

static struct error *sides_of_trace(const struct hunt_sources *sources,
				    const char *dir, struct vec *sides,
				    struct hunt_found *ret)
{
	const struct hunt_pairing pairing = {
		.program = sources->program,
		.slow_down = ret->slow_down,
		.most = (size_t)sources->most,
		.transfer = sources->transfer,
		.window = sources->trace ? sources->window : 0,
		.registers = sources->registers,
		.candidates = sources->candidates,
	};

	ret->paired = true;
	return hunt_targets_from_traces(dir, &pairing, sides, &ret->totals);
}

static void warn_of_end(const struct recorders_result *result)
{
	struct strbuf time = { 0 };

	if (!result->run.timed_out)
		return;
	text_add_time(&time, result->cut_ns);
	if (result->cut_ns)
		log_warn("the recorded run was ended after %s, by --budget: "
			 "what came until then counts, and what comes later is "
			 "not hunted",
			 strbuf_text(&time));
	else
		log_warn("the recorded run was ended by --timeout: what came "
			 "until then counts");
	strbuf_deinit(&time);
}

static struct error *record(const struct hunt_sources *sources, const char *dir,
			    struct hunt_found *ret)
{
	const struct record_options options = {
		.memory = sources->trace_memory,
		.timeout_ns = sources->timeout_ns,
		.deadline_ns = sources->deadline_ns,
		.until_exit_of = sources->until_exit_of,
		.code = sources->code,
		.window = sources->window,
		.executions = sources->executions,
		.program = sources->program,
		.include = sources->include,
		.include_count = sources->include_count,
	};
	struct recorders_result result;
	struct error *err = recorders_run(sources->recorder, sources->argv, dir,
					  &options, &result);

	if (err)
		return err;
	warn_of_end(&result);
	ret->cut = result.run.timed_out;
	ret->recorded = true;
	ret->recorder = result.name;
	ret->slow_down = result.slow_down;
	if (!result.run.timed_out)
		ret->status = result.run.status;
	if (result.bare_status >= 0 && !result.run.timed_out) {
		ret->bare_status = result.bare_status;
		ret->recorded_status = result.run.status;
	}
	return NULL;
}

/* Into a folder that is kept, or one for the moment. */
static struct error *sides_of_recording(const struct hunt_sources *sources,
					struct vec *sides,
					struct hunt_found *ret)
{
	const char *dir = sources->keep_trace;
	struct tempfolder folder = { 0 };
	struct error *err = NULL;

	if (dir && mkdir(dir, 0777) < 0 && errno != EEXIST)
		return error_os(errno, "make the directory %s", dir);
	if (!dir) {
		err = tempfolder_make("trace", &folder);
		dir = folder.path;
	}
	if (!err)
		err = record(sources, dir, ret);
	if (!err)
		err = sides_of_trace(sources, dir, sides, ret);
	tempfolder_remove(&folder);
	return err;
}

static struct error *sides_find(const struct hunt_sources *sources,
				struct vec *sides, struct hunt_found *ret)
{
	if (sources->targets)
		return sides_of_report(sources->targets, sides);
	if (sources->trace)
		return sides_of_trace(sources, sources->trace, sides, ret);
	return sides_of_recording(sources, sides, ret);
}

/* Those that a hand-over puts in order have their outcome already. */
static struct error *save_ordered(struct outcomes *outcomes,
				  const struct vec *sides, uint64_t *ret_count)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < sides->count; i++) {
		const struct hunt_side *side = vec_at(sides, i);
		struct target_outcome outcome = { .result = TARGET_ORDERED };

		if (side->hand_overs.count == 0)
			continue;
		++*ret_count;
		outcome.ordered_by = transfer_text(side);
		err = outcome.ordered_by
			      ? outcomes_save(outcomes, side->id, &outcome)
			      : error_nomem;
		target_outcome_deinit(&outcome);
	}
	return err;
}

struct error *hunt_find_sides(const struct hunt_sources *sources,
			      struct outcomes *outcomes, struct hunt_found *ret)
{
	struct vec sides = VEC_INIT(struct hunt_side);
	struct error *err;

	*ret = (struct hunt_found){ .kept = false };
	err = outcomes_has_sides(outcomes, &ret->kept);
	if (!err && ret->kept && sources->candidates)
		err = kept_load(outcomes, sources->candidates);
	if (err || ret->kept)
		return err;
	err = sides_find(sources, &sides, ret);
	if (!err && sources->candidates)
		err = kept_save(outcomes, sources->candidates);
	if (!err)
		err = outcomes_add_sides(outcomes, &sides);
	if (!err && !sources->targets)
		err = save_ordered(outcomes, &sides, &ret->transferred);
	if (!err && sources->since)
		err = earlier_since(outcomes, sources->since, &ret->unchanged);
	ret->sides = sides.count;
	sides_free(&sides);
	return err;
}
