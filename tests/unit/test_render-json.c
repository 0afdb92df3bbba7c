/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/render-json.c: what is written is read back, and has the members
 * of schema version 1 (racewatch-json(5)), all of them.
 */
#include "report/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "report/crash.h"
#include "report/run.h"
#include "sample-race.h"

/* Allocations that succeed before one fails; negative: all do. */
static int allocations = -1;

void *__real_realloc(void *pointer, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

static bool allocation_fails(void)
{
	if (allocations == 0)
		return true;
	if (allocations > 0)
		allocations--;
	return false;
}

void *__wrap_realloc(void *pointer, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(pointer, size);
}

/* jansson's own */
static void *allocate(size_t size)
{
	return allocation_fails() ? NULL : malloc(size);
}

/* The record of one line, which must be all that was written. */
static json_t *parse_line(char *text, size_t size)
{
	json_error_t error;
	json_t *record;

	assert_true(size > 2);
	assert_int_equal(text[size - 1], '\n');
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	record = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!record)
		fail_msg("%s in %s", error.text, text);
	free(text);
	return record;
}

static json_t *race_record(const struct race *race)
{
	struct renderer renderer = { .ops = &render_json };
	char *text = NULL;
	size_t size = 0;

	renderer.out = open_memstream(&text, &size);
	assert_non_null(renderer.out);
	assert_null(render_json.race(&renderer, race));
	fclose(renderer.out);
	return parse_line(text, size);
}

/* A value as JSON text; "(absent)" when there is no such member. */
static void member_is(const json_t *object, const char *key,
		      const char *expected)
{
	const json_t *value = json_object_get(object, key);
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
						       JSON_REAL_PRECISION(6))
			   : strdup("(absent)");

	if (strcmp(text, expected) != 0)
		fail_msg("%s: %s, not %s", key, text, expected);
	free(text);
}

struct member {
	const char *key, *value;
};

static void members_are(const json_t *object, const struct member *members,
			size_t count)
{
	for (size_t i = 0; i < count; i++)
		member_is(object, members[i].key, members[i].value);
	assert_int_equal(json_object_size(object), count);
}

#define MEMBERS_ARE(object, ...)                                           \
	do {                                                               \
		static const struct member list[] = { __VA_ARGS__ };       \
		members_are(object, list, sizeof(list) / sizeof(list[0])); \
	} while (0)

/* Of the race record, less the objects in it. */
static void take_out(json_t *record, json_t **variable, json_t *sides[2])
{
	json_t *array = json_object_get(record, "sides");

	*variable = json_incref(json_object_get(record, "variable"));
	assert_int_equal(json_array_size(array), 2);
	sides[0] = json_incref(json_array_get(array, 0));
	sides[1] = json_incref(json_array_get(array, 1));
	json_object_del(record, "variable");
	json_object_del(record, "sides");
}

static void let_go(json_t *record, json_t *variable, json_t *sides[2])
{
	json_decref(variable);
	json_decref(sides[0]);
	json_decref(sides[1]);
	json_decref(record);
}

