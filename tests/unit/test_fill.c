/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/schedule/fill.c: what is asked of a program that is not there. */
#include "schedule/fill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "schedule/budget.h"
#include "schedule/governor.h"
#include "schedule/pool.h"

enum { ORDERS_MAX = 128 };

/* It does what it is asked, and keeps what that was. */
struct program {
	struct pool pool;
	struct budget budget;
	struct governor governor;
	uint64_t armed[ORDERS_MAX]; /* ids, in order */
	size_t armed_count, once_count;
	uint64_t arm_ns; /* that it takes to arm one */
	uint64_t given_back[ORDERS_MAX];
	size_t given_back_count;
	size_t lifted, rotations;
	bool unready, refuses;
};

static bool program_ready(void *context, uint64_t now_ns)
{
	(void)now_ns;
	return !((struct program *)context)->unready;
}

static bool program_arm(void *context, const struct wire_site *site)
{
	struct program *program = context;

	if (program->refuses)
		return false;
	assert_true(program->armed_count < ORDERS_MAX);
	program->armed[program->armed_count++] = site->id;
	program->once_count += wire_site_apart(site);
	return true;
}

static void program_lift(void *context, size_t count)
{
	struct program *program = context;

	program->lifted += count;
}

static void program_rotate(void *context, uint64_t now_ns)
{
	(void)now_ns;
	((struct program *)context)->rotations++;
}

static void program_give_back(void *context, const struct wire_site *site)
{
	struct program *program = context;

	program->given_back[program->given_back_count++] = site->id;
}

static void program_count(void *context, size_t *ret_armed, size_t *ret_once)
{
	const struct program *program = context;

	*ret_armed =
		program->armed_count - program->once_count - program->lifted;
	*ret_once = program->once_count;
}

static uint64_t program_cpu_ns(void *context)
{
	const struct program *program = context;

	return program->armed_count * program->arm_ns;
}

static const struct fill_ops program_ops = {
	.ready = program_ready,
	.arm = program_arm,
	.lift = program_lift,
	.rotate = program_rotate,
	.give_back = program_give_back,
	.count = program_count,
	.cpu_ns = program_cpu_ns,
};

static const uint64_t begun_ns = CLOCK_NS_PER_S;

static void begin(struct program *program, uint32_t size)
{
	*program = (struct program){ .governor = { .pool = size } };
	budget_init(&program->budget);
	pool_init(&program->pool, &program->budget, &program->governor);
	program->pool.params.rate = 1000;
	program->pool.tokens_ns = begun_ns;
	program->pool.tokens = 1;
	program->pool.arms = POOL_BATCH;
}

static struct fill at(struct program *program, uint64_t now_ns)
{
	struct fill fill = { .pool = &program->pool,
			     .ops = &program_ops,
			     .context = program,
			     .now_ns = now_ns,
			     .threads = 4,
			     .place_due_ns = UINT64_MAX };

	program_count(program, &fill.armed, &fill.armed_once);
	return fill;
}

static void run(struct program *program, uint64_t now_ns)
{
	struct fill fill = at(program, now_ns);

	fill_run(&fill);
}

static void queue(struct program *program, uint64_t id, bool fired)
{
	const struct wire_site site = { .id = id, .address = 0x1000 * id };

	assert_true(pool_queue(&program->pool, &site, fired, false));
}

static void queue_once(struct program *program, uint64_t id)
{
	const struct wire_site site = { .id = id, .once = true };

	assert_true(pool_queue(&program->pool, &site, false, false));
}

