/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sweep/unseen.c: what is said of how much is unseen, by what is known.
 */
#include "sweep/unseen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "sweep/species.h"

static void says(const uint64_t *times, size_t n, uint64_t samples,
		 const char *wanted)
{
	struct species_counts counts = species_count(times, n, samples);
	struct species_estimate estimate = species_estimate_incidence(&counts);
	struct strbuf out = { 0 };

	unseen_add_text(&out, &counts, &estimate);
	assert_string_equal(strbuf_text(&out), wanted);
	strbuf_deinit(&out);
}

static void without_samples_nothing_is_known(void **state)
{
	(void)state;
	says(NULL, 0, 0,
	     "  unseen: no run took a sample of its own modules: nothing is "
	     "known\n");
}

static void without_races_only_the_next_run_is_told(void **state)
{
	(void)state;
	/* the Poisson limit of no event is 3.0 */
	says(NULL, 0, 100,
	     "  unseen: one more such run shows a new race with probability "
	     "0.0 %, at most 3.0 % (Good-Turing, 95 %)\n");
}

static void the_total_takes_a_race_of_two_runs(void **state)
{
	static const uint64_t times[] = { 1, 5, 1 };

	(void)state;
	says(times, 3, 10,
	     "  unseen: one more such run shows a new race with probability "
	     "20 %, at most 63 % (Good-Turing, 95 %)\n"
	     "  unseen: how many races there are in all cannot be estimated "
	     "yet: none was seen in exactly two runs\n");
}

static void the_total_by_chao2(void **state)
{
	static const uint64_t times[] = { 1, 1, 1, 2 };

	(void)state;
	/* 4 + 4 / 5 * 3 * 3 / (2 * 1) */
	says(times, 4, 5,
	     "  unseen: one more such run shows a new race with probability "
	     "60 %, at most 100.0 % (Good-Turing, 95 %)\n"
	     "  unseen: about 7.6 races in all, of which 4 were seen (Chao2, "
	     "95 %: 4.4 to 37.2); sample coverage 49 %\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_samples_nothing_is_known),
		cmocka_unit_test(without_races_only_the_next_run_is_told),
		cmocka_unit_test(the_total_takes_a_race_of_two_runs),
		cmocka_unit_test(the_total_by_chao2),
	};

	return cmocka_run_group_tests_name("unseen", tests, NULL, NULL);
}
