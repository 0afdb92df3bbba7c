/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/filter.c: what each key matches, and what is no filter. */
#include "report/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "sample-race.h"

/* Filters between spaces, on the sample race. */
static bool matches(const char *filters)
{
	char *text = strdup(filters), *next = NULL;
	struct filters list;
	struct race race;
	bool match;

	assert_non_null(text);
	filters_init(&list);
	for (char *one = strtok_r(text, " ", &next); one;
	     one = strtok_r(NULL, " ", &next)) {
		struct error *err = filters_add(&list, one);

		if (err)
			fail_msg("%s", error_message(err));
	}
	sample_race(&race);
	sample_more(&race);
	memcpy(race.fingerprint, "0123", 5);
	memcpy(race.fingerprint_code, "4567", 5);
	match = filters_match(&list, &race);
	race_deinit(&race);
	filters_deinit(&list);
	free(text);
	return match;
}

static void keys_match(void **state)
{
	static const char *const cases[] = {
		"",
		"verdict=suspect",
		"verdict=s*",
		"status=known",
		"kind=write-write",
		"evidence=watchpoint",
		"region=global",
		"module=cache",
		"module=/usr/bin/cache",
		"module=/usr/*",
		"function=shard_add",
		"function=evictor",
		"variable=shards[3].used",
		"variable=shards*.used",
		"variable=shards",
		"file=cache.c",
		"file=/home/src/*",
		"thread=filler",
		"host=beta",
		"fingerprint=0123",
		"fingerprint=4567",
		"!verdict=sync",
		"verdict!=sync",
		"!verdict!=suspect",
		/* one of a key, all of the keys */
		"verdict=harmful verdict=suspect",
		"verdict=suspect function=shard_evict !file=main.c",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!matches(cases[i]))
			fail_msg("does not match: %s", cases[i]);
	}
}

static void others_do_not(void **state)
{
	static const char *const cases[] = {
		"verdict=harmful",
		"!verdict=suspect",
		"status=none",
		"module=libc*",
		"module=cache.so",
		"function=shard",
		"function=cache.c",
		"variable=used",
		"file=cache",
		"thread=main",
		"verdict=suspect function=main",
		"function=shard_add !function=evictor",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (matches(cases[i]))
			fail_msg("matches: %s", cases[i]);
	}
}

static void functions_match_without_parameters(void **state)
{
	static const char *const names[] = {
		"shard::add(int, char const*)",
		"shard::add",
	};
	struct filters list;
	struct race race;

	(void)state;
	filters_init(&list);
	assert_null(filters_add(&list, "function=*shard::add"));
	for (size_t i = 0; i < 2; i++) {
		struct race_frame *frame;

		sample_race(&race);
		frame = vec_at(&race.sides[0].frames, 0);
		sample_set(&frame->function, names[i]);
		assert_true(filters_match(&list, &race));
		race_deinit(&race);
	}
	filters_deinit(&list);
}

static void what_is_no_filter_is_refused(void **state)
{
	static const char *const cases[] = {
		"",	     "!",	  "=",	     "verdict",
		"verdict=",  "!verdict=", "!=x",     "colour=red",
		"Verdict=x", "verdict=x", "=x",	     "verdict=harmless",
		"status=[",  "kind=rw*",  "file =x",
	};
	struct filters list;

	(void)state;
	filters_init(&list);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error *err = filters_add(&list, cases[i]);

		if (!err)
			fail_msg("taken: %s", cases[i]);
		assert_int_equal(err->kind, ERROR_USAGE);
		error_free(err);
	}
	assert_int_equal(list.items.count, 0);
	filters_deinit(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_match),
		cmocka_unit_test(others_do_not),
		cmocka_unit_test(functions_match_without_parameters),
		cmocka_unit_test(what_is_no_filter_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
