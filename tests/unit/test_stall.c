/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stalls and the conflicts they find, with each back-end: two threads of a
 * child, brought to their accesses in a known order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

#include "driven.h"

#include "sys/perfwatch.h"
#include "sys/pidref.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "tracee/step.h"
#include "tracer/arm.h"
#include "tracer/conflict.h"

enum { MARK = 0x1234 };

static void work_write(struct arena *arena, struct lane *lane)
{
	do_write(&arena->data[0], MARK + lane->done);
	/* something to return to: no tail call */
	__asm__ volatile("" ::: "memory");
}

static void work_read(struct arena *arena, struct lane *lane)
{
	lane->result = do_read(&arena->data[0]);
}

static void work_add(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_add(&arena->data[0], 1);
}

static void work_neighbour(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_add(&arena->data[1], 1);
}

/* 16 bytes that begin in the middle of a word. */
static void work_wide(struct arena *arena, struct lane *lane)
{
	(void)lane;
	do_wide((char *)&arena->data[0] + 4);
}

/* The last byte of it. */
static void work_last_byte(struct arena *arena, struct lane *lane)
{
	(void)lane;
	__atomic_fetch_add((char *)&arena->data[0] + 19, 1, __ATOMIC_RELAXED);
}

static void work_wait(struct arena *arena, struct lane *lane)
{
	(void)lane;
	tracee_tell(&arena->flag, 1);
	/* futex(2), FUTEX_WAIT without a time-out; woken by the test */
	while (!arena->data[31])
		syscall(SYS_futex, &arena->data[31], 0, 0, NULL, NULL, 0);
}

static struct driven *start(const struct watch_ops *ops, lane_work *first,
			    lane_work *second)
{
	lane_work *const work[] = { first, second };

	driven_plan(work, 2);
	return driven_start(ops);
}

static void skip_without(const struct watch_ops *ops)
{
	struct error *err = NULL;
	bool kernel;

	if (ops == &watch_by_perf)
		err = selftest_perf(&kernel);
	else if (ops == &watch_by_cpu)
		err = selftest_cpu();
	else if (ops == &watch_by_registers)
		err = selftest_registers();
	if (err)
		tracee_skip(err);
}

static bool stalled(const struct driven *driven)
{
	const struct stalls *stalls = &driven->engine.stalls;

	return stalls->list.count == 1 &&
	       (*(struct stall **)vec_at(&stalls->list, 0))->watched;
}

/*
 * The first lane stands before its access, and is watched. Where other programs of
 * the machine have the registers at that moment (an event of a processor takes one
 * of every thread), the access passes without a stall: the next is tried.
 */
static struct driven *start_stalled(const struct watch_ops *ops,
				    lane_work *first, lane_work *second,
				    const char *label)
{
	struct wire_site site = site_at(label, 5);
	struct driven *driven;

	skip_without(ops);
	driven = start(ops, first, second);
	do {
		driven_arm(driven, &site);
		lane_start(0, 1);
		driven_until(driven, stalled(driven) || lane_idle(0));
	} while (!stalled(driven));
	driven_prolong(driven);
	assert_false(lane_idle(0));
	return driven;
}

static void check_side(const struct driven *driven, int side, int lane,
		       const char *label)
{
	const struct wire_side *got = &driven->conflict.wire.sides[side];

	assert_true(got->present);
	assert_int_equal(got->pid, driven->pid);
	assert_int_equal(got->tid, child_plan.arena->lanes[lane].tid);
	assert_int_equal(got->regs.rip, (uintptr_t)label);
	assert_int_equal(got->syscall, -1);
	assert_true(got->stack_size > 128 + 8);
	assert_int_equal(got->regs.gpr[X86_RDI],
			 (uintptr_t)&child_plan.arena->data[0]);
}

/* The word at the stack pointer: the function returns into the work. */
static void check_stack(const struct driven *driven, int side, lane_work *work)
{
	const struct wire_side *got = &driven->conflict.wire.sides[side];
	uint64_t at = got->regs.gpr[X86_RSP] - got->stack_address;
	uint64_t returns;

	memcpy(&returns, driven->conflict.stacks[side] + at, sizeof(returns));
	assert_in_range(returns, (uintptr_t)work, (uintptr_t)work + 1024);
}