static void race_with_everything_known(void **state)
{
	json_t *record, *variable, *sides[2];
	struct race_frame *frame;
	struct race race;

	(void)state;
	sample_race(&race);
	frame = vec_at(&race.sides[0].frames, 0);
	frame->column = 3;
	frame->inlined = true;
	race.sides[1].atomic = true;
	race.elapsed_ns = 400600;
	race.verdict = VERDICT_UNLIKELY;
	sample_set(&race.reason, "disjoint-bits");
	sample_set(&race.sides[1].syscall, "read");
	sample_more(&race);
	memcpy(race.fingerprint, "0123", 5);
	memcpy(race.fingerprint_code, "4567", 5);
	record = race_record(&race);
	take_out(record, &variable, sides);
	MEMBERS_ARE(
		record, { "type", "\"race\"" }, { "id", "1" },
		{ "time", "\"2026-01-31T12:34:56.789012Z\"" },
		{ "last_time", "\"2026-01-31T12:34:57.789012Z\"" },
		{ "fingerprint", "\"0123\"" },
		{ "fingerprint_code", "\"4567\"" },
		{ "kind", "\"write-write\"" }, { "evidence", "\"watchpoint\"" },
		{ "backend", "\"perf\"" }, { "pid", "4242" },
		{ "program", "\"cache\"" }, { "address", "\"0x5555555580c8\"" },
		{ "size", "8" }, { "before", "\"6400000000000000\"" },
		{ "after", "\"6500000000000000\"" },
		{ "values", "[{\"before\":\"6400000000000000\","
			    "\"after\":\"6500000000000000\",\"count\":2}]" },
		{ "changed", "\"0100000000000000\"" }, { "count", "3" },
		{ "verdict", "\"unlikely\"" },
		{ "reason", "\"disjoint-bits\"" },
		{ "grounds", "\"other bits\"" }, { "doubt", "null" },
		{ "replay", "null" },
		{ "suppressed",
		  "{\"rule\":\"race:shard_*\",\"file\":\"team.supp\","
		  "\"line\":4,\"reason\":\"for the status page\","
		  "\"bug\":\"CACHE-17\"}" },
		{ "status", "\"known\"" }, { "runs", "2" },
		{ "hosts", "[\"alpha\",\"beta\"]" }, { "stall_us", "1000" },
		{ "elapsed_us", "401" }, { "target", "null" },
		{ "earlier", "false" }, { "recorded", "null" });
	MEMBERS_ARE(variable, { "name", "\"shards[3].used\"" },
		    { "symbol", "\"shards\"" }, { "offset", "56" },
		    { "type", "\"long\"" }, { "container", "\"struct shard\"" },
		    { "file", "\"/home/src/cache.c\"" }, { "line", "7" },
		    { "region", "\"global\"" },
		    { "module", "\"/usr/bin/cache\"" },
		    { "module_offset", "\"0x40c8\"" }, { "owner", "4247" },
		    { "owner_thread", "\"main\"" },
		    { "block", "{\"address\":\"0x555555558000\","
			       "\"offset\":200,\"size\":264,"
			       "\"state\":\"free\"}" });
	member_is(json_array_get(json_object_get(sides[0], "frames"), 0),
		  "function", "\"shard_add\"");
	MEMBERS_ARE(json_array_get(json_object_get(sides[0], "frames"), 0),
		    { "function", "\"shard_add\"" },
		    { "file", "\"/home/src/cache.c\"" }, { "line", "11" },
		    { "column", "3" }, { "module", "\"/usr/bin/cache\"" },
		    { "build_id", "\"00aa11bb\"" }, { "offset", "\"0x1179\"" },
		    { "inlined", "true" },
		    { "source", "\"shard->used += n;\"" });
	assert_int_equal(json_array_size(json_object_get(sides[1], "frames")),
			 2);
	json_object_del(sides[1], "frames");
	assert_int_equal(json_array_size(json_object_get(sides[1], "created")),
			 1);
	json_object_del(sides[1], "created");
	MEMBERS_ARE(
		sides[1], { "role", "\"racing\"" }, { "access", "\"write\"" },
		{ "size", "8" }, { "atomic", "true" }, { "pid", "4242" },
		{ "tid", "4244" }, { "thread", "\"evictor\"" },
		{ "thread_path", "[0,1]" }, { "syscall", "\"read\"" },
		{ "insn", "\"movq %rax, 0x8(%rbx)\"" },
		{ "address", "\"0x5555555580c8\"" },
		{ "sync", "\"synchronizing\"" }, { "missing", "\"source\"" },
		{ "idiom",
		  "{\"change\":\"bits\",\"delta\":0,"
		  "\"changed\":\"0x10\",\"used\":\"0x4\","
		  "\"compared\":true,\"tests_zero\":false,"
		  "\"dereferenced\":false,\"locked_beside\":true,"
		  "\"locked_adds\":true,\"stored_plainly\":true,"
		  "\"retested\":true,\"dispatch\":true,\"pair\":\"above\","
		  "\"guard\":\"last\","
		  "\"lock\":\"0x5555555580d0\"}" },
		{ "creator", "4242" }, { "creator_thread", "\"main\"" },
		{ "locks", "[{\"name\":\"shards[3].lock\","
			   "\"address\":\"0x5555555580a0\",\"kind\":\"mutex\","
			   "\"shared\":false,\"taken\":[]}]" },
		{ "recorded", "null" });
	member_is(sides[0], "role", "\"stalled\"");
	member_is(sides[0], "access", "\"rmw\"");
	let_go(record, variable, sides);
	race_deinit(&race);
}

