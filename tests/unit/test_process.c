/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/tracee/process.c: which processes hardly run.
 */
#include "tracee/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tracee/breakpoint.h"

enum { PROCESSES = 5 };

struct fixture {
	struct vec processes;
	struct process made[PROCESSES];
	struct addrspace spaces[PROCESSES];
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	fixture->processes = (struct vec)VEC_INIT(struct process *);
	for (int i = 0; i < PROCESSES; i++) {
		struct process *process = &fixture->made[i];

		process->space = &fixture->spaces[i];
		process->cpu_ns = 1000;
		if (!vec_push(&fixture->processes, &process))
			return -1;
	}
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	vec_deinit(&fixture->processes);
	free(fixture);
	return 0;
}

/* Let each run for that long, and see which are quiet, as bits. */
static unsigned int quiet_after(struct fixture *fixture,
				const uint64_t ran[PROCESSES])
{
	unsigned int quiet = 0;

	for (int i = 0; i < PROCESSES; i++)
		fixture->made[i].cpu_ns += ran[i];
	processes_find_quiet(&fixture->processes);
	for (int i = 0; i < PROCESSES; i++)
		quiet |= (unsigned int)fixture->spaces[i].quiet << i;
	return quiet;
}

static void what_runs_less_than_others_is_quiet(void **state)
{
	struct fixture *fixture = *state;

	/* how long it ran before it was watched says nothing */
	assert_int_equal(
		quiet_after(fixture, (uint64_t[]){ 0, 900000, 0, 5, 0 }), 0);
	/* an eighth of the mean of 200 is the limit */
	assert_int_equal(
		quiet_after(fixture, (uint64_t[]){ 24, 926, 0, 25, 25 }), 5);
	/* and it may change */
	assert_int_equal(quiet_after(fixture, (uint64_t[]){ 500, 0, 0, 0, 0 }),
			 0x1e);
	/* where nobody runs, all are alike */
	assert_int_equal(quiet_after(fixture, (uint64_t[]){ 0, 0, 0, 0, 0 }),
			 0);
}

static void only_watched_processes_count(void **state)
{
	struct fixture *fixture = *state;
	struct process *guest = &fixture->made[4];

	/* a guest has the space of another */
	guest->role = PROCESS_GUEST;
	guest->space = &fixture->spaces[0];
	quiet_after(fixture, (uint64_t[]){ 0, 0, 0, 0, 0 });
	assert_int_equal(quiet_after(fixture, (uint64_t[]){ 100, 0, 0, 0, 0 }),
			 0xe);
	/* one that comes later */
	guest->role = PROCESS_WATCHED;
	guest->space = &fixture->spaces[4];
	assert_int_equal(
		quiet_after(fixture, (uint64_t[]){ 100, 100, 0, 0, 0 }), 0xc);
	assert_int_equal(
		quiet_after(fixture, (uint64_t[]){ 100, 100, 0, 0, 0 }), 0x1c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_runs_less_than_others_is_quiet, setup, teardown),
		cmocka_unit_test_setup_teardown(only_watched_processes_count,
						setup, teardown),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