static void writers_conflict(const struct watch_ops *ops)
{
	struct driven *driven =
		start_stalled(ops, work_write, work_write, site_write);
	const struct wire_conflict *wire = &driven->conflict.wire;
	uint64_t before, after;

	lane_start(1, 1);
	driven_until(driven, driven->conflict_count == 1);
	assert_int_equal(wire->evidence, WIRE_WATCHPOINT);
	assert_int_equal(wire->watched, 8);
	assert_int_equal(wire->trap_address,
			 (uintptr_t)&child_plan.arena->data[0]);
	memcpy(&before, wire->before, 8);
	memcpy(&after, wire->after, 8);
	assert_int_equal(before, 0);
	assert_int_equal(after, MARK);
	check_side(driven, 0, 0, site_write);
	assert_true(wire->sides[0].before);
	assert_int_equal(wire->sides[0].site, 5);
	assert_int_equal(wire->sides[0].access.kind, ACCESS_WRITE);
	assert_int_equal(wire->sides[0].access.size, 8);
	/* behind the access: movq %rsi, (%rdi) takes three bytes */
	check_side(driven, 1, 1, site_write + 3);
	assert_false(wire->sides[1].before);
	check_stack(driven, 0, work_write);
	check_stack(driven, 1, work_write);
	assert_int_equal(driven->sample_count, 1);
	assert_int_equal(driven->samples[0].outcome, WIRE_RACED);
	assert_int_equal(driven->samples[0].id, 5);
	assert_int_equal(driven->returned_count, 1);
	assert_int_equal(driven->returned[0].why, WIRE_FIRED);
	driven_until(driven, lane_idle(0) && lane_idle(1));
	driven_end(driven);
}

/*
 * Lane 0 stands before its access, which `first' makes, and the bytes were read
 * when lane 1's write had been made: told as what they were before.
 */
static void bytes_read_late(lane_work *first, const char *label,
			    uint64_t wanted)
{
	struct driven *driven =
		start_stalled(&watch_by_registers, first, work_write, label);
	const struct wire_conflict *wire = &driven->conflict.wire;
	struct stall *stall =
		*(struct stall **)vec_at(&driven->engine.stalls.list, 0);
	const uint64_t mark = MARK;

	memcpy(stall->accesses[0].before, &mark, sizeof(mark));
	lane_start(1, 1);
	driven_until(driven, driven->conflict_count == 1);
	assert_int_equal(wire->evidence, WIRE_WATCHPOINT);
	assert_memory_equal(wire->before, &wanted, sizeof(wanted));
	assert_memory_equal(wire->after, &mark, sizeof(mark));
	driven_end(driven);
}

/* Where a read is held, the trap is the write's, which changed them. */
static void a_write_before_the_bytes_are_read_changed_them(void **state)
{
	(void)state;
	bytes_read_late(work_read, site_read, 0);
}

/* Where a write is held, it may have been a read's. */
static void a_read_behind_such_a_write_changed_nothing(void **state)
{
	(void)state;
	bytes_read_late(work_write, site_write, MARK);
}

static void perf_catches_the_other_writer(void **state)
{
	(void)state;
	writers_conflict(&watch_by_perf);
}

static void registers_catch_the_other_writer(void **state)
{
	(void)state;
	writers_conflict(&watch_by_registers);
}

struct step_until {
	struct step step;
	const struct engine *engine;
};

static bool step_on(struct step *step)
{
	return ((struct step_until *)step)->engine->core.stats.watch_traps == 0;
}

/* One instruction is a step and a watched write, and told as a step. */
static void registers_catch_a_stepped_writer(void **state)
{
	struct driven *driven = start_stalled(&watch_by_registers, work_write,
					      work_write, site_write);
	struct thread *thread = tracees_thread(&driven->engine.core.tracees,
					       child_plan.arena->lanes[1].tid);
	struct step_until until = { .step.stepped = step_on,
				    .engine = &driven->engine };

	(void)state;
	step_begin(&until.step, thread);
	thread_interrupt(thread);
	lane_start(1, 1);
	driven_until(driven, driven->conflict_count == 1);
	assert_int_equal(driven->conflict.wire.evidence, WIRE_WATCHPOINT);
	check_side(driven, 0, 0, site_write);
	assert_true(driven->conflict.wire.sides[1].present);
	driven_until(driven, lane_idle(0) && lane_idle(1));
	assert_null(until.step.thread);
	driven_end(driven);
}

static bool watches_by(const struct driven *driven, const struct watch_ops *ops)
{
	return driven->engine.core.tracees.watch.ops == ops;
}

/* Many threads: events of processors, until they are few again. */
static void the_back_end_suits_the_number_of_threads(void **state)
{
	struct wire_site site = site_at(site_write, 6);
	struct driven *driven;

	(void)state;
	skip_without(&watch_by_perf);
	skip_without(&watch_by_cpu);
	driven = start(&watch_by_perf, work_write, work_write);
	driven->engine.core.tracees.watch.many = 1;
	driven_until(driven, watches_by(driven, &watch_by_cpu));
	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, stalled(driven));
	driven_prolong(driven);
	lane_start(1, 1);
	driven_until(driven, driven->conflict_count == 1);
	assert_int_equal(driven->conflict.wire.evidence, WIRE_WATCHPOINT);
	driven_until(driven, lane_idle(0) && lane_idle(1));
	driven->engine.core.tracees.watch.many = 1000;
	driven->engine.core.tracees.watch.change_ns = 0;
	driven_until(driven, watches_by(driven, &watch_by_perf));
	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, stalled(driven));
	driven_prolong(driven);
	assert_null(driven->engine.core.tracees.watch.state);
	lane_start(1, 1);
	driven_until(driven, driven->conflict_count == 2);
	driven_until(driven, lane_idle(0) && lane_idle(1));
	driven_end(driven);
}

