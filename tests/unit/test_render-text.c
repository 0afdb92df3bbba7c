/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/render-text.c: reports compared with what they must look like. */
#include "report/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "golden.h"
#include "report/phrase.h"
#include "report/run.h"
#include "sample-race.h"
#include "sample-report.h"

/* Calls of realloc that succeed before one fails; negative: all do. */
static int allocations = -1;

void *__real_realloc(void *pointer, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

void *__wrap_realloc(void *pointer, size_t size)
{
	if (allocations == 0)
		return NULL;
	if (allocations > 0)
		allocations--;
	return __real_realloc(pointer, size);
}

struct output {
	char *text;
	size_t size;
	struct renderer renderer;
};

static void output_open(struct output *output)
{
	memset(output, 0, sizeof(*output));
	output->renderer.ops = &render_text;
	output->renderer.out = open_memstream(&output->text, &output->size);
	assert_non_null(output->renderer.out);
}

static void output_is(struct output *output, const char *expected)
{
	fclose(output->renderer.out);
	assert_string_equal(output->text, expected);
	free(output->text);
}

static struct race_frame *frame(struct race *race, int side, size_t i)
{
	return vec_at(&race->sides[side].frames, i);
}

static void race_with_everything_known(void **state)
{
	struct output output;
	struct race race;

	(void)state;
	sample_race(&race);
	output_open(&output);
	output.renderer.again = "racewatch provoke out.jsonl#{id} -- ./cache";
	assert_null(render_text.race(&output.renderer, &race));
	output_is(
		&output,
		"WARNING: racewatch: data race #1 (pid 4242 \"cache\"), "
		"read-modify-write against write, 8 bytes, value 100 -> 101\n"
		"  shards[3].used          struct shard, cache.c:7; "
		"global at cache+0x40c8, bytes 56..63 of shards\n"
		"  thread 4246 \"filler\" was stalled before it "
		"READS AND WRITES\n"
		"    #0 shard_add          cache.c:11   addq %rsi, 0x8(%rdi)"
		"   cache+0x1179\n"
		"    #1 filler             cache.c:14\n"
		"  thread 4244 \"evictor\" then WROTE\n"
		"    #0 shard_evict        cache.c:12   movq %rax, 0x8(%rbx)"
		"   cache+0x1216\n"
		"    #1 evictor            cache.c:21\n"
		"  evidence    watchpoint (perf), 0.4 ms into a 1.0 ms stall; "
		"seen 3 times\n"
		"  verdict     suspect\n"
		"  again       racewatch provoke out.jsonl#1 -- ./cache\n");
	race_deinit(&race);
}

static void the_line_again_may_have_the_process(void **state)
{
	struct output output;
	struct race race;

	(void)state;
	sample_race(&race);
	race.sides[0].pid = 77;
	output_open(&output);
	output.renderer.again = "racewatch provoke REPORT#{id} --pid {pid} #";
	assert_null(render_text.race(&output.renderer, &race));
	fclose(output.renderer.out);
	assert_non_null(
		strstr(output.text,
		       "\n  again       racewatch provoke REPORT#1 --pid 77 "
		       "#\n"));
	free(output.text);
	race_deinit(&race);
}

static void race_with_nothing_known(void **state)
{
	struct output output;
	struct race race;

	(void)state;
	sample_unknown(&race);
	output_open(&output);
	assert_null(render_text.race(&output.renderer, &race));
	output_is(&output,
		  "WARNING: racewatch: data race #2 (pid 0), "
		  "access against unknown origin, 4 bytes, value 0 -> 7\n"
		  "  memory without a name   at 0x7f0000001000\n"
		  "  a thread was stalled before it TOUCHES IT\n"
		  "    (no stack)\n"
		  "  by something that left no trace here: value changed "
		  "0 -> 7 (the kernel or another mapping, or no debug register "
		  "was free)\n"
		  "  evidence    value-change, 0 us into a 0 us stall; "
		  "seen once\n"
		  "  verdict     suspect\n");
	race_deinit(&race);
}

/* Stripped: places for functions, and no columns for what nobody has. */
static void make_stripped(struct race *race)
{
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < 2; i++) {
			sample_set(&frame(race, side, i)->function, NULL);
			sample_set(&frame(race, side, i)->file, NULL);
		}
	}
	sample_set(&race->variable.name, "shards+56");
	sample_set(&race->variable.type, NULL);
	sample_set(&race->variable.container, NULL);
	sample_set(&race->variable.file, NULL);
}

