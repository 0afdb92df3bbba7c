/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/phrase-locks.c: what is said of held locks. */
#include "report/phrase-locks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "sample-race.h"

static void add(struct race_side *side, const char *name, uint64_t address,
		unsigned int kind)
{
	struct recorded_lock *lock = vec_append(&side->locks);

	assert_non_null(lock);
	*lock = (struct recorded_lock){
		.name = name ? strdup(name) : NULL,
		.address = address,
		.kind = kind,
		.taken = VEC_INIT(struct race_frame),
	};
}

static int setup(void **state)
{
	struct race *race = calloc(1, sizeof(*race));

	assert_non_null(race);
	race_init(race);
	for (int i = 0; i < 2; i++) {
		race->sides[i].locks_known = true;
		race->sides[i].pid = 11;
		race->sides[i].tid = 12 + i;
	}
	sample_set(&race->sides[0].thread, "a");
	sample_set(&race->sides[1].thread, "b");
	*state = race;
	return 0;
}

static int teardown(void **state)
{
	race_free(*state);
	return 0;
}

static void assert_holds(const struct race_side *side, const char *text)
{
	struct strbuf line = { 0 };

	assert_int_equal(phrase_add_holds(&line, side), text[0] != '\0');
	assert_string_equal(strbuf_text(&line), text);
	strbuf_deinit(&line);
}

static void assert_pair(const struct race *race, const char *text)
{
	struct strbuf line = { 0 };

	assert_int_equal(phrase_add_lock_pair(&line, race), text[0] != '\0');
	assert_string_equal(strbuf_text(&line), text);
	strbuf_deinit(&line);
}

static void a_side_holds_locks_with_names_or_without(void **state)
{
	struct race *race = *state;
	struct race_side *side = &race->sides[0];

	assert_holds(side, "holds no lock found");
	add(side, "b->mu", 0x4c0c0, RECORDED_MUTEX);
	assert_holds(side, "holds b->mu (mutex at 0x4c0c0)");
	add(side, NULL, 0x4c100, RECORDED_RWLOCK);
	add(side, "a\nb", 0x4c200, RECORDED_RWLOCK);
	assert_holds(side, "holds b->mu (mutex at 0x4c0c0), rwlock at 0x4c100, "
			   "for writing, a\\x0ab (rwlock at 0x4c200, for "
			   "writing)");
}

static void what_was_not_looked_for_is_not_said(void **state)
{
	struct race *race = *state;

	add(&race->sides[1], "mu", 1, RECORDED_MUTEX);
	race->sides[0].locks_known = false;
	assert_holds(&race->sides[0], "");
	assert_pair(race, "");
}

static void without_locks_there_is_nothing_to_compare(void **state)
{
	assert_pair(*state, "");
}

static void one_side_holds_what_the_other_does_not(void **state)
{
	struct race *race = *state;

	add(&race->sides[1], "b->mu", 0x10, RECORDED_MUTEX);
	assert_pair(race,
		    "thread 13 \"b\" holds b->mu, thread 12 \"a\" does not");
	add(&race->sides[1], NULL, 0x20, RECORDED_MUTEX);
	assert_pair(race, "thread 13 \"b\" holds b->mu, mutex at 0x20; thread "
			  "12 \"a\" none of them");
}

static void each_holds_one_of_its_own(void **state)
{
	struct race *race = *state;

	add(&race->sides[0], "mu", 0x10, RECORDED_MUTEX);
	add(&race->sides[1], "mu", 0x20, RECORDED_MUTEX);
	assert_pair(race, "thread 12 \"a\" holds mu, thread 13 \"b\" holds mu; "
			  "no common lock was found");
	/* the same address of another process is another lock */
	add(&race->sides[1], "mu", 0x10, RECORDED_MUTEX);
	race->sides[1].pid = 15;
	assert_pair(race, "thread 12 \"a\" holds mu, thread 13 \"b\" holds mu, "
			  "mu; no common lock was found");
	race->sides[1].pid = 11;
	assert_pair(race, "both hold mu");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_side_holds_locks_with_names_or_without),
		TEST(what_was_not_looked_for_is_not_said),
		TEST(without_locks_there_is_nothing_to_compare),
		TEST(one_side_holds_what_the_other_does_not),
		TEST(each_holds_one_of_its_own),
	};

	return cmocka_run_group_tests_name("phrase-locks", tests, NULL, NULL);
}