/* Stalls that have just ended have left each register of the threads an event. */
static void leave_events(struct engine *engine)
{
	const struct addrspace *space =
		tracees_process_at(&engine->core.tracees, 0)->space;
	struct watch_claim claims[DREGS_SLOTS];

	for (unsigned int i = 0; i < DREGS_SLOTS; i++)
		assert_true(watch_claim(&engine->core.tracees.watch, space,
					0x10000 + 64 * i, 8, DREGS_WRITE,
					&claims[i]));
	watch_publish(&engine->core.tracees);
	for (unsigned int i = 0; i < DREGS_SLOTS; i++)
		watch_release(&engine->core.tracees.watch, &claims[i]);
	watch_publish(&engine->core.tracees);
}

static void events_of_threads_make_room_for_those_of_processors(void **state)
{
	struct wire_site site = site_at(site_write, 6);
	struct driven *driven;
	uint64_t lacked;

	(void)state;
	skip_without(&watch_by_perf);
	skip_without(&watch_by_cpu);
	driven = start(&watch_by_perf, work_write, work_write);
	leave_events(&driven->engine);
	driven->engine.core.tracees.watch.many = 1;
	driven_until(driven, watches_by(driven, &watch_by_cpu));
	/* where somebody else has one, as many as there were */
	lacked = driven->engine.core.stats.out_of_registers;
	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, stalled(driven));
	assert_int_equal(driven->engine.core.stats.out_of_registers, lacked);
	driven_until(driven, lane_idle(0));
	driven_end(driven);
}

/* A short stall of a young program ends; how often is it to be armed again? */
static size_t armed_again(uint64_t forgotten)
{
	struct driven *driven = start_stalled(&watch_by_registers, work_write,
					      work_write, site_write);
	struct stall *stall =
		*(struct stall **)vec_at(&driven->engine.stalls.list, 0);
	const struct wire_range range = { .start = forgotten,
					  .end = forgotten + 1,
					  .program = stall->site.program };
	size_t count;

	stall->young = true;
	stalls_forget(&driven->engine, &range);
	arm_forget(&driven->engine, &range);
	stall->deadline_ns = 0;
	stalls_tick(&driven->engine, clock_now_ns());
	/* before the tracer comes to arm it */
	count = driven->engine.pool.once.count;
	driven_until(driven, lane_idle(0));
	driven_end(driven);
	return count;
}

static void what_is_forgotten_in_its_stall_is_not_armed_again(void **state)
{
	(void)state;
	assert_int_equal(armed_again((uintptr_t)site_write - 1), 1);
	assert_int_equal(armed_again((uintptr_t)site_write), 0);
}

