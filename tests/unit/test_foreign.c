/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/foreign: reports of ThreadSanitizer, Helgrind and DRD, recorded from these
 * tools (but for Go's, which is written by its documentation), whole, damaged and
 * with other output in between. They are the corpus of tests/fuzz/fuzz_foreign.c.
 */
#include "foreign/foreign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/race.h"

static char *load(const char *name)
{
	const char *top = getenv("top_srcdir");
	struct strbuf path = { 0 };
	char *text = calloc(1, 1 << 16);
	FILE *file;

	assert_non_null(text);
	strbuf_addf(&path, "%s/tests/fuzz/corpus/foreign/%s", top ? top : ".",
		    name);
	file = fopen(strbuf_text(&path), "re");
	if (!file)
		fail_msg("%s cannot be opened", strbuf_text(&path));
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	assert_true(feof(file));
	fclose(file);
	strbuf_deinit(&path);
	return text;
}

static void parse(const char *text, struct foreign_report *ret)
{
	assert_null(
		foreign_parse(FOREIGN_AUTO, "file", text, strlen(text), ret));
}

static void parse_file(const char *name, struct foreign_report *ret)
{
	char *text = load(name);

	parse(text, ret);
	free(text);
}

static const struct race *race_at(const struct foreign_report *report, size_t i)
{
	assert_in_range(i, 0, report->races.count - 1);
	return *(struct race **)vec_at(&report->races, i);
}

static void has_frame(const struct vec *frames, size_t i, const char *function,
		      const char *file, int line)
{
	const struct race_frame *frame;

	assert_true(i < frames->count);
	frame = vec_at(frames, i);
	assert_string_equal(frame->function, function);
	assert_int_equal(frame->line, line);
	assert_true(file == NULL || strcmp(frame->file, file) == 0);
}

static void has_access(const struct race *race, int side, unsigned int access,
		       uint32_t size, const char *thread)
{
	assert_int_equal(race->sides[side].role, RACE_RACING);
	assert_int_equal(race->sides[side].access, access);
	assert_int_equal(race->sides[side].size, size);
	assert_string_equal(race->sides[side].thread, thread);
}

static void tsan_of_gcc(void **state)
{
	struct foreign_report report;
	const struct race *race;
	const struct race_frame *frame;

	(void)state;
	parse_file("tsan-gcc", &report);
	assert_int_equal(report.races.count, 2);
	assert_int_equal(report.malformed, 0);
	race = race_at(&report, 0);
	assert_int_equal(race->evidence, EVIDENCE_REPORTED);
	assert_string_equal(race->backend, "tsan");
	assert_int_equal(race->pid, 18149);
	assert_int_equal(race->address, 0x5555555580f8);
	has_access(race, 0, ACCESS_READ, 8, "T2");
	has_access(race, 1, ACCESS_WRITE, 8, "T1");
	assert_int_equal(race->sides[0].tid, 18160);
	has_frame(&race->sides[0].frames, 0, "add", "/src/shards.c", 9);
	has_frame(&race->sides[0].frames, 1, "two", "/src/shards.c", 13);
	assert_int_equal(race->sides[0].frames.count, 2);
	frame = vec_at(&race->sides[0].frames, 0);
	assert_string_equal(frame->module, "shards");
	assert_int_equal(frame->offset, 0x1218);
	/* not those of the mutex, which come between */
	assert_int_equal(race->sides[1].frames.count, 2);
	has_frame(&race->sides[1].created, 1, "main", "/src/shards.c", 15);
	assert_string_equal(race->variable.symbol, "shards");
	assert_int_equal(race->variable.offset, 24);
	assert_string_equal(race->variable.module, "shards");
	assert_int_equal(race->variable.module_offset, 0x4110);
	race = race_at(&report, 1);
	assert_int_equal(race->variable.region, REGION_HEAP);
	assert_string_equal(race->variable.name,
			    "bytes 0..7 of a block of 8 of main");
	foreign_report_deinit(&report);
}

static void tsan_of_clang(void **state)
{
	struct foreign_report report;
	const struct race *race;
	const struct race_frame *frame;

	(void)state;
	parse_file("tsan-clang", &report);
	assert_int_equal(report.races.count, 2);
	race = race_at(&report, 0);
	frame = vec_at(&race->sides[0].frames, 0);
	assert_int_equal(frame->line, 9);
	assert_int_equal(frame->column, 78);
	assert_string_equal(frame->build_id,
			    "72d64a56fc0435712620c1c55b5e1f06220628c6");
	race = race_at(&report, 1);
	has_frame(&race->sides[0].frames, 0, "memcpy", NULL, 0);
	has_frame(&race->sides[0].frames, 1, "put", "/src/shards.c", 10);
	has_access(race, 1, ACCESS_READ, 1, "T2");
	foreign_report_deinit(&report);
}

static void tsan_of_cxx(void **state)
{
	struct foreign_report report;
	const struct race *race;
	const struct race_frame *frame;

	(void)state;
	parse_file("tsan-cxx", &report);
	assert_int_equal(report.races.count, 1);
	race = race_at(&report, 0);
	has_frame(&race->sides[0].frames, 0,
		  "std::vector<int, std::allocator<int> >::size",
		  "/usr/include/c++/12/bits/stl_vector.h", 988);
	has_frame(&race->sides[0].frames, 1, "jobs::queue<int>::size",
		  "/src/queue.cc", 9);
	has_frame(&race->sides[0].frames, 3,
		  "__invoke_impl<void, main()::<lambda()> >", NULL, 61);
	frame = vec_at(&race->sides[0].frames, 0);
	assert_true(frame->inlined);
	frame = vec_at(&race->sides[0].frames, 7);
	assert_false(frame->inlined);
	frame = vec_at(&race->sides[0].frames, 8);
	assert_null(frame->function);
	assert_string_equal(frame->module, "libstdc++.so.6");
	foreign_report_deinit(&report);
}

/* "/home/me/my src (x86)/my prog.c" */
static void files_may_have_blanks(void **state)
{
	struct foreign_report report;
	const struct race *race;
	const struct race_frame *frame;

	(void)state;
	parse_file("tsan-spaces", &report);
	assert_int_equal(report.malformed, 0);
	assert_int_equal(report.races.count, 2);
	race = race_at(&report, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(race->sides[i].frames.count, 1);
		has_frame(&race->sides[i].frames, 0, "f",
			  "/home/me/my src (x86)/my prog.c", 3);
		frame = vec_at(&race->sides[i].frames, 0);
		assert_string_equal(frame->module, "my prog");
	}
	assert_string_equal(race->variable.module, "my prog");
	/* of clang, and a function that has a blank, too */
	race = race_at(&report, 1);
	has_frame(&race->sides[0].frames, 0, "ns::Box::operator bool",
		  "/home/me/my src (x86)/op er.cc", 2);
	frame = vec_at(&race->sides[0].frames, 0);
	assert_string_equal(frame->module, "op clang");
	assert_int_equal(frame->column, 106);
	has_frame(&race->sides[1].frames, 0, "ns::Box::operator()",
		  "/home/me/my src (x86)/op er.cc", 2);
	foreign_report_deinit(&report);
}

/* TSAN_OPTIONS=color=always, or on a terminal */
static void colors_are_passed_over(void **state)
{
	struct foreign_report report;
	const struct race *race;

	(void)state;
	parse_file("tsan-color", &report);
	assert_int_equal(report.malformed, 0);
	assert_int_equal(report.races.count, 1);
	race = race_at(&report, 0);
	has_access(race, 0, ACCESS_READ, 4, "T2");
	has_access(race, 1, ACCESS_WRITE, 4, "T1");
	assert_string_equal(race->variable.symbol, "n");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(race->sides[i].frames.count, 1);
		assert_int_equal(race->sides[i].created.count, 2);
		assert_true(race->sides[i].tid > 0);
	}
	foreign_report_deinit(&report);
}

