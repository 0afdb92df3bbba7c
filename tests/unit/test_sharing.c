/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same bytes at the addresses of different processes, and which process a
 * watch concerns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/sharing.h"
#include "tracee/watch-update.h"
#include "tracee/watch.h"
#include "tracer/engine.h"

enum { PAGE = 4096 };

struct fixture {
	struct engine engine;
	struct addrspace *spaces[3];
};

/* Three processes; the first two share a page, at different addresses. */
static const struct wire_shared ranges[3][2] = {
	{ { 0x10000, 0x12000, 0, 1, 77 }, { 0x20000, 0x21000, PAGE, 1, 78 } },
	{ { 0x50000, 0x51000, PAGE, 1, 77 }, { 0x60000, 0x61000, 0, 2, 77 } },
	{ { 0x70000, 0x71000, 0, 1, 99 }, { 0x80000, 0x81000, 0, 3, 77 } },
};

static void tell(struct engine *engine, int pid,
		 const struct wire_shared told[2])
{
	struct {
		struct wire_shared_head head;
		struct wire_shared ranges[2];
	} message = { .head = { .pid = pid, .count = 2 } };

	memcpy(message.ranges, told, sizeof(message.ranges));
	tracees_told_shared(&engine->core.tracees, &message, sizeof(message));
	/* cut short: ignored */
	tracees_told_shared(&engine->core.tracees, &message,
			    sizeof(message) - 1);
	tracees_told_shared(&engine->core.tracees, &message,
			    sizeof(message.head) - 1);
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	int fds[2];

	if (!fixture || pipe(fds) || engine_init(&fixture->engine, fds[1], 1))
		return -1;
	close(fds[0]);
	fixture->engine.core.tracees.watch.ops = &watch_by_registers;
	for (int i = 0; i < 3; i++) {
		struct process *process;

		if (tracees_make_space(&fixture->engine.core.tracees, getpid(),
				       &fixture->spaces[i]) ||
		    process_create(i + 1, PROCESS_WATCHED, fixture->spaces[i],
				   &process) ||
		    !vec_push(&fixture->engine.core.tracees.processes,
			      &process))
			return -1;
		tell(&fixture->engine, i + 1, ranges[i]);
	}
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	engine_deinit(&fixture->engine);
	free(fixture);
	return 0;
}

static void a_place_is_told_by_device_inode_and_offset(void **state)
{
	const struct fixture *fixture = *state;
	struct addrspace *const *spaces = fixture->spaces;
	uint64_t address = 1;

	assert_true(
		sharing_translate(spaces[0], 0x11008, 4, spaces[1], &address));
	assert_int_equal(address, 0x50008);
	assert_true(
		sharing_translate(spaces[1], 0x50ffc, 4, spaces[0], &address));
	assert_int_equal(address, 0x11ffc);
	/* the other has only the second page */
	assert_false(
		sharing_translate(spaces[0], 0x10008, 4, spaces[1], &address));
	/* another inode, another device */
	assert_false(
		sharing_translate(spaces[0], 0x20000, 4, spaces[1], &address));
	assert_false(
		sharing_translate(spaces[1], 0x60000, 4, spaces[2], &address));
	/* not all of it is shared */
	assert_false(
		sharing_translate(spaces[1], 0x50ffe, 4, spaces[0], &address));
	/* private memory is everybody's own */
	assert_false(
		sharing_translate(spaces[0], 0x90000, 4, spaces[1], &address));
	assert_true(
		sharing_translate(spaces[0], 0x90000, 4, spaces[0], &address));
	assert_int_equal(address, 0x90000);
}

static void places_at_another_address_are_noticed(void **state)
{
	const struct fixture *fixture = *state;
	struct addrspace *const *spaces = fixture->spaces;

	assert_true(sharing_is_alike(spaces[0], spaces[0]));
	assert_false(sharing_is_alike(spaces[0], spaces[1]));
	assert_false(sharing_is_alike(spaces[1], spaces[0]));
	/* they have nothing in common */
	assert_true(sharing_is_alike(spaces[1], spaces[2]));
	/* as after a fork */
	assert_true(sharing_inherit(spaces[1], spaces[0]));
	assert_true(sharing_is_alike(spaces[0], spaces[1]));
	assert_true(sharing_is_alike(spaces[1], spaces[0]));
}

