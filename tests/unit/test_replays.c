/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instances that the tracer captures at conflicts: which, and what is in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driven.h"
#include "sanitized.h"

#include "tracer/replays.h"

enum {
	MARK = 0x1234,
	/* bytes: how far functions of this file are from one another */
	NEAR = 131072,
};

/* Pages that no register of the lanes points to: of the program's data, and not. */
static char data[WIRE_PAGE] __attribute__((aligned(WIRE_PAGE))) = "none";
static char unused[WIRE_PAGE] __attribute__((aligned(WIRE_PAGE)));
static char *missed;

/* Before the lanes, which have what is in their parent's memory. */
static int map_missed(void **state)
{
	(void)state;
	missed = mmap(NULL, WIRE_PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(missed != MAP_FAILED);
	strcpy(missed, "missed");
	/* in memory, in theirs too: a page of the file alone may not be */
	strcpy(data, "data");
	return 0;
}

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[0], MARK + lane->done);
	/* something to return to: no tail call */
	__asm__ volatile("" ::: "memory");
}

static void work_add(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_add(&arena->data[0], 1);
	__asm__ volatile("" ::: "memory");
}

static void work_write_then_add(struct arena *arena, struct lane *lane)
{
	if (lane->done % 2 == 0)
		work_write(arena, lane);
	else
		work_add(arena, lane);
}

static void work_read(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_read(&arena->data[0]);
	__asm__ volatile("" ::: "memory");
}

/* From the second time on, what is there. */
static void work_write_mark(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_write(&arena->data[0], MARK);
	__asm__ volatile("" ::: "memory");
}

static bool stalled(const struct driven *driven)
{
	const struct stalls *stalls = &driven->engine.stalls;

	return stalls->list.count == 1 &&
	       (*(struct stall **)vec_at(&stalls->list, 0))->watched;
}

/* The engine captures what it may. */
static struct driven *start_both(lane_work *first, lane_work *second)
{
	lane_work *const work[] = { first, second };
	struct error *err = selftest_registers();
	struct driven *driven;

	if (err)
		tracee_skip(err);
	driven_plan(work, 2);
	driven = driven_start(&watch_by_registers);
	driven->engine.pool.params.replays = true;
	return driven;
}

/* Lane 0 writes. */
static struct driven *start(lane_work *second)
{
	return start_both(work_write, second);
}

/* Lane 0 is held before its access, and lane 1 makes its own. */
static void meet_at(struct driven *driven, struct wire_site site)
{
	int conflicts = driven->conflict_count;

	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, stalled(driven));
	driven_prolong(driven);
	lane_start(1, 1);
	driven_until(driven, driven->conflict_count > conflicts);
	driven_until(driven, lane_idle(0) && lane_idle(1));
}

static void meet(struct driven *driven)
{
	meet_at(driven, site_at(site_write, 5));
}

static void answer(struct driven *driven, bool enough, uint64_t page)
{
	struct wire_replay answer = { .pair = driven->instance.pair,
				      .enough = enough,
				      .counts = true,
				      .count = page != 0,
				      .hints = { page } };

	/* it took no CPU time: no rest is due */
	replays_answered(&driven->engine.replays, &answer, sizeof(answer));
}

/* The bytes at an address, as the instance has them; NULL: it has not. */
static const uint8_t *instance_at(const struct driven *driven,
				  const void *address)
{
	for (uint32_t i = 0; i < driven->instance.pages; i++) {
		uint64_t offset =
			(uintptr_t)address - driven->instance_pages[i];

		if (offset < WIRE_PAGE)
			return &driven->instance_bytes[i][offset];
	}
	return NULL;
}