static void what_is_unknown_is_null(void **state)
{
	json_t *record, *variable, *sides[2];
	struct race race;

	(void)state;
	sample_unknown(&race);
	record = race_record(&race);
	take_out(record, &variable, sides);
	member_is(record, "program", "null");
	member_is(record, "backend", "null");
	member_is(record, "pid", "null");
	member_is(record, "evidence", "\"value-change\"");
	assert_int_equal(json_object_size(record), 32);
	MEMBERS_ARE(variable, { "name", "null" }, { "symbol", "null" },
		    { "offset", "null" }, { "type", "null" },
		    { "container", "null" }, { "file", "null" },
		    { "line", "null" }, { "region", "null" },
		    { "module", "null" }, { "module_offset", "null" },
		    { "owner", "null" }, { "owner_thread", "null" },
		    { "block", "null" });
	MEMBERS_ARE(sides[1], { "role", "\"unknown\"" }, { "access", "null" },
		    { "size", "null" }, { "atomic", "null" }, { "pid", "null" },
		    { "tid", "null" }, { "thread", "null" },
		    { "thread_path", "null" }, { "syscall", "null" },
		    { "insn", "null" }, { "address", "null" },
		    { "sync", "null" }, { "missing", "null" },
		    { "idiom", "null" }, { "frames", "[]" },
		    { "created", "null" }, { "creator", "null" },
		    { "creator_thread", "null" }, { "locks", "null" },
		    { "recorded", "null" });
	let_go(record, variable, sides);
	race_deinit(&race);
}

static void hostile_names_are_still_json(void **state)
{
	struct race race;
	json_t *record;
	json_t *side;

	(void)state;
	sample_race(&race);
	sample_set(&race.sides[0].thread, "\"\\\n\xff\xc3\xa9");
	record = race_record(&race);
	side = json_array_get(json_object_get(record, "sides"), 0);
	assert_string_equal(json_string_value(json_object_get(side, "thread")),
			    "\"\\\n\xef\xbf\xbd\xc3\xa9");
	json_decref(record);
	race_deinit(&race);
}

static json_t *run_record(const struct run_record *run)
{
	struct renderer renderer = { .ops = &render_json };
	char *text = NULL;
	size_t size = 0;

	renderer.out = open_memstream(&text, &size);
	assert_non_null(renderer.out);
	assert_null(render_json.run(&renderer, run));
	fclose(renderer.out);
	return parse_line(text, size);
}

static void run_names_command_and_modules(void **state)
{
	static const char *const command[] = { "./cache", "-n", NULL };
	static const char *const options[] = { "--rate", "7" };
	static const struct run_module modules[] = {
		{ "/usr/bin/cache", "00aa", 0x555555554000 },
		{ "/lib/x.so", NULL, 0 },
	};
	struct run_record run = {
		.version = "0.1.0",
		.command = command,
		.options = options,
		.option_count = 2,
		.host = "alpha",
		.pid = 4242,
		.backend = "perf",
		.seed = 1,
		.replay = "off",
		.replay_off = "--replay off",
		.sandbox = "off",
		.sandbox_off = "--no-sandbox",
		.start = UINT64_C(1769862896789012345),
		.modules = modules,
		.module_count = 2,
	};
	json_t *record = run_record(&run);

	(void)state;
	MEMBERS_ARE(record, { "type", "\"run\"" }, { "schema", "1" },
		    { "version", "\"0.1.0\"" },
		    { "command", "[\"./cache\",\"-n\"]" },
		    { "options", "[\"--rate\",\"7\"]" }, { "pid", "4242" },
		    { "host", "\"alpha\"" }, { "backend", "\"perf\"" },
		    { "seed", "1" }, { "replay", "\"off\"" },
		    { "replay_off", "\"--replay off\"" },
		    { "sandbox", "\"off\"" },
		    { "sandbox_off", "\"--no-sandbox\"" },
		    { "start", "\"2026-01-31T12:34:56.789012Z\"" },
		    { "modules",
		      "[{\"path\":\"/usr/bin/cache\",\"build_id\":\"00aa\","
		      "\"base\":\"0x555555554000\"},{\"path\":\"/lib/x.so\","
		      "\"build_id\":null,\"base\":\"0x0\"}]" },
		    { "runs", "1" }, { "hosts", "[]" });
	json_decref(record);
}

static void merged_runs_have_no_seed(void **state)
{
	static const char *const hosts[] = { "alpha", "beta", NULL };
	struct run_record run = { .runs = 3, .hosts = hosts, .seed = 7 };
	json_t *record = run_record(&run);

	(void)state;
	member_is(record, "runs", "3");
	member_is(record, "hosts", "[\"alpha\",\"beta\"]");
	member_is(record, "seed", "null");
	member_is(record, "options", "null");
	json_decref(record);
}