static void body(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

/* What the tracer does between stalls, until the back-end stays. */
static void suit(struct tracees *tracees)
{
	do
		watch_suit(tracees, false, clock_now_ns());
	while (watch_is_changing(&tracees->watch));
}

/* The lowest number that is free. */
static int next_file(void)
{
	int fd = dup(STDIN_FILENO);

	close(fd);
	return fd;
}

/*
 * The kernel waits for every processor when an event of one is opened. That is over
 * before there is a stall, for one that reads and for one that writes. The other
 * registers are left to others.
 */
static void no_stall_waits_for_the_events_of_processors(void **state)
{
	struct wire_site site = site_at(site_write, 6);
	struct watch_claim claims[2];
	const struct addrspace *space;
	struct driven *driven;
	struct tracees *tracees;
	int next;

	(void)state;
	skip_without(&watch_by_perf);
	skip_without(&watch_by_cpu);
	driven = start(&watch_by_perf, work_write, work_write);
	tracees = &driven->engine.core.tracees;
	tracees->watch.many = 1;
	watch_suit(tracees, false, clock_now_ns());
	assert_true(watch_is_changing(&tracees->watch));
	/* a hit meanwhile is passed */
	driven_arm(driven, &site);
	lane_start(0, 1);
	while (driven->engine.core.stats.hits == 0)
		driven_event(driven);
	assert_int_equal(driven->engine.stalls.list.count, 0);
	assert_int_equal(driven->engine.core.stats.unaffordable, 1);
	driven_until(driven, lane_idle(0));
	driven_until(driven, watches_by(driven, &watch_by_cpu));
	/* each type has its event: to use them opens no file */
	space = tracees_process_at(tracees, 0)->space;
	next = next_file();
	for (unsigned int i = 0; i < 2; i++)
		assert_true(watch_claim(
			&tracees->watch, space, 0x10000 + 64 * i, 8,
			i % 2 ? DREGS_WRITE : DREGS_READ_WRITE, &claims[i]));
	watch_publish(tracees);
	assert_int_equal(next_file(), next);
	for (unsigned int i = 0; i < 2; i++)
		watch_release(&tracees->watch, &claims[i]);
	watch_publish(tracees);
	driven_end(driven);
}

/* 16 bytes take two registers, of which one is open. */
static void wide(struct tracees *tracees)
{
	struct watch_claim claim;

	assert_true(watch_claim(&tracees->watch,
				tracees_process_at(tracees, 0)->space, 0x10000,
				16, DREGS_WRITE, &claim));
	watch_publish(tracees);
	watch_release(&tracees->watch, &claim);
	watch_publish(tracees);
}

static void what_a_stall_has_lacked_is_opened_behind_it(void **state)
{
	struct driven *driven;
	struct tracees *tracees;
	uint64_t lacked;
	int next;

	(void)state;
	skip_without(&watch_by_perf);
	skip_without(&watch_by_cpu);
	driven = start(&watch_by_perf, work_write, work_write);
	tracees = &driven->engine.core.tracees;
	tracees->watch.many = 1;
	driven_until(driven, watches_by(driven, &watch_by_cpu));
	lacked = tracees->stats->out_of_registers;
	next = next_file();
	wide(tracees);
	assert_int_equal(next_file(), next);
	assert_int_equal(tracees->stats->out_of_registers, lacked + 1);
	watch_suit(tracees, false, clock_now_ns());
	assert_true(watch_is_changing(&tracees->watch));
	driven_until(driven, !watch_is_changing(&tracees->watch));
	assert_ptr_equal(tracees->watch.ops, &watch_by_cpu);
	/* unless somebody else has it now */
	if (!watch_cpu_refused(&tracees->watch)) {
		next = next_file();
		wide(tracees);
		assert_int_equal(next_file(), next);
		assert_int_equal(tracees->stats->out_of_registers, lacked + 1);
	}
	watch_suit(tracees, false, clock_now_ns());
	assert_false(watch_is_changing(&tracees->watch));
	driven_end(driven);
}

static long absent_processors;

/* The C library's, but for processors that are configured and not there. */
long sysconf(int name)
{
	long (*real)(int name);

	*(void **)&real = dlsym(RTLD_NEXT, "sysconf");
	return real(name) +
	       (name == _SC_NPROCESSORS_CONF ? absent_processors : 0);
}

static void what_is_open_is_not_opened_again(void **state)
{
	struct driven *driven;
	struct tracees *tracees;
	uint64_t lacked;
	int next;

	(void)state;
	skip_without(&watch_by_perf);
	skip_without(&watch_by_cpu);
	absent_processors = 1;
	driven = start(&watch_by_perf, work_write, work_write);
	tracees = &driven->engine.core.tracees;
	tracees->watch.many = 1;
	driven_until(driven, watches_by(driven, &watch_by_cpu));
	next = next_file();
	wide(tracees);
	watch_suit(tracees, false, clock_now_ns());
	assert_true(watch_is_changing(&tracees->watch));
	driven_until(driven, !watch_is_changing(&tracees->watch));
	/* of two slots, one was open, but for a processor that is not there */
	if (!watch_cpu_refused(&tracees->watch)) {
		lacked = tracees->stats->out_of_registers;
		assert_int_equal(next_file(),
				 next + sysconf(_SC_NPROCESSORS_ONLN));
		wide(tracees);
		assert_int_equal(tracees->stats->out_of_registers, lacked);
	}
	driven_end(driven);
	absent_processors = 0;
}

/* Events of processors see the memory of one process, and of those apart. */
static void the_back_end_suits_what_processes_share(void **state)
{
	struct wire_shared shared = { .start = 4096, .end = 8192 };
	struct watch *watch;
	struct driven *driven;
	struct pidref ref;
	pid_t other;

	(void)state;
	skip_without(&watch_by_perf);
	skip_without(&watch_by_cpu);
	driven = start(&watch_by_perf, work_write, work_write);
	other = tracee_fork(body, NULL);
	assert_ok(pidref_open(other, &ref));
	assert_ok(launch_attach(&driven->engine, other, &ref));
	watch = &driven->engine.core.tracees.watch;
	watch->many = 2;
	suit(&driven->engine.core.tracees);
	assert_ptr_equal(watch->ops, &watch_by_cpu);
	/* where both have it at one address, an event of a processor will do */
	for (size_t i = 0; i < 2; i++)
		vec_push(&tracees_process_at(&driven->engine.core.tracees, i)
				  ->space->shared,
			 &shared);
	watch->change_ns = watch->scattered_ns = 0;
	suit(&driven->engine.core.tracees);
	assert_ptr_equal(watch->ops, &watch_by_cpu);
	shared.start += 8192;
	shared.end += 8192;
	vec_clear(&tracees_process_at(&driven->engine.core.tracees, 1)
			   ->space->shared);
	vec_push(&tracees_process_at(&driven->engine.core.tracees, 1)
			  ->space->shared,
		 &shared);
	watch->change_ns = watch->scattered_ns = 0;
	suit(&driven->engine.core.tracees);
	assert_ptr_equal(watch->ops, &watch_by_perf);
	/* with little time to lose fewer threads are many */
	assert_int_equal(
		watch_many(watch, budget_is_small(&driven->engine.load.budget)),
		2);
	budget_set_share(&driven->engine.load.budget, 0.02);
	assert_int_equal(
		watch_many(watch, budget_is_small(&driven->engine.load.budget)),
		WATCH_MANY_PER_CPU_LOW * sysconf(_SC_NPROCESSORS_ONLN));
	budget_set_share(&driven->engine.load.budget, 0.4);
	assert_int_equal(
		watch_many(watch, budget_is_small(&driven->engine.load.budget)),
		2);
	driven_release(driven);
	tracee_kill(other);
	driven_end(driven);
	pidref_close(&ref);
}

static void a_cpu_event_records_the_other_writer(void **state)
{
	(void)state;
	writers_conflict(&watch_by_cpu);
}

static void reading_again_shows_a_changed_value(void **state)
{
	struct driven *driven = start_stalled(&watch_by_value, work_read,
					      work_write, site_read);
	const struct wire_conflict *wire = &driven->conflict.wire;

	(void)state;
	lane_start(1, 1);
	driven_until(driven, driven->conflict_count == 1);
	assert_int_equal(wire->evidence, WIRE_VALUE_CHANGE);
	check_side(driven, 0, 0, site_read);
	assert_false(wire->sides[1].present);
	assert_int_equal(wire->after[0], MARK & 0xff);
	driven_until(driven, lane_idle(0) && lane_idle(1));
	/* it reads after the stall: the new value */
	assert_int_equal(child_plan.arena->lanes[0].result, MARK);
	driven_end(driven);
}

static void end_quietly(struct driven *driven)
{
	(*(struct stall **)vec_at(&driven->engine.stalls.list, 0))
		->deadline_ns = 0;
	driven_until(driven, driven->sample_count == 1);
	assert_int_equal(driven->samples[0].outcome, WIRE_QUIET);
	assert_int_equal(driven->conflict_count, 0);
	driven_until(driven, lane_idle(0));
	driven_end(driven);
}

static void a_reader_does_not_conflict_with_a_reader(void **state)
{
	const struct watch_ops *all[] = { &watch_by_registers, &watch_by_perf,
					  &watch_by_cpu };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct driven *driven =
			start_stalled(all[i], work_read, work_read, site_read);

		lane_start(1, 100);
		driven_until(driven, lane_idle(1));
		end_quietly(driven);
	}
}

