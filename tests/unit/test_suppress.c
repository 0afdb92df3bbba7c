/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/judge/suppress.c and the files behind it: what a rule's text means, which
 * races it matches, and that what is written for a race matches that race.
 */
#include "judge/suppress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "sample-race.h"

static struct error *parse(struct suppressions *rules, const char *text)
{
	return suppressions_parse(rules, "team.supp", text, strlen(text));
}

/* Whether these rules suppress the race. */
static bool suppresses(const char *text, const struct race *like)
{
	struct suppressions rules;
	struct race race = *like;
	bool settled, suppressed;

	suppressions_init(&rules);
	assert_null(parse(&rules, text));
	assert_null(race.suppressed.rule);
	assert_null(suppressions_judge(&rules, &race, &settled));
	suppressed = race.suppressed.rule;
	free(race.suppressed.rule);
	free(race.suppressed.file);
	free(race.suppressed.reason);
	free(race.suppressed.bug);
	suppressions_deinit(&rules);
	return suppressed;
}

#define HITS(text) assert_true(suppresses(text, *state))
#define MISSES(text) assert_false(suppresses(text, *state))

static void race_matches_any_frame_of_either_side(void **state)
{
	HITS("race:shard_add");
	HITS("race:^filler$");
	HITS("race:evictor\n");
	HITS("  race:shard_*t  \r\n");
	HITS("race:cache.c");
	HITS("race:/usr/bin/cache");
	MISSES("race:loader");
	MISSES("race:^add");
}

static void race_matches_the_global_variable(void **state)
{
	struct race *race = *state;

	HITS("race:^shards$");
	HITS("race:shards[3].used");
	race->variable.region = REGION_HEAP;
	MISSES("race:^shards$");
	race->variable.region = REGION_GLOBAL;
}

static void race_top_matches_the_innermost_only(void **state)
{
	HITS("race_top:shard_add");
	HITS("race_top:shard_evict");
	MISSES("race_top:^filler$");
}

static void the_kernel_goes_by_the_calls_name(void **state)
{
	struct race *race = *state;

	MISSES("race_top:^read$");
	sample_set(&race->sides[1].syscall, "read");
	HITS("race_top:^read$");
	HITS("race:^read$");
	HITS("function:^read$");
	sample_set(&race->sides[1].syscall, NULL);
}

static void called_from_lib_is_about_the_c_librarys_caller(void **state)
{
	struct race *race = *state;
	struct race_frame *top = vec_at(&race->sides[0].frames, 0);

	/* it made the access itself */
	MISSES("called_from_lib:cache");
	sample_set(&top->module, "/lib/libc.so.6");
	HITS("called_from_lib:cache");
	MISSES("called_from_lib:libc");
	sample_set(&top->module, "/usr/bin/cache");
	sample_set(&race->sides[1].syscall, "read");
	HITS("called_from_lib:cache");
	sample_set(&race->sides[1].syscall, NULL);
}

static void names_of_one_kind_match_that_kind(void **state)
{
	HITS("function:filler");
	MISSES("function:cache.c");
	HITS("file:src/cache.c$");
	MISSES("file:filler");
	HITS("module:^/usr/bin/");
	MISSES("module:shard");
	HITS("variable:^shards[*].used$");
	HITS("variable:^shards$");
	MISSES("variable:cache");
	HITS("type:^struct shard$");
	HITS("type:^long$");
	MISSES("type:int");
}

static void code_is_a_place_on_either_stack(void **state)
{
	HITS("code:00aa11bb+0x1179");
	HITS("code:00AA11BB+0x1216");
	HITS("code:cache+0x1179");
	HITS("code:/usr/bin/cache+0x11a0");
	MISSES("code:00aa11bb+0x117a");
	MISSES("code:00aa11b+0x1179");
	MISSES("code:ache+0x1179");
}

static void an_address_holds_the_whole_overlap(void **state)
{
	HITS("address:0x5555555580c8-0x5555555580cf");
	HITS("address:0x5555555580c0-0x5555555580df");
	MISSES("address:0x5555555580c8-0x5555555580ce");
	MISSES("address:0x5555555580c9-0x5555555580ff");
	MISSES("address:0x5555555580c8");
	HITS("address:cache+0x40c8-0x40cf");
	HITS("address:cache+0x0-0xffffffffffffffff");
	MISSES("address:cache+0x40c8");
	MISSES("address:other+0x40c8-0x40cf");
}

