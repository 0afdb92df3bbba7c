/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/record.c: what render-json writes is read and written again, byte
 * for byte; what nobody wrote is refused with words that say why.
 */
#include "report/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "report/render.h"
#include "sample-race.h"
#include "sample-target.h"

/* Write the record with the renderer; the caller frees the text. */
static char *written(const struct report_record *record)
{
	struct renderer renderer = { .ops = &render_json };
	struct error *err = NULL;
	char *text = NULL;
	size_t size = 0;

	renderer.out = open_memstream(&text, &size);
	assert_non_null(renderer.out);
	switch (record->type) {
	case REPORT_RUN:
		err = render_json.run(&renderer, &record->run);
		break;
	case REPORT_RACE:
		err = render_json.race(&renderer, &record->race);
		break;
	case REPORT_CRASH:
		err = render_json.crash(&renderer, &record->crash);
		break;
	case REPORT_PROGRESS:
		err = render_json.progress(&renderer, &record->summary);
		break;
	case REPORT_TARGET:
		err = render_json.target(&renderer, &record->target);
		break;
	case REPORT_SUMMARY:
		err = render_json.summary(&renderer, &record->summary);
		break;
	case REPORT_CANDIDATE:
		err = render_json.candidate(&renderer, &record->candidate);
		break;
	case REPORT_OTHER:
		fail_msg("nothing was read");
	}
	assert_null(err);
	fclose(renderer.out);
	return text;
}

static void parse_ok(const char *line, struct report_record *record)
{
	struct error *err = report_record_parse(line, strlen(line), record);

	if (err)
		fail_msg("%s in %s", error_message(err), line);
}

