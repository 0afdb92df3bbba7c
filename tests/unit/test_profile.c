/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which code runs: found by samples, for more threads than there are clocks,
 * and again in a new phase. The time is the test's own, so that it does not
 * matter how fast the machine is; where perf is refused to the test, only what
 * is done without it is tested.
 *
 * Linked with --wrap=syscall: perf_event_open(2) is refused on demand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/eventfd.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "driven.h"
#include "tracer/profile.h"
#include "wire/running.h"

enum {
	CROWD = 40,
	STEP_NS = 20 * 1000 * 1000, /* from tick to tick */
	/* calls of work_spin() that take 2 ms at least, two periods of a clock */
	WORK = 100,
};

static bool perf_refused;
static int perf_opened;

long __real_syscall(long number, long a, long b, long c, long d, long e,
		    long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e,
		    long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_perf_event_open) {
		perf_opened++;
		if (perf_refused) {
			errno = EACCES;
			return -1;
		}
	}
	return __real_syscall(number, a, b, c, d, e, f);
}

/*
 * Two functions, each in text of its own, and one that calls the first. What is
 * computed in them takes some 25 us.
 */
__asm__(".text\n"
	".balign 64\n"
	"spin_early: mov $100000, %ecx\n"
	"1:	dec %ecx\n\t"
	"jnz 1b\n\t"
	"ret\n\t"
	".balign 64\n"
	"spin_late: mov $100000, %ecx\n"
	"1:	dec %ecx\n\t"
	"jnz 1b\n\t"
	"ret\n\t"
	".balign 64\n"
	"call_early: call spin_early\n\t"
	"nop\n\t"
	"ret\n"
	"call_early_end:\n\t"
	".balign 64\n");
void spin_early(void);
void spin_late(void);
void call_early(void);
void call_early_end(void);

static void work_spin(struct arena *arena, struct lane *lane)
{
	(void)lane;
	if (__atomic_load_n(&arena->flag, __ATOMIC_ACQUIRE))
		spin_late();
	else
		call_early();
}

/* Was it seen to run? All of it is in its first block. */
static bool is_known(const struct engine *engine, void (*function)(void))
{
	uint64_t address = (uintptr_t)function;

	/* the first field of a block */
	for (size_t i = 0; i < engine->profile.running.blocks.count; i++) {
		const struct wire_running *wire =
			vec_at(&engine->profile.running.blocks, i);

		if (wire->address == address)
			return true;
	}
	return false;
}

static struct driven *start(int threads)
{
	static lane_work *const all[] = { work_spin, work_spin };
	struct driven *driven;

	perf_refused = false;
	driven_plan(all, threads);
	driven = driven_start(&watch_by_value);
	for (int i = 0; i < threads; i++)
		lane_start(i, UINT32_MAX / 2);
	return driven;
}

static void tick(struct driven *driven, uint64_t *now)
{
	*now += STEP_NS;
	driven_turn(driven);
	profile_tick(&driven->engine.profile, *now);
	/* so that the child computes something meanwhile */
	usleep(1000);
}

/* True: perf is refused to us. */
static bool is_refused(const struct driven *driven)
{
	return driven->engine.profile.refused;
}

/* Each of two lanes works so often at least, however busy the machine is. */
static void work(struct driven *driven, uint32_t times)
{
	struct lane *lanes = child_plan.arena->lanes;

	for (int i = 0; i < 2; i++) {
		uint32_t done =
			__atomic_load_n(&lanes[i].done, __ATOMIC_ACQUIRE);

		while (__atomic_load_n(&lanes[i].done, __ATOMIC_ACQUIRE) -
			       done <
		       times)
			driven_turn(driven);
	}
}

/* A tick of the tracer; a look lasts for two periods of a clock at each. */
static void tick_of_work(struct driven *driven, uint64_t *now)
{
	if (driven->engine.profile.looking)
		work(driven, WORK);
	tick(driven, now);
}

/*
 * Nothing is new any more: nothing is sampled for most of the time. Then there is
 * new code. Returns how long it takes, in the time of ticks, until that is known.
 */
static uint64_t time_to_a_new_phase(struct driven *driven, uint64_t *now)
{
	const struct profile *profile = &driven->engine.profile;
	uint64_t begun;

	while (!profile->resting || profile->looking)
		tick(driven, now);
	assert_false(is_known(&driven->engine, spin_late));
	begun = *now;
	tracee_tell(&child_plan.arena->flag, 1);
	while (!is_known(&driven->engine, spin_late))
		tick_of_work(driven, now);
	return *now - begun;
}