static void a_fingerprint_of_either_kind_matches(void **state)
{
	struct race *race = *state;
	char text[64];

	assert_true(race_fingerprint(race));
	snprintf(text, sizeof(text), "fingerprint:%s", race->fingerprint);
	HITS(text);
	snprintf(text, sizeof(text), "fingerprint:%s", race->fingerprint_code);
	HITS(text);
	MISSES("fingerprint:00000000000000000000000000000000");
}

static void conditions_of_a_rule_must_all_hold(void **state)
{
	HITS("race_top:shard_add\nand:variable:shards");
	MISSES("race_top:shard_add\nand:variable:other");
	/* of one and the same side */
	HITS("race_top:shard_add\nand:function:filler");
	MISSES("race_top:shard_add\nand:function:evictor");
}

static void a_pair_is_in_no_order(void **state)
{
	HITS("race_top:shard_add\nagainst:race_top:shard_evict");
	HITS("race_top:shard_evict\nagainst:race_top:shard_add");
	MISSES("race_top:shard_add\nagainst:race_top:shard_add");
	MISSES("race_top:shard_add\nagainst:function:filler");
	HITS("variable:shards\nagainst:function:filler");
}

static void alternatives_are_each_enough(void **state)
{
	HITS("race:nothing\nor:race:shard_add");
	HITS("race:shard_add\nor:race:nothing");
	MISSES("race:nothing\nor:race:nobody\nand:variable:shards");
}

static void a_side_not_seen_matches_no_name(void **state)
{
	struct race unknown;

	(void)state;
	sample_unknown(&unknown);
	sample_frame(&unknown.sides[0], "shard_add", 11, 0x1179);
	assert_true(suppresses("race:shard_add", &unknown));
	assert_false(suppresses("race:shard_add\nagainst:race:*", &unknown));
	race_deinit(&unknown);
}

static bool settles(const char *text, struct race *race)
{
	struct suppressions rules;
	bool settled = false;

	suppressions_init(&rules);
	assert_null(parse(&rules, text));
	assert_null(suppressions_judge(&rules, race, &settled));
	assert_null(suppressions_judge_again(&rules, race));
	assert_non_null(race->suppressed.rule);
	suppressions_deinit(&rules);
	return settled;
}

/* The racing thread of the sample was not seen. */
static void make_one_sided(struct race *race)
{
	for (size_t i = race->sides[1].frames.count; i > 0; i--)
		race_frames_drop_first(&race->sides[1].frames);
	race->sides[1].role = RACE_UNKNOWN;
	race->evidence = EVIDENCE_VALUE_CHANGE;
}

static void a_pair_on_a_variable_matches_the_side_that_was_seen(void **state)
{
	make_one_sided(*state);
	HITS("race_top:shard_add\nagainst:race_top:shard_evict\n"
	     "and:variable:shards");
	HITS("race_top:shard_evict\nagainst:race_top:shard_add\n"
	     "and:address:cache+0x40c8-0x40cf");
	/* this side is another, or of another variable, or of any */
	MISSES("race_top:shard_get\nagainst:race_top:shard_evict\n"
	       "and:variable:shards");
	MISSES("race_top:shard_add\nagainst:race_top:shard_evict\n"
	       "and:variable:other");
	MISSES("race_top:shard_add\nagainst:race_top:shard_evict");
	/* nothing is said of the side that was seen */
	MISSES("race:shards\nagainst:race_top:shard_evict\n"
	       "and:variable:shards");
	MISSES("variable:shards\nagainst:race_top:shard_evict");
	MISSES("race_top:shard_evict\nand:variable:shards");
}

static void a_pair_of_instructions_matches_the_one_that_was_seen(void **state)
{
	make_one_sided(*state);
	HITS("code:cache+0x1179\nagainst:code:cache+0x1216");
	HITS("code:cache+0x1216\nagainst:code:cache+0x1179");
	MISSES("code:cache+0x117a\nagainst:code:cache+0x1216");
	/* a call on the way says nothing of the instruction */
	MISSES("code:cache+0x11a0\nagainst:code:cache+0x1216");
}