static void check_thread(const struct driven *driven, int thread,
			 const char *rip)
{
	const struct wire_instance_thread *got =
		&driven->instance.threads[thread];
	const uint64_t *stack = (const uint64_t *)(uintptr_t)instance_at(
		driven, (const void *)(uintptr_t)got->regs.gpr[X86_RSP]);

	assert_int_equal(got->regs.rip, (uintptr_t)rip);
	assert_int_equal(got->regs.gpr[X86_RDI],
			 (uintptr_t)&child_plan.arena->data[0]);
	assert_true(got->vectors_size > 512);
	assert_true(got->area_size >= got->vectors_size);
	/* into the lane's work */
	assert_non_null(stack);
	assert_in_range(*stack, (uintptr_t)work_write - NEAR,
			(uintptr_t)work_write + NEAR);
}

static void a_trap_has_its_instance(void **state)
{
	struct driven *driven = start(work_write);
	uint64_t value;

	(void)state;
	meet(driven);
	assert_int_equal(driven->instance_count, 1);
	check_thread(driven, 0, site_write);
	/* behind its access, of three bytes */
	check_thread(driven, 1, site_write + 3);
	memcpy(&value, instance_at(driven, &child_plan.arena->data[0]), 8);
	/* lane 0 has not written yet */
	assert_int_equal(value, MARK);
	assert_true(driven->instance.held_ns > 0);
	driven_end(driven);
}

static void a_collision_has_its_instance(void **state)
{
	struct wire_site other = site_at(site_add, 6);
	struct driven *driven = start(work_add);

	(void)state;
	driven_arm(driven, &other);
	meet(driven);
	assert_int_equal(driven->conflict.wire.evidence, WIRE_COLLISION);
	assert_int_equal(driven->instance_count, 1);
	check_thread(driven, 0, site_write);
	check_thread(driven, 1, site_add);
	driven_end(driven);
}

static void without_replays_there_is_none(void **state)
{
	struct driven *driven = start(work_write);

	(void)state;
	driven->engine.pool.params.replays = false;
	meet(driven);
	assert_false(driven->conflict.wire.instance);
	assert_int_equal(driven->instance_count, 0);
	driven_end(driven);
}

/* Until its pages are known; then others wait behind it. */
static void one_that_is_not_answered_is_the_last(void **state)
{
	struct driven *driven = start(work_write);

	(void)state;
	meet(driven);
	meet(driven);
	assert_int_equal(driven->instance_count, 1);
	assert_false(driven->conflict.wire.instance);
	answer(driven, false, 0);
	meet(driven);
	meet(driven);
	assert_int_equal(driven->instance_count, 3);
	driven_end(driven);
}

/* For what others of their kind wait for, and these have not to. */
static void the_first_ones_do_not_wait(void **state)
{
	struct driven *driven = start(work_write);

	(void)state;
	driven->engine.replays.pace.spread_ns = UINT64_MAX;
	for (int i = 1; i <= PACE_EARLY; i++) {
		meet(driven);
		assert_int_equal(driven->instance_count, i);
		answer(driven, false, 0);
		driven->engine.replays.pace.spread_ns = UINT64_MAX;
	}
	driven_end(driven);
}

/*
 * What a replay computes is charged, and keeps others from being captured. This
 * process stands for the front end, and may be nice: then a share of the time
 * that the replay took is charged at most, of 19 steps 1.4 %.
 */
static void replays_are_in_the_budget(void **state)
{
	struct driven *driven = start(work_write);
	struct budget *budget = &driven->engine.load.budget;
	struct wire_replay message = { .cpu_ns = 400 * CLOCK_NS_PER_MS,
				       .scratch_ns = 300 * CLOCK_NS_PER_MS };
	double lost;

	(void)state;
	budget_set_share(budget, 0.4);
	budget->competition = 1;
	budget->replay_ns = 1;
	meet(driven);
	assert_int_equal(driven->instance_count, 1);
	lost = budget->lost_cpu_ns;
	message.pair = driven->instance.pair;
	driven->engine.replays.pace.queue[0].sent_ns -= 40 * CLOCK_NS_PER_S;
	driven->engine.load.front = getpid();
	replays_answered(&driven->engine.replays, &message, sizeof(message));
	/* the front end's own is charged by its clock */
	assert_true(budget->lost_cpu_ns - lost >= 300 * CLOCK_NS_PER_MS);
	assert_true(budget->lost_cpu_ns - lost < 301 * CLOCK_NS_PER_MS);
	assert_true(budget->lost_replay_ns >= 400 * CLOCK_NS_PER_MS);
	assert_int_equal(driven->engine.core.stats.replay_cpu_ns,
			 400 * CLOCK_NS_PER_MS);
	driven->engine.replays.pace.rest_ns = 0;
	/* however long this test takes, nothing is earned in it */
	budget->earned_ns = clock_now_ns() + 3600 * CLOCK_NS_PER_S;
	/* 400 ms are four seconds of a quarter of 40 % */
	meet(driven);
	assert_int_equal(driven->instance_count, 1);
	budget->replay_ns = 1;
	meet(driven);
	assert_int_equal(driven->instance_count, 2);
	driven_end(driven);
}

