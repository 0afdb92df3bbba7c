/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports as JSON lines, schema version 1: racewatch-json(5). The tables of
 * fields say what a line has (field.h).
 */
#include "report/crash.h"
#include "report/field.h"
#include "report/race.h"
#include "report/render.h"
#include "report/run.h"

static struct error *json_run(struct renderer *renderer,
			      const struct run_record *run)
{
	return fields_write(&run_fields, run, renderer->out);
}

static struct error *json_race(struct renderer *renderer,
			       const struct race *race)
{
	struct race seen = *race;

	if (seen.last_time == 0)
		seen.last_time = seen.time;
	return fields_write(&race_fields, &seen, renderer->out);
}

static struct error *json_crash(struct renderer *renderer,
				const struct crash *crash)
{
	return fields_write(&crash_fields, crash, renderer->out);
}

static struct error *json_target(struct renderer *renderer,
				 const struct target_record *target)
{
	return fields_write(&target_fields, target, renderer->out);
}

static struct error *json_candidate(struct renderer *renderer,
				    const struct candidate_record *candidate)
{
	return fields_write(&candidate_fields, candidate, renderer->out);
}

static struct error *json_progress(struct renderer *renderer,
				   const struct run_summary *progress)
{
	return fields_write(&progress_fields, progress, renderer->out);
}

static struct error *json_summary(struct renderer *renderer,
				  const struct run_summary *summary)
{
	return fields_write(&summary_fields, summary, renderer->out);
}

const struct renderer_ops render_json = {
	.name = "json",
	.run = json_run,
	.race = json_race,
	.crash = json_crash,
	.target = json_target,
	.candidate = json_candidate,
	.progress = json_progress,
	.summary = json_summary,
};