/* Its location is sampled on: the other side may turn out to be another one. */
static void what_may_be_the_pair_settles_nothing(void **state)
{
	struct race *race = *state;

	make_one_sided(race);
	assert_false(settles("race_top:shard_add\n"
			     "against:race_top:shard_evict\n"
			     "and:variable:shards",
			     race));
	assert_true(settles("race_top:shard_add\nand:variable:shards", race));
}

static void values_are_those_of_all_sightings(void **state)
{
	static const uint8_t same[X86_ACCESS_MAX] = { 5 };
	static const uint8_t other[X86_ACCESS_MAX] = { 0x85 };
	struct race *race = *state;

	memset(race->changed, 0, sizeof(race->changed));
	assert_true(race_add_values(race, same, same, 1));
	HITS("variable:shards\nand:values:unchanged");
	HITS("variable:shards\nand:bits:0x1");
	assert_true(race_add_values(race, same, other, 1));
	MISSES("variable:shards\nand:values:unchanged");
	MISSES("variable:shards\nand:bits:0x1");
	HITS("variable:shards\nand:bits:0x80");
	HITS("variable:shards\nand:bits:0xffffffffffffffff");
	race->changed[8] = 1;
	MISSES("variable:shards\nand:bits:0xffffffffffffffff");
	memset(race->changed, 0, sizeof(race->changed));
}

static void a_changed_value_takes_the_suppression_back(void **state)
{
	static const uint8_t same[X86_ACCESS_MAX] = { 5 };
	static const uint8_t other[X86_ACCESS_MAX] = { 6 };
	struct suppressions rules;
	struct race *race = *state;
	bool settled;

	suppressions_init(&rules);
	assert_null(parse(&rules, "variable:shards\nand:values:unchanged"));
	assert_null(suppressions_judge(&rules, race, &settled));
	assert_non_null(race->suppressed.rule);
	assert_false(settled);
	assert_true(race_add_values(race, same, same, 1));
	assert_null(suppressions_judge_again(&rules, race));
	assert_non_null(race->suppressed.rule);
	assert_true(race_add_values(race, same, other, 1));
	assert_null(suppressions_judge_again(&rules, race));
	assert_null(race->suppressed.rule);
	suppressions_deinit(&rules);
	memset(race->changed, 0, sizeof(race->changed));
}

static void the_first_rule_is_named_and_all_are_used(void **state)
{
	static const char text[] = "# ours\n"
				   "race:nothing\n"
				   "race:shard_add\n"
				   "and:variable:shards\n"
				   "  reason: for the status page\n"
				   "  bug: CACHE-17\n"
				   "race:shard_evict\n";
	struct suppressions rules;
	struct race *race = *state;
	const struct suppress_rule *rule;
	bool settled = false;

	suppressions_init(&rules);
	assert_null(parse(&rules, text));
	assert_int_equal(rules.rules.count, 3);
	assert_null(suppressions_judge(&rules, race, &settled));
	assert_true(settled);
	assert_string_equal(race->suppressed.rule,
			    "race:shard_add and:variable:shards");
	assert_string_equal(race->suppressed.file, "team.supp");
	assert_int_equal(race->suppressed.line, 3);
	assert_string_equal(race->suppressed.reason, "for the status page");
	assert_string_equal(race->suppressed.bug, "CACHE-17");
	rule = rules.rules.items;
	assert_int_equal(rule[0].used, 0);
	assert_int_equal(rule[1].used, 1);
	assert_int_equal(rule[2].used, 1);
	suppressions_deinit(&rules);
	race_deinit(race);
	sample_race(race);
}

static void an_expired_rule_does_not_apply(void **state)
{
	static const char text[] = "race:shard_add\nexpires:2027-02-28\n";
	struct race *race = *state;
	const struct suppress_rule *rule;
	struct suppressions rules;
	bool settled;

	suppressions_init(&rules);
	rules.today = 20878; /* 2027-03-01 */
	assert_null(parse(&rules, text));
	assert_null(suppressions_judge(&rules, race, &settled));
	assert_null(race->suppressed.rule);
	rule = rules.rules.items;
	assert_true(rule->expired);
	assert_int_equal(rule->used, 1);
	suppressions_deinit(&rules);

	suppressions_init(&rules);
	rules.today = 20877; /* the last day */
	assert_null(parse(&rules, text));
	rule = rules.rules.items;
	assert_false(rule->expired);
	suppressions_deinit(&rules);
	HITS("race:shard_add\nexpires:2999-02-28");
	MISSES("race:shard_add\nexpires:2000-02-29");
}