/* As segments that each process maps where there is room. */
static void a_small_part_at_another_address_is_no_matter(void **state)
{
	static const struct wire_shared large = { 0x100000, 0x110000, 0, 1, 7 };
	static const struct wire_shared small[2] = {
		{ 0x10000, 0x12000, 0, 1, 8 },
		{ 0x20000, 0x22000, 0, 1, 8 },
	};
	const struct fixture *fixture = *state;
	struct addrspace *const *spaces = fixture->spaces;

	for (int i = 0; i < 2; i++) {
		struct wire_shared both[2] = { small[i], large };

		assert_true(sharing_set(spaces[i], both, 2));
	}
	assert_true(sharing_is_alike(spaces[0], spaces[1]));
	for (int i = 0; i < 2; i++)
		assert_true(sharing_set(spaces[i], &small[i], 1));
	assert_false(sharing_is_alike(spaces[0], spaces[1]));
}

static void an_event_of_a_processor_sees_one_address(void **state)
{
	struct fixture *fixture = *state;
	struct tracees *tracees = &fixture->engine.core.tracees;
	struct watch_claim claim;

	assert_true(watch_claim(&tracees->watch, fixture->spaces[0], 0x11010, 4,
				DREGS_WRITE, &claim));
	assert_true(watch_sees_all(tracees, &claim));
	tracees->watch.ops = &watch_by_cpu;
	assert_false(watch_sees_all(tracees, &claim));
	watch_release(&tracees->watch, &claim);
	/* the other has only the second page */
	assert_true(watch_claim(&tracees->watch, fixture->spaces[0], 0x10010, 4,
				DREGS_WRITE, &claim));
	assert_true(watch_sees_all(tracees, &claim));
	watch_release(&tracees->watch, &claim);
	tracees->watch.ops = &watch_by_registers;
}

static void a_watch_follows_the_bytes(void **state)
{
	struct fixture *fixture = *state;
	struct watch *watch = &fixture->engine.core.tracees.watch;
	struct watch_claim claim;
	struct watch_view views[3];

	assert_true(watch_claim(watch, fixture->spaces[0], 0x11010, 4,
				DREGS_WRITE, &claim));
	for (int i = 0; i < 3; i++)
		watch_view(watch, fixture->spaces[i], &views[i]);
	assert_int_equal(views[0].dregs.slots[0].address, 0x11010);
	assert_int_equal(views[1].dregs.slots[0].address, 0x50010);
	assert_int_equal(views[1].generation[0], views[0].generation[0]);
	assert_int_not_equal(views[0].generation[0], 0);
	assert_int_equal(views[2].generation[0], 0);
	assert_int_equal(dregs_control(&views[2].dregs), 0);
	watch_release(watch, &claim);
	watch_view(watch, fixture->spaces[1], &views[1]);
	assert_int_equal(views[1].generation[0], 0);
}

static void private_bytes_at_one_address_are_different_ones(void **state)
{
	struct fixture *fixture = *state;
	struct watch *watch = &fixture->engine.core.tracees.watch;
	struct watch_claim claims[2];
	struct watch_view view;

	for (int i = 0; i < 2; i++)
		assert_true(watch_claim(watch, fixture->spaces[i], 0x90000, 8,
					DREGS_READ_WRITE, &claims[i]));
	assert_int_not_equal(claims[0].claim.slots, claims[1].claim.slots);
	watch_view(watch, fixture->spaces[1], &view);
	assert_int_equal(view.generation[3], 0);
	assert_int_not_equal(view.generation[2], 0);
	assert_int_equal(view.dregs.slots[2].address, 0x90000);
	assert_int_equal(watch_slot_address(watch, 3), 0x90000);
	for (int i = 0; i < 2; i++)
		watch_release(watch, &claims[i]);
}

static void a_child_shares_what_its_parent_does(void **state)
{
	const struct fixture *fixture = *state;
	uint64_t address;

	assert_true(sharing_inherit(fixture->spaces[2], fixture->spaces[0]));
	assert_true(sharing_translate(fixture->spaces[2], 0x11008, 4,
				      fixture->spaces[1], &address));
	assert_int_equal(address, 0x50008);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_place_is_told_by_device_inode_and_offset, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			places_at_another_address_are_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_small_part_at_another_address_is_no_matter, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			an_event_of_a_processor_sees_one_address, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_watch_follows_the_bytes,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			private_bytes_at_one_address_are_different_ones, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			a_child_shares_what_its_parent_does, setup, teardown),
	};

	return cmocka_run_group_tests_name("sharing", tests, NULL, NULL);
}