static void frames_without_names_are_places_in_the_file(void **state)
{
	struct output output;
	struct race race;

	(void)state;
	sample_race(&race);
	make_stripped(&race);
	sample_set(&frame(&race, 1, 1)->module, NULL);
	output_open(&output);
	assert_null(render_text.race(&output.renderer, &race));
	output_is(
		&output,
		"WARNING: racewatch: data race #1 (pid 4242 \"cache\"), "
		"read-modify-write against write, 8 bytes, value 100 -> 101\n"
		"  shards+56               global at cache+0x40c8, "
		"bytes 56..63 of shards\n"
		"  thread 4246 \"filler\" was stalled before it "
		"READS AND WRITES\n"
		"    #0 cache+0x1179       addq %rsi, 0x8(%rdi)\n"
		"    #1 cache+0x11a0\n"
		"  thread 4244 \"evictor\" then WROTE\n"
		"    #0 cache+0x1216       movq %rax, 0x8(%rbx)\n"
		"    #1 0x1240\n"
		"  evidence    watchpoint (perf), 0.4 ms into a 1.0 ms stall; "
		"seen 3 times\n"
		"  verdict     suspect\n");
	race_deinit(&race);
}

/* A collision through the kernel, with hostile names, inlining and 16 bytes. */
static void make_odd(struct race *race)
{
	race->evidence = EVIDENCE_COLLISION;
	race->verdict = VERDICT_UNLIKELY;
	race->count = 1;
	race->size = 16;
	race->after[0] = 100;
	race->sides[1].access = ACCESS_READ;
	sample_set(&race->reason, "statistics-counter");
	sample_set(&race->sides[1].syscall, "write");
	sample_set(&race->sides[1].thread, "a\033[2Jb\xff");
	sample_set(&frame(race, 0, 0)->function,
		   "a_function_with_a_name_longer_than_the_column_may_be");
	frame(race, 0, 0)->inlined = true;
	frame(race, 1, 1)->inlined = true;
	race->variable.region = REGION_HEAP;
	sample_set(&race->variable.name, NULL);
	sample_set(&race->variable.symbol, NULL);
	sample_set(&race->variable.container, NULL);
	sample_set(&race->variable.file, NULL);
	sample_set(&race->variable.type, NULL);
}

static void odd_race_keeps_its_columns(void **state)
{
	struct output output;
	struct race race;

	(void)state;
	sample_race(&race);
	make_odd(&race);
	output_open(&output);
	assert_null(render_text.race(&output.renderer, &race));
	output_is(&output,
		  "WARNING: racewatch: data race #1 (pid 4242 \"cache\"), "
		  "read-modify-write against read, 16 bytes, "
		  "bytes 64000000000000000000000000000000\n"
		  "  memory without a name   heap at 0x5555555580c8\n"
		  "  thread 4246 \"filler\" was stalled before it "
		  "READS AND WRITES\n"
		  "    #0 a_function_with_a_name_longer_than_the_column_may_be"
		  "   cache.c:11   addq %rsi, 0x8(%rdi)"
		  "   cache+0x1179 (inlined)\n"
		  "    #1 filler             cache.c:14\n"
		  "  thread 4244 \"a\\x1b[2Jb\\xff\" too was stalled before it "
		  "READS in system call write\n"
		  "    #0 shard_evict        cache.c:12   movq %rax, 0x8(%rbx)"
		  "   cache+0x1216\n"
		  "    #1 evictor            cache.c:21   (inlined)\n"
		  "  evidence    collision (perf), 0.4 ms into a 1.0 ms stall; "
		  "seen once\n"
		  "  verdict     unlikely (statistics-counter)\n");
	race_deinit(&race);
}

