/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A whole report to test the formats that are one document with: two runs'
 * worth of races, with every verdict, a suppressed one, names that mean
 * something to HTML, XML and SARIF, progress, a crash and a summary.
 */
#ifndef SAMPLE_REPORT_H
#define SAMPLE_REPORT_H

#include "report/crash.h"
#include "report/render.h"
#include "report/run.h"
#include "sample-race.h"
#include "sample-recorded.h"

/* Would be markup, a link, a control sequence, and no UTF-8. */
#define SAMPLE_HOSTILE \
	"<script>alert(1)</script>&\"' ]]> [x](http://h) \033[2J\xff\xef\xbf\xbe"

static inline void sample_run(struct renderer *renderer)
{
	static const char *const command[] = { "./cache", "-n", "a b", NULL };
	static const struct run_module modules[] = {
		{ "/usr/bin/cache", "00aa11bb", 0x555555554000 },
		{ "/lib/libc.so.6", NULL, 0 },
	};
	const struct run_record run = {
		.version = "0.1.0",
		.command = command,
		.host = "alpha",
		.pid = 4242,
		.backend = "perf",
		.seed = 1,
		.start = UINT64_C(1769862896789012345),
		.modules = modules,
		.module_count = 2,
	};

	assert_null(renderer->ops->run(renderer, &run));
}

static inline void sample_fingerprints(struct race *race)
{
	snprintf(race->fingerprint, sizeof(race->fingerprint), "%032llx",
		 0xabcdef0123 + (unsigned long long)race->id);
	snprintf(race->fingerprint_code, sizeof(race->fingerprint_code),
		 "%032llx", 0x12345678 + (unsigned long long)race->id);
}

static inline void sample_give(struct renderer *renderer, struct race *race)
{
	sample_fingerprints(race);
	assert_null(renderer->ops->race(renderer, race));
	race_deinit(race);
}

/* The sample race as another, with this verdict. */
static inline void sample_variant(struct race *race, uint64_t id,
				  const char *variable,
				  enum race_verdict verdict, const char *reason)
{
	sample_race(race);
	race->id = id;
	race->verdict = verdict;
	sample_set(&race->reason, reason);
	sample_set(&race->variable.name, variable);
}

/* Provoked by a hunt: one side has locks, the other one was not recorded. */
static inline void sample_hunted(struct race *race)
{
	const struct recorded_access *access;

	race->evidence = EVIDENCE_PROVOKED;
	race->target = 2;
	sample_recorded(&race->recorded);
	access = vec_at(&race->recorded.accesses, 1);
	if (!fields_copy(&recorded_access_fields, &race->sides[0].recorded,
			 access))
		abort();
	race_frames_clear(&race->sides[0].recorded.frames);
	sample_recorded_lock(&race->sides[0].recorded, SAMPLE_HOSTILE,
			     RECORDED_SPIN);
}

static inline void sample_races(struct renderer *renderer)
{
	struct race_frame *frame;
	struct race race;

	sample_race(&race);
	sample_give(renderer, &race);
	sample_unknown(&race);
	sample_give(renderer, &race);
	sample_variant(&race, 3, "table.head", VERDICT_HARMFUL, NULL);
	frame = vec_at(&race.sides[0].frames, 0);
	sample_set(&frame->source, "\tshard->used += n;");
	frame->column = 14;
	sample_set(&frame->file, "src dir/c++/cache%.c");
	race.status = STATUS_NEW;
	race.after[1] = 1;
	if (!race_add_values(&race, race.before, race.after, 2) ||
	    !race_add_values(&race, race.after, race.before, 1))
		abort();
	sample_fault(&race);
	sample_replays(&race, 2, NULL);
	sample_replays(&race, 4, "system-call");
	sample_replays(&race, 1, "rdtsc");
	sample_give(renderer, &race);
	sample_variant(&race, 4, "counters.hits", VERDICT_UNLIKELY,
		       "statistics-counter");
	for (int i = 0; i < 12; i++)
		sample_change(&race, "counters.hits", NULL);
	sample_give(renderer, &race);
	sample_variant(&race, 5, "lock.word", VERDICT_SYNC, "lock-prefix");
	sample_give(renderer, &race);
	sample_variant(&race, 6, SAMPLE_HOSTILE, VERDICT_SUSPECT, NULL);
	sample_set(&race.sides[0].thread, SAMPLE_HOSTILE);
	sample_set(&race.program, SAMPLE_HOSTILE);
	frame = vec_at(&race.sides[1].frames, 0);
	sample_set(&frame->function, SAMPLE_HOSTILE);
	sample_set(&frame->file, SAMPLE_HOSTILE);
	sample_set(&frame->source, SAMPLE_HOSTILE);
	sample_change(&race, SAMPLE_HOSTILE, SAMPLE_HOSTILE);
	sample_give(renderer, &race);
	sample_variant(&race, 7, "shards[1].used", VERDICT_SUSPECT, NULL);
	sample_more(&race);
	race.status = STATUS_NEW;
	sample_replays(&race, 3, "not-held");
	sample_give(renderer, &race);
	sample_variant(&race, 8, "old", VERDICT_SUSPECT, NULL);
	race.status = STATUS_KNOWN;
	sample_replays(&race, 40, NULL);
	sample_give(renderer, &race);
	sample_variant(&race, 9, "queue.length", VERDICT_SUSPECT, NULL);
	sample_hunted(&race);
	sample_give(renderer, &race);
	/* seen again: takes the place of the first */
	sample_race(&race);
	race.count = 9;
	sample_give(renderer, &race);
}