static void names_may_have_parentheses(void **state)
{
	static const char tsan[] =
		"WARNING: ThreadSanitizer: data race (pid=1)\n"
		"  Read of size 4 at 0x7b04 by thread T1:\n"
		"    #0 Q::operator/(int) const /s (1)/t (x).cc:4:9 (c (2)+0xd5) "
		"(BuildId: 72d6)\n"
		"  Previous write of size 4 at 0x7b04 by main thread:\n"
		"    #0 main /s (1)/t (x).cc:8 (c (2)+0xe6)\n"
		"    #1 <null> <null> (c (2)+0xf7)\n";
	static const char helgrind[] =
		"==1== Helgrind, a thread error detector\n"
		"==1== Possible data race during read of size 4 at 0x10C038 by "
		"thread #2\n"
		"==1== Locks held: none\n"
		"==1==    at 0x109163: Q::operator/(int) const (t (x).cc:4)\n"
		"==1== This conflicts with a previous write of size 4 by thread "
		"#1\n"
		"==1== Locks held: none\n"
		"==1==    at 0x109193: main (t (x).cc:8)\n";
	struct foreign_report report;
	const struct race *race;
	const struct race_frame *frame;

	(void)state;
	parse(tsan, &report);
	race = race_at(&report, 0);
	has_frame(&race->sides[0].frames, 0, "Q::operator/", "/s (1)/t (x).cc",
		  4);
	has_frame(&race->sides[1].frames, 0, "main", "/s (1)/t (x).cc", 8);
	assert_int_equal(race->sides[1].frames.count, 2);
	for (size_t i = 0; i < 3; i++) {
		frame = vec_at(&race->sides[i > 0].frames, i == 2);
		assert_string_equal(frame->module, "c (2)");
	}
	foreign_report_deinit(&report);
	parse(helgrind, &report);
	race = race_at(&report, 0);
	has_frame(&race->sides[0].frames, 0, "Q::operator/", "t (x).cc", 4);
	has_frame(&race->sides[1].frames, 0, "main", "t (x).cc", 8);
	foreign_report_deinit(&report);
}