static void assert_home(const struct race *race, const char *text)
{
	struct strbuf line = { 0 };

	phrase_add_home(&line, race);
	assert_string_equal(strbuf_text(&line), text);
	strbuf_deinit(&line);
}

static void the_block_of_the_heap_is_told(void **state)
{
	struct race_block *block;
	struct race race;

	(void)state;
	sample_race(&race);
	block = &race.variable.block;
	race.variable.region = REGION_HEAP;
	race.variable.offset = 16;
	sample_set(&race.variable.symbol, "struct shard");
	*block = (struct race_block){ 0x5555555580b8, 16, 56, BLOCK_IN_USE };
	assert_home(&race, "struct shard, cache.c:7; heap at 0x5555555580c8, "
			   "bytes 16..23 of struct shard, in a block at "
			   "0x5555555580b8 with room for 56 bytes, in use");
	*block = (struct race_block){ 0x5555555580a0, 40, 56, BLOCK_FREE };
	assert_home(&race, "struct shard, cache.c:7; heap at 0x5555555580c8, "
			   "bytes 16..23 of struct shard, bytes 40..47 of a "
			   "block at 0x5555555580a0 with room for 56 bytes, "
			   "free");
	make_odd(&race);
	race.size = 1;
	block->state = BLOCK_UNKNOWN;
	assert_home(&race, "heap at 0x5555555580c8, byte 40 of a block at "
			   "0x5555555580a0 with room for 56 bytes");
	race_deinit(&race);
}

static void folded_lines_fit_and_say_the_same(void **state)
{
	struct output output;
	struct race race;

	(void)state;
	sample_race(&race);
	output_open(&output);
	output.renderer.style.width = 72;
	assert_null(render_text.race(&output.renderer, &race));
	output_is(
		&output,
		"WARNING: racewatch: data race #1 (pid 4242 \"cache\"), "
		"read-modify-write\n"
		"    against write, 8 bytes, value 100 -> 101\n"
		"  shards[3].used          struct shard, cache.c:7; "
		"global at\n"
		"    cache+0x40c8, bytes 56..63 of shards\n"
		"  thread 4246 \"filler\" was stalled before it "
		"READS AND WRITES\n"
		"    #0 shard_add          cache.c:11   addq %rsi, "
		"0x8(%rdi)\n"
		"       cache+0x1179\n"
		"    #1 filler             cache.c:14\n"
		"  thread 4244 \"evictor\" then WROTE\n"
		"    #0 shard_evict        cache.c:12   movq %rax, "
		"0x8(%rbx)\n"
		"       cache+0x1216\n"
		"    #1 evictor            cache.c:21\n"
		"  evidence    watchpoint (perf), 0.4 ms into a 1.0 ms stall; "
		"seen 3\n"
		"    times\n"
		"  verdict     suspect\n");
	race_deinit(&race);
}

/* Without its SGR sequences. */
static void remove_color(char *text)
{
	char *out = text;

	while (*text) {
		if (*text == '\033')
			text += strcspn(text, "m") + 1;
		else
			*out++ = *text++;
	}
	*out = '\0';
}

static void colors_change_nothing_else(void **state)
{
	struct output plain, colored;
	struct race race;

	(void)state;
	sample_race(&race);
	output_open(&plain);
	output_open(&colored);
	colored.renderer.style.color = true;
	colored.renderer.style.width = plain.renderer.style.width = 60;
	assert_null(render_text.race(&plain.renderer, &race));
	assert_null(render_text.race(&colored.renderer, &race));
	fclose(colored.renderer.out);
	assert_int_equal(strncmp(colored.text, "\033[1;31mWARNING", 14), 0);
	remove_color(colored.text);
	output_is(&plain, colored.text);
	free(colored.text);
	race_deinit(&race);
}

static void short_form_is_one_line(void **state)
{
	struct output output;
	struct race race;

	(void)state;
	sample_race(&race);
	race.verdict = VERDICT_SYNC;
	sample_set(&race.reason, "lock-prefix");
	output_open(&output);
	assert_null(render_text_short(&output.renderer, &race));
	output_is(&output,
		  "racewatch: #1 sync (lock-prefix): read-modify-write against "
		  "write, 8 bytes of shards[3].used: shard_add cache.c:11 "
		  "against shard_evict cache.c:12, 3 times\n");
	race_deinit(&race);
}