static inline void sample_crash_init(struct crash *crash)
{
	struct crash_race near = { .id = 3,
				   .before_ns = 250000000,
				   .same_address = true,
				   .same_object = true,
				   .same_function = true };
	struct crash_race far = { .id = 1, .before_ns = 2500000000 };
	struct race_side side = { .frames = VEC_INIT(struct race_frame) };

	crash_init(crash);
	crash->time = UINT64_C(1769862899789012345);
	crash->signal = 11;
	crash->pid = 4242;
	crash->tid = 4244;
	crash->has_address = true;
	crash->address = 0x10;
	sample_set(&crash->thread, "evictor");
	sample_set(&near.variable, "table.head");
	sample_frame(&side, "shard_evict", 12, 0x1216);
	crash->frames = side.frames;
	if (!vec_push(&crash->races, &near) || !vec_push(&crash->races, &far))
		abort();
}

static inline void sample_crash(struct renderer *renderer)
{
	struct crash crash;

	if (!renderer->ops->crash)
		return;
	sample_crash_init(&crash);
	assert_null(renderer->ops->crash(renderer, &crash));
	crash_deinit(&crash);
}

static inline void sample_progress(struct renderer *renderer)
{
	for (unsigned int i = 1; renderer->ops->progress && i <= 9; i++) {
		const struct run_summary progress = {
			.elapsed_ns = i * UINT64_C(1000000000),
			.stats.samples = 600 * i - 10 * i * i,
			.sites_sampled = 10 * i,
			.races = i / 2,
			.overhead_pct = 2.0 + (i % 3) * 0.2,
		};

		assert_null(renderer->ops->progress(renderer, &progress));
	}
}

static inline void sample_summary(struct renderer *renderer, int exit_status)
{
	static const struct run_coverage coverage[] = {
		{ "/usr/bin/cache", 60, 80 },
		{ "/lib/lib<x>.so.6", 1, 1124 },
	};
	const struct run_summary summary = {
		.races = exit_status == 66 ? 5 : 0,
		.races_new = exit_status == 66 ? 5 : 0,
		.suppressed = exit_status == 66 ? 1 : 0,
		.known = exit_status == 66 ? 1 : 0,
		.stats.samples = exit_status == 65 ? 0 : 5312,
		.sites_sampled = 61,
		.sites_eligible = 1204,
		.elapsed_ns = UINT64_C(9800000000),
		.overhead_pct = 2.1,
		.backend = "perf",
		.coverage = coverage,
		.coverage_count = 2,
		.exit_status = exit_status,
	};

	assert_null(renderer->ops->summary(renderer, &summary));
}

/* All but finish. */
static inline void sample_report(struct renderer *renderer)
{
	sample_run(renderer);
	sample_races(renderer);
	sample_progress(renderer);
	sample_crash(renderer);
	sample_summary(renderer, 66);
}

#endif
