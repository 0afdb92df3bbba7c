/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/findings.c: what the report of one run comes to, with a race that
 * is written again.
 */
#include "sweep/findings.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "report/render.h"
#include "report/run.h"
#include "sample-race.h"

static char path[] = "/tmp/test_findings.XXXXXX";

struct fixture {
	struct renderer json;
	struct findings findings;
};

static void begin(struct fixture *f)
{
	const struct run_record run = { .version = "1" };

	*f = (struct fixture){ .json = { .ops = &render_json } };
	f->json.out = fopen(path, "w");
	assert_non_null(f->json.out);
	assert_null(render_json.run(&f->json, &run));
}

static void put_race(struct fixture *f, struct race *race)
{
	assert_true(race_fingerprint(race));
	assert_null(render_json.race(&f->json, race));
}

static void read_back(struct fixture *f, bool ignore_unlikely)
{
	assert_int_equal(fclose(f->json.out), 0);
	findings_init(&f->findings);
	assert_null(findings_read(&f->findings, path, ignore_unlikely));
}

static const struct finding *finding(const struct fixture *f, size_t i)
{
	return vec_at(&f->findings.races, i);
}

static void a_race_that_gets_its_other_side_is_one(void **state)
{
	struct race_side side;
	struct fixture f;
	struct race race;

	(void)state;
	begin(&f);
	sample_race(&race);
	sample_hide_side(&race, &side);
	put_race(&f, &race);
	race.sides[1] = side;
	put_race(&f, &race);
	read_back(&f, false);
	assert_int_equal(f.findings.races.count, 1);
	assert_string_equal(finding(&f, 0)->fingerprint, race.fingerprint);
	assert_string_equal(finding(&f, 0)->what,
			    "shards[3].used: shard_add cache.c:11 against "
			    "shard_evict cache.c:12");
	assert_false(finding(&f, 0)->minor);
	findings_deinit(&f.findings);
	race_deinit(&race);
}

/* Also what its verdict comes to: that of both sides. */
static void the_last_record_of_a_race_counts(void **state)
{
	struct race_side side;
	struct fixture f;
	struct race race;

	(void)state;
	begin(&f);
	sample_race(&race);
	sample_hide_side(&race, &side);
	put_race(&f, &race);
	race.sides[1] = side;
	race.verdict = VERDICT_UNLIKELY;
	put_race(&f, &race);
	read_back(&f, true);
	assert_int_equal(f.findings.races.count, 1);
	assert_true(finding(&f, 0)->minor);
	findings_deinit(&f.findings);
	begin(&f);
	put_race(&f, &race);
	race.verdict = VERDICT_HARMFUL;
	put_race(&f, &race);
	read_back(&f, true);
	assert_int_equal(f.findings.races.count, 1);
	assert_false(finding(&f, 0)->minor);
	findings_deinit(&f.findings);
	race_deinit(&race);
}

/* One side each, of the same function: they may be of one race or of two. */
static void other_races_are_others(void **state)
{
	struct race_side side;
	struct fixture f;
	struct race race;

	(void)state;
	begin(&f);
	sample_race(&race);
	put_race(&f, &race);
	race.id = 2;
	sample_set(&race.variable.name, "shards[3].free");
	put_race(&f, &race);
	race.id = 3;
	sample_hide_side(&race, &side);
	put_race(&f, &race);
	race.sides[1] = side;
	read_back(&f, false);
	assert_int_equal(f.findings.races.count, 3);
	assert_non_null(strstr(finding(&f, 2)->what, "shards[3].free: "));
	findings_deinit(&f.findings);
	race_deinit(&race);
}

static void what_is_no_race_is_left_out(void **state)
{
	struct fixture f;
	struct race race;

	(void)state;
	begin(&f);
	sample_race(&race);
	race.verdict = VERDICT_SYNC;
	put_race(&f, &race);
	race.id = 2;
	race.verdict = VERDICT_SUSPECT;
	sample_set(&race.suppressed.rule, "race:shard_add");
	put_race(&f, &race);
	read_back(&f, false);
	assert_true(f.findings.has_run);
	assert_false(f.findings.has_summary);
	assert_int_equal(f.findings.races.count, 0);
	findings_deinit(&f.findings);
	race_deinit(&race);
}

/* Of a run that was killed, the last progress; else the summary. */
static void samples_are_those_told_last(void **state)
{
	const struct run_summary progress = { .sampling.own = 5,
					      .sites_sampled = 3 };
	const struct run_summary summary = {
		.sampling = { .known = true, .own = 9, .sites_sampled_own = 4 },
		.exit_status = 66,
	};

	(void)state;
	for (int ended = 0; ended < 2; ended++) {
		struct fixture f;

		begin(&f);
		assert_null(render_json.progress(&f.json, &progress));
		if (ended)
			assert_null(render_json.summary(&f.json, &summary));
		read_back(&f, false);
		assert_int_equal(f.findings.has_summary, ended);
		assert_int_equal(f.findings.samples, ended ? 9 : 5);
		assert_int_equal(f.findings.sites, ended ? 4 : 3);
		assert_int_equal(f.findings.exit_status, ended ? 66 : 0);
		findings_deinit(&f.findings);
	}
}

static void no_report_is_nothing_found(void **state)
{
	struct findings findings;

	(void)state;
	findings_init(&findings);
	assert_null(findings_read(&findings, "/no/such/report", false));
	assert_false(findings.has_run);
	assert_int_equal(findings.races.count, 0);
	findings_deinit(&findings);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_race_that_gets_its_other_side_is_one),
		cmocka_unit_test(the_last_record_of_a_race_counts),
		cmocka_unit_test(other_races_are_others),
		cmocka_unit_test(what_is_no_race_is_left_out),
		cmocka_unit_test(samples_are_those_told_last),
		cmocka_unit_test(no_report_is_nothing_found),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
