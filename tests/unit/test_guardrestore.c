/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text written back from the guardian's table into live processes, byte by
 * byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracee.h"

#include <limits.h>

#include "base/vec.h"
#include "guardian/guardian.h"
#include "guardian/guardrestore.h"
#include "sites.h"
#include "tracee/breakpoint.h"

enum { INT3 = 0xcc, PAGE = 4096, TEXT = 2 * PAGE, CHILDREN = 2 };

/* The table is used as by a guardian, without the process. */
struct fixture {
	struct guardian guardian;
	struct guardrestore *restore;
	pid_t pids[CHILDREN];
	struct addrspace *spaces[CHILDREN];
	uint64_t text;
};

static void body(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct guardian *guardian = &fixture->guardian;

	guardian->free_list = (struct vec)VEC_INIT(uint32_t);
	assert_ok(guardtable_create(&guardian->table));
	assert_ok(guardrestore_create(guardian->table, &fixture->restore));
	for (int i = 0; i < CHILDREN; i++) {
		fixture->pids[i] = tracee_fork(body, NULL);
		assert_ok(addrspace_create(fixture->pids[i],
					   &fixture->spaces[i]));
		assert_ok(addrspace_protect(fixture->spaces[i], guardian));
	}
	guardrestore_open(fixture->restore);
	fixture->text = (uintptr_t)site_write & ~(uint64_t)(PAGE - 1);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < CHILDREN; i++) {
		addrspace_release(fixture->spaces[i]);
		tracee_kill(fixture->pids[i]);
	}
	guardrestore_destroy(fixture->restore);
	guardtable_destroy(fixture->guardian.table);
	vec_deinit(&fixture->guardian.free_list);
	free(fixture);
	return 0;
}

static void set_byte(const struct fixture *fixture, uint64_t address,
		     uint8_t byte)
{
	assert_ok(memory_write_text(&fixture->spaces[0]->memory, 0, address,
				    &byte, 1));
}

static void arm(const struct fixture *fixture, int i, const char *label)
{
	struct wire_site site = site_at(label, 1);
	bool armed;

	assert_ok(breakpoint_arm(fixture->spaces[i], &site, &armed));
	assert_true(armed);
}

static bool text_holds(const struct fixture *fixture, int i, const char *label,
		       uint8_t byte)
{
	uint8_t expected[TEXT], bytes[TEXT];
	size_t size;

	memcpy(expected, (const void *)(uintptr_t)fixture->text, TEXT);
	if (label)
		expected[(uintptr_t)label - fixture->text] = byte;
	assert_ok(memory_read(&fixture->spaces[i]->memory, fixture->text, bytes,
			      TEXT, &size));
	assert_int_equal(size, TEXT);
	return memcmp(bytes, expected, TEXT) == 0;
}

static bool pristine(const struct fixture *fixture, int i)
{
	return text_holds(fixture, i, NULL, 0);
}

static uint32_t used(const struct fixture *fixture)
{
	const struct guardtable *table = fixture->guardian.table;
	uint32_t count = 0;

	for (uint32_t i = 0; i < table->end; i++)
		count += guardtable_used(table, i);
	return count;
}

static void breakpoints_are_entered_while_they_are_armed(void **state)
{
	struct fixture *fixture = *state;
	struct addrspace *space = fixture->spaces[0];

	arm(fixture, 0, site_write);
	arm(fixture, 0, site_far);
	assert_int_equal(used(fixture), 2);
	assert_ok(breakpoint_lift(
		space, 0, breakpoint_find(space, (uintptr_t)site_write)));
	assert_int_equal(used(fixture), 1);
	assert_ok(breakpoint_rearm(
		space, breakpoint_find(space, (uintptr_t)site_write)));
	assert_int_equal(used(fixture), 2);
	assert_ok(breakpoint_lift_range(space, 0, 0, UINT64_MAX, 1, NULL));
	assert_int_equal(used(fixture), 1);
	assert_ok(
		breakpoint_lift_range(space, 0, 0, UINT64_MAX, SIZE_MAX, NULL));
	assert_int_equal(used(fixture), 0);
	arm(fixture, 0, site_read);
	assert_int_equal(used(fixture), 1);
	/* not forgotten while its int3 is there */
	breakpoint_forget_range(space, 0, UINT64_MAX);
	assert_int_equal(used(fixture), 1);
	set_byte(fixture, (uintptr_t)site_read, (uint8_t)*site_read);
	breakpoint_forget_range(space, 0, UINT64_MAX);
	assert_int_equal(used(fixture), 0);
}

static void a_space_takes_its_entries_with_it(void **state)
{
	struct fixture *fixture = *state;
	struct guardtable *table = fixture->guardian.table;
	uint32_t at = fixture->spaces[0]->guardian_space;

	arm(fixture, 0, site_write);
	arm(fixture, 1, site_write);
	addrspace_release(fixture->spaces[0]);
	assert_int_equal(used(fixture), 1);
	assert_int_equal(table->spaces[at].pid, 0);
	assert_ok(addrspace_create(fixture->pids[0], &fixture->spaces[0]));
	assert_ok(addrspace_protect(fixture->spaces[0], &fixture->guardian));
}