static void attached_run_has_no_command(void **state)
{
	struct run_record run = { .version = "0.1.0", .seed = UINT64_MAX };
	json_t *record = run_record(&run);

	(void)state;
	member_is(record, "command", "null");
	member_is(record, "modules", "[]");
	/* beyond the integers of JSON readers: never a wrong number */
	member_is(record, "seed", "\"18446744073709551615\"");
	json_decref(record);
}

static void summary_has_every_counter(void **state)
{
	static const struct run_coverage coverage[] = {
		{ "/usr/bin/cache", 16, 17 },
	};
	static const struct run_pattern patterns[] = { { "include", "put*" } };
	static const struct run_at at[] = {
		{ "cache.c:84", 3, 25, NULL },
		{ "put", 0, 0, "no module has a function put" },
	};
	static const struct run_program programs[] = {
		{ "/usr/bin/cache", 27, 28, 29, 30, 31 },
	};
	struct renderer renderer = { .ops = &render_json };
	struct run_summary summary = {
		.races = 1,
		.races_new = 2,
		.suppressed = 3,
		.known = 15,
		.unlikely = 18,
		.coverage = coverage,
		.coverage_count = 1,
		.at = at,
		.at_count = 2,
		.patterns = patterns,
		.pattern_count = 1,
		.programs = programs,
		.program_count = 1,
		.processes_single = 32,
		.hunt = { .known = true,
			  .recorder = "valgrind",
			  .recorded_exit = 3 },
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
		.stats.arms = 19,
		.stats.stops = 20,
		.stats.unaffordable = 21,
		.stats.resting = 22,
		.stats.stalled = 4,
		.stats.threads_most = 23,
		.stats.unwatched = 24,
		.replays = 33,
		.replays_failed = 34,
		.sampling = { .known = true,
			      .own = 3,
			      .sites_sampled_own = 2,
			      .sites_eligible_own = 7,
			      .looks = 26,
			      .generated = 25,
			      .proves_nothing = true },
		.unsampled = { "one-thread", "the program had one thread" },
		.cpu_ns = 250000000,
		.stats.replay_cpu_ns = 400000000,
		.stats.stalled_ns = 900000000,
		.elapsed_ns = UINT64_C(9800000000),
		.overhead_pct = 2.1,
		.start_pct = 0.75,
		.stops_pct = 0.5,
		.computing_pct = 0.25,
		.replay_pct = 0.125,
		.budget_pct = 2.5,
		.backend = "perf",
		.exit_status = 66,
	};
	char *text = NULL;
	size_t size = 0;
	json_t *record;

	(void)state;
	renderer.out = open_memstream(&text, &size);
	assert_non_null(renderer.out);
	assert_null(render_json.summary(&renderer, &summary));
	fclose(renderer.out);
	/* as people would write them, not 2.1000000000000001 */
	assert_non_null(strstr(text, "\"overhead_pct\":2.1,"));
	record = parse_line(text, size);
	MEMBERS_ARE(
		record, { "type", "\"summary\"" }, { "races", "1" },
		{ "new", "2" }, { "suppressed", "3" }, { "known", "15" },
		{ "unlikely", "18" }, { "synchronization", "4" },
		{ "samples", "5" }, { "hits", "6" }, { "sites_sampled", "7" },
		{ "sites_eligible", "8" }, { "watchpoint_traps", "9" },
		{ "collisions", "10" }, { "value_changes", "11" },
		{ "out_of_registers", "12" }, { "dropped", "13" },
		{ "arms_refused", "14" }, { "arms", "19" }, { "stops", "20" },
		{ "unaffordable", "21" }, { "resting", "22" },
		{ "replays", "33" }, { "replays_failed", "34" },
		{ "samples_stalled", "4" }, { "samples_own", "3" },
		{ "sites_sampled_own", "2" }, { "sites_eligible_own", "7" },
		{ "threads", "23" }, { "unwatched", "24" }, { "looks", "26" },
		{ "looks_generated", "25" }, { "proves_nothing", "true" },
		{ "cpu_s", "0.25" }, { "budget_pct", "2.5" },
		{ "overhead_pct", "2.1" }, { "start_pct", "0.75" },
		{ "stops_pct", "0.5" }, { "computing_pct", "0.25" },
		{ "replay_pct", "0.125" }, { "replay_cpu_s", "0.4" },
		{ "stalled_s", "0.9" }, { "elapsed_s", "9.8" },
		{ "unsampled_reason", "\"one-thread\"" },
		{ "unsampled_text", "\"the program had one thread\"" },
		{ "backend", "\"perf\"" },
		{ "coverage",
		  "[{\"path\":\"/usr/bin/cache\",\"sites_sampled\":16,"
		  "\"sites_eligible\":17}]" },
		{ "patterns_unmatched",
		  "[{\"option\":\"include\",\"pattern\":\"put*\"}]" },
		{ "at", "[{\"where\":\"cache.c:84\",\"sites\":3,\"samples\":25,"
			"\"problem\":null},{\"where\":\"put\",\"sites\":0,"
			"\"samples\":0,\"problem\":\"no module has a function "
			"put\"}]" },
		{ "programs",
		  "[{\"path\":\"/usr/bin/cache\",\"processes\":27,"
		  "\"threads\":28,\"samples\":29,\"samples_stalled\":30,"
		  "\"races\":31}]" },
		{ "processes_single", "32" }, { "hunt", "true" },
		{ "recorder", "\"valgrind\"" }, { "recorded_exit", "3" },
		{ "bare_exit", "0" }, { "exit", "66" });
	json_decref(record);
}