static void graver_verdict_is_one_line(void **state)
{
	struct output output;
	struct race race;

	(void)state;
	sample_race(&race);
	race.count = 1;
	output_open(&output);
	assert_null(render_text_graver(&output.renderer, &race));
	output_is(&output,
		  "racewatch: race #1 is now suspect: read-modify-write "
		  "against write, 8 bytes of shards[3].used: shard_add "
		  "cache.c:11 against shard_evict cache.c:12\n");
	race.verdict = VERDICT_HARMFUL;
	sample_set(&race.reason, "torn-value");
	sample_set(&race.grounds, "it was seen to change");
	output_open(&output);
	assert_null(render_text_graver(&output.renderer, &race));
	output_is(&output,
		  "racewatch: race #1 is now harmful (torn-value): "
		  "read-modify-write against write, 8 bytes of "
		  "shards[3].used: shard_add cache.c:11 against shard_evict "
		  "cache.c:12; it was seen to change\n");
	race_deinit(&race);
}

static void replays_are_told_at_the_end(void **state)
{
	struct output output;
	struct race race;

	(void)state;
	sample_race(&race);
	sample_change(&race, "used", NULL);
	sample_replays(&race, 1, "rdtsc");
	sample_set(&race.reason, "state-change");
	output_open(&output);
	assert_null(render_text_replayed(&output.renderer, &race));
	output_is(&output, "racewatch: race #1 replayed: in 1 of 1 instance "
			   "the order changed `used`: 101 (ab), 100 (a(b)a); "
			   "not possible: rdtsc 1; verdict suspect "
			   "(state-change)\n");
	race_deinit(&race);
}

/* When a race is told at its first sighting, how often is told at the end. */
static void counts_are_told_at_the_end(void **state)
{
	struct race one, two;
	const struct race *both[] = { &one, &two };
	struct vec races = VEC_INIT(const struct race *);
	struct output output;

	(void)state;
	sample_race(&one);
	sample_race(&two);
	output_open(&output);
	output.renderer.live = true;
	assert_null(render_text.race(&output.renderer, &one));
	fflush(output.renderer.out);
	assert_non_null(strstr(output.text, "1.0 ms stall; first seen\n"));
	fclose(output.renderer.out);
	free(output.text);
	one.count = 2767;
	two.count = 1;
	two.id = 2;
	for (int i = 0; i < 2; i++)
		assert_true(vec_push(&races, &both[i]));
	output_open(&output);
	assert_null(render_text_counts(&output.renderer, &races));
	output_is(&output, "racewatch: seen in all: #1 2 767 times, #2 once\n");
	one.count = 1;
	output_open(&output);
	assert_null(render_text_counts(&output.renderer, &races));
	output_is(&output, "");
	vec_deinit(&races);
	race_deinit(&one);
	race_deinit(&two);
}

static void summary_of(const struct run_summary *summary, const char *expected)
{
	struct output output;

	output_open(&output);
	assert_null(render_text.summary(&output.renderer, summary));
	output_is(&output, expected);
}

/* Ten of them, with the most samples; and how many more there are. */
static void programs_have_a_line_each(void **state)
{
	struct run_program programs[12];
	struct run_summary summary = {
		.programs = programs,
		.program_count = 2,
		.processes_single = 1,
	};
	char *text = NULL;
	size_t size = 0, lines = 0;
	struct renderer renderer = { .ops = &render_text };

	(void)state;
	for (int i = 0; i < 12; i++)
		programs[i] = (struct run_program){ "/bin/a", 1, 3, 0, 0, 0 };
	programs[0] = (struct run_program){ "/bin/b", 2, 4, 1200, 1100, 1 };
	summary_of(
		&summary,
		"Programs with threads or samples:\n"
		"  /bin/b: 2 processes, at most 4 threads, 1 200 samples, "
		"1 100 with a stall, 1 race\n"
		"  /bin/a: 1 process, at most 3 threads, 0 samples, 0 races\n"
		"  1 other process had one thread\n"
		"SUMMARY: racewatch: 0 races, 0 samples of 0 sites, 0.0 s, overhead 0.0 "
		"%\n");
	/* of one program alone, the summary says it all */
	summary.program_count = 1;
	summary.processes_single = 0;
	summary_of(&summary,
		   "SUMMARY: racewatch: 0 races, 0 samples of 0 sites, 0.0 s, "
		   "overhead 0.0 %\n");
	summary.program_count = 12;
	renderer.out = open_memstream(&text, &size);
	assert_non_null(renderer.out);
	assert_null(render_text.summary(&renderer, &summary));
	fclose(renderer.out);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	assert_int_equal(lines, 1 + 10 + 1 + 1);
	assert_non_null(strstr(text, "\n  and 2 more programs\nSUMMARY"));
	free(text);
}