/* "by 0x1091A7: ??? (in /home/me/my src (x86)/prog)" */
static void modules_of_valgrind_may_have_blanks(void **state)
{
	struct foreign_report report;
	char *text = load("helgrind-stripped");
	struct strbuf other = { 0 };
	const char *at, *rest = text;
	const struct race_frame *frame;

	(void)state;
	while ((at = strstr(rest, "(in /")) != NULL) {
		strbuf_addf(&other, "%.*s(in /my src (x86)/", (int)(at - rest),
			    rest);
		rest = at + strlen("(in /");
	}
	strbuf_add(&other, rest);
	parse(strbuf_text(&other), &report);
	assert_true(report.races.count > 0);
	frame = vec_at(&race_at(&report, 0)->sides[0].frames, 0);
	assert_null(frame->function);
	assert_int_equal(strncmp(frame->module, "/my src (x86)/", 14), 0);
	foreign_report_deinit(&report);
	strbuf_deinit(&other);
	free(text);
}

static void tsan_of_go(void **state)
{
	struct foreign_report report;
	const struct race *race;

	(void)state;
	parse_file("tsan-go", &report);
	assert_int_equal(report.races.count, 1);
	race = race_at(&report, 0);
	has_access(race, 0, ACCESS_WRITE, 0, "7");
	has_access(race, 1, ACCESS_READ, 0, "main");
	has_frame(&race->sides[0].frames, 0, "main.add", "/src/shards.go", 9);
	has_frame(&race->sides[0].frames, 1, "main.main.func1",
		  "/src/shards.go", 16);
	has_frame(&race->sides[0].created, 0, "main.main", "/src/shards.go",
		  15);
	foreign_report_deinit(&report);
}