static void other_kinds_of_threadsanitizer_are_passed_over(void **state)
{
	struct suppressions rules;
	const struct suppress_rule *rule;

	MISSES("mutex:shard_add\ndeadlock:*\nthread:*\nsignal:*\n");
	HITS("\xef\xbb\xbf"
	     "mutex:x\nrace:shard_add");
	suppressions_init(&rules);
	assert_null(parse(&rules, "deadlock:libfoo.so"));
	rule = rules.rules.items;
	assert_true(rule->ignored);
	suppressions_deinit(&rules);
}

/* The error's message, or "" when there was none. */
static void refused(const char *text, const char *wanted)
{
	struct suppressions rules;
	struct error *err;

	suppressions_init(&rules);
	err = parse(&rules, text);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_FORMAT);
	if (!strstr(err->message, wanted))
		fail_msg("\"%s\" lacks \"%s\"", err->message, wanted);
	assert_int_equal(rules.rules.count, 0);
	error_free(err);
	suppressions_deinit(&rules);
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
	(void)state;
	refused("race:x\nracee:y\n", "team.supp:2: not KIND:PATTERN");
	refused("\n\nshard_add\n", "team.supp:3: ");
	refused("race:", "team.supp:1: a pattern is missing");
	refused("race:^$", "a pattern is missing");
	refused("and:race:x", "there is no rule before this");
	refused("reason:x", "there is no rule before this");
	refused("race:x\nagainst:variable:y", "not about a side");
	refused("race:x\nagainst:or:y", "not KIND:PATTERN");
	refused("code:00aa", "BUILD-ID+0xOFFSET");
	refused("code:+0x1", "BUILD-ID+0xOFFSET");
	refused("code:a+1", "BUILD-ID+0xOFFSET");
	refused("code:a+0x1-0x2", "BUILD-ID+0xOFFSET");
	refused("code:a+0x11111111111111111", "BUILD-ID+0xOFFSET");
	refused("address:0x2-0x1", "0xFIRST-0xLAST");
	refused("address:0x", "0xFIRST-0xLAST");
	refused("fingerprint:abc", "32 hexadecimal digits");
	refused("race:x\nand:values:same", "not 'unchanged'");
	refused("race:x\nand:bits:7", "not a mask");
	refused("values:unchanged", "alone fit too many");
	refused("race:x\nor:bits:0x1\n", "team.supp:1: 'values:'");
	refused("race:x\nreason:a\nreason:b", "team.supp:3: said twice");
	refused("race:x\nreason:", "nothing is said here");
	refused("race:x\nexpires:soon", "not a date");
	refused("race:x\nexpires:2027-02-29", "not a date");
	refused("race:x\nexpires:2027-13-01", "not a date");
	refused("{\n   name\n", "Valgrind");
	refused("race:\x1b[31m\nbad\x1b[31m", "\\x1b");
}

static void zero_bytes_are_refused(void **state)
{
	static const char text[] = "race:a\nrace:b\0c\n";
	struct suppressions rules;
	struct error *err;

	(void)state;
	suppressions_init(&rules);
	err = suppressions_parse(&rules, "x", text, sizeof(text) - 1);
	assert_non_null(err);
	assert_string_equal(err->message,
			    "x:2: a zero byte; is this text?: ''");
	error_free(err);
	suppressions_deinit(&rules);
}

static void files_that_cannot_be_read_are_named(void **state)
{
	struct suppressions rules;
	struct error *err;

	(void)state;
	suppressions_init(&rules);
	err = suppressions_read(&rules, "/no/such/file");
	assert_non_null(strstr(error_message(err), "/no/such/file"));
	error_free(err);
	err = suppressions_read(&rules, "/");
	assert_non_null(err);
	error_free(err);
	/* without an end */
	err = suppressions_read(&rules, "/dev/zero");
	assert_non_null(strstr(error_message(err), "/dev/zero"));
	error_free(err);
	suppressions_deinit(&rules);
}