static void the_next_word_is_not_watched(void **state)
{
	struct driven *driven = start_stalled(&watch_by_registers, work_write,
					      work_neighbour, site_write);

	(void)state;
	lane_start(1, 100);
	driven_until(driven, lane_idle(1));
	end_quietly(driven);
}

static void wide_and_unaligned_bytes_are_covered_exactly(void **state)
{
	struct driven *driven = start_stalled(&watch_by_registers, work_wide,
					      work_last_byte, site_wide);

	(void)state;
	lane_start(1, 1);
	driven_until(driven, driven->conflict_count == 1);
	assert_int_equal(driven->conflict.wire.evidence, WIRE_WATCHPOINT);
	assert_int_equal(driven->conflict.wire.watched, 16);
	driven_end(driven);
}

static uint64_t debug_register(pid_t tid, int number)
{
	uint64_t value = 1;

	assert_ok(trace_seize(tid, false));
	assert_ok(trace_interrupt(tid));
	tracee_wait(tid);
	assert_ok(trace_debug(tid, number, &value));
	assert_ok(trace_detach(tid, 0));
	return value;
}

static bool has_a_watch(const struct thread *thread)
{
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (thread->watch.address[i] != 0)
			return true;
	}
	return false;
}

/*
 * Somebody else has registers of the second thread: of those that the access
 * takes the last cannot be set. What was set is taken out again.
 */
static void what_was_set_of_a_watch_that_fails_is_cleared(void **state)
{
	const struct perfwatch_spec spec = {
		.address = (uintptr_t)&child_plan,
		.length = 1,
		.write_only = true,
	};
	struct wire_site site = site_at(site_wide, 5);
	struct driven *driven;
	int fds[DREGS_SLOTS - 1];
	pid_t tid;

	(void)state;
	skip_without(&watch_by_registers);
	driven = start(&watch_by_registers, work_wide, work_write);
	tid = child_plan.arena->lanes[1].tid;
	for (int i = 0; i < DREGS_SLOTS - 1; i++)
		assert_ok(perfwatch_open(tid, &spec, &fds[i]));
	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, stalled(driven));
	driven_prolong(driven);
	/* it is known, or a thread that sleeps would be let go with it */
	driven_until(driven, has_a_watch(tracees_thread(
				     &driven->engine.core.tracees, tid)));
	(*(struct stall **)vec_at(&driven->engine.stalls.list, 0))
		->deadline_ns = 0;
	driven_until(driven, lane_idle(0) && driven->sample_count == 1);
	driven_release(driven);
	for (int i = 0; i < DREGS_SLOTS - 1; i++)
		close(fds[i]);
	for (int i = 0; i < DREGS_SLOTS; i++)
		assert_int_equal(debug_register(tid, i), 0);
	driven_end(driven);
}