static void crash_names_the_races_before_it(void **state)
{
	struct renderer renderer = { .ops = &render_json };
	struct crash_race race = { .id = 1,
				   .fingerprint = "0123",
				   .before_ns = 250000000,
				   .same_function = true };
	struct crash crash;
	char *text = NULL;
	size_t size = 0;
	json_t *record;

	(void)state;
	crash_init(&crash);
	crash.time = UINT64_C(1769862896789012345);
	crash.signal = 11;
	crash.pid = 4242;
	crash.tid = 4244;
	crash.has_address = true;
	sample_set(&crash.thread, "evictor");
	sample_set(&race.variable, "shards");
	assert_true(vec_push(&crash.races, &race));
	renderer.out = open_memstream(&text, &size);
	assert_non_null(renderer.out);
	assert_null(render_json.crash(&renderer, &crash));
	fclose(renderer.out);
	record = parse_line(text, size);
	MEMBERS_ARE(record, { "type", "\"crash\"" },
		    { "time", "\"2026-01-31T12:34:56.789012Z\"" },
		    { "signal", "11" }, { "pid", "4242" }, { "tid", "4244" },
		    { "thread", "\"evictor\"" }, { "address", "\"0x0\"" },
		    { "frames", "[]" },
		    { "races", "[{\"id\":1,\"variable\":\"shards\","
			       "\"fingerprint\":\"0123\","
			       "\"before_s\":0.25,\"same_address\":false,"
			       "\"same_object\":false,\"same_pointer\":false,"
			       "\"same_function\":true}]" });
	json_decref(record);
	crash_deinit(&crash);
}

static void progress_is_a_line(void **state)
{
	struct renderer renderer = { .ops = &render_json };
	struct run_summary progress = {
		.elapsed_ns = 1500000000,
		.stats.samples = 22,
		.stats.stalled = 20,
		.sampling.own = 19,
		.sites_sampled = 7,
		.races = 1,
		.overhead_pct = 2.5,
	};
	char *text = NULL;
	size_t size = 0;
	json_t *record;

	(void)state;
	renderer.out = open_memstream(&text, &size);
	assert_non_null(renderer.out);
	assert_null(render_json.progress(&renderer, &progress));
	fclose(renderer.out);
	record = parse_line(text, size);
	MEMBERS_ARE(record, { "type", "\"progress\"" }, { "elapsed_s", "1.5" },
		    { "samples", "22" }, { "samples_stalled", "20" },
		    { "samples_own", "19" }, { "sites_sampled", "7" },
		    { "races", "1" }, { "overhead_pct", "2.5" },
		    { "hunt", "false" }, { "runs", "null" },
		    { "runs_planned", "null" }, { "sides", "null" },
		    { "sides_left", "null" }, { "left_s", "null" });
	json_decref(record);
}