static void a_new_phase_is_noticed(void **state)
{
	struct driven *driven = start(2);
	struct profile *profile = &driven->engine.profile;
	uint64_t now = clock_now_ns();

	(void)state;
	while (!is_known(&driven->engine, spin_early) && !is_refused(driven))
		tick(driven, &now);
	if (is_refused(driven)) {
		driven_end(driven);
		skip();
	}
	assert_int_equal(profile->open, 2);
	assert_false(is_known(&driven->engine, spin_late));
	assert_true(time_to_a_new_phase(driven, &now) < CLOCK_NS_PER_S);
	assert_true(is_known(&driven->engine, spin_early));
	while (profile->looking)
		tick(driven, &now);
	/* more of it is looked for */
	assert_false(profile->resting);
	assert_true(driven->running_count > 0);
	driven_end(driven);
}

/* Threads that hardly compute give few samples, which tell nothing. */
static void few_samples_are_not_the_end_of_learning(void **state)
{
	static lane_work *const all[] = { work_spin, work_spin };
	struct driven *driven;
	struct profile *profile;
	uint64_t begun = clock_now_ns(), now = begun;

	(void)state;
	driven_plan(all, 2);
	driven = driven_start(&watch_by_value);
	profile = &driven->engine.profile;
	while (now < begun + 10 * CLOCK_NS_PER_S && !is_refused(driven)) {
		/* on a slow machine there are more while a tick lasts */
		profile->samples = 0;
		tick(driven, &now);
		assert_false(profile->resting);
	}
	/*
	 * ... but not for ever: ten times as long as it takes if no tick brings
	 * new code
	 */
	while (now < begun + 200 * CLOCK_NS_PER_S && !profile->resting &&
	       !is_refused(driven)) {
		profile->samples = profile->fresh = 0;
		tick(driven, &now);
	}
	if (is_refused(driven)) {
		driven_end(driven);
		skip();
	}
	assert_true(profile->resting);
	driven_end(driven);
}

static void *crowd_main(void *arg)
{
	struct arena *arena = arg;

	__atomic_add_fetch(&arena->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&arena->over, __ATOMIC_ACQUIRE))
		usleep(1000);
	return NULL;
}

static void work_crowd(struct arena *arena, struct lane *lane)
{
	pthread_t threads[CROWD];

	(void)lane;
	for (int i = 0; i < CROWD; i++)
		pthread_create(&threads[i], NULL, crowd_main, arena);
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
}

static bool all_were_looked_at(const struct process *process)
{
	for (size_t i = 0; i < process->threads.count; i++) {
		const struct thread *thread = process_thread(process, i);

		if (!thread->profiled && thread->profile_due_ns == 0)
			return false;
	}
	return process->threads.count == CROWD + 1;
}

/* The share that may be lost, and the clocks that are used at a time. */
static void look_at_crowd(double share, unsigned int clocks)
{
	static lane_work *const all[] = { work_crowd };
	uint64_t now = clock_now_ns();
	const struct process *process;
	struct driven *driven;
	unsigned int most = 0;

	driven_plan(all, 1);
	driven = driven_start(&watch_by_value);
	driven->engine.pool.params.share = share;
	budget_set_share(&driven->engine.load.budget, share);
	process = tracees_process(&driven->engine.core.tracees, driven->pid);
	/* a process with one thread is not sampled */
	for (int i = 0; i < 10; i++)
		tick(driven, &now);
	assert_int_equal(driven->engine.profile.open, 0);
	lane_start(0, 1);
	while (!all_were_looked_at(process) && !is_refused(driven)) {
		tick(driven, &now);
		if (driven->engine.profile.open > most)
			most = driven->engine.profile.open;
	}
	assert_true(is_refused(driven) || most == clocks);
	/* let go, nothing is left open */
	driven_release(driven);
	assert_int_equal(driven->engine.profile.open, 0);
	driven_end(driven);
}

static void each_thread_is_looked_at(void **state)
{
	(void)state;
	look_at_crowd(0, PROFILE_CLOCKS);
}

static void few_clocks_are_used_where_little_may_be_lost(void **state)
{
	(void)state;
	look_at_crowd(0.02, PROFILE_LOW_CLOCKS);
}

