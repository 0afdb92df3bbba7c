/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/document.c: races kept until a document is written. */
#include "report/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "report/race.h"
#include "report/render.h"
#include "sample-race.h"

static void put(struct document *document, uint64_t id,
		enum race_verdict verdict, const char *text)
{
	struct race race = { .id = id, .verdict = verdict };
	struct strbuf buf = { 0 };

	strbuf_add(&buf, text);
	assert_null(document_put(document, &race, &buf));
}

static const char *text_at(const struct document *document, size_t i)
{
	return ((struct document_part *)vec_at(&document->parts, i))->text;
}

static void later_record_takes_the_place_of_the_earlier(void **state)
{
	struct document document;

	(void)state;
	document_init(&document);
	put(&document, 7, VERDICT_SUSPECT, "seven");
	put(&document, 1, VERDICT_SUSPECT, "one");
	put(&document, 7, VERDICT_UNLIKELY, "seven again");
	assert_int_equal(document.parts.count, 2);
	assert_int_equal(document_count(&document, DOCUMENT_UNLIKELY), 1);
	document_sort(&document);
	assert_string_equal(text_at(&document, 0), "one");
	assert_string_equal(text_at(&document, 1), "seven again");
	document_deinit(&document);
}

static void unlikely_ones_fail_unless_they_are_ignored(void **state)
{
	struct document document;

	(void)state;
	document_init(&document);
	put(&document, 1, VERDICT_SYNC, "sync");
	put(&document, 2, VERDICT_UNLIKELY, "unlikely");
	put(&document, 3, VERDICT_SUSPECT, "suspect");
	put(&document, 4, VERDICT_HARMFUL, "harmful");
	assert_int_equal(document_failures(&document, false), 3);
	assert_int_equal(document_failures(&document, true), 2);
	document_deinit(&document);
}

static void what_is_to_be_acted_on_comes_first(void **state)
{
	struct document document;

	(void)state;
	document_init(&document);
	document_sort(&document);
	put(&document, 1, VERDICT_SYNC, "sync");
	put(&document, 2, VERDICT_UNLIKELY, "unlikely");
	put(&document, 4, VERDICT_SUSPECT, "suspect 4");
	put(&document, 3, VERDICT_SUSPECT, "suspect 3");
	put(&document, 5, VERDICT_HARMFUL, "harmful");
	document_sort(&document);
	assert_string_equal(text_at(&document, 0), "harmful");
	assert_string_equal(text_at(&document, 1), "suspect 3");
	assert_string_equal(text_at(&document, 2), "suspect 4");
	assert_string_equal(text_at(&document, 3), "unlikely");
	assert_string_equal(text_at(&document, 4), "sync");
	document_deinit(&document);
}

static void without_an_effect_is_the_last_of_its_rank(void **state)
{
	static char replayed[] = RACE_REPLAY_SAME_NAME;
	struct race race = { .id = 1,
			     .verdict = VERDICT_UNLIKELY,
			     .reason = replayed };
	struct document document;
	struct strbuf buf = { 0 };

	(void)state;
	document_init(&document);
	strbuf_add(&buf, "replayed");
	assert_null(document_put(&document, &race, &buf));
	put(&document, 2, VERDICT_UNLIKELY, "unlikely");
	put(&document, 3, VERDICT_SYNC, "sync");
	assert_int_equal(document_failures(&document, false), 2);
	document_sort(&document);
	assert_string_equal(text_at(&document, 0), "unlikely");
	assert_string_equal(text_at(&document, 1), "replayed");
	assert_string_equal(text_at(&document, 2), "sync");
	document_deinit(&document);
}

static void suppressed_goes_before_known(void **state)
{
	struct race race;

	(void)state;
	sample_race(&race);
	assert_int_equal(document_rank(&race), DOCUMENT_SUSPECT);
	race.status = STATUS_NEW;
	assert_int_equal(document_rank(&race), DOCUMENT_SUSPECT);
	race.status = STATUS_KNOWN;
	assert_int_equal(document_rank(&race), DOCUMENT_KNOWN);
	sample_set(&race.suppressed.rule, "race:f");
	assert_int_equal(document_rank(&race), DOCUMENT_SUPPRESSED);
	race_deinit(&race);
}

static void formats_are_found_by_name(void **state)
{
	(void)state;
	assert_ptr_equal(render_find("sarif"), &render_sarif);
	assert_ptr_equal(render_find("text"), &render_text);
	assert_null(render_find("pdf"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(later_record_takes_the_place_of_the_earlier),
		cmocka_unit_test(unlikely_ones_fail_unless_they_are_ignored),
		cmocka_unit_test(what_is_to_be_acted_on_comes_first),
		cmocka_unit_test(without_an_effect_is_the_last_of_its_rank),
		cmocka_unit_test(suppressed_goes_before_known),
		cmocka_unit_test(formats_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
