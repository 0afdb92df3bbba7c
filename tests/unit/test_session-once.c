/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/session/session-once.c: what the session makes of code that runs, of this
 * very process: an address whose module is not known yet waits for it, and the
 * words of a stack tell of functions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "image/image.h"
#include "session/session-state.h"
#include "wire/running.h"

/* A function that ends in a call, and one that has none. */
void probe_calls(void);
void probe_after(void);
void probe_plain(void);
void probe_within(void);
__asm__(".pushsection .text\n"
	".globl probe_calls, probe_plain\n"
	".type probe_calls, @function\n"
	"probe_calls: movq (%rdi), %rax\n"
	"call probe_plain\n"
	".size probe_calls, . - probe_calls\n"
	"probe_after: ud2\n"
	".type probe_plain, @function\n"
	"probe_plain: movq (%rdi), %rax\n"
	"nop; nop; nop; nop; nop; nop; nop; nop\n"
	"probe_within: ret\n"
	".size probe_plain, . - probe_plain\n"
	".popsection\n");

struct fixture {
	struct rules rules;
	struct session_config config;
	struct session session;
	struct watched_program *program;
};

static struct fixture fixture;

/* The program is this process, of which nothing has been read. */
static int setup(void **state)
{
	const struct wire_process process = { .pid = getpid(), .program = 1 };
	bool is_new;

	(void)state;
	memset(&fixture, 0, sizeof(fixture));
	fixture.session.config = &fixture.config;
	watched_init(&fixture.session.watched, &fixture.rules, 1);
	return watched_began(&fixture.session.watched, &process,
			     &fixture.program, &is_new) != NULL;
}

static int teardown(void **state)
{
	(void)state;
	watched_deinit(&fixture.session.watched);
	return 0;
}

/* Read the maps, and let all modules join. */
static void read_maps(void)
{
	struct vec gone = VEC_INIT(struct wire_range);
	bool changed;

	assert_null(image_refresh(fixture.program->image, &changed));
	assert_null(sampleset_sync(&fixture.program->set, UINT64_MAX, &gone));
	vec_deinit(&gone);
	assert_false(fixture.program->set.behind);
}

static uint64_t running(void)
{
	return fixture.program->set.sampler.running;
}

static void ran(void (*function)(void))
{
	assert_null(session_ran(&fixture.session, fixture.program,
				(uintptr_t)function));
}

static void place(bool read)
{
	assert_null(session_place_ran(&fixture.session, fixture.program, read));
}

static void code_of_an_unknown_module_waits_for_it(void **state)
{
	struct watched_program *program = fixture.program;

	(void)state;
	watched_timer_set(&program->maps, false);
	program->maps.read_ns = 1;
	program->maps.due_ns = UINT64_MAX;
	ran(probe_plain);
	assert_int_equal(running(), 0);
	/* the maps are read soon, though they may have as many pages */
	assert_int_equal(program->maps.read_ns, 0);
	assert_true(program->maps.due_ns < UINT64_MAX);
	place(false);
	assert_int_equal(program->unplaced.count, 1);
	read_maps();
	place(true);
	assert_int_equal(running(), 1);
	assert_int_equal(program->unplaced.count, 0);
}

static void code_of_a_module_that_joins_waits_for_that(void **state)
{
	struct watched_program *program = fixture.program;
	bool changed;

	(void)state;
	assert_null(image_refresh(program->image, &changed));
	program->set.behind = true;
	ran(probe_plain);
	place(true);
	assert_int_equal(running(), 0);
	assert_int_equal(program->unplaced.count, 1);
	read_maps();
	place(false);
	assert_int_equal(running(), 1);
	assert_int_equal(program->unplaced.count, 0);
}

static void code_of_a_module_that_joined_waits_for_no_other(void **state)
{
	struct watched_program *program = fixture.program;

	(void)state;
	read_maps();
	program->set.behind = true;
	ran(probe_plain);
	assert_int_equal(running(), 1);
	assert_int_equal(program->unplaced.count, 0);
}

/* As code that is made at run time: it is nowhere, and the maps are long. */
static void code_in_no_module_is_forgotten(void **state)
{
	struct watched_program *program = fixture.program;

	(void)state;
	read_maps();
	for (uint64_t i = 1; i <= 1000; i++)
		assert_null(session_ran(&fixture.session, program, 16 * i));
	assert_in_range(program->unplaced.count, 1, 999);
	place(true);
	assert_int_equal(program->unplaced.count, 0);
	assert_int_equal(running(), 0);
	/* they are not read for the next at once */
	program->maps.read_ns = 1;
	program->unplaced_ns = clock_now_ns() + 3600 * CLOCK_NS_PER_S;
	assert_null(session_ran(&fixture.session, program, 16));
	assert_int_equal(program->maps.read_ns, 1);
}

static void callers(const uint64_t *words, uint32_t count)
{
	struct {
		struct wire_callers wire;
		uint64_t words[WIRE_CALLERS_MAX];
	} message = { .wire = { .program = 1, .count = count } };

	memcpy(message.words, words, count * sizeof(*words));
	assert_null(
		session_callers(&fixture.session, &message,
				sizeof(message.wire) + count * sizeof(*words)));
}

static void return_addresses_tell_of_functions(void **state)
{
	const uint64_t others[] = { 1, UINT64_MAX, (uintptr_t)probe_plain,
				    (uintptr_t)probe_within,
				    (uintptr_t)&fixture };
	/* the function's last instruction is the call */
	const uint64_t words[] = { 7, (uintptr_t)probe_after };

	(void)state;
	read_maps();
	callers(others, 5);
	assert_int_equal(running(), 0);
	callers(words, 2);
	assert_int_equal(running(), 1);
	ran(probe_calls);
	assert_int_equal(running(), 1);
	/* what is cut off, or of a program that is not known, tells nothing */
	assert_null(session_callers(&fixture.session, words, 4));
	assert_null(session_callers(&fixture.session, words, sizeof(words)));
	assert_int_equal(running(), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(code_of_an_unknown_module_waits_for_it),
		TEST(code_of_a_module_that_joins_waits_for_that),
		TEST(code_of_a_module_that_joined_waits_for_no_other),
		TEST(code_in_no_module_is_forgotten),
		TEST(return_addresses_tell_of_functions),
	};

	return cmocka_run_group_tests_name("session-once", tests, NULL, NULL);
}