static void summary_is_one_line(void **state)
{
	struct run_summary summary = {
		.races = 1,
		.races_new = 1,
		.stats.samples = 5312,
		.sites_sampled = 61,
		.elapsed_ns = UINT64_C(9800000000),
		.overhead_pct = 2.1,
	};

	(void)state;
	summary_of(&summary, "SUMMARY: racewatch: 1 race (1 new), 5 312 "
			     "samples of 61 sites, 9.8 s, overhead 2.1 %\n");
	summary.budget_pct = 2.5;
	summary_of(&summary, "SUMMARY: racewatch: 1 race (1 new), 5 312 "
			     "samples of 61 sites, 9.8 s, overhead 2.1 of 2.5 "
			     "%\n");
	summary.budget_pct = 0;
	summary.races = 12;
	summary.races_new = 0;
	summary.suppressed = 3;
	summary.stats.dropped = 1;
	summary_of(&summary, "SUMMARY: racewatch: 12 races (0 new, 3 "
			     "suppressed), 5 312 samples of 61 sites, 9.8 s, "
			     "overhead 2.1 %, 1 conflict lost\n");
	summary.suppressed = summary.stats.dropped = 0;
	summary.races = summary.races_new = 3;
	summary.unlikely = 1;
	summary_of(&summary, "SUMMARY: racewatch: 3 races (3 new, 1 unlikely), "
			     "5 312 samples of 61 sites, 9.8 s, overhead 2.1 "
			     "%\n");
	summary.unlikely = 0;
	summary.races = 1;
	summary.races_new = 1;
	summary.suppressed = 0;
	summary.stats.dropped = 0;
	summary.budget_pct = 40;
	summary.sites_sampled = 73;
	summary.stats.stalled = 4980;
	summary.sampling = (struct run_sampling){ .known = true,
						  .own = 4000,
						  .sites_sampled_own = 61 };
	summary_of(&summary, "SUMMARY: racewatch: 1 race (1 new), 5 312 "
			     "samples (4 980 with a stall) of 61 own and 12 "
			     "library sites, 9.8 s, overhead 2.1 of 40 %\n");
	summary.races = 0;
	summary.sites_sampled = 4;
	summary.stats.stalled = 9;
	summary.sampling =
		(struct run_sampling){ .known = true, .proves_nothing = true };
	summary_of(&summary, "SUMMARY: racewatch: 0 races, this run proves "
			     "nothing: 5 312 samples (9 with a stall) of 0 own "
			     "and 4 library sites, 9.8 s, overhead 2.1 of 40 "
			     "%\n");
	/* more than the budget, or without a stall: what is it made of? */
	summary.overhead_pct = 43.84;
	summary.stops_pct = 43.1;
	summary.computing_pct = 0.7;
	summary.sampling.proves_nothing = false;
	summary_of(&summary, "SUMMARY: racewatch: 0 races, 5 312 samples (9 "
			     "with a stall) of 0 own and 4 library sites, 9.8 "
			     "s, overhead 43.8 of 40 % (stops 43.1, computing "
			     "0.7)\n");
	summary.overhead_pct = 2.1;
	summary.stops_pct = 0;
	summary.computing_pct = 2.1;
	summary.stats.stalled = 0;
	summary.stats.samples = 0;
	summary_of(&summary, "SUMMARY: racewatch: 0 races, 0 samples, 9.8 s, "
			     "overhead 2.1 of 40 % (computing 2.1)\n");
	/* the first threads have waited: that is no stall */
	summary.overhead_pct = 20.4;
	summary.start_pct = 18.3;
	summary_of(&summary, "SUMMARY: racewatch: 0 races, 0 samples, 9.8 s, "
			     "overhead 20.4 of 40 % (start 18.3, computing "
			     "2.1)\n");
	/* replays are computed too, but told by themselves */
	summary.replay_pct = 1.9;
	summary_of(&summary, "SUMMARY: racewatch: 0 races, 0 samples, 9.8 s, "
			     "overhead 20.4 of 40 % (start 18.3, computing "
			     "0.2, replays 1.9)\n");
	summary.replay_pct = 0;
	summary.start_pct = 0;
	summary.computing_pct = 0;
	summary.overhead_pct = 0;
	summary.sampling = (struct run_sampling){ .known = true };
	summary_of(&summary, "SUMMARY: racewatch: 0 races, 0 samples, 9.8 s, "
			     "overhead 0.0 of 40 %\n");
	memset(&summary, 0, sizeof(summary));
	summary_of(&summary, "SUMMARY: racewatch: 0 races, 0 samples of 0 "
			     "sites, 0.0 s, overhead 0.0 %\n");
}

