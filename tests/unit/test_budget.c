/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The budget against simulated programs, in simulated time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "schedule/budget.h"

#define MS CLOCK_NS_PER_MS

/* A program that meets a breakpoint every `gap_ns`, stalled for `stall_ns`. */
struct program {
	struct budget budget;
	uint64_t now_ns;
	uint64_t held_ns; /* so far */
	uint64_t worst_ns; /* in any one second */
};

static void start(struct program *program, double share)
{
	*program = (struct program){ .now_ns = 1000 };
	budget_init(&program->budget);
	budget_set_share(&program->budget, share);
	budget_earn(&program->budget, program->now_ns);
}

static void run(struct program *program, uint64_t seconds, uint64_t gap_ns,
		uint64_t stall_ns)
{
	for (uint64_t s = 0; s < seconds; s++) {
		uint64_t end = program->now_ns + CLOCK_NS_PER_S;
		uint64_t held = 0;

		while (program->now_ns < end) {
			program->now_ns += gap_ns;
			budget_earn(&program->budget, program->now_ns);
			if (!budget_affords(&program->budget))
				continue;
			program->now_ns += stall_ns;
			held += stall_ns;
			budget_spend_held(&program->budget, stall_ns);
		}
		program->held_ns += held;
		if (held > program->worst_ns)
			program->worst_ns = held;
	}
}

static void the_share_is_kept_and_used_up(void **state)
{
	struct program program;

	(void)state;
	start(&program, 0.02);
	run(&program, 10, 50 * CLOCK_NS_PER_US, MS / 2);
	assert_in_range(program.held_ns, 195 * MS, 202 * MS);
	assert_in_range((uint64_t)program.budget.lost_ns, 195 * MS, 202 * MS);
}

static void nothing_is_spent_before_it_is_earned(void **state)
{
	struct program program;

	(void)state;
	start(&program, 0.02);
	assert_false(budget_affords(&program.budget));
	assert_in_range(budget_next_ns(&program.budget), 1000, 1002);
	budget_earn(&program.budget, 2000);
	assert_true(budget_affords(&program.budget));
	assert_int_equal(budget_next_ns(&program.budget), 0);
}

/* After an hour of nothing to stall: no second is worse than a quarter more. */
static void a_burst_after_a_quiet_phase_is_held_down(void **state)
{
	struct program program;

	(void)state;
	start(&program, 0.02);
	run(&program, 20, 400 * MS, MS / 2);
	program.now_ns += 3600 * CLOCK_NS_PER_S;
	program.worst_ns = 0;
	run(&program, 5, 10 * CLOCK_NS_PER_US, MS / 2);
	assert_in_range(program.worst_ns, 20 * MS, 26 * MS);
}

static void a_stall_dearer_than_the_credit_is_paid_back(void **state)
{
	struct program program;

	(void)state;
	start(&program, 0.02);
	run(&program, 60, 50 * CLOCK_NS_PER_US, 30 * MS);
	assert_in_range(program.held_ns, 1100 * MS, 1240 * MS);
}

static void a_disaster_is_forgotten_after_two_seconds(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget);
	budget_set_share(&budget, 0.02);
	budget_earn(&budget, CLOCK_NS_PER_S);
	budget_spend_held(&budget, 5 * CLOCK_NS_PER_S);
	assert_in_range(budget_next_ns(&budget), 3 * CLOCK_NS_PER_S,
			3 * CLOCK_NS_PER_S + 2);
	assert_true(budget.lost_ns >= 5e9);
	budget_earn(&budget, 3 * CLOCK_NS_PER_S + MS);
	assert_true(budget_affords(&budget));
}

static void without_a_share_everything_is_affordable(void **state)
{
	struct program program;

	(void)state;
	start(&program, 0);
	run(&program, 1, MS, MS);
	assert_true(budget_affords(&program.budget));
	assert_in_range(program.held_ns, 499 * MS, 501 * MS);
}