/* Both caught before they act. */
static void threads_before_conflicting_accesses_collide(void **state)
{
	struct wire_site other = site_at(site_add, 6);
	struct driven *driven = start_stalled(&watch_by_registers, work_read,
					      work_add, site_read);
	const struct wire_conflict *wire = &driven->conflict.wire;

	(void)state;
	driven_arm(driven, &other);
	lane_start(1, 1);
	driven_until(driven, driven->conflict_count == 1);
	assert_int_equal(wire->evidence, WIRE_COLLISION);
	check_side(driven, 0, 0, site_read);
	check_side(driven, 1, 1, site_add);
	assert_true(wire->sides[1].before);
	assert_int_equal(wire->sides[1].site, 6);
	assert_int_equal(wire->sides[1].access.kind, ACCESS_RMW);
	assert_memory_equal(wire->before, wire->after, 8);
	driven_until(driven, lane_idle(0) && lane_idle(1));
	assert_int_equal(driven->sample_count, 2);
	driven_end(driven);
}

static void readers_that_meet_do_not_collide(void **state)
{
	struct driven *driven = start_stalled(&watch_by_registers, work_read,
					      work_read, site_read);
	struct wire_site again = site_at(site_read, 6);

	(void)state;
	driven_arm(driven, &again);
	lane_start(1, 1);
	driven_until(driven, lane_idle(1));
	assert_int_equal(driven->conflict_count, 0);
	assert_int_equal(driven->engine.core.stats.unaffordable, 1);
	assert_int_equal(driven->passed_count, 1);
	end_quietly(driven);
}

static void a_stall_ends_when_nobody_else_can_run(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_wait);
	struct wire_site site = site_at(site_write, 5);

	(void)state;
	lane_start(1, 1);
	driven_until(driven,
		     child_plan.arena->flag == 1 &&
			     procfs_awaited(child_plan.arena->lanes[1].tid) ==
				     PROCFS_THREADS);
	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, driven->sample_count == 1);
	assert_int_equal(driven->samples[0].outcome, WIRE_ALONE);
	assert_int_not_equal(driven->engine.pool.alone_ns, 0);
	driven_until(driven, lane_idle(0));
	child_plan.arena->data[31] = 1;
	syscall(SYS_futex, &child_plan.arena->data[31], 1, 1, NULL, NULL, 0);
	driven_until(driven, lane_idle(1));
	driven_end(driven);
}

static void without_a_token_nobody_is_stalled(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_read);
	struct wire_site site = site_at(site_write, 5);

	(void)state;
	driven->engine.pool.params.rate = 0;
	/* nor may one that is seldom reached borrow any */
	driven->engine.pool.tokens = -1e9;
	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(driven->sample_count, 0);
	assert_int_equal(driven->engine.core.stats.unaffordable, 1);
	assert_int_equal(driven->engine.core.stats.hits, 1);
	driven_until(driven, driven->returned_count == 1);
	assert_int_equal(driven->returned[0].why, WIRE_MISSED);
	driven_end(driven);
}

static void what_is_not_in_the_budget_is_no_stall(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_read);
	struct budget *budget = &driven->engine.load.budget;
	struct wire_site site = site_at(site_write, 5);

	(void)state;
	/* an hour's worth, more than it lends, and none of it earned yet */
	budget_set_share(budget, 1e-6);
	budget->credit_ns = -3600 * 1e3;
	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(driven->sample_count, 0);
	assert_int_equal(driven->engine.core.stats.unaffordable, 1);
	driven_end(driven);
}

static void a_stall_is_charged_in_full(void **state)
{
	struct driven *driven = start_stalled(&watch_by_value, work_write,
					      work_read, site_write);
	const struct engine *engine = &driven->engine;

	(void)state;
	(*(struct stall **)vec_at(&engine->stalls.list, 0))->deadline_ns = 0;
	driven_until(driven, lane_idle(0));
	assert_true(engine->core.stats.stalled_ns > 0);
	assert_true(engine->load.budget.lost_ns >=
		    (double)engine->core.stats.stalled_ns);
	driven_end(driven);
}

/*
 * Held at a location that was waited for since the machine began, with so much
 * in the budget for long stalls: how much longer than a nanosecond it may be
 * held.
 */
static uint64_t extended_ns(struct driven *driven, uint64_t long_budget_ns)
{
	struct wire_site site = site_at(site_write, 5);
	const struct stall *stall;

	driven->engine.pool.params.stall_max_ns = 1;
	driven->engine.pool.params.stall_long_ns = CLOCK_NS_PER_S;
	budget_set_share(&driven->engine.load.budget, 1);
	driven->engine.load.budget.credit_ns = 1e9;
	driven->engine.load.budget.long_ns = (double)long_budget_ns;
	/* the credit is not to grow meanwhile */
	driven->engine.load.budget.earned_ns = UINT64_MAX;
	driven_arm(driven, &site)->armed_ns = 0;
	lane_start(0, 1);
	driven_until(driven, stalled(driven));
	driven_prolong(driven);
	stall = *(struct stall **)vec_at(&driven->engine.stalls.list, 0);
	return stall->long_ns;
}