static void helgrinds_text(void **state)
{
	struct foreign_report report;
	const struct race *race;

	(void)state;
	parse_file("helgrind", &report);
	assert_int_equal(report.races.count, 3);
	race = race_at(&report, 0);
	assert_string_equal(race->backend, "helgrind");
	assert_int_equal(race->pid, 18269);
	/* the write on that line is one more of the same */
	assert_int_equal(race->count, 2);
	has_access(race, 1, ACCESS_WRITE, 8, "#2");
	has_frame(&race->sides[1].frames, 0, "add", "shards.c", 9);
	has_frame(&race->sides[1].frames, 1, "one", "shards.c", 12);
	assert_int_equal(race->sides[1].frames.count, 5);
	has_frame(&race->sides[1].created, 5, "main", "shards.c", 15);
	assert_string_equal(race->variable.symbol, "shards");
	race = race_at(&report, 1);
	has_frame(&race->sides[0].frames, 0, "strlen", "vg_replace_strmem.c",
		  494);
	assert_string_equal(race->variable.name,
			    "bytes 8..8 of a block of 64 of main");
	foreign_report_deinit(&report);
}

static void a_stripped_program_has_offsets(void **state)
{
	struct foreign_report report;
	const struct race_frame *frame;

	(void)state;
	parse_file("helgrind-stripped", &report);
	assert_int_equal(report.races.count, 1);
	frame = vec_at(&race_at(&report, 0)->sides[0].frames, 0);
	assert_null(frame->function);
	assert_string_equal(frame->module, "/src/shards");
	assert_int_equal(frame->offset, 0x11a9);
	foreign_report_deinit(&report);
}

static void of_drd_the_second_side_is_a_thread(void **state)
{
	struct foreign_report report;
	const struct race *race;

	(void)state;
	parse_file("drd", &report);
	assert_int_equal(report.races.count, 2);
	race = race_at(&report, 0);
	assert_string_equal(race->backend, "drd");
	has_access(race, 0, ACCESS_READ, 8, "3");
	has_access(race, 1, ACCESS_NONE, 0, "2");
	has_frame(&race->sides[0].frames, 0, "two", "shards.c", 13);
	assert_int_equal(race->sides[0].frames.count, 3);
	assert_int_equal(race->sides[1].frames.count, 0);
	assert_int_equal(race->variable.region, REGION_GLOBAL);
	assert_int_equal(race->variable.module_offset, 0x40d8);
	foreign_report_deinit(&report);
}