static void nothing_is_sampled_at_a_rate_of_0(void **state)
{
	struct driven *driven = start(2);
	struct engine *engine = &driven->engine;
	uint64_t now = clock_now_ns();

	(void)state;
	engine->pool.params.rate = 0;
	perf_opened = 0;
	for (int i = 0; i < 200; i++)
		tick(driven, &now);
	assert_int_equal(perf_opened, 0);
	engine->pool.params.rate = 100;
	while (engine->profile.open == 0 && !is_refused(driven))
		tick(driven, &now);
	engine->pool.params.rate = 0;
	tick(driven, &now);
	assert_int_equal(engine->profile.open, 0);
	driven_end(driven);
}

static void a_program_is_not_told_of_the_last_ones_code(void **state)
{
	struct driven *driven = start(2);
	struct engine *engine = &driven->engine;
	uint64_t now = clock_now_ns();
	struct thread *thread;
	struct lane *lanes;

	(void)state;
	lanes = child_plan.arena->lanes;
	while (engine->profile.open < 2 && !is_refused(driven))
		tick(driven, &now);
	if (is_refused(driven)) {
		driven_end(driven);
		skip();
	}
	/* some 15 ms of CPU time: their samples are in the rings */
	for (int i = 0; i < 2; i++) {
		uint32_t enough = lanes[i].done + 500;

		while (__atomic_load_n(&lanes[i].done, __ATOMIC_ACQUIRE) <
		       enough)
			usleep(1000);
	}
	thread = tracees_thread(&engine->core.tracees, driven->pid);
	assert_true(thread->profiled);
	running_deinit(&engine->profile.running);
	running_init(&engine->profile.running);
	profile_exec(&engine->profile, thread);
	assert_false(thread->profiled);
	assert_int_equal(engine->profile.running.blocks.count, 0);
	/* unlike those of a thread that ends */
	thread = tracees_thread(&engine->core.tracees,
				child_plan.arena->lanes[1].tid);
	profile_forget(&engine->profile, thread);
	assert_int_equal(engine->profile.open, 0);
	assert_true(is_known(engine, spin_early));
	driven_end(driven);
}

static void files_are_left_for_others(void **state)
{
	struct rlimit before, few = { .rlim_cur = 48 };
	struct driven *driven = start(2);
	uint64_t now = clock_now_ns();

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int i = 0; i < 50; i++)
		tick(driven, &now);
	assert_int_equal(driven->engine.profile.open, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	driven_end(driven);
}

static void where_perf_is_refused_stops_tell(void **state)
{
	struct driven *driven = start(2);
	struct engine *engine = &driven->engine;
	uint64_t now = clock_now_ns();

	(void)state;
	perf_refused = true;
	while (!is_refused(driven))
		tick(driven, &now);
	perf_opened = 0;
	while (!is_known(engine, spin_early)) {
		thread_interrupt(
			tracees_thread(&engine->core.tracees, driven->pid));
		tick(driven, &now);
	}
	while (driven->running_count == 0)
		tick(driven, &now);
	/* it is not asked again */
	assert_int_equal(perf_opened, 0);
	assert_int_equal(engine->profile.open, 0);
	perf_refused = false;
	driven_end(driven);
}

/* Until no thread is on its way to a stop. */
static void settle(struct driven *driven)
{
	bool waits;

	do {
		driven_turn(driven);
		waits = false;
		for (int i = 0; i < 2; i++) {
			const struct thread *thread =
				tracees_thread(&driven->engine.core.tracees,
					       child_plan.arena->lanes[i].tid);

			waits |= thread->interrupting;
		}
	} while (waits);
}

/*
 * A tick at which threads that are stopped for it have stopped. They are in the
 * functions but for a few in a hundred of their instructions.
 */
static void tick_of_stops(struct driven *driven, uint64_t *now)
{
	tick(driven, now);
	settle(driven);
}

static struct driven *start_refused(void)
{
	struct driven *driven = start(2);
	uint64_t now = clock_now_ns();

	perf_refused = true;
	driven->callers_from = (uintptr_t)call_early;
	driven->callers_to = (uintptr_t)call_early_end;
	while (!is_refused(driven))
		tick(driven, &now);
	return driven;
}