static void fresh_ones_are_armed_in_order_up_to_the_size(void **state)
{
	struct program program;

	(void)state;
	begin(&program, 3);
	for (uint64_t id = 1; id <= 5; id++)
		queue(&program, id, false);
	run(&program, begun_ns);
	assert_int_equal(program.armed_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(program.armed[i], i + 1);
	assert_int_equal(pool_queued(&program.pool), 2);
	pool_deinit(&program.pool);
}

static void what_is_refused_takes_no_room(void **state)
{
	struct program program;

	(void)state;
	begin(&program, 3);
	for (uint64_t id = 1; id <= 5; id++)
		queue(&program, id, false);
	program.refuses = true;
	run(&program, begun_ns);
	assert_int_equal(program.armed_count, 0);
	assert_int_equal(pool_queued(&program.pool), 0);
	pool_deinit(&program.pool);
}

static void nothing_is_armed_that_cannot_be_paid(void **state)
{
	struct program program;

	(void)state;
	begin(&program, 3);
	queue(&program, 1, false);
	/* no token, until a thousandth of a second later */
	program.pool.tokens = 0;
	run(&program, begun_ns);
	assert_int_equal(program.armed_count, 0);
	assert_int_equal(program.pool.over_rate, 1);
	{
		const struct fill fill = at(&program, begun_ns);

		assert_in_range(fill_next_ns(&fill), begun_ns + 999999,
				begun_ns + 1000001);
	}
	run(&program, begun_ns + 1000001);
	assert_int_equal(program.armed_count, 1);
	/* nor without time */
	queue(&program, 2, false);
	budget_set_share(&program.budget, 0.5);
	program.budget.credit_ns = -1e6;
	program.budget.earned_ns = 2 * begun_ns;
	run(&program, 2 * begun_ns);
	assert_int_equal(program.armed_count, 1);
	assert_int_equal(program.pool.unpaid, 1);
	assert_int_equal(program.pool.refills, 3);
	pool_deinit(&program.pool);
}

static void what_must_be_known_first_is_waited_for(void **state)
{
	struct program program;
	struct fill fill;

	(void)state;
	begin(&program, 3);
	queue(&program, 1, false);
	program.unready = true;
	run(&program, begun_ns);
	assert_int_equal(program.armed_count, 0);
	fill = at(&program, begun_ns);
	assert_true(fill_next_ns(&fill) > begun_ns);
	/* not before that time */
	program.unready = false;
	run(&program, begun_ns);
	assert_int_equal(program.armed_count, 0);
	run(&program, fill_next_ns(&fill));
	assert_int_equal(program.armed_count, 1);
	pool_deinit(&program.pool);
}

static void one_that_fired_waits_for_the_last_one(void **state)
{
	struct program program;

	(void)state;
	begin(&program, 8);
	queue(&program, 1, true);
	queue(&program, 2, true);
	/* four threads: one place */
	run(&program, begun_ns);
	assert_int_equal(program.armed_count, 1);
	program.pool.tokens = 1;
	run(&program, begun_ns + 1);
	assert_int_equal(program.armed_count, 1);
	/* not hit within 2 ms: it is not hot */
	run(&program, begun_ns + 2 * CLOCK_NS_PER_MS + 1);
	assert_int_equal(program.armed_count, 2);
	pool_deinit(&program.pool);
}

static void sites_armed_once_need_no_room_and_no_token(void **state)
{
	struct program program;

	(void)state;
	begin(&program, 0);
	program.pool.tokens = 0;
	for (uint64_t id = 1; id <= 9; id++)
		queue_once(&program, id);
	run(&program, begun_ns);
	assert_int_equal(program.once_count, 9);
	pool_deinit(&program.pool);
}

/* As many as the credit pays for; all while a program begins. */
static void sites_armed_once_are_paid_for(void **state)
{
	struct program program;
	struct fill fill;

	(void)state;
	begin(&program, 0);
	program.pool.params.share = 0.02;
	budget_set_share(&program.budget, 0.02);
	program.budget.credit_ns = 1e6;
	program.budget.earned_ns = begun_ns;
	program.budget.credit_ns = 1;
	for (uint64_t id = 1; id <= 9; id++)
		queue_once(&program, id);
	run(&program, begun_ns);
	assert_int_equal(program.once_count, 1);
	fill = at(&program, begun_ns);
	fill.begins = true;
	fill_run(&fill);
	assert_int_equal(program.once_count, 9);
	pool_deinit(&program.pool);
}

/* Half of the time is for hits, and none of these waits for many to be armed. */
static void sites_armed_once_leave_time_for_hits(void **state)
{
	struct program program;

	(void)state;
	begin(&program, 0);
	program.arm_ns = CLOCK_NS_PER_MS / 10;
	program.pool.params.share = 0.4;
	budget_set_share(&program.budget, 0.4);
	program.budget.credit_ns = 1e6;
	program.budget.earned_ns = begun_ns;
	program.budget.credit_ns = 1e9;
	for (uint64_t id = 1; id <= 80; id++)
		queue_once(&program, id);
	run(&program, begun_ns);
	assert_int_equal(program.once_count, 64);
	/* 6.4 ms to set them, and as long for others */
	run(&program, begun_ns + 12 * CLOCK_NS_PER_MS);
	assert_int_equal(program.once_count, 64);
	run(&program, begun_ns + 13 * CLOCK_NS_PER_MS);
	assert_int_equal(program.once_count, 80);
	pool_deinit(&program.pool);
}

static void of_those_armed_once_what_runs_comes_first(void **state)
{
	const struct wire_site runs = { .id = 7, .once = true, .runs = true };
	struct program program;

	(void)state;
	begin(&program, 0);
	queue_once(&program, 1);
	queue_once(&program, 2);
	assert_true(pool_queue(&program.pool, &runs, false, false));
	run(&program, begun_ns);
	assert_int_equal(program.once_count, 3);
	assert_int_equal(program.armed[0], 7);
	assert_int_equal(program.armed[1], 1);
	pool_deinit(&program.pool);
}

/* A 64th, four at least, every 50 ms; not when it has just been filled. */
static void a_full_pool_makes_room(void **state)
{
	struct program program;

	(void)state;
	begin(&program, 8);
	for (uint64_t id = 1; id <= 16; id++)
		queue(&program, id, false);
	run(&program, begun_ns);
	assert_int_equal(program.armed_count, 8);
	program.pool.give_ns = UINT64_MAX;
	program.pool.tokens = 1;
	run(&program, begun_ns + 1);
	assert_int_equal(program.lifted, 0);
	program.pool.tokens = 1;
	run(&program, begun_ns + 50 * CLOCK_NS_PER_MS + 1);
	assert_int_equal(program.lifted, 4);
	assert_int_equal(program.armed_count, 12);
	pool_deinit(&program.pool);
}

/* What the budget has at that time. */
static void pay(struct program *program, uint64_t now_ns, double credit_ns)
{
	program->budget.credit_ns = credit_ns;
	program->budget.earned_ns = now_ns;
}

/* A hundred drawn ones wait; setting a batch of them takes 1 ms. */
static void run_hundred(struct program *program)
{
	program->arm_ns = CLOCK_NS_PER_MS / POOL_BATCH;
	for (uint64_t id = 1; id <= 100; id++)
		queue(program, id, false);
	run(program, begun_ns);
}

/* One part in ten of what may be lost: the next after 1 ms * 10 / 0.02. */
static void where_little_may_be_lost_drawn_ones_take_a_tenth(void **state)
{
	const uint64_t before = begun_ns + 499 * CLOCK_NS_PER_MS;
	struct program program;
	struct fill fill;

	(void)state;
	begin(&program, 100);
	budget_set_share(&program.budget, 0.02);
	pay(&program, begun_ns, 1e6);
	run_hundred(&program);
	assert_int_equal(program.armed_count, POOL_BATCH);
	program.pool.tokens = 1;
	program.pool.arms = POOL_BATCH;
	pay(&program, before, 1e6);
	run(&program, before);
	assert_int_equal(program.armed_count, POOL_BATCH);
	fill = at(&program, before);
	assert_in_range(fill_next_ns(&fill), begun_ns + 499900000,
			begun_ns + 500000000);
	pay(&program, begun_ns + 500 * CLOCK_NS_PER_MS, 1e6);
	run(&program, begun_ns + 500 * CLOCK_NS_PER_MS);
	assert_int_equal(program.armed_count, 100);
	pool_deinit(&program.pool);
}

/* Half of what the credit holds: 0.02 * 250 ms / 2. */
static void what_stalls_do_not_use_pays_for_drawn_ones(void **state)
{
	struct program program;

	(void)state;
	begin(&program, 100);
	budget_set_share(&program.budget, 0.02);
	pay(&program, begun_ns, 1e6);
	run_hundred(&program);
	program.pool.tokens = 1;
	program.pool.arms = POOL_BATCH;
	pay(&program, begun_ns + CLOCK_NS_PER_MS, 2.4e6);
	run(&program, begun_ns + CLOCK_NS_PER_MS);
	assert_int_equal(program.armed_count, POOL_BATCH);
	pay(&program, begun_ns + 2 * CLOCK_NS_PER_MS, 2.6e6);
	run(&program, begun_ns + 2 * CLOCK_NS_PER_MS);
	assert_int_equal(program.armed_count, 100);
	pool_deinit(&program.pool);
}

static void where_much_may_be_lost_all_are_armed_at_once(void **state)
{
	struct program program;

	(void)state;
	begin(&program, 100);
	budget_set_share(&program.budget, 0.4);
	program.budget.credit_ns = 1e6;
	program.budget.earned_ns = begun_ns;
	run_hundred(&program);
	program.pool.tokens = 1;
	run(&program, begun_ns + CLOCK_NS_PER_MS);
	assert_int_equal(program.armed_count, 100);
	pool_deinit(&program.pool);
}

static void half_of_what_waits_goes_back(void **state)
{
	struct program program;

	(void)state;
	begin(&program, 8);
	for (uint64_t id = 1; id <= 16; id++)
		queue(&program, id, false);
	run(&program, begun_ns);
	program.pool.tokens = 1;
	run(&program, begun_ns + 1);
	assert_int_equal(program.given_back_count, 4);
	assert_int_equal(program.given_back[0], 9);
	pool_deinit(&program.pool);
}

static void where_there_are_few_places_they_are_shared(void **state)
{
	struct program program;
	struct fill fill;

	(void)state;
	begin(&program, 8);
	for (uint64_t id = 1; id <= 8; id++)
		queue(&program, id, id % 2);
	fill = at(&program, begun_ns);
	fill.places = 4;
	fill_run(&fill);
	assert_int_equal(program.rotations, 1);
	assert_int_equal(program.armed_count, 4);
	/* new ones and those that were hit, by turns */
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(program.armed[i] % 2, (i + 1) % 2);
	pool_deinit(&program.pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fresh_ones_are_armed_in_order_up_to_the_size),
		cmocka_unit_test(what_is_refused_takes_no_room),
		cmocka_unit_test(nothing_is_armed_that_cannot_be_paid),
		cmocka_unit_test(what_must_be_known_first_is_waited_for),
		cmocka_unit_test(one_that_fired_waits_for_the_last_one),
		cmocka_unit_test(sites_armed_once_need_no_room_and_no_token),
		cmocka_unit_test(sites_armed_once_are_paid_for),
		cmocka_unit_test(sites_armed_once_leave_time_for_hits),
		cmocka_unit_test(of_those_armed_once_what_runs_comes_first),
		cmocka_unit_test(a_full_pool_makes_room),
		cmocka_unit_test(
			where_little_may_be_lost_drawn_ones_take_a_tenth),
		cmocka_unit_test(what_stalls_do_not_use_pays_for_drawn_ones),
		cmocka_unit_test(where_much_may_be_lost_all_are_armed_at_once),
		cmocka_unit_test(half_of_what_waits_goes_back),
		cmocka_unit_test(where_there_are_few_places_they_are_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