/* Nothing of it is kept from what is not a replay. */
static void replays_have_a_budget_of_their_own(void **state)
{
	struct budget budget;
	uint64_t now = CLOCK_NS_PER_S;

	(void)state;
	budget_init(&budget);
	budget_set_share(&budget, 0.02);
	budget.competition = 1;
	budget.loss = 0.5;
	budget_earn(&budget, now);
	assert_false(budget_affords_replay(&budget, 0));
	budget_earn(&budget, now += MS);
	assert_true(budget_affords_replay(&budget, 0));
	/* a hold of 100 us costs 50 of them, and 4 ms of a busy processor 4 */
	budget_spend_replay(&budget, MS / 10, 4 * MS);
	assert_int_equal((uint64_t)budget.lost_replay_ns, 4 * MS);
	assert_true(budget_affords(&budget));
	/* of a second, a quarter of 2 % is 5 ms */
	budget_earn(&budget, now += 800 * MS);
	assert_false(budget_affords_replay(&budget, 0));
	budget_earn(&budget, now += 20 * MS);
	assert_true(budget_affords_replay(&budget, 0));
	/* a quiet hour brings no more than a second does */
	budget_earn(&budget, now += 3600 * CLOCK_NS_PER_S);
	budget_spend_replay(&budget, 0, 5 * MS + 1);
	assert_false(budget_affords_replay(&budget, 0));
	/* and nothing costs more than five of them */
	budget_spend_replay(&budget, 0, 60 * CLOCK_NS_PER_S);
	budget_earn(&budget, now += 5 * CLOCK_NS_PER_S + MS);
	assert_true(budget_affords_replay(&budget, 0));
}

/* It costs nothing where a processor is idle, but for the hold. */
static void replays_on_an_idle_processor_are_free(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget);
	budget_set_share(&budget, 0.02);
	budget_earn(&budget, CLOCK_NS_PER_S);
	budget_earn(&budget, CLOCK_NS_PER_S + MS);
	budget_spend_replay(&budget, 0, CLOCK_NS_PER_S);
	assert_true(budget_affords_replay(&budget, 0));
	budget_set_share(&budget, 0);
	budget.competition = 1;
	budget_spend_replay(&budget, MS, CLOCK_NS_PER_S);
	assert_true(budget_affords_replay(&budget, 0));
}

/* A quarter of the share, and never more than a second's. */
static void long_stalls_have_a_budget_of_their_own(void **state)
{
	struct budget budget;
	uint64_t now = CLOCK_NS_PER_S;

	(void)state;
	budget_init(&budget);
	budget_set_share(&budget, 0.4);
	budget_earn(&budget, now);
	assert_int_equal(budget_take_long(&budget, 50 * MS), 0);
	budget_earn(&budget, now += 200 * MS);
	assert_in_range(budget_take_long(&budget, 50 * MS), 20 * MS - 1,
			20 * MS);
	assert_int_equal(budget_take_long(&budget, 50 * MS), 0);
	budget_return_long(&budget, 5 * MS);
	assert_in_range(budget_take_long(&budget, 50 * MS), 5 * MS, 5 * MS + 1);
	budget_earn(&budget, now += 100 * CLOCK_NS_PER_S);
	budget_return_long(&budget, 50 * MS);
	assert_int_equal(budget_take_long(&budget, 60 * MS), 60 * MS);
	assert_in_range(budget_take_long(&budget, 200 * MS), 140 * MS - 1,
			140 * MS);
	/* it holds the longest stall of all, and is full again in 2 seconds */
	budget_earn(&budget, now += 2 * CLOCK_NS_PER_S);
	assert_in_range(budget_take_long(&budget, CLOCK_NS_PER_S), 200 * MS - 1,
			200 * MS);
}

static void without_a_share_there_is_no_long_budget(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget);
	budget_earn(&budget, CLOCK_NS_PER_S);
	budget_earn(&budget, 2 * CLOCK_NS_PER_S);
	assert_int_equal(budget_take_long(&budget, 50 * MS), 0);
}

/*
 * A second in windows of 100 ms, each with 10 ms held; `free' processors are
 * used by the program when no thread is held, `held' when one is.
 */
static double loss_of(double free, double held, double measured)
{
	struct budget budget;

	budget_init(&budget);
	for (int i = 0; i < 10; i++) {
		const struct budget_window window = {
			.wall_ns = 100 * MS,
			.held_ns = 10 * MS,
			.cpu_ns = (uint64_t)((90 * free + 10 * held) *
					     (double)MS),
			.measured_ns = (uint64_t)(10 * measured * (double)MS),
			.measured_cpu_ns =
				(uint64_t)(10 * measured * held * (double)MS),
		};

		budget_learn_loss(&budget, &window);
	}
	return budget.loss;
}

static void two_threads_on_two_processors_lose_the_held_one(void **state)
{
	(void)state;
	assert_true(loss_of(2, 1, 1) == 1);
	assert_true(loss_of(64, 63, 1) == 1);
}