static void xml_says_what_the_text_says(void **state)
{
	struct foreign_report text, xml;
	const struct race_frame *frame;

	(void)state;
	parse_file("helgrind", &text);
	parse_file("helgrind-xml", &xml);
	assert_int_equal(xml.races.count, 1);
	assert_string_equal(race_at(&xml, 0)->fingerprint,
			    race_at(&text, 0)->fingerprint);
	assert_string_equal(race_at(&xml, 0)->backend, "helgrind");
	assert_int_equal(race_at(&xml, 0)->pid, 18866);
	frame = vec_at(&race_at(&xml, 0)->sides[0].frames, 0);
	assert_string_equal(frame->module, "/src/shards");
	assert_string_equal(frame->file, "/src/shards.c");
	assert_int_equal(frame->offset, 0x11a9);
	assert_int_equal(race_at(&xml, 0)->sides[0].created.count, 6);
	foreign_report_deinit(&text);
	foreign_report_deinit(&xml);
	parse_file("drd", &text);
	parse_file("drd-xml", &xml);
	assert_int_equal(xml.races.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(race_at(&xml, i)->fingerprint,
				    race_at(&text, i)->fingerprint);
	foreign_report_deinit(&text);
	foreign_report_deinit(&xml);
}

static void xml_counts_how_often(void **state)
{
	static const char with[] = "<count>1</count>\n    <unique>0x1</unique>";
	char *text = load("helgrind-xml"), *at = strstr(text, with);
	struct foreign_report report;

	(void)state;
	assert_non_null(at);
	at[strlen("<count>")] = '5';
	parse(text, &report);
	/* one of the first, five of the second, which is the same */
	assert_int_equal(race_at(&report, 0)->count, 6);
	foreign_report_deinit(&report);
	free(text);
}

static void xml_with_a_pid_that_is_none(void **state)
{
	static const char *const pids[] = { "<pid>-8866<", "<pid>4294967297<" };

	(void)state;
	for (size_t i = 0; i < sizeof(pids) / sizeof(*pids); i++) {
		char *text = load("helgrind-xml");
		char *at = strstr(text, "<pid>18866<");
		struct strbuf other = { 0 };
		struct foreign_report report;

		assert_non_null(at);
		strbuf_add_bytes(&other, text, (size_t)(at - text));
		strbuf_add(&other, pids[i]);
		strbuf_add(&other, at + strlen("<pid>18866<"));
		parse(strbuf_text(&other), &report);
		assert_int_equal(race_at(&report, 0)->pid, 0);
		foreign_report_deinit(&report);
		strbuf_deinit(&other);
		free(text);
	}
}

static void tools_agree_on_the_fingerprint(void **state)
{
	struct foreign_report tsan, helgrind;

	(void)state;
	parse_file("tsan-gcc", &tsan);
	parse_file("helgrind", &helgrind);
	assert_string_equal(race_at(&tsan, 0)->fingerprint,
			    race_at(&helgrind, 0)->fingerprint);
	foreign_report_deinit(&tsan);
	foreign_report_deinit(&helgrind);
}

/* The text with another line before each of its lines. */
static char *between(const char *text, const char *line)
{
	struct strbuf all = { 0 };

	while (*text) {
		size_t length = strcspn(text, "\n");

		strbuf_add(&all, line);
		strbuf_add_bytes(&all, text, length);
		strbuf_add(&all, "\n");
		text += length + (text[length] != '\0');
	}
	return strbuf_steal(&all);
}

static void same_with(const char *name, const char *line)
{
	struct foreign_report plain, mixed;
	char *text = load(name), *other = between(text, line);

	parse(text, &plain);
	parse(other, &mixed);
	assert_int_equal(mixed.races.count, plain.races.count);
	assert_int_equal(mixed.malformed, 0);
	for (size_t i = 0; i < plain.races.count; i++) {
		const struct race *a = race_at(&plain, i);
		const struct race *b = race_at(&mixed, i);

		assert_string_equal(a->fingerprint, b->fingerprint);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(a->sides[k].frames.count,
					 b->sides[k].frames.count);
			assert_int_equal(a->sides[k].created.count,
					 b->sides[k].created.count);
		}
	}
	foreign_report_deinit(&plain);
	foreign_report_deinit(&mixed);
	free(text);
	free(other);
}

static void other_output_is_passed_over(void **state)
{
	static const char *const files[] = { "tsan-gcc",	 "tsan-clang",
					     "tsan-cxx",	 "tsan-go",
					     "helgrind",	 "drd",
					     "helgrind-stripped" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		same_with(files[i], "served 12 requests\n");
		same_with(files[i], "Read of size 8 failed\n    at once\n");
	}
	/* without an end of line, which a prefix is found behind */
	same_with("helgrind", "served 12 == 12 requests");
	same_with("drd", "==");
	/* of another process */
	same_with("helgrind", "==77== Locks held: none\n==77== \n");
	same_with("helgrind", "==77==    at 0x1091A9: other (o.c:1)\n");
	same_with("helgrind", "--18269-- REDIR: 0x4 (libc.so.6:bcmp)\n");
}

/* However much of it is there. */
static void files_may_be_cut_short(void **state)
{
	static const char *const files[] = { "tsan-gcc", "tsan-clang", "drd",
					     "helgrind", "helgrind-xml" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *text = load(files[i]);
		enum foreign_tool tool = foreign_detect(text, strlen(text));
		struct foreign_report whole, part;
		size_t size = strlen(text);

		parse(text, &whole);
		for (size_t cut = 200; cut < size; cut += 61) {
			assert_null(
				foreign_parse(tool, "file", text, cut, &part));
			/* a name that was cut may tell the last one apart */
			assert_true(part.races.count <= whole.races.count + 1);
			assert_true(part.malformed <= 1);
			assert_true(cut < size / 2 || part.races.count > 0);
			foreign_report_deinit(&part);
		}
		foreign_report_deinit(&whole);
		free(text);
	}
}