static void without_an_entry_nothing_is_armed(void **state)
{
	struct fixture *fixture = *state;
	struct wire_site site = site_at(site_write, 1);
	struct guardtable *table = fixture->guardian.table;
	bool armed;

	table->end = GUARDTABLE_ENTRIES;
	assert_ok(breakpoint_arm(fixture->spaces[0], &site, &armed));
	assert_false(armed);
	table->end = 0;
	assert_true(pristine(fixture, 0));
	arm(fixture, 0, site_write);
}

static void text_is_restored_in_every_space(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < CHILDREN; i++) {
		arm(fixture, i, site_write);
		arm(fixture, i, site_read);
		arm(fixture, i, site_add);
		arm(fixture, i, site_far);
		assert_false(pristine(fixture, i));
	}
	assert_int_equal(guardrestore_text(fixture->restore), 0);
	for (int i = 0; i < CHILDREN; i++)
		assert_true(pristine(fixture, i));
	assert_int_equal(used(fixture), 0);
}

/* Those that are no longer among the last armed: page by page. */
static void old_ones_are_restored_too(void **state)
{
	struct fixture *fixture = *state;
	struct guardtable *table = fixture->guardian.table;

	for (int i = 0; i < CHILDREN; i++) {
		arm(fixture, i, site_write);
		arm(fixture, i, site_read);
		arm(fixture, i, site_far);
	}
	table->recent_next = 0;
	assert_int_equal(guardrestore_text(fixture->restore), 0);
	for (int i = 0; i < CHILDREN; i++)
		assert_true(pristine(fixture, i));
}

/* One that changed is left as it is, with the page written or alone. */
static void foreign_text_is_not_written(bool recent, struct fixture *fixture)
{
	arm(fixture, 0, site_write);
	arm(fixture, 0, site_read);
	arm(fixture, 0, site_add);
	set_byte(fixture, (uintptr_t)site_write + 1, 0x90);
	set_byte(fixture, (uintptr_t)site_read, 0x90);
	if (!recent)
		fixture->guardian.table->recent_next = 0;
	assert_int_equal(guardrestore_text(fixture->restore), 0);
	set_byte(fixture, (uintptr_t)site_read, (uint8_t)*site_read);
	set_byte(fixture, (uintptr_t)site_write + 1, (uint8_t)site_write[1]);
	assert_true(text_holds(fixture, 0, site_write, INT3));
}

static void foreign_text_is_not_written_singly(void **state)
{
	foreign_text_is_not_written(true, *state);
}

static void foreign_text_is_not_written_by_page(void **state)
{
	foreign_text_is_not_written(false, *state);
}

static void unmapped_text_and_dead_processes_keep_nobody(void **state)
{
	struct fixture *fixture = *state;
	struct guardtable_entry entry = {
		.address = 4096, .text = 1, .length = 2, .bytes = "\x90"
	};
	uint32_t i;

	arm(fixture, 0, site_write);
	arm(fixture, 1, site_write);
	assert_true(guardtable_add(fixture->guardian.table,
				   &fixture->guardian.free_list, &entry, &i));
	kill(fixture->pids[1], SIGKILL);
	waitpid(fixture->pids[1], NULL, 0);
	assert_int_equal(guardrestore_text(fixture->restore), 0);
	assert_true(pristine(fixture, 0));
}

static void what_cannot_be_written_goes_through_a_thread(void **state)
{
	struct fixture *fixture = *state;
	uint32_t space = fixture->spaces[0]->guardian_space;

	arm(fixture, 0, site_write);
	arm(fixture, 0, site_far);
	memory_close_file(&fixture->restore->memories[space]);
	assert_int_equal(guardrestore_text(fixture->restore), 2);
	assert_false(pristine(fixture, 0));
	tracee_seize(fixture->pids[0]);
	guardrestore_through(fixture->restore, space, fixture->pids[0]);
	assert_true(pristine(fixture, 0));
	assert_int_equal(guardrestore_text(fixture->restore), 0);
}

/* No file of its process could be opened, and reading it is refused. */
static void what_cannot_be_read_is_not_done(void **state)
{
	struct fixture *fixture = *state;
	uint32_t space = fixture->spaces[0]->guardian_space;
	struct memory *memory = &fixture->restore->memories[space];

	arm(fixture, 0, site_write);
	arm(fixture, 1, site_write);
	memory_deinit(memory);
	/* no process has this number */
	memory->pid = INT_MAX;
	assert_int_equal(guardrestore_text(fixture->restore), 1);
	assert_false(pristine(fixture, 0));
	assert_true(pristine(fixture, 1));
	memory_init(memory, fixture->pids[0]);
	assert_int_equal(guardrestore_text(fixture->restore), 0);
	assert_true(pristine(fixture, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(breakpoints_are_entered_while_they_are_armed),
		TEST(a_space_takes_its_entries_with_it),
		TEST(without_an_entry_nothing_is_armed),
		TEST(text_is_restored_in_every_space),
		TEST(old_ones_are_restored_too),
		TEST(foreign_text_is_not_written_singly),
		TEST(foreign_text_is_not_written_by_page),
		TEST(unmapped_text_and_dead_processes_keep_nobody),
		TEST(what_cannot_be_written_goes_through_a_thread),
		TEST(what_cannot_be_read_is_not_done),
	};

	return cmocka_run_group_tests_name("guardrestore", tests, NULL, NULL);
}