static void threads_that_wait_for_the_held_one_are_lost_too(void **state)
{
	(void)state;
	assert_true(loss_of(2, 0, 1) == 1);
	assert_true(loss_of(1, 0, 1) == 1);
}

static void more_threads_than_processors_lose_little(void **state)
{
	(void)state;
	assert_true(loss_of(2, 2, 1) == 0.25);
	assert_true(loss_of(2, 2.1, 1) == 0.25);
	assert_true(loss_of(2, 1.5, 1) > 0.45 && loss_of(2, 1.5, 1) < 0.55);
}

/*
 * The same with two processors used all the time, as by threads that spin while
 * another is held, and so many calls in a millisecond.
 */
static double loss_by_calls(double free, double held)
{
	const struct budget_window window = {
		.wall_ns = 100 * MS,
		.held_ns = 10 * MS,
		.cpu_ns = 200 * MS,
		.calls = (uint64_t)(90 * free + 10 * held),
		.measured_ns = 5 * MS,
		.measured_cpu_ns = 10 * MS,
		.measured_calls = (uint64_t)(5 * held),
	};
	struct budget budget;

	budget_init(&budget);
	for (int i = 0; i < 10; i++)
		budget_learn_loss(&budget, &window);
	return budget.loss;
}

static void threads_that_spin_do_not_hide_what_is_lost(void **state)
{
	(void)state;
	assert_true(loss_by_calls(20, 0) == 1);
	assert_true(loss_by_calls(20, 10) > 0.45 &&
		    loss_by_calls(20, 10) < 0.55);
}

/* One request in many may wait for the held thread; a few calls say nothing. */
static void calls_that_go_on_do_not_show_that_nothing_is_lost(void **state)
{
	(void)state;
	assert_true(loss_by_calls(20, 20) == 0.25);
	assert_true(loss_by_calls(20, 30) == 0.25);
	assert_true(loss_by_calls(0.1, 0) == 0.25);
}

static void a_tenth_of_the_time_is_not_little(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget);
	assert_false(budget_is_small(&budget));
	budget_set_share(&budget, 0.02);
	assert_true(budget_is_small(&budget));
	budget_set_share(&budget, 0.1);
	assert_false(budget_is_small(&budget));
	assert_false(budget_share_is_small(0));
	assert_true(budget_share_is_small(0.02));
}

/* One part in ten of a processor, all of it lost: that is the program. */
static void an_idle_program_loses_what_it_would_have_done(void **state)
{
	(void)state;
	assert_true(loss_of(0.1, 0, 1) == 1);
}

static void what_was_not_measured_is_like_what_was(void **state)
{
	(void)state;
	assert_true(loss_of(2, 1.5, 0.1) > 0.45 && loss_of(2, 1.5, 0.1) < 0.55);
	assert_true(loss_of(2, 2, 0) == 1);
}

static void a_short_look_relaxes_nothing(void **state)
{
	const struct budget_window window = { .wall_ns = 100 * MS,
					      .held_ns = MS,
					      .cpu_ns = 200 * MS,
					      .measured_ns = MS,
					      .measured_cpu_ns = 2 * MS };
	struct budget budget;

	(void)state;
	budget_init(&budget);
	budget_learn_loss(&budget, &window);
	assert_true(budget.loss == 1);
}

static void how_busy_the_program_is(void **state)
{
	struct budget_window window = { .wall_ns = 100 * MS, .cpu_ns = 5 * MS };
	struct budget budget;

	(void)state;
	budget_init(&budget);
	/* not known: it may be busy */
	assert_true(budget_use(&budget) == 1);
	budget_learn_loss(&budget, &window);
	assert_float_equal(budget_use(&budget), 0.05, 0.001);
	window.cpu_ns = 300 * MS;
	budget_learn_loss(&budget, &window);
	assert_true(budget_use(&budget) == 1);
}

/* From plenty of threads to a lock that all need, within two seconds. */
static void a_change_of_phase_is_seen(void **state)
{
	struct budget_window window = { .wall_ns = 100 * MS,
					.held_ns = 5 * MS,
					.cpu_ns = 200 * MS,
					.measured_ns = 5 * MS,
					.measured_cpu_ns = 10 * MS };
	struct budget budget;

	(void)state;
	budget_init(&budget);
	for (int i = 0; i < 50; i++)
		budget_learn_loss(&budget, &window);
	assert_true(budget.loss == 0.25);
	window.measured_cpu_ns = 0;
	window.cpu_ns = 190 * MS;
	for (int i = 0; i < 20; i++)
		budget_learn_loss(&budget, &window);
	assert_true(budget.loss == 1);
}