/* ThreadSanitizer always has both accesses. */
static void half_a_report_is_left_out(void **state)
{
	static const struct {
		const char *file, *until;
	} cases[] = {
		{ "tsan-gcc", "  Previous " },
		{ "tsan-go", "Previous " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = load(cases[i].file);
		char *end = strstr(text, cases[i].until);
		struct foreign_report report;

		assert_non_null(end);
		*end = '\0';
		parse(text, &report);
		assert_int_equal(report.races.count, 0);
		assert_int_equal(report.malformed, 1);
		foreign_report_deinit(&report);
		free(text);
	}
}

static void a_malformed_report_is_left_out(void **state)
{
	static const struct {
		const char *file, *from, *to;
		size_t left;
	} cases[] = {
		{ "tsan-gcc", "write of size 8 at", "write of size x at", 1 },
		{ "tsan-gcc", "by thread T2:", "by chance:", 1 },
		{ "tsan-gcc", "    #0 two", "    -- two", 1 },
		{ "helgrind", "write of size 8 at", "write of size 8 in", 3 },
		{ "helgrind", "size 8 at 0x10C0D8",
		  "size 8 at 0x1FFFFFFFFFFFFFFFF", 3 },
		{ "drd", "thread 3 at 0x0010c0d8", "thread 3 at        8", 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = load(cases[i].file);
		char *at = strstr(text, cases[i].from);
		struct strbuf other = { 0 };
		struct foreign_report report;

		assert_non_null(at);
		strbuf_add_bytes(&other, text, (size_t)(at - text));
		strbuf_add(&other, cases[i].to);
		strbuf_add(&other, at + strlen(cases[i].from));
		parse(strbuf_text(&other), &report);
		assert_int_equal(report.malformed, 1);
		assert_int_equal(report.races.count, cases[i].left);
		foreign_report_deinit(&report);
		strbuf_deinit(&other);
		free(text);
	}
}

static void refuses(enum foreign_tool tool, const char *text,
		    const char *message)
{
	struct foreign_report report;
	struct error *err =
		foreign_parse(tool, "file", text, strlen(text), &report);

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_FORMAT);
	if (!strstr(error_message(err), message))
		fail_msg("'%s' does not have '%s'", error_message(err),
			 message);
	error_free(err);
}

static void what_is_no_report_is_refused(void **state)
{
	struct strbuf deep = { 0 };

	(void)state;
	refuses(FOREIGN_XML, "<valgrindoutput>\n<error></frame>",
		"file:2: mismatched tag");
	refuses(FOREIGN_XML, "", "file:1: no element found");
	refuses(FOREIGN_XML, "<html></html>",
		"file: this is not the XML of Valgrind");
	refuses(FOREIGN_XML,
		"<?xml version=\"1.0\"?>\n<!DOCTYPE x [<!ENTITY a \"b\">]>\n"
		"<valgrindoutput>&a;</valgrindoutput>",
		"file:2: it has a DOCTYPE");
	strbuf_add(&deep, "<valgrindoutput>");
	for (int i = 0; i < 64; i++)
		strbuf_add(&deep, "<a>");
	refuses(FOREIGN_XML, strbuf_text(&deep),
		"file:1: its elements are nested too deeply");
	strbuf_deinit(&deep);
	refuses(FOREIGN_AUTO, "hello\n", "file: there is no report of");
}

static void the_tool_that_is_asked_for_counts(void **state)
{
	char *text = load("helgrind");
	struct foreign_report report;

	(void)state;
	assert_int_equal(foreign_detect(text, strlen(text)), FOREIGN_HELGRIND);
	assert_null(foreign_parse(FOREIGN_DRD, "file", text, strlen(text),
				  &report));
	assert_int_equal(report.races.count, 0);
	foreign_report_deinit(&report);
	assert_null(foreign_parse(FOREIGN_TSAN, "file", text, strlen(text),
				  &report));
	assert_int_equal(report.races.count, 0);
	foreign_report_deinit(&report);
	free(text);
}

/* With -v Valgrind has all errors once more, behind the summary. */
static void a_repetition_counts_once(void **state)
{
	char *text = load("helgrind");
	struct strbuf twice = { 0 };
	struct foreign_report report;

	(void)state;
	strbuf_add(&twice, text);
	strbuf_add(&twice, text);
	parse(strbuf_text(&twice), &report);
	assert_int_equal(report.races.count, 3);
	assert_int_equal(race_at(&report, 0)->count, 2);
	foreign_report_deinit(&report);
	strbuf_deinit(&twice);
	free(text);
}

/* Two logs in one file: each process has a thread T1 of its own. */
static void threads_of_another_process_are_others(void **state)
{
	static const char text[] =
		"WARNING: ThreadSanitizer: data race (pid=1)\n"
		"  Write of size 8 at 0x7b04 by thread T1:\n"
		"    #0 add /src/a.c:9 (a+0x1218)\n"
		"  Previous write of size 8 at 0x7b04 by main thread:\n"
		"    #0 main /src/a.c:12 (a+0x1300)\n"
		"  Thread T1 (tid=5, running) created by main thread at:\n"
		"    #0 main /src/a.c:15 (a+0x141a)\n"
		"WARNING: ThreadSanitizer: data race (pid=2)\n"
		"  Write of size 8 at 0x7b04 by thread T1:\n"
		"    #0 put /src/b.c:9 (b+0x1218)\n"
		"  Previous write of size 8 at 0x7b04 by main thread:\n"
		"    #0 main /src/b.c:12 (b+0x1300)\n";
	struct foreign_report report;

	(void)state;
	parse(text, &report);
	assert_int_equal(report.races.count, 2);
	assert_int_equal(race_at(&report, 0)->sides[0].tid, 5);
	assert_int_equal(race_at(&report, 0)->sides[0].created.count, 1);
	assert_int_equal(race_at(&report, 1)->sides[0].tid, 0);
	assert_int_equal(race_at(&report, 1)->sides[0].created.count, 0);
	foreign_report_deinit(&report);
}

/* A read of 8 bytes and one of 4 are in one line, and the writes have 4. */
static void of_several_sizes_none_is_kept(void **state)
{
	static const char text[] =
		"WARNING: ThreadSanitizer: data race (pid=1)\n"
		"  Read of size %s at 0x7b04 by thread T1:\n"
		"    #0 get /src/a.c:9 (a+0x1218)\n"
		"  Previous write of size 4 at 0x7b04 by main thread:\n"
		"    #0 main /src/a.c:12 (a+0x1300)\n";
	static const char *const sizes[] = { "4", "4", "8", "4" };
	static const uint32_t kept[] = { 4, 4, 0, 0 };

	(void)state;
	for (size_t n = 1; n <= sizeof(sizes) / sizeof(*sizes); n++) {
		struct strbuf all = { 0 };
		struct foreign_report report;

		for (size_t i = 0; i < n; i++) {
			const char *at = strstr(text, "%s");

			strbuf_addf(&all, "%.*s%s%s", (int)(at - text), text,
				    sizes[i], at + 2);
		}
		parse(strbuf_text(&all), &report);
		assert_int_equal(report.races.count, 1);
		has_access(race_at(&report, 0), 0, ACCESS_READ, kept[n - 1],
			   "T1");
		has_access(race_at(&report, 0), 1, ACCESS_WRITE, 4, "main");
		foreign_report_deinit(&report);
		strbuf_deinit(&all);
	}
}

/* The first n of reports at 4, 4, 8 and 8: one race. */
static void parse_members(const char *location, size_t n,
			  struct foreign_report *ret)
{
	static const char text[] =
		"WARNING: ThreadSanitizer: data race (pid=1)\n"
		"  Read of size 4 at 0x7b0%d by thread T1:\n"
		"    #0 get /src/a.c:9 (a+0x1218)\n"
		"  Previous write of size 4 at 0x7b0%d by main thread:\n"
		"    #0 main /src/a.c:12 (a+0x1300)\n"
		"  Location is %s";
	struct strbuf all = { 0 };

	for (size_t i = 0; i < n; i++) {
		int at = i < 2 ? 4 : 8;

		strbuf_addf(&all, text, at, at, location);
	}
	parse(strbuf_text(&all), ret);
	assert_int_equal(ret->races.count, 1);
	strbuf_deinit(&all);
}

static void of_several_members_no_address_is_kept(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 4; n++) {
		struct foreign_report report;

		parse_members("global 'pair' of size 8 at 0x7b00 (a+0x4000)\n",
			      n, &report);
		assert_int_equal(race_at(&report, 0)->address,
				 n < 3 ? 0x7b04 : 0);
		assert_string_equal(race_at(&report, 0)->variable.symbol,
				    "pair");
		foreign_report_deinit(&report);
	}
}