/* By seed 1; the time drawn is below that for one seed in 10000. */
static void where_a_location_was_waited_for_a_stall_is_longer(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_wait);
	const struct budget *budget = &driven->engine.load.budget;

	(void)state;
	assert_in_range(extended_ns(driven, CLOCK_NS_PER_S / 4), 25000,
			CLOCK_NS_PER_S / 4);
	/* what it does not use is there for others */
	driven_release(driven);
	assert_true(budget->long_ns > 0.2 * CLOCK_NS_PER_S);
	driven_end(driven);
}

static void an_empty_budget_lengthens_no_stall(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_wait);

	(void)state;
	assert_int_equal(extended_ns(driven, 0), 0);
	driven_end(driven);
}

/* How long a stall at the site is to last, of at most a second. */
static uint64_t drawn_ns(struct driven *driven, const struct wire_site *site)
{
	const struct stall *stall;

	driven_arm(driven, site);
	lane_start(0, 1);
	driven_until(driven, stalled(driven));
	stall = *(struct stall **)vec_at(&driven->engine.stalls.list, 0);
	return stall->length_ns;
}

/* It would be longer than an eighth of a second for seven seeds in eight. */
static void where_conflicts_came_soon_a_stall_is_short(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_wait);
	struct wire_site site = site_at(site_write, 5);

	(void)state;
	lengths_note(&driven->engine.lengths, wire_site_key(0, 5), true, 1000);
	assert_in_range(drawn_ns(driven, &site), 1, CLOCK_NS_PER_S / 8);
	driven_end(driven);
}

/* Of a million seconds, by seed 1; it is below one for one seed in a million. */
static void where_a_location_is_seldom_reached_a_stall_is_longer(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_wait);
	struct wire_site site = site_at(site_write, 5);

	(void)state;
	driven->engine.pool.params.stretch_max = 1e6;
	site.seldom = true;
	assert_true(drawn_ns(driven, &site) > CLOCK_NS_PER_S);
	driven_end(driven);
}

/* What a stall came to is known the next time. */
static void a_conflict_is_noted_at_its_location(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_write);
	struct wire_site site = site_at(site_write, 5);
	const struct lengths *lengths = &driven->engine.lengths;

	(void)state;
	drawn_ns(driven, &site);
	driven_prolong(driven);
	assert_int_equal(lengths->noted, 0);
	(*(struct stall **)vec_at(&driven->engine.stalls.list, 0))
		->deadline_ns = 0;
	driven_until(driven, lane_idle(0));
	assert_int_equal(lengths->noted, 1);
	assert_non_null(map_get(&lengths->sites, wire_site_key(0, 5)));
	driven_end(driven);
}

/* It rests for as long as the share of that time says, here for ever. */
static void a_thread_is_not_stalled_again_at_once(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_write);
	struct wire_site site = site_at(site_write, 5);

	(void)state;
	driven->engine.pool.params.rest = UINT32_MAX;
	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, stalled(driven));
	(*(struct stall **)vec_at(&driven->engine.stalls.list, 0))
		->deadline_ns = 0;
	driven_until(driven, lane_idle(0));
	driven_arm(driven, &site);
	lane_start(0, 1);
	driven_until(driven, lane_idle(0));
	assert_int_equal(driven->engine.core.stats.resting, 1);
	assert_int_equal(driven->engine.core.stats.samples, 1);
	assert_int_equal(driven->engine.core.stats.hits_rested, 0);
	/* the other one is not tired */
	driven_arm(driven, &site);
	lane_start(1, 1);
	driven_until(driven, stalled(driven));
	driven_end(driven);
}

/*
 * Where it rests for a moment only. The hit may come too late for that, so that
 * there is a stall: not in 100 tries.
 */
static void what_a_resting_thread_hits_waits_for_it(void **state)
{
	struct driven *driven = start(&watch_by_value, work_write, work_write);
	struct wire_site site = site_at(site_write, 5);

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct process *process =
			tracees_process_at(&driven->engine.core.tracees, 0);
		uint64_t until = clock_now_ns() + 4 * CLOCK_NS_PER_MS;

		for (size_t j = 0; j < process->threads.count; j++)
			process_thread(process, j)->rests_until_ns = until;
		driven_arm(driven, &site);
		lane_start(0, 1);
		driven_until(driven, lane_idle(0));
		if (driven->engine.core.stats.resting > 0)
			break;
	}
	assert_int_equal(driven->engine.core.stats.resting, 1);
	assert_int_equal(driven->engine.core.stats.hits_rested, 1);
	assert_true(driven->engine.pool.rest_until_ns > 0);
	driven_end(driven);
}