static void computing_costs_where_no_processor_is_idle(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget);
	budget_learn_competition(&budget, 2, 1, 0, 0);
	budget_spend_cpu(&budget, 10 * MS);
	assert_true(budget.lost_ns == 0);
	budget_learn_competition(&budget, 2, 1.5, 0, 0);
	budget_spend_cpu(&budget, 10 * MS);
	assert_true(budget.lost_ns == 5e6);
	budget_learn_competition(&budget, 8, 8, 0, 0);
	budget_spend_cpu(&budget, 10 * MS);
	assert_true(budget.lost_ns == 15e6);
}

/* The start of an attachment, on a busy machine, is followed by work at once. */
static void a_burst_of_computing_is_told_and_work_goes_on(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget);
	budget_set_share(&budget, 0.02);
	budget_learn_competition(&budget, 2, 2, 0, 0);
	budget_earn(&budget, CLOCK_NS_PER_S);
	budget_spend_cpu(&budget, 300 * MS);
	assert_true(budget.lost_ns == 300e6);
	assert_in_range(budget_next_ns(&budget), CLOCK_NS_PER_S + 99 * MS,
			CLOCK_NS_PER_S + 101 * MS);
	budget_earn(&budget, budget_next_ns(&budget));
	assert_true(budget_affords(&budget));
	/* a debt of stalls is not made smaller by it */
	budget_spend_held(&budget, 500 * MS);
	budget_spend_cpu(&budget, 300 * MS);
	assert_true(budget_next_ns(&budget) > 2 * CLOCK_NS_PER_S);
	/* sooner where more may be lost: short programs */
	budget_init(&budget);
	budget_set_share(&budget, 0.4);
	budget_learn_competition(&budget, 2, 2, 0, 0);
	budget_earn(&budget, CLOCK_NS_PER_S);
	budget_spend_cpu(&budget, 300 * MS);
	assert_true(budget_next_ns(&budget) <= CLOCK_NS_PER_S + 41 * MS);
	assert_true(budget.debt_ns == 0);
}

/* Two parts in five of what five seconds bring: they are enough for it. */
static void the_start_is_paid_for_within_five_seconds(void **state)
{
	struct program program;

	(void)state;
	start(&program, 0.02);
	budget_learn_competition(&program.budget, 2, 2, 0, 0);
	budget_spend_cpu(&program.budget, 40 * MS);
	run(&program, 1, 50 * CLOCK_NS_PER_US, MS / 2);
	/* half of the share less the time without any */
	assert_in_range(program.held_ns, 8 * MS, 10 * MS);
	run(&program, 4, 50 * CLOCK_NS_PER_US, MS / 2);
	assert_in_range((uint64_t)program.budget.lost_ns, 98 * MS, 101 * MS);
	/* then all of it is for work */
	program.held_ns = 0;
	run(&program, 5, 50 * CLOCK_NS_PER_US, MS / 2);
	assert_in_range(program.held_ns, 98 * MS, 101 * MS);
}

/* When the next stall is affordable is told as it comes. */
static void a_debt_delays_by_as_much(void **state)
{
	(void)state;
	for (uint64_t cpu = 1; cpu < 200; cpu += 7) {
		struct budget budget;
		uint64_t next;

		budget_init(&budget);
		budget_set_share(&budget, 0.02);
		budget_learn_competition(&budget, 2, 2, 0, 0);
		budget_earn(&budget, CLOCK_NS_PER_S);
		budget_spend_cpu(&budget, cpu * MS);
		next = budget_next_ns(&budget);
		budget_earn(&budget, next - MS / 10);
		assert_false(budget_affords(&budget));
		budget_earn(&budget, next + 1);
		assert_true(budget_affords(&budget));
	}
}

static void stops_cost_too(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget);
	for (int i = 0; i < 1000; i++)
		budget_spend_stop(&budget);
	assert_true(budget.lost_ns >= 5e6 && budget.lost_ns <= 100e6);
}

/* A thread that is handled waits, whether or not there is a processor for it. */
static void what_is_handled_waits(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget);
	budget_set_share(&budget, 0.5);
	budget_spend_handling(&budget, MS);
	assert_true(budget.lost_ns == 1e6);
	assert_true(budget.lost_stop_ns == 1e6);
	assert_true(budget.credit_ns == -1e6);
	/* little is lost where others use the processor that it leaves ... */
	budget.loss = 0.25;
	budget_spend_handling(&budget, MS);
	assert_true(budget.lost_ns == 1.25e6);
	/* ... unless the tracer takes another */
	budget_learn_competition(&budget, 2, 1.5, 0, 0);
	budget_spend_handling(&budget, MS);
	assert_true(budget.lost_ns == 1.75e6);
	assert_true(budget_stop_cost(&budget) > 17e3 &&
		    budget_stop_cost(&budget) < 18e3);
}