static void of_several_bytes_of_a_block_none_are_kept(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 4; n++) {
		struct foreign_report report;
		const char *name;

		parse_members("heap block of size 16 at 0x7b00 allocated by "
			      "main thread:\n"
			      "    #0 main /src/a.c:7 (a+0x1200)\n",
			      n, &report);
		name = race_at(&report, 0)->variable.name;
		if (n < 3)
			assert_string_equal(
				name, "bytes 4..7 of a block of 16 of main");
		else
			assert_null(name);
		foreign_report_deinit(&report);
	}
}

static void reports_of_other_kinds_are_counted(void **state)
{
	struct foreign_report report;

	(void)state;
	parse("WARNING: ThreadSanitizer: thread leak (pid=7)\n"
	      "  Thread T1 (tid=8, finished) created by main thread at:\n"
	      "    #0 main /src/a.c:3 (a+0x12)\n",
	      &report);
	assert_int_equal(report.races.count, 0);
	assert_int_equal(report.others, 1);
	assert_int_equal(report.malformed, 0);
	foreign_report_deinit(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tsan_of_gcc),
		cmocka_unit_test(tsan_of_clang),
		cmocka_unit_test(tsan_of_cxx),
		cmocka_unit_test(files_may_have_blanks),
		cmocka_unit_test(colors_are_passed_over),
		cmocka_unit_test(modules_of_valgrind_may_have_blanks),
		cmocka_unit_test(names_may_have_parentheses),
		cmocka_unit_test(tsan_of_go),
		cmocka_unit_test(helgrinds_text),
		cmocka_unit_test(a_stripped_program_has_offsets),
		cmocka_unit_test(of_drd_the_second_side_is_a_thread),
		cmocka_unit_test(xml_says_what_the_text_says),
		cmocka_unit_test(xml_counts_how_often),
		cmocka_unit_test(xml_with_a_pid_that_is_none),
		cmocka_unit_test(tools_agree_on_the_fingerprint),
		cmocka_unit_test(other_output_is_passed_over),
		cmocka_unit_test(files_may_be_cut_short),
		cmocka_unit_test(half_a_report_is_left_out),
		cmocka_unit_test(a_malformed_report_is_left_out),
		cmocka_unit_test(what_is_no_report_is_refused),
		cmocka_unit_test(the_tool_that_is_asked_for_counts),
		cmocka_unit_test(a_repetition_counts_once),
		cmocka_unit_test(threads_of_another_process_are_others),
		cmocka_unit_test(of_several_sizes_none_is_kept),
		cmocka_unit_test(of_several_members_no_address_is_kept),
		cmocka_unit_test(of_several_bytes_of_a_block_none_are_kept),
		cmocka_unit_test(reports_of_other_kinds_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