static void a_killed_process_ends_its_stalls(void **state)
{
	struct driven *driven = start_stalled(&watch_by_registers, work_write,
					      work_read, site_write);

	(void)state;
	kill(driven->pid, SIGKILL);
	driven_until(driven, driven->exited);
	assert_int_equal(driven->engine.stalls.list.count, 0);
	assert_int_equal(driven->sample_count, 1);
	/* or, the other thread's end being told first, it was left alone */
	if (driven->samples[0].outcome != WIRE_ALONE)
		assert_int_equal(driven->samples[0].outcome, WIRE_ABANDONED);
	assert_int_equal(WTERMSIG(driven->exit.status), SIGKILL);
	assert_int_equal(driven->engine.core.phase, PHASE_DONE);
	driven_free(driven);
}

static void letting_go_ends_stalls_and_their_watches(void **state)
{
	const struct watch_ops *all[] = { &watch_by_registers, &watch_by_perf,
					  &watch_by_cpu, &watch_by_value };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct driven *driven =
			start_stalled(all[i], work_write, work_add, site_write);

		driven_release(driven);
		assert_int_equal(driven->samples[0].outcome, WIRE_ABANDONED);
		/* would die of a watch left behind */
		lane_start(1, 100);
		tracee_await(&child_plan.arena->lanes[0].done, 1);
		tracee_await(&child_plan.arena->lanes[1].done, 100);
		driven_end(driven);
	}
}

/* What is told of a stall never exceeds it. */
static void a_conflict_is_within_its_stall(void **state)
{
	struct stall stall = { .begun_ns = 1000, .length_ns = 600 };
	struct wire_conflict wire;

	(void)state;
	/* it took 2000 until the others watched */
	stall.deadline_ns = 1000 + 2000 + 600;
	conflict_set_times(&stall, 1000 + 2100, &wire);
	assert_int_equal(wire.elapsed_ns, 2100);
	assert_int_equal(wire.stall_ns, 2600);
	/* the tracer was late */
	conflict_set_times(&stall, 1000 + 3000, &wire);
	assert_int_equal(wire.elapsed_ns, 3000);
	assert_int_equal(wire.stall_ns, 3000);
	/* at its end, a trap was waited for, for at most so long */
	stall.grace = true;
	stall.deadline_ns = 1000 + 2600 + 5000;
	conflict_set_times(&stall, 1000 + 2700, &wire);
	assert_int_equal(wire.stall_ns, 2700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_catches_the_other_writer),
		cmocka_unit_test(registers_catch_the_other_writer),
		cmocka_unit_test(registers_catch_a_stepped_writer),
		cmocka_unit_test(the_back_end_suits_the_number_of_threads),
		cmocka_unit_test(
			events_of_threads_make_room_for_those_of_processors),
		cmocka_unit_test(
			what_is_forgotten_in_its_stall_is_not_armed_again),
		cmocka_unit_test(no_stall_waits_for_the_events_of_processors),
		cmocka_unit_test(what_a_stall_has_lacked_is_opened_behind_it),
		cmocka_unit_test(what_is_open_is_not_opened_again),
		cmocka_unit_test(the_back_end_suits_what_processes_share),
		cmocka_unit_test(a_cpu_event_records_the_other_writer),
		cmocka_unit_test(
			a_write_before_the_bytes_are_read_changed_them),
		cmocka_unit_test(a_read_behind_such_a_write_changed_nothing),
		cmocka_unit_test(reading_again_shows_a_changed_value),
		cmocka_unit_test(a_reader_does_not_conflict_with_a_reader),
		cmocka_unit_test(the_next_word_is_not_watched),
		cmocka_unit_test(wide_and_unaligned_bytes_are_covered_exactly),
		cmocka_unit_test(what_was_set_of_a_watch_that_fails_is_cleared),
		cmocka_unit_test(threads_before_conflicting_accesses_collide),
		cmocka_unit_test(readers_that_meet_do_not_collide),
		cmocka_unit_test(a_stall_ends_when_nobody_else_can_run),
		cmocka_unit_test(without_a_token_nobody_is_stalled),
		cmocka_unit_test(what_is_not_in_the_budget_is_no_stall),
		cmocka_unit_test(a_stall_is_charged_in_full),
		cmocka_unit_test(
			where_a_location_was_waited_for_a_stall_is_longer),
		cmocka_unit_test(an_empty_budget_lengthens_no_stall),
		cmocka_unit_test(where_conflicts_came_soon_a_stall_is_short),
		cmocka_unit_test(
			where_a_location_is_seldom_reached_a_stall_is_longer),
		cmocka_unit_test(a_conflict_is_noted_at_its_location),
		cmocka_unit_test(a_thread_is_not_stalled_again_at_once),
		cmocka_unit_test(what_a_resting_thread_hits_waits_for_it),
		cmocka_unit_test(a_killed_process_ends_its_stalls),
		cmocka_unit_test(a_conflict_is_within_its_stall),
		cmocka_unit_test(letting_go_ends_stalls_and_their_watches),
	};

	tracee_lock_registers();
	return cmocka_run_group_tests_name("stall", tests, NULL, NULL);
}