/*
 * Both processors are wanted by a server and its clients, which stood still for
 * half of the time: when they run, the tracer takes from them.
 */
static void competition_is_of_the_time_without_stalls(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget);
	budget_learn_competition(&budget, 2, 1, 0, 0.5);
	assert_true(budget.competition == 1);
	budget_learn_competition(&budget, 2, 0.75, 0, 0.5);
	assert_float_equal(budget.competition, 0.5, 1e-9);
	budget_learn_competition(&budget, 2, 0.5, 0.25, 0.5);
	assert_float_equal(budget.competition, 0.25, 1e-9);
	/* it never stands still for all of it */
	budget_learn_competition(&budget, 2, 0.15, 0, 1);
	assert_float_equal(budget.competition, 0.5, 1e-9);
}

static void interrupts_cost_whoever_else_has_a_processor(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget);
	budget_set_share(&budget, 0.5);
	/* what racewatch computes elsewhere costs nothing here */
	budget_spend_cpu(&budget, 1000000);
	assert_true(budget.lost_ns == 0);
	budget_spend_interrupts(&budget, 1000000);
	assert_true(budget.lost_ns == 1e6);
	assert_true(budget.lost_cpu_ns == 1e6);
	assert_true(budget.credit_ns == -1e6);
}

static void a_stop_costs_more_where_processors_are_scarce(void **state)
{
	struct budget budget;
	double alone, busy;

	(void)state;
	budget_init(&budget);
	busy = budget_stop_cost(&budget);
	budget.loss = 0.25;
	alone = budget_stop_cost(&budget);
	assert_true(alone > 0 && busy > 2 * alone);
	budget_learn_competition(&budget, 2, 2, 0, 0);
	assert_true(budget_stop_cost(&budget) > 2 * alone);
	assert_true(budget_stop_cost(&budget) < busy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_costs_more_where_processors_are_scarce),
		cmocka_unit_test(the_share_is_kept_and_used_up),
		cmocka_unit_test(nothing_is_spent_before_it_is_earned),
		cmocka_unit_test(a_burst_after_a_quiet_phase_is_held_down),
		cmocka_unit_test(a_stall_dearer_than_the_credit_is_paid_back),
		cmocka_unit_test(a_disaster_is_forgotten_after_two_seconds),
		cmocka_unit_test(without_a_share_everything_is_affordable),
		cmocka_unit_test(replays_have_a_budget_of_their_own),
		cmocka_unit_test(replays_on_an_idle_processor_are_free),
		cmocka_unit_test(long_stalls_have_a_budget_of_their_own),
		cmocka_unit_test(without_a_share_there_is_no_long_budget),
		cmocka_unit_test(
			two_threads_on_two_processors_lose_the_held_one),
		cmocka_unit_test(
			threads_that_wait_for_the_held_one_are_lost_too),
		cmocka_unit_test(more_threads_than_processors_lose_little),
		cmocka_unit_test(threads_that_spin_do_not_hide_what_is_lost),
		cmocka_unit_test(
			calls_that_go_on_do_not_show_that_nothing_is_lost),
		cmocka_unit_test(a_tenth_of_the_time_is_not_little),
		cmocka_unit_test(an_idle_program_loses_what_it_would_have_done),
		cmocka_unit_test(what_was_not_measured_is_like_what_was),
		cmocka_unit_test(a_short_look_relaxes_nothing),
		cmocka_unit_test(a_change_of_phase_is_seen),
		cmocka_unit_test(computing_costs_where_no_processor_is_idle),
		cmocka_unit_test(a_burst_of_computing_is_told_and_work_goes_on),
		cmocka_unit_test(the_start_is_paid_for_within_five_seconds),
		cmocka_unit_test(a_debt_delays_by_as_much),
		cmocka_unit_test(stops_cost_too),
		cmocka_unit_test(what_is_handled_waits),
		cmocka_unit_test(competition_is_of_the_time_without_stalls),
		cmocka_unit_test(interrupts_cost_whoever_else_has_a_processor),
		cmocka_unit_test(how_busy_the_program_is),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