static void enough_is_of_one_pair(void **state)
{
	struct driven *driven = start(work_write_then_add);

	(void)state;
	meet(driven);
	answer(driven, true, 0);
	/* lane 1 adds */
	meet(driven);
	assert_int_equal(driven->instance_count, 2);
	answer(driven, false, 0);
	/* and writes as before */
	meet(driven);
	assert_int_equal(driven->instance_count, 2);
	driven_end(driven);
}

/* The lanes meet until there are `count' instances; none of them tells anything. */
static void meet_for_nothing(struct driven *driven, int count)
{
	struct wire_replay answer = { .counts = true, .still = true };

	while (driven->instance_count < count) {
		int before = driven->instance_count;

		meet_at(driven, site_at(site_read, 4));
		if (driven->instance_count == before)
			continue;
		answer.pair = driven->instance.pair;
		replays_answered(&driven->engine.replays, &answer,
				 sizeof(answer));
	}
}

/* A flag that is set again: what is read is the same in any order. */
static void what_tells_nothing_is_left_out(void **state)
{
	struct driven *driven = start_both(work_read, work_write_mark);
	uint64_t until;

	(void)state;
	meet_for_nothing(driven, PACE_STILL);
	until = clock_now_ns() + 2 * PACE_STILL_NS;
	do
		meet_at(driven, site_at(site_read, 4));
	while (clock_now_ns() < until);
	assert_int_equal(driven->instance_count, PACE_STILL);
	driven_end(driven);
	/* a value that changes may tell more */
	driven = start_both(work_read, work_add);
	meet_for_nothing(driven, PACE_STILL + 2);
	driven_end(driven);
}

/* The front end is busy with one for a part of the time only. */
static void a_long_replay_is_followed_by_a_rest(void **state)
{
	struct driven *driven = start(work_write);
	struct wire_replay message = { .cpu_ns = 1000 * CLOCK_NS_PER_S };

	(void)state;
	meet(driven);
	message.pair = driven->instance.pair;
	replays_answered(&driven->engine.replays, &message, sizeof(message));
	meet(driven);
	assert_int_equal(driven->instance_count, 1);
	answer(driven, false, 0);
	driven->engine.replays.pace.rest_ns = 0;
	meet(driven);
	assert_int_equal(driven->instance_count, 2);
	driven_end(driven);
}

/* Pages of lane 0's program are as ours. */
static struct driven *start_seeded(bool seeding)
{
	struct driven *driven = start(work_write);
	const struct process *process =
		tracees_process_at(&driven->engine.core.tracees, 0);

	driven->engine.replays.seeding = seeding;
	replays_begun(&driven->engine.replays, process->space);
	return driven;
}

/* Of the first instance of a pair: then it is known what is missed. */
static void the_data_of_the_program_is_in_the_first(void **state)
{
	struct driven *driven;

	(void)state;
	if (SANITIZED)
		skip();
	driven = start_seeded(true);
	meet(driven);
	assert_string_equal((const char *)instance_at(driven, data), "data");
	/* nobody has used it */
	assert_null(instance_at(driven, unused));
	assert_non_null(instance_at(driven, &child_plan.arena->data[0]));
	answer(driven, false, (uintptr_t)missed);
	meet(driven);
	assert_int_equal(driven->instance_count, 2);
	assert_null(instance_at(driven, data));
	driven_end(driven);
}