/* All that only some races have, and a crash. */
static void whole_report(void **state)
{
	struct golden golden;

	(void)state;
	golden_open(&golden, &render_text);
	sample_report(&golden.renderer);
	golden_end(&golden, "report.txt");
}

static void nothing_is_written_of_the_run(void **state)
{
	struct run_record run = { .version = "1" };
	struct output output;

	(void)state;
	output_open(&output);
	assert_null(render_text.run(&output.renderer, &run));
	output_is(&output, "");
}

static void full_disk_is_an_error(void **state)
{
	struct renderer renderer = { .ops = &render_text };
	struct error *err;
	struct race race;

	(void)state;
	sample_race(&race);
	renderer.out = fopen("/dev/full", "w");
	assert_non_null(renderer.out);
	err = render_text.race(&renderer, &race);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), "No space left"));
	error_free(err);
	fclose(renderer.out);
	race_deinit(&race);
}

/* Fail each allocation in turn: error_nomem, and nothing half written. */
static void no_memory_is_an_error(void **state)
{
	struct error *err = error_nomem;
	struct race race;

	(void)state;
	sample_race(&race);
	for (int n = 0; err; n++) {
		struct renderer renderer = { .ops = &render_text };
		char text[4096] = "";

		renderer.out = fmemopen(text, sizeof(text), "w");
		assert_non_null(renderer.out);
		allocations = n;
		err = render_text.race(&renderer, &race);
		allocations = -1;
		fclose(renderer.out);
		assert_true(n < 1000);
		if (err) {
			assert_ptr_equal(err, error_nomem);
			assert_string_equal(text, "");
		} else {
			assert_true(n > 5);
			assert_non_null(strstr(text, "verdict     suspect\n"));
		}
	}
	race_deinit(&race);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(race_with_everything_known),
		cmocka_unit_test(the_line_again_may_have_the_process),
		cmocka_unit_test(race_with_nothing_known),
		cmocka_unit_test(frames_without_names_are_places_in_the_file),
		cmocka_unit_test(odd_race_keeps_its_columns),
		cmocka_unit_test(the_block_of_the_heap_is_told),
		cmocka_unit_test(folded_lines_fit_and_say_the_same),
		cmocka_unit_test(colors_change_nothing_else),
		cmocka_unit_test(short_form_is_one_line),
		cmocka_unit_test(graver_verdict_is_one_line),
		cmocka_unit_test(counts_are_told_at_the_end),
		cmocka_unit_test(replays_are_told_at_the_end),
		cmocka_unit_test(programs_have_a_line_each),
		cmocka_unit_test(summary_is_one_line),
		cmocka_unit_test(whole_report),
		cmocka_unit_test(nothing_is_written_of_the_run),
		cmocka_unit_test(full_disk_is_an_error),
		cmocka_unit_test(no_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
