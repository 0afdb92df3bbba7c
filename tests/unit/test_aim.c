/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sampling/aim.c and src/image/codeplaces.c: places in this very process as
 * sites, and why there are none.
 */
#include "sampling/aim.h"

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
#include "base/strbuf.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/sampleset.h"
#include "wire/message.h"

#define PROBE(name, text)                                      \
	void probe_##name(void);                               \
	__asm__(".pushsection .text\n"                         \
		".globl probe_" #name "\n"                     \
		".type probe_" #name ", @function\n"           \
		"probe_" #name ":\n" text "\nret\n"            \
		".size probe_" #name ", . - probe_" #name "\n" \
		".popsection\n")

PROBE(mixed, "movq %rax, 16(%rsp)\nmovq (%rdi), %rax\nlock incl (%rdi)\n"
	     "movq %rax, (%rdi)\nincl (%rsi)");
PROBE(stack, "movq %rax, 16(%rsp)");
PROBE(locked, "lock incl (%rdi)");
PROBE(push, "pushq %rbx");
PROBE(lea, "leaq 8(%rdi), %rax");
PROBE(gather, "vpgatherdd %ymm1, (%rax,%ymm2,4), %ymm0");

long copied;
long elsewhere;

/* A function that is called, and is there once. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

static inline __attribute__((always_inline)) void copy(long value)
{
	copied = value;
}
enum { COPY_LINE = __LINE__ - 2 };

NOINLINE static void copy_once(long value)
{
	copy(value);
}

NOINLINE static void copy_twice(long value)
{
	elsewhere++;
	copy(value);
}

struct fixture {
	struct image *image;
	struct rules rules;
	struct sampleset set;
	struct vec gone;
	struct vec ids;
	struct aim aim;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	bool changed;

	copy_once(1);
	copy_twice(2);
	if (!fixture || image_create(getpid(), &fixture->image) ||
	    image_refresh(fixture->image, &changed))
		return -1;
	globs_init(&fixture->rules.globs);
	fixture->gone = (struct vec)VEC_INIT(struct wire_range);
	fixture->ids = (struct vec)VEC_INIT(uint64_t);
	if (sampleset_init(&fixture->set, fixture->image, &fixture->rules,
			   getpid(), 1) ||
	    sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone))
		return -1;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	aim_deinit(&fixture->aim);
	sampleset_deinit(&fixture->set);
	globs_deinit(&fixture->rules.globs);
	vec_deinit(&fixture->gone);
	vec_deinit(&fixture->ids);
	image_destroy(fixture->image);
	free(fixture);
	return 0;
}

static struct module *own(const struct fixture *fixture)
{
	return image_module_at(fixture->image, (uintptr_t)probe_mixed);
}

/* How many sites there are. */
static size_t aimed_in(struct fixture *fixture, struct module *module,
		       const char *text)
{
	struct where where;

	assert_null(where_parse(text, &where));
	vec_clear(&fixture->ids);
	aim_deinit(&fixture->aim);
	assert_null(aim_module(&fixture->set, module, &where, &fixture->ids,
			       &fixture->aim));
	where_deinit(&where);
	assert_int_equal(fixture->ids.count > 0,
			 fixture->aim.problem == AIM_FOUND);
	return fixture->ids.count;
}

static size_t aimed(struct fixture *fixture, const char *text)
{
	return aimed_in(fixture, own(fixture), text);
}

static struct wire_site site_of(struct fixture *fixture, size_t i)
{
	struct wire_site site;

	assert_true(sampleset_describe(
		&fixture->set, *(uint64_t *)vec_at(&fixture->ids, i), &site));
	return site;
}

static void offset_text(char *text, size_t size, const struct fixture *fixture,
			uintptr_t address, const char *suffix)
{
	snprintf(text, size, "+0x%llx%s",
		 (unsigned long long)(address - own(fixture)->bias), suffix);
}

static void expect_why(struct fixture *fixture, const char *text,
		       const char *words)
{
	struct strbuf why = { 0 };
	struct where where;

	assert_int_equal(aimed(fixture, text), 0);
	assert_null(where_parse(text, &where));
	aim_explain(&why, &where, &fixture->aim);
	if (!strstr(strbuf_text(&why), words))
		fail_msg("%s: %s", text, strbuf_text(&why));
	strbuf_deinit(&why);
	where_deinit(&where);
}

static void of_a_function_the_accesses_that_count_are_meant(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(aimed(fixture, "probe_mixed"), 3);
	assert_int_equal(aimed(fixture, "probe_mixed:read"), 2);
	assert_int_equal(aimed(fixture, "probe_mixed:write"), 2);
	assert_int_equal(aimed(fixture, "probe_mixed:rmw"), 1);
	assert_int_equal(site_of(fixture, 0).insn.operands[0].kind, ACCESS_RMW);
	assert_int_equal(aimed(fixture, "probe_mi?ed"), 3);
}

static void
what_rules_leave_out_is_meant_where_there_is_nothing_else(void **state)
{
	struct fixture *fixture = *state;
	uint64_t known = fixture->set.sampler.known;

	assert_int_equal(aimed(fixture, "probe_stack"), 1);
	assert_int_equal(site_of(fixture, 0).address, (uintptr_t)probe_stack);
	assert_int_equal(aimed(fixture, "probe_locked"), 1);
	assert_true(site_of(fixture, 0).insn.synchronizes);
	/* asked for again, they are the same sites */
	assert_true(fixture->set.sampler.known > known);
	known = fixture->set.sampler.known;
	assert_int_equal(aimed(fixture, "probe_locked"), 1);
	assert_int_equal(fixture->set.sampler.known, known);
}