static void but_not_of_one_that_was_attached_to(void **state)
{
	struct driven *driven = start_seeded(false);

	(void)state;
	meet(driven);
	assert_null(instance_at(driven, data));
	driven_end(driven);
}

static void a_page_that_was_missed_is_in_the_next(void **state)
{
	struct driven *driven = start(work_write);

	(void)state;
	meet(driven);
	assert_null(instance_at(driven, missed));
	answer(driven, false, (uintptr_t)missed);
	meet(driven);
	assert_int_equal(driven->instance_count, 2);
	assert_string_equal((const char *)instance_at(driven, missed),
			    "missed");
	driven_end(driven);
}

/* As many hints as there may be take no room from one another, nor raced bytes. */
static void all_hints_are_in_the_next(void **state)
{
	struct driven *driven = start(work_write);
	struct wire_replay answer = { .counts = true, .count = WIRE_HINTS_MAX };
	const uint64_t nowhere = UINT64_C(3) << 44;

	(void)state;
	meet(driven);
	answer.pair = driven->instance.pair;
	answer.hints[0] = (uintptr_t)missed;
	for (uint64_t i = 1; i < WIRE_HINTS_MAX; i++)
		answer.hints[i] = nowhere + i * WIRE_PAGE;
	replays_answered(&driven->engine.replays, &answer, sizeof(answer));
	meet(driven);
	assert_int_equal(driven->instance_count, 2);
	assert_non_null(instance_at(driven, missed));
	assert_non_null(instance_at(driven, &child_plan.arena->data[0]));
	/* those that are nowhere, and what registers hold that is no address */
	assert_true(driven->instance.absent >= WIRE_HINTS_MAX - 1);
	driven_end(driven);
}

static void answers_that_make_no_sense_are_none(void **state)
{
	struct driven *driven = start(work_write);
	struct wire_replay answer = { .count = WIRE_HINTS_MAX + 1 };

	(void)state;
	meet(driven);
	answer.pair = driven->instance.pair;
	replays_answered(&driven->engine.replays, &answer, sizeof(answer));
	answer.count = 1;
	replays_answered(&driven->engine.replays, &answer, sizeof(answer) - 1);
	meet(driven);
	assert_int_equal(driven->instance_count, 1);
	/* nobody asked about that pair: its own is waited for */
	answer.pair++;
	replays_answered(&driven->engine.replays, &answer, sizeof(answer));
	meet(driven);
	assert_int_equal(driven->instance_count, 1);
	answer.pair--;
	replays_answered(&driven->engine.replays, &answer, sizeof(answer));
	meet(driven);
	assert_int_equal(driven->instance_count, 2);
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trap_has_its_instance),
		cmocka_unit_test(a_collision_has_its_instance),
		cmocka_unit_test(without_replays_there_is_none),
		cmocka_unit_test(one_that_is_not_answered_is_the_last),
		cmocka_unit_test(the_first_ones_do_not_wait),
		cmocka_unit_test(replays_are_in_the_budget),
		cmocka_unit_test(enough_is_of_one_pair),
		cmocka_unit_test(what_tells_nothing_is_left_out),
		cmocka_unit_test(a_long_replay_is_followed_by_a_rest),
		cmocka_unit_test(the_data_of_the_program_is_in_the_first),
		cmocka_unit_test(but_not_of_one_that_was_attached_to),
		cmocka_unit_test(a_page_that_was_missed_is_in_the_next),
		cmocka_unit_test(all_hints_are_in_the_next),
		cmocka_unit_test(answers_that_make_no_sense_are_none),
	};

	alarm(TRACEE_TEST_SECONDS);
	return cmocka_run_group_tests(tests, map_missed, NULL);
}