static void progress_of_a_hunt_is_of_runs_and_sides(void **state)
{
	struct renderer renderer = { .ops = &render_json };
	const struct run_summary progress = {
		.elapsed_ns = 1500000000,
		.hunt = { .known = true,
			  .runs = 3,
			  .planned = 12,
			  .sides = 40,
			  .sides_left = 31,
			  .left_ns = 4500000000 },
	};
	char *text = NULL;
	size_t size = 0;
	json_t *record;

	(void)state;
	renderer.out = open_memstream(&text, &size);
	assert_non_null(renderer.out);
	assert_null(render_json.progress(&renderer, &progress));
	fclose(renderer.out);
	record = parse_line(text, size);
	assert_string_equal(json_string_value(json_object_get(record, "type")),
			    "progress");
	assert_true(json_boolean_value(json_object_get(record, "hunt")));
	assert_int_equal(json_integer_value(json_object_get(record, "runs")),
			 3);
	assert_int_equal(
		json_integer_value(json_object_get(record, "runs_planned")),
		12);
	assert_int_equal(json_integer_value(json_object_get(record, "sides")),
			 40);
	assert_int_equal(
		json_integer_value(json_object_get(record, "sides_left")), 31);
	assert_true(json_real_value(json_object_get(record, "left_s")) == 4.5);
	json_decref(record);
}

static void every_line_is_flushed(void **state)
{
	struct renderer renderer = { .ops = &render_json };
	struct run_summary summary = { .backend = "perf" };
	char *text = NULL;
	size_t size = 0;

	(void)state;
	renderer.out = open_memstream(&text, &size);
	assert_non_null(renderer.out);
	assert_null(render_json.summary(&renderer, &summary));
	/* a memory stream shows what was flushed */
	assert_true(size > 0);
	assert_int_equal(text[size - 1], '\n');
	fclose(renderer.out);
	free(text);
}

static void full_disk_is_an_error(void **state)
{
	struct renderer renderer = { .ops = &render_json };
	struct run_summary summary = { .backend = "perf" };
	struct error *err;

	(void)state;
	renderer.out = fopen("/dev/full", "w");
	assert_non_null(renderer.out);
	err = render_json.summary(&renderer, &summary);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), "No space left"));
	error_free(err);
	fclose(renderer.out);
}

static void write_summary(struct renderer *renderer, bool fits)
{
	struct run_summary summary = { .backend = "perf" };
	struct error *err = render_json.summary(renderer, &summary);

	assert_int_equal(err == NULL, fits);
	error_free(err);
}

/* One byte of the second has room, and all but one. */
static void a_record_that_does_not_fit_leaves_nothing(void **state)
{
	struct renderer renderer = { .ops = &render_json };
	struct rlimit limit, before;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	rlim_t size;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	renderer.out = tmpfile();
	assert_non_null(renderer.out);
	write_summary(&renderer, true);
	size = (rlim_t)ftello(renderer.out);
	limit = before;
	for (rlim_t n = size + 1; n < 2 * size; n += size - 2) {
		limit.rlim_cur = n;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		write_summary(&renderer, false);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		assert_int_equal(lseek(fileno(renderer.out), 0, SEEK_END),
				 size);
	}
	write_summary(&renderer, true);
	assert_int_equal(lseek(fileno(renderer.out), 0, SEEK_END), 2 * size);
	fclose(renderer.out);
	signal(SIGXFSZ, handler);
}

/* Fail each allocation in turn: error_nomem, and nothing half written. */
static void no_memory_is_an_error(void **state)
{
	struct error *err = error_nomem;
	struct race race;

	(void)state;
	sample_race(&race);
	json_set_alloc_funcs(allocate, free);
	for (int n = 0; err; n++) {
		struct renderer renderer = { .ops = &render_json };
		char text[8192] = "";

		renderer.out = fmemopen(text, sizeof(text), "w");
		assert_non_null(renderer.out);
		allocations = n;
		err = render_json.race(&renderer, &race);
		allocations = -1;
		fclose(renderer.out);
		assert_true(n < 10000);
		if (err) {
			assert_ptr_equal(err, error_nomem);
			assert_string_equal(text, "");
		} else {
			assert_true(n > 100);
			assert_int_equal(text[0], '{');
		}
	}
	json_set_alloc_funcs(malloc, free);
	race_deinit(&race);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(race_with_everything_known),
		cmocka_unit_test(what_is_unknown_is_null),
		cmocka_unit_test(hostile_names_are_still_json),
		cmocka_unit_test(run_names_command_and_modules),
		cmocka_unit_test(merged_runs_have_no_seed),
		cmocka_unit_test(attached_run_has_no_command),
		cmocka_unit_test(summary_has_every_counter),
		cmocka_unit_test(crash_names_the_races_before_it),
		cmocka_unit_test(progress_is_a_line),
		cmocka_unit_test(progress_of_a_hunt_is_of_runs_and_sides),
		cmocka_unit_test(every_line_is_flushed),
		cmocka_unit_test(full_disk_is_an_error),
		cmocka_unit_test(a_record_that_does_not_fit_leaves_nothing),
		cmocka_unit_test(no_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