static void written_for(const struct race *race, const char *part)
{
	struct strbuf text = { 0 };

	suppression_write(&text, race);
	assert_false(text.failed);
	if (!suppresses(strbuf_text(&text), race))
		fail_msg("does not suppress its race:\n%s", strbuf_text(&text));
	if (!strstr(strbuf_text(&text), part))
		fail_msg("lacks \"%s\":\n%s", part, strbuf_text(&text));
	strbuf_deinit(&text);
}

static void what_is_written_suppresses_the_race(void **state)
{
	struct race *race = *state;
	struct race_frame *top = vec_at(&race->sides[1].frames, 0);
	struct race unknown;

	assert_true(race_fingerprint(race));
	written_for(race, "race_top:^shard_add$\n"
			  "against:race_top:^shard_evict$\n"
			  "and:variable:^shards[*].used$\n"
			  "or:code:00aa11bb+0x1179\n"
			  "against:code:00aa11bb+0x1216\n"
			  "or:fingerprint:");
	/* any element of a map, by whatever key */
	sample_set(&race->variable.name, "reg.items[\"a-1\"].used");
	written_for(race, "and:variable:^reg.items[*].used$\n");
	sample_set(&race->variable.name, "reg.counts[-7]");
	written_for(race, "and:variable:^reg.counts[*]$\n");
	sample_set(&race->variable.name, "chain[?].row[1..2]");
	written_for(race, "and:variable:^chain[*].row[1..2]$\n");
	sample_set(&race->variable.name, "shards[3].used");
	/* marks in a name; a line break in one would begin another rule */
	sample_set(&top->function, "std::f<$_0>\nrace:*");
	written_for(race, "against:race_top:^std::f<*_0>*race:*$\n");
	/* in the C library: with its caller */
	sample_set(&top->function, "__memmove_avx");
	sample_set(&top->module, "/lib/libc.so.6");
	written_for(race, "against:code:00aa11bb+0x1216\n"
			  "against:code:00aa11bb+0x1240\n");
	/* without symbols */
	sample_set(&top->function, NULL);
	written_for(race, "bytes\ncode:00aa11bb+0x1179\n");
	sample_set(&top->build_id, NULL);
	written_for(race, "against:code:libc.so.6+0x1216\n");

	sample_unknown(&unknown);
	assert_true(race_fingerprint(&unknown));
	written_for(&unknown, "not seen");
	race_deinit(&unknown);
	race_deinit(race);
	sample_race(race);
}

static int make_race(void **state)
{
	static struct race race;

	sample_race(&race);
	*state = &race;
	return 0;
}

static int end_race(void **state)
{
	race_deinit(*state);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_race, end_race)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(race_matches_any_frame_of_either_side),
		TEST(race_matches_the_global_variable),
		TEST(race_top_matches_the_innermost_only),
		TEST(the_kernel_goes_by_the_calls_name),
		TEST(called_from_lib_is_about_the_c_librarys_caller),
		TEST(names_of_one_kind_match_that_kind),
		TEST(code_is_a_place_on_either_stack),
		TEST(an_address_holds_the_whole_overlap),
		TEST(a_fingerprint_of_either_kind_matches),
		TEST(conditions_of_a_rule_must_all_hold),
		TEST(a_pair_is_in_no_order),
		TEST(alternatives_are_each_enough),
		TEST(a_side_not_seen_matches_no_name),
		TEST(a_pair_on_a_variable_matches_the_side_that_was_seen),
		TEST(a_pair_of_instructions_matches_the_one_that_was_seen),
		TEST(what_may_be_the_pair_settles_nothing),
		TEST(values_are_those_of_all_sightings),
		TEST(a_changed_value_takes_the_suppression_back),
		TEST(the_first_rule_is_named_and_all_are_used),
		TEST(an_expired_rule_does_not_apply),
		TEST(other_kinds_of_threadsanitizer_are_passed_over),
		TEST(what_is_wrong_is_told_with_its_line),
		TEST(zero_bytes_are_refused),
		TEST(files_that_cannot_be_read_are_named),
		TEST(what_is_written_suppresses_the_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