static void what_cannot_be_watched_stays_left_out(void **state)
{
	struct fixture *fixture = *state;

	expect_why(fixture, "probe_push", "reads or writes memory");
	expect_why(fixture, "probe_lea", "reads or writes memory");
	expect_why(fixture, "probe_gather", "reads or writes memory");
	expect_why(fixture, "probe_stack:read", "no instruction there");
	expect_why(fixture, "probe_nowhere", "no module has a function");
}

static void an_offset_is_that_instruction_whatever_it_is(void **state)
{
	struct fixture *fixture = *state;
	uintptr_t start = (uintptr_t)probe_mixed;
	char text[64];

	/* the first is of 5 bytes and accesses the stack */
	offset_text(text, sizeof(text), fixture, start, "");
	assert_int_equal(aimed(fixture, text), 1);
	assert_int_equal(site_of(fixture, 0).address, start);
	offset_text(text, sizeof(text), fixture, start + 5, ":read");
	assert_int_equal(aimed(fixture, text), 1);
	offset_text(text, sizeof(text), fixture, start + 5, ":write");
	expect_why(fixture, text, "writes memory");
	for (uintptr_t middle = start + 1; middle < start + 5; middle++) {
		offset_text(text, sizeof(text), fixture, middle, "");
		expect_why(fixture, text, "no instruction of test_aim");
	}
	expect_why(fixture, "+0x1", "no known function");
	expect_why(fixture, "libnone.so+0x1", "no module of that name");
}

static void every_inlined_copy_of_a_line_is_meant(void **state)
{
	struct fixture *fixture = *state;
	uintptr_t once = (uintptr_t)copy_once, twice = (uintptr_t)copy_twice;
	char text[64];
	bool first = false, second = false;

	snprintf(text, sizeof(text), "unit/test_aim.c:%d:write", COPY_LINE);
	assert_int_equal(aimed(fixture, text), 2);
	for (size_t i = 0; i < 2; i++) {
		struct wire_site site = site_of(fixture, i);

		first |= site.function == once;
		second |= site.function == twice;
	}
	assert_true(first && second);
	assert_true(aimed(fixture, "copy:write") >= 2);
}

static void lines_without_code_tell_their_neighbours(void **state)
{
	struct fixture *fixture = *state;

	expect_why(fixture, "test_aim.c:1", "nearest line with code is");
	expect_why(fixture, "test_aim.c:999999", "nearest line with code is");
	expect_why(fixture, "nosuchfile.c:1", "no module has code");
}

static void a_module_that_is_left_out_is_looked_at(void **state)
{
	struct fixture *fixture = *state;
	struct module *libc =
		image_module_at(fixture->image, (uintptr_t)&getenv);
	char text[64];

	assert_false(libc->main);
	/* the function that is at that address, by any of its names */
	snprintf(text, sizeof(text), "%s",
		 elftext_function_at(libc->text,
				     (uintptr_t)&getenv - libc->bias)
			 ->name);
	assert_true(aimed_in(fixture, libc, text) > 0);
}

/* Libraries join late; a hunt's side may be in one of them. */
static void a_module_that_has_not_joined_joins(void **state)
{
	struct fixture *fixture = *state;
	struct module *libc =
		image_module_at(fixture->image, (uintptr_t)&getenv);

	sampleset_deinit(&fixture->set);
	assert_null(sampleset_init(&fixture->set, fixture->image,
				   &fixture->rules, getpid(), 1));
	assert_int_equal(fixture->set.modules.count, 0);
	assert_true(aimed_in(fixture, libc, "getenv") > 0);
	assert_int_equal(fixture->set.modules.count, 1);
	/* and not again */
	assert_null(sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone));
	assert_int_equal(fixture->set.modules.count,
			 image_modules(fixture->image)->count);
}

static void what_was_excluded_is_looked_at(void **state)
{
	struct fixture *fixture = *state;

	/* everything is excluded, in a set that begins anew */
	assert_true(globs_add(&fixture->rules.globs, "*", false));
	sampleset_deinit(&fixture->set);
	assert_null(sampleset_init(&fixture->set, fixture->image,
				   &fixture->rules, getpid(), 1));
	assert_null(sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone));
	assert_int_equal(fixture->set.parts.count, 0);
	assert_int_equal(aimed(fixture, "probe_mixed"), 3);
	assert_int_equal(fixture->set.parts.count, 1);
	assert_int_equal(fixture->set.sampler.known, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(of_a_function_the_accesses_that_count_are_meant),
		TEST(what_rules_leave_out_is_meant_where_there_is_nothing_else),
		TEST(what_cannot_be_watched_stays_left_out),
		TEST(an_offset_is_that_instruction_whatever_it_is),
		TEST(every_inlined_copy_of_a_line_is_meant),
		TEST(lines_without_code_tell_their_neighbours),
		TEST(a_module_that_is_left_out_is_looked_at),
		TEST(a_module_that_has_not_joined_joins),
		TEST(what_was_excluded_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