static void where_perf_is_refused_running_threads_are_stopped(void **state)
{
	struct driven *driven = start_refused();
	struct profile *profile = &driven->engine.profile;
	uint64_t now = profile->read_ns, stops, begun;

	(void)state;
	/* also what called it */
	while (!is_known(&driven->engine, spin_early) ||
	       driven->callers_count == 0)
		tick_of_stops(driven, &now);
	while (!profile->resting || profile->looking)
		tick_of_stops(driven, &now);
	/* and later for a tenth of the time only */
	stops = driven->engine.core.stats.stops;
	while (!profile->looking) {
		tick_of_stops(driven, &now);
		if (!profile->looking)
			assert_int_equal(driven->engine.core.stats.stops,
					 stops);
	}
	while (profile->looking || !profile->resting)
		tick_of_stops(driven, &now);
	/*
	 * A look has five ticks, with two stops each: if each missed with a
	 * probability of one in four, all would with one of 1e-6.
	 */
	tracee_tell(&child_plan.arena->flag, 1);
	work(driven, 2);
	begun = now;
	while (!is_known(&driven->engine, spin_late))
		tick_of_stops(driven, &now);
	assert_true(now - begun < CLOCK_NS_PER_S);
	perf_refused = false;
	driven_end(driven);
}

static int sleepers_bell;

static void work_sleep(struct arena *arena, struct lane *lane)
{
	uint64_t count;

	(void)arena;
	if (read(sleepers_bell, &count, sizeof(count)) == sizeof(count))
		lane->result++;
}

static void where_perf_is_refused_sleeping_threads_are_left_alone(void **state)
{
	static lane_work *const all[] = { work_sleep, work_sleep };
	const uint64_t both = 2;
	uint64_t now = clock_now_ns(), args[PROCFS_ARGUMENTS], stops;
	struct driven *driven;
	int number;

	(void)state;
	sleepers_bell = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	assert_true(sleepers_bell >= 0);
	perf_refused = true;
	driven_plan(all, 2);
	driven = driven_start(&watch_by_value);
	for (int i = 0; i < 2; i++) {
		lane_start(i, 1);
		while (!procfs_system_call(child_plan.arena->lanes[i].tid,
					   &number, args) ||
		       number != SYS_read)
			driven_turn(driven);
	}
	while (!is_refused(driven))
		tick(driven, &now);
	settle(driven);
	stops = driven->engine.core.stats.stops;
	for (int i = 0; i < 100; i++)
		tick(driven, &now);
	assert_int_equal(driven->engine.core.stats.stops, stops);
	assert_int_equal(write(sleepers_bell, &both, sizeof(both)),
			 sizeof(both));
	perf_refused = false;
	driven_end(driven);
	close(sleepers_bell);
}

static void what_stops_cost_is_bounded(void **state)
{
	struct driven *driven = start_refused();
	struct engine *engine = &driven->engine;
	uint64_t now = engine->profile.read_ns, begun, stops;

	(void)state;
	/* of 1 % of the time an eighth: 1.25 ms in a second, 25 stops */
	engine->pool.params.share = 0.01;
	budget_set_share(&engine->load.budget, 0.01);
	tick(driven, &now);
	begun = now;
	stops = engine->core.stats.stops;
	while (now < begun + 4 * CLOCK_NS_PER_S) {
		/* as if all were new, all the time */
		engine->profile.resting = false;
		tick_of_stops(driven, &now);
	}
	/* and what may be saved: that of another second */
	assert_in_range(engine->core.stats.stops - stops, 50, 5 * 25);
	perf_refused = false;
	driven_end(driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_phase_is_noticed),
		cmocka_unit_test(few_samples_are_not_the_end_of_learning),
		cmocka_unit_test(each_thread_is_looked_at),
		cmocka_unit_test(few_clocks_are_used_where_little_may_be_lost),
		cmocka_unit_test(nothing_is_sampled_at_a_rate_of_0),
		cmocka_unit_test(a_program_is_not_told_of_the_last_ones_code),
		cmocka_unit_test(files_are_left_for_others),
		cmocka_unit_test(where_perf_is_refused_stops_tell),
		cmocka_unit_test(
			where_perf_is_refused_running_threads_are_stopped),
		cmocka_unit_test(
			where_perf_is_refused_sleeping_threads_are_left_alone),
		cmocka_unit_test(what_stops_cost_is_bounded),
	};

	alarm(TRACEE_TEST_SECONDS);
	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
