/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/text-crash.c, text-stack.c: crashes as they must look. */
#include "report/text-crash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/crash.h"
#include "report/render.h"
#include "sample-race.h"

static void text_is(const struct crash *crash, const char *expected)
{
	struct renderer renderer = { .ops = &render_text };
	char *text = NULL;
	size_t size = 0;

	renderer.out = open_memstream(&text, &size);
	assert_non_null(renderer.out);
	assert_null(text_crash(&renderer, crash));
	fclose(renderer.out);
	assert_string_equal(text, expected);
	free(text);
}

static void add_frame(struct crash *crash, const char *function,
		      const char *file, int line)
{
	struct race_frame *frame = vec_append(&crash->frames);

	assert_non_null(frame);
	sample_set(&frame->function, function);
	sample_set(&frame->file, file);
	sample_set(&frame->module, "/usr/bin/cache");
	frame->line = line;
	frame->offset = 0x1179;
}

static void add_race(struct crash *crash, struct crash_race race,
		     const char *variable)
{
	sample_set(&race.variable, variable);
	assert_true(vec_push(&crash->races, &race));
}

static void a_fault_with_its_races(void **state)
{
	struct crash crash;

	(void)state;
	crash_init(&crash);
	crash.signal = 11;
	crash.pid = 4242;
	crash.tid = 4244;
	crash.has_address = true;
	crash.address = 0x10;
	sample_set(&crash.thread, "evictor");
	add_frame(&crash, "shard_evict", "/home/src/cache.c", 12);
	add_frame(&crash, "main", NULL, 0);
	add_frame(&crash, NULL, NULL, 0);
	add_race(&crash,
		 (struct crash_race){ .id = 2,
				      .before_ns = 400000,
				      .same_pointer = true,
				      .same_function = true },
		 "head");
	add_race(&crash,
		 (struct crash_race){ .id = 1,
				      .before_ns = 2000000000,
				      .same_address = true,
				      .same_object = true },
		 NULL);
	text_is(&crash,
		"CRASH: racewatch: process 4242 died of SIGSEGV at address 0x10\n"
		"  thread 4244 \"evictor\"\n"
		"    #0  shard_evict    cache.c:12\n"
		"    #1  main           cache+0x1179\n"
		"    #2  cache+0x1179\n"
		"  races before it, nearest first\n"
		"    #2 of head, 0.4 ms before: of a pointer that leads there, "
		"in a function of that stack\n"
		"    #1, 2.0 s before: at that address\n");
	crash_deinit(&crash);
}

static void a_kill_without_races(void **state)
{
	struct crash crash;

	(void)state;
	crash_init(&crash);
	crash.signal = 9;
	crash.pid = 4242;
	text_is(&crash, "CRASH: racewatch: process 4242 died of SIGKILL\n"
			"  by a signal from outside, or when it was not "
			"watched any more\n"
			"  no race was seen before it\n");
	crash_deinit(&crash);
}

static void long_lists_are_cut(void **state)
{
	char *text = NULL;
	struct renderer renderer = { .ops = &render_text };
	struct crash crash;
	size_t size = 0;

	(void)state;
	crash_init(&crash);
	crash.tid = 1;
	for (unsigned int i = 0; i < 20; i++) {
		add_frame(&crash, "again", "/home/src/cache.c", 3);
		add_race(&crash, (struct crash_race){ .id = i + 1 }, NULL);
	}
	renderer.out = open_memstream(&text, &size);
	assert_null(text_crash(&renderer, &crash));
	fclose(renderer.out);
	assert_non_null(strstr(text, "    #15 again   cache.c:3\n"
				     "    and 4 more\n"));
	assert_non_null(strstr(text, "    #8, 0 us before\n    and 12 more\n"));
	free(text);
	crash_deinit(&crash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_with_its_races),
		cmocka_unit_test(a_kill_without_races),
		cmocka_unit_test(long_lists_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