/* For tests/run/schema.sh: every line that is written here. */
static void save(const char *line)
{
	const char *path = getenv("RACEWATCH_TEST_RECORDS");
	FILE *file = path ? fopen(path, "ae") : NULL;

	if (!file)
		return;
	assert_true(fputs(line, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Runs and summaries are of constants here, which nobody frees. */
static void end(struct report_record *record)
{
	race_deinit(&record->race);
	crash_deinit(&record->crash);
	target_record_deinit(&record->target);
	report_record_init(record);
}

/* Write, read, write: nothing may change. The record is ended. */
static void is_kept(struct report_record *record)
{
	struct report_record back;
	char *line = written(record), *again;

	save(line);
	report_record_init(&back);
	parse_ok(line, &back);
	assert_int_equal(back.type, record->type);
	again = written(&back);
	assert_string_equal(line, again);
	free(again);
	free(line);
	report_record_deinit(&back);
	end(record);
}

static void races_are_read_back(void **state)
{
	struct report_record record;

	(void)state;
	report_record_init(&record);
	record.type = REPORT_RACE;
	sample_race(&record.race);
	assert_true(race_fingerprint(&record.race));
	is_kept(&record);
	record.type = REPORT_RACE;
	sample_race(&record.race);
	sample_more(&record.race);
	sample_set(&record.race.sides[1].syscall, "read");
	sample_set(&record.race.reason, "disjoint-bits");
	sample_set(&record.race.sides[0].thread, "\"\\\n\xff\xc3\xa9\x01");
	record.race.sides[1].atomic = true;
	record.race.count = UINT64_MAX;
	record.race.elapsed_ns = 400600;
	sample_recorded(&record.race.recorded);
	assert_true(fields_copy(&recorded_access_fields,
				&record.race.sides[0].recorded,
				vec_at(&record.race.recorded.accesses, 1)));
	is_kept(&record);
	record.type = REPORT_RACE;
	sample_unknown(&record.race);
	is_kept(&record);
}

static void every_word_is_read_back(void **state)
{
	struct report_record record;

	(void)state;
	for (unsigned int i = 0; i < 24; i++) {
		report_record_init(&record);
		record.type = REPORT_RACE;
		sample_race(&record.race);
		record.race.evidence = (enum race_evidence)(i % 3);
		record.race.verdict = (enum race_verdict)(i % 4);
		record.race.status = (enum race_status)(i % 4);
		record.race.variable.region = (enum race_region)(i % 6);
		record.race.sides[0].role = (enum race_role)(i % 3);
		record.race.sides[0].access = i % 4;
		record.race.sides[1].access = i / 4 % 4;
		record.race.size = i;
		is_kept(&record);
	}
}

static void a_race_gives_its_members(void **state)
{
	struct report_record record, back;
	const struct race_frame *frame;
	char *line;

	(void)state;
	report_record_init(&record);
	report_record_init(&back);
	record.type = REPORT_RACE;
	sample_race(&record.race);
	sample_more(&record.race);
	line = written(&record);
	parse_ok(line, &back);
	assert_int_equal(back.race.count, 3);
	assert_int_equal(back.race.address, 0x5555555580c8);
	assert_int_equal(back.race.after[0], 101);
	assert_int_equal(back.race.time, UINT64_C(1769862896789012000));
	assert_int_equal(back.race.stall_ns, 1000000);
	assert_int_equal(back.race.hosts.count, 2);
	assert_int_equal(back.race.sides[0].thread_path_length, 2);
	assert_int_equal(back.race.sides[0].thread_path[1], 3);
	frame = vec_at(&back.race.sides[1].frames, 1);
	assert_string_equal(frame->function, "evictor");
	assert_int_equal(frame->line, 21);
	free(line);
	report_record_deinit(&back);
	report_record_deinit(&record);
}

static void runs_are_read_back(void **state)
{
	static const char *const command[] = { "./cache", "", "-n", NULL };
	static const char *const no_words[] = { NULL };
	static const struct run_module modules[] = {
		{ "/usr/bin/cache", "00aa", 0x555555554000 },
		{ NULL, NULL, UINT64_MAX },
	};
	struct report_record record;

	(void)state;
	report_record_init(&record);
	record.type = REPORT_RUN;
	record.run = (struct run_record){
		.version = "0.1.0",
		.command = command,
		.options = command,
		.option_count = 3,
		.host = "alpha",
		.pid = 4242,
		.backend = "perf",
		.seed = UINT64_MAX,
		.start = UINT64_C(1769862896789012345),
		.modules = modules,
		.module_count = 2,
	};
	is_kept(&record);
	record.type = REPORT_RUN;
	is_kept(&record);
	record.type = REPORT_RUN;
	record.run.command = no_words;
	record.run.hosts = command;
	record.run.runs = 4;
	record.run.seed = 0;
	is_kept(&record);
}

static void crashes_are_read_back(void **state)
{
	struct crash_race race = { .id = 7,
				   .fingerprint = "0123",
				   .before_ns = 250000001,
				   .same_object = true,
				   .same_pointer = true };
	struct report_record record;
	struct race_frame *frame;

	(void)state;
	report_record_init(&record);
	record.type = REPORT_CRASH;
	is_kept(&record);
	record.type = REPORT_CRASH;
	record.crash.time = 1000;
	record.crash.signal = 11;
	record.crash.tid = 4244;
	record.crash.has_address = true;
	sample_set(&record.crash.thread, "evictor");
	frame = vec_append(&record.crash.frames);
	assert_non_null(frame);
	sample_set(&frame->function, "shard_evict");
	sample_set(&race.variable, "shards");
	assert_true(vec_push(&record.crash.races, &race));
	is_kept(&record);
}

static void targets_are_read_back(void **state)
{
	struct report_record record;

	(void)state;
	report_record_init(&record);
	record.type = REPORT_TARGET;
	is_kept(&record);
	for (unsigned int i = 0; i < TARGET_RESULTS; i++) {
		record.type = REPORT_TARGET;
		sample_target(&record.target, i);
		is_kept(&record);
	}
}

static void counters_are_read_back(void **state)
{
	static const struct run_coverage coverage[] = {
		{ "/usr/bin/cache", 16, 17 },
	};
	static const struct run_program programs[] = {
		{ "/usr/bin/cache", 1, 8, 30, 20, 1 },
		{ "/usr/bin/other", 2, 2, 0, 0, 0 },
	};
	static const struct run_pattern patterns[] = { { "include", "put*" },
						       { "exclude", "gte*" } };
	static const struct run_at at[] = {
		{ "cache.c:84", 3, 25, NULL },
		{ "put", 0, 0, "no module has a function put" },
	};
	struct report_record record;

	(void)state;
	report_record_init(&record);
	record.type = REPORT_SUMMARY;
	record.summary = (struct run_summary){
		.races = 1,
		.races_new = 2,
		.suppressed = 3,
		.known = 15,
		.synchronization = 4,
		.stats.samples = 5,
		.stats.hits = 6,
		.sites_sampled = 7,
		.sites_eligible = 8,
		.stats.watch_traps = 9,
		.stats.collisions = 10,
		.stats.value_changes = 11,
		.stats.out_of_registers = 12,
		.stats.dropped = 13,
		.stats.arms_refused = 14,
		.stats.arms = 15,
		.stats.stops = 16,
		.stats.unaffordable = 17,
		.stats.resting = 18,
		.stats.stalled = 5,
		.stats.threads_most = 7,
		.stats.unwatched = 6,
		.sampling = { .known = true,
			      .own = 4,
			      .sites_sampled_own = 3,
			      .sites_eligible_own = 2,
			      .looks = 9,
			      .generated = 8,
			      .proves_nothing = true },
		.unsampled = { "one-thread", "the program had one thread" },
		.cpu_ns = 250000000,
		.budget_pct = 2.5,
		.stats.stalled_ns = 900000001,
		.elapsed_ns = UINT64_C(123456789012345),
		.overhead_pct = 2.1,
		.start_pct = 0.75,
		.stops_pct = 0.5,
		.computing_pct = 0.25,
		.backend = "perf",
		.coverage = coverage,
		.coverage_count = 1,
		.at = at,
		.at_count = 2,
		.patterns = patterns,
		.pattern_count = 2,
		.programs = programs,
		.program_count = 2,
		.processes_single = 3,
		.exit_status = 66,
	};
	is_kept(&record);
	/* as in a report of an earlier version */
	record.type = REPORT_SUMMARY;
	record.summary.sampling = (struct run_sampling){ .known = false };
	record.summary.start_pct = 0;
	record.summary.stops_pct = record.summary.computing_pct = 0;
	is_kept(&record);
	record.type = REPORT_PROGRESS;
	record.summary = (struct run_summary){
		.elapsed_ns = 1000000007,
		.stats.samples = 6,
		.stats.stalled = 5,
		.sampling.own = 4,
		.sites_sampled = 3,
		.races = 1,
		.overhead_pct = 0.5,
	};
	is_kept(&record);
}

static void refused(const char *line, size_t length, const char *why)
{
	struct report_record record;
	struct error *err;

	report_record_init(&record);
	err = report_record_parse(line, length, &record);
	if (!err)
		fail_msg("taken: %s", line);
	assert_int_equal(err->kind, ERROR_FORMAT);
	if (!strstr(error_message(err), why))
		fail_msg("'%s' does not say '%s'", error_message(err), why);
	assert_int_equal(record.type, REPORT_OTHER);
	assert_null(record.run.version);
	error_free(err);
	report_record_deinit(&record);
}

static void hostile_lines_are_refused(void **state)
{
	static const struct {
		const char *line, *why;
	} cases[] = {
		{ "", "not JSON" },
		{ "racewatch", "not JSON" },
		{ "{", "not JSON" },
		{ "[]", "this is an array, not a JSON object" },
		{ "null", "this is null, not a JSON object" },
		{ "17", "this is a number, not a JSON object" },
		{ "nul", "not JSON" },
		{ "null null", "not JSON" },
		{ "{}", "no 'type'" },
		{ "{\"type\":1}", "'type' is a number, not a string" },
		{ "{\"type\":\"race\",\"id\":1,\"id\":2}", "not JSON" },
		{ "{\"type\":\"race\",\"id\":1} x", "not JSON" },
		{ "{\"type\":\"run\"}", "'schema' is missing" },
		{ "{\"type\":\"run\",\"schema\":0}",
		  "schema version 0 is not known" },
		{ "{\"type\":\"run\",\"schema\":2}", "schema version 2" },
		{ "{\"type\":\"run\",\"schema\":1,\"version\":[]}",
		  "'version' is an array, not a string" },
		{ "{\"type\":\"run\",\"schema\":1,\"command\":[1]}",
		  "'command' has something" },
		{ "{\"type\":\"run\",\"schema\":1,\"modules\":[7]}",
		  "'modules' has a number in it" },
		{ "{\"type\":\"run\",\"schema\":1,\"seed\":-1}",
		  "'seed' is out of range" },
		{ "{\"type\":\"run\",\"schema\":1,\"seed\":1.5}",
		  "'seed' is a number, not a whole number" },
		{ "{\"type\":\"run\",\"schema\":1,"
		  "\"seed\":\"18446744073709551616\"}",
		  "'seed' is a string" },
		{ "{\"type\":\"run\",\"schema\":1,"
		  "\"seed\":99999999999999999999}",
		  "not JSON" },
		{ "{\"type\":\"run\",\"schema\":1,\"pid\":2147483648}",
		  "'pid' is out of range" },
		{ "{\"type\":\"run\",\"schema\":1,\"start\":\"now\"}",
		  "'start' is no RFC 3339 time" },
		{ "{\"type\":\"race\",\"address\":\"4010\"}",
		  "'address' is no address" },
		{ "{\"type\":\"race\",\"size\":4,\"before\":\"00\"}",
		  "'before' is not in as many" },
		{ "{\"type\":\"race\",\"size\":4294967296}",
		  "'size' is out of range" },
		{ "{\"type\":\"race\",\"size\":1,\"after\":\"0g\"}",
		  "'after' is not in as many" },
		{ "{\"type\":\"race\",\"fingerprint\":\"XY\"}",
		  "'fingerprint' is not in hex" },
		{ "{\"type\":\"race\",\"fingerprint\":"
		  "\"000000000000000000000000000000000\"}",
		  "'fingerprint' is not in hex" },
		{ "{\"type\":\"race\",\"verdict\":\"harmless\"}",
		  "'verdict' is a word" },
		{ "{\"type\":\"race\",\"sides\":[{}]}", "'sides' are 1" },
		{ "{\"type\":\"race\",\"sides\":[{\"role\":\"stalled\"},"
		  "null]}",
		  "'sides' has null" },
		{ "{\"type\":\"race\",\"sides\":[{\"role\":\"stalled\"},"
		  "{\"role\":\"racing\",\"thread_path\":[0,-1]}]}",
		  "'thread_path' has something" },
		{ "{\"type\":\"race\",\"suppressed\":{}}",
		  "'rule' is missing" },
		{ "{\"type\":\"race\",\"suppressed\":true}",
		  "'suppressed' is a boolean, not an object" },
		{ "{\"type\":\"race\",\"hosts\":[1]}", "'hosts' has" },
		{ "{\"type\":\"race\",\"program\":\"a\\u0000b\"}", "not JSON" },
		{ "{\"type\":\"race\",\"program\":\"\xff\"}", "not JSON" },
		{ "{\"type\":\"summary\",\"elapsed_s\":1e300}",
		  "'elapsed_s' is out of range" },
		{ "{\"type\":\"summary\",\"elapsed_s\":-1}",
		  "'elapsed_s' is out of range" },
		{ "{\"type\":\"summary\",\"overhead_pct\":1e999}", "not JSON" },
		{ "{\"type\":\"crash\",\"frames\":{}}",
		  "'frames' is an object, not an array" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(cases[i].line, strlen(cases[i].line), cases[i].why);
	refused("{\"type\":\0\"race\"}", 16, "not JSON");
}

static void deep_nesting_is_refused(void **state)
{
	enum { DEPTH = 100000 };
	char *line = malloc(DEPTH + 16);

	(void)state;
	assert_non_null(line);
	memcpy(line, "{\"x\":", 5);
	memset(line + 5, '[', DEPTH);
	refused(line, DEPTH + 5, "not JSON");
	free(line);
}

#define SIDES "\"sides\":[{\"role\":\"stalled\"},{\"role\":\"unknown\"}]"
#define RACE_REST                                \
	"\"address\":\"0x10\",\"size\":4," SIDES \
	",\"count\":2,\"verdict\":\"suspect\""
#define RACE_WHOLE                                                        \
	"\"type\":\"race\",\"id\":1,\"fingerprint\":\"0a\",\"evidence\":" \
	"\"collision\"," RACE_REST

/* Each record, without one of the members that it cannot do without. */
static void what_lacks_a_member_is_malformed(void **state)
{
	static const char *const members[] = {
		"\"id\":1",
		"\"fingerprint\":\"0a\"",
		"\"address\":\"0x10\"",
		"\"evidence\":\"collision\"",
		"\"size\":4",
		SIDES,
		"\"count\":2",
		"\"verdict\":\"suspect\"",
	};
	static const char *const others[][2] = {
		{ "{\"type\":\"race\"}", "'id' is missing" },
		{ "{\"type\":\"race\",\"sides\":[{},{}]}",
		  "'role' is missing" },
		{ "{\"type\":\"crash\",\"signal\":11}", "'time' is missing" },
		{ "{\"type\":\"crash\",\"time\":\"2026-01-31T12:34:56Z\"}",
		  "'signal' is missing" },
		{ "{\"type\":\"progress\",\"samples\":1}",
		  "'elapsed_s' is missing" },
		{ "{\"type\":\"progress\",\"elapsed_s\":1}",
		  "'samples' is missing" },
		{ "{\"type\":\"summary\"}", "'races' is missing" },
		{ "{\"type\":\"summary\",\"races\":0,\"new\":0,"
		  "\"samples\":null,\"exit\":0}",
		  "'samples' is missing" },
	};
	struct report_record record;

	(void)state;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		char line[] = "{" RACE_WHOLE "}";
		char *at = strstr(line, members[i]);

		assert_non_null(at);
		/* under another name it is one that nobody knows */
		at[1] = 'X';
		refused(line, strlen(line), "is missing");
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		refused(others[i][0], strlen(others[i][0]), others[i][1]);
	report_record_init(&record);
	parse_ok("{" RACE_WHOLE "}", &record);
	/* an option that is not known here says no less than it would as text */
	parse_ok("{\"type\":\"summary\",\"races\":0,\"new\":0,\"samples\":1,"
		 "\"exit\":0,\"patterns_unmatched\":[{\"option\":\"only\","
		 "\"pattern\":\"x\"}]}",
		 &record);
	assert_string_equal(record.summary.patterns[0].option, "only");
	report_record_deinit(&record);
}

static void what_is_absent_or_unknown_is_passed_over(void **state)
{
	struct report_record record;

	(void)state;
	report_record_init(&record);
	parse_ok("{\"type\":\"doctor\",\"schema\":7}", &record);
	assert_int_equal(record.type, REPORT_OTHER);
	parse_ok("{" RACE_WHOLE ",\"novelty\":[{\"a\":1}]}", &record);
	assert_int_equal(record.type, REPORT_RACE);
	assert_int_equal(record.race.sides[1].role, RACE_UNKNOWN);
	assert_int_equal(record.race.status, STATUS_UNSET);
	assert_null(record.race.variable.name);
	assert_string_equal(record.race.fingerprint_code, "");
	parse_ok("{\"type\":\"crash\",\"time\":\"2026-01-31T12:34:56Z\","
		 "\"signal\":11}",
		 &record);
	assert_false(record.crash.has_address);
	parse_ok("{\"type\":\"summary\",\"races\":0,\"new\":0,\"samples\":0,"
		 "\"exit\":0,\"elapsed_s\":2}",
		 &record);
	assert_int_equal(record.summary.elapsed_ns, 2000000000);
	report_record_deinit(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(races_are_read_back),
		cmocka_unit_test(every_word_is_read_back),
		cmocka_unit_test(a_race_gives_its_members),
		cmocka_unit_test(runs_are_read_back),
		cmocka_unit_test(crashes_are_read_back),
		cmocka_unit_test(targets_are_read_back),
		cmocka_unit_test(counters_are_read_back),
		cmocka_unit_test(hostile_lines_are_refused),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(what_lacks_a_member_is_malformed),
		cmocka_unit_test(what_is_absent_or_unknown_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
