/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of the run record, of progress and of the summary:
 * racewatch-json(5) says what they mean, field.h what is said of them here.
 */
#include "report/field.h"
#include "report/members.h"
#include "report/run.h"

#define AT(member) FIELD_AT(struct run_module, member)

static const struct field module_fields[] = {
	{ "path", FIELD_TEXT, FIELD_KEY, AT(path) },
	{ "build_id", FIELD_TEXT, FIELD_KEY, AT(build_id) },
	/* where each run has it elsewhere it is nowhere */
	{ "base", FIELD_ADDRESS, FIELD_SAME, AT(base) },
};

static const struct fields run_module_fields = {
	FIELDS(struct run_module, module_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct run_record, member)

static bool is_one_run(const void *record)
{
	const struct run_record *run = record;

	return run->runs <= 1;
}

static const struct field run_field_list[] = {
	{ "schema", FIELD_VERSION, .merge = FIELD_APART },
	{ "version", FIELD_TEXT, FIELD_SAME, AT(version) },
	{ "command", FIELD_STRINGS, FIELD_SAME, FIELD_NULL, AT(command) },
	{ "options", FIELD_STRINGS, FIELD_APART, FIELD_NULL,
	  FIELD_COUNTED(struct run_record, options, option_count) },
	{ "pid", FIELD_ID, FIELD_SAME, FIELD_NULL, AT(pid) },
	{ "host", FIELD_TEXT, FIELD_SAME, AT(host) },
	{ "backend", FIELD_TEXT, FIELD_SAME, AT(backend) },
	{ "seed", FIELD_COUNT, FIELD_SAME, AT(seed), .known = is_one_run },
	{ "replay", FIELD_TEXT, FIELD_SAME, AT(replay) },
	{ "replay_off", FIELD_TEXT, FIELD_SAME, AT(replay_off) },
	{ "sandbox", FIELD_TEXT, FIELD_SAME, AT(sandbox) },
	{ "sandbox_off", FIELD_TEXT, FIELD_SAME, AT(sandbox_off) },
	{ "start", FIELD_TIME, FIELD_LEAST, AT(start) },
	{ "modules", FIELD_LIST, FIELD_UNION,
	  FIELD_COUNTED(struct run_record, modules, module_count),
	  .of = &run_module_fields },
	{ "runs", FIELD_COUNT, FIELD_SUM, FIELD_ONE, AT(runs) },
	{ "hosts", FIELD_STRINGS, FIELD_UNION, AT(hosts) },
};

const struct fields run_fields = {
	.type = "run",
	FIELDS(struct run_record, run_field_list),
};

#undef AT
#define AT(member) FIELD_AT(struct run_coverage, member)

static const struct field coverage_fields[] = {
	{ "path", FIELD_TEXT, FIELD_KEY, AT(path) },
	{ "sites_sampled", FIELD_COUNT, FIELD_MOST, AT(sites_sampled) },
	{ "sites_eligible", FIELD_COUNT, FIELD_MOST, AT(sites_eligible) },
};

static const struct fields run_coverage_fields = {
	FIELDS(struct run_coverage, coverage_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct run_at, member)

static bool is_nowhere(const void *record)
{
	const struct run_at *at = record;

	return at->sites == 0;
}

static const struct field at_fields[] = {
	{ "where", FIELD_TEXT, FIELD_KEY, AT(where) },
	{ "sites", FIELD_COUNT, FIELD_MOST, AT(sites) },
	{ "samples", FIELD_COUNT, FIELD_SUM, AT(samples) },
	/* any text is more than none, which a run has that did not look */
	{ "problem", FIELD_TEXT, FIELD_MOST, AT(problem), .known = is_nowhere },
};

static const struct fields run_at_fields = {
	FIELDS(struct run_at, at_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct run_pattern, member)

static const struct field pattern_fields[] = {
	{ "option", FIELD_TEXT, AT(option) },
	{ "pattern", FIELD_TEXT, AT(pattern) },
};

static const struct fields run_pattern_fields = {
	FIELDS(struct run_pattern, pattern_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct run_program, member)

static const struct field program_fields[] = {
	{ "path", FIELD_TEXT, .flags = FIELD_NEEDED, AT(path) },
	{ "processes", FIELD_COUNT, AT(processes) },
	{ "threads", FIELD_COUNT, AT(threads) },
	{ "samples", FIELD_COUNT, AT(samples) },
	{ "samples_stalled", FIELD_COUNT, AT(samples_stalled) },
	{ "races", FIELD_COUNT, AT(races) },
};

static const struct fields run_program_fields = {
	FIELDS(struct run_program, program_fields),
};

#undef AT
#define AT(member) FIELD_AT(struct run_summary, member)

static bool has_sampling(const void *record)
{
	const struct run_summary *summary = record;

	return summary->sampling.known;
}

#define SAMPLING(merge, member) \
	FIELD_COUNT, merge, AT(member), .known = has_sampling

static bool is_hunt(const void *record)
{
	const struct run_summary *summary = record;

	return summary->hunt.known;
}

#define HUNT(member) FIELD_COUNT, AT(hunt.member), .known = is_hunt

static const struct field progress_field_list[] = {
	{ "elapsed_s", FIELD_SECONDS, .flags = FIELD_NEEDED, AT(elapsed_ns) },
	{ "samples", FIELD_COUNT, .flags = FIELD_NEEDED, AT(stats.samples) },
	{ "samples_stalled", FIELD_COUNT, AT(stats.stalled) },
	{ "samples_own", FIELD_COUNT, AT(sampling.own) },
	{ "sites_sampled", FIELD_COUNT, AT(sites_sampled) },
	{ "races", FIELD_COUNT, AT(races) },
	{ "overhead_pct", FIELD_REAL, AT(overhead_pct) },
	{ "hunt", FIELD_BOOL, AT(hunt.known) },
	{ "runs", HUNT(runs) },
	{ "runs_planned", HUNT(planned) },
	{ "sides", HUNT(sides) },
	{ "sides_left", HUNT(sides_left) },
	{ "left_s", FIELD_SECONDS, .flags = FIELD_NULL, AT(hunt.left_ns) },
};

const struct fields progress_fields = {
	.type = "progress",
	FIELDS(struct run_summary, progress_field_list),
};

static bool ends_otherwise(const void *record)
{
	const struct run_summary *summary = record;

	return summary->hunt.recorded_exit != summary->hunt.bare_exit;
}

/* Numbers of sites are those of the run with most: a site may be in many. */
static const struct field summary_field_list[] = {
	{ "races", FIELD_COUNT, FIELD_SUM, FIELD_NEEDED, AT(races) },
	{ "new", FIELD_COUNT, FIELD_SUM, FIELD_NEEDED, AT(races_new) },
	{ "suppressed", FIELD_COUNT, FIELD_SUM, AT(suppressed) },
	{ "known", FIELD_COUNT, FIELD_SUM, AT(known) },
	{ "unlikely", FIELD_COUNT, FIELD_SUM, AT(unlikely) },
	{ "synchronization", FIELD_COUNT, FIELD_SUM, AT(synchronization) },
	{ "samples", FIELD_COUNT, FIELD_SUM, FIELD_NEEDED, AT(stats.samples) },
	{ "hits", FIELD_COUNT, FIELD_SUM, AT(stats.hits) },
	{ "sites_sampled", FIELD_COUNT, FIELD_MOST, AT(sites_sampled) },
	{ "sites_eligible", FIELD_COUNT, FIELD_MOST, AT(sites_eligible) },
	{ "watchpoint_traps", FIELD_COUNT, FIELD_SUM, AT(stats.watch_traps) },
	{ "collisions", FIELD_COUNT, FIELD_SUM, AT(stats.collisions) },
	{ "value_changes", FIELD_COUNT, FIELD_SUM, AT(stats.value_changes) },
	{ "out_of_registers", FIELD_COUNT, FIELD_SUM,
	  AT(stats.out_of_registers) },
	{ "dropped", FIELD_COUNT, FIELD_SUM, AT(stats.dropped) },
	{ "arms_refused", FIELD_COUNT, FIELD_SUM, AT(stats.arms_refused) },
	{ "arms", FIELD_COUNT, FIELD_SUM, AT(stats.arms) },
	{ "stops", FIELD_COUNT, FIELD_SUM, AT(stats.stops) },
	{ "unaffordable", FIELD_COUNT, FIELD_SUM, AT(stats.unaffordable) },
	{ "resting", FIELD_COUNT, FIELD_SUM, AT(stats.resting) },
	{ "replays", FIELD_COUNT, FIELD_SUM, AT(replays) },
	{ "replays_failed", FIELD_COUNT, FIELD_SUM, AT(replays_failed) },
	{ NULL, FIELD_BOOL, FIELD_BOTH, AT(sampling.known) },
	{ "samples_stalled", SAMPLING(FIELD_SUM, stats.stalled) },
	{ "samples_own", SAMPLING(FIELD_SUM, sampling.own) },
	{ "sites_sampled_own",
	  SAMPLING(FIELD_MOST, sampling.sites_sampled_own) },
	{ "sites_eligible_own",
	  SAMPLING(FIELD_MOST, sampling.sites_eligible_own) },
	{ "threads", SAMPLING(FIELD_MOST, stats.threads_most) },
	{ "unwatched", SAMPLING(FIELD_SUM, stats.unwatched) },
	{ "looks", SAMPLING(FIELD_SUM, sampling.looks) },
	{ "looks_generated", SAMPLING(FIELD_SUM, sampling.generated) },
	{ "proves_nothing", FIELD_BOOL, FIELD_BOTH, AT(sampling.proves_nothing),
	  .known = has_sampling },
	{ "cpu_s", FIELD_SECONDS, FIELD_SUM, AT(cpu_ns) },
	{ "budget_pct", FIELD_REAL, FIELD_SAME, FIELD_NULL, AT(budget_pct) },
	{ "overhead_pct", FIELD_REAL, FIELD_SHARE, AT(overhead_pct) },
	{ "start_pct", FIELD_REAL, FIELD_SHARE, AT(start_pct),
	  .known = has_sampling },
	{ "stops_pct", FIELD_REAL, FIELD_SHARE, AT(stops_pct),
	  .known = has_sampling },
	{ "computing_pct", FIELD_REAL, FIELD_SHARE, AT(computing_pct),
	  .known = has_sampling },
	{ "replay_pct", FIELD_REAL, FIELD_SHARE, AT(replay_pct) },
	{ "replay_cpu_s", FIELD_SECONDS, FIELD_SUM, AT(stats.replay_cpu_ns) },
	{ "stalled_s", FIELD_SECONDS, FIELD_SUM, AT(stats.stalled_ns) },
	{ "elapsed_s", FIELD_SECONDS, FIELD_SUM, AT(elapsed_ns) },
	{ "unsampled_reason", FIELD_TEXT, FIELD_SAME, AT(unsampled.reason) },
	{ "unsampled_text", FIELD_TEXT, FIELD_SAME, AT(unsampled.text) },
	{ "backend", FIELD_TEXT, FIELD_SAME, AT(backend) },
	{ "coverage", FIELD_LIST, FIELD_UNION,
	  FIELD_COUNTED(struct run_summary, coverage, coverage_count),
	  .of = &run_coverage_fields },
	{ "at", FIELD_LIST, FIELD_UNION,
	  FIELD_COUNTED(struct run_summary, at, at_count),
	  .of = &run_at_fields },
	{ "patterns_unmatched", FIELD_LIST, FIELD_APART,
	  FIELD_COUNTED(struct run_summary, patterns, pattern_count),
	  .of = &run_pattern_fields },
	{ "programs", FIELD_LIST, FIELD_APART,
	  FIELD_COUNTED(struct run_summary, programs, program_count),
	  .of = &run_program_fields },
	{ "processes_single", FIELD_COUNT, FIELD_APART, AT(processes_single) },
	{ "hunt", FIELD_BOOL, FIELD_BOTH, AT(hunt.known) },
	{ "recorder", FIELD_TEXT, FIELD_SAME, AT(hunt.recorder) },
	{ "recorded_exit", FIELD_COUNT, FIELD_APART, AT(hunt.recorded_exit),
	  .known = ends_otherwise },
	{ "bare_exit", FIELD_COUNT, FIELD_APART, AT(hunt.bare_exit),
	  .known = ends_otherwise },
	{ "exit", FIELD_ID, FIELD_MOST, FIELD_NEEDED, AT(exit_status) },
};

/* Reports of earlier versions do not have the numbers of struct run_sampling. */
static void fill_summary(struct members *in, const json_t *object, void *record)
{
	struct run_summary *summary = record;

	(void)in;
	summary->sampling.known = members_has(object, "samples_own");
}

const struct fields summary_fields = {
	.type = "summary",
	FIELDS(struct run_summary, summary_field_list),
	.fill = fill_summary,
};
