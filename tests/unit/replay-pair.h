/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program of two threads that are held before they race: each stands in a
 * function of the test's that begins with int3, with its return address at rsp.
 * Include after <cmocka.h>.
 */
#ifndef TESTS_UNIT_REPLAY_PAIR_H
#define TESTS_UNIT_REPLAY_PAIR_H

#include "tracee.h"

#include <pthread.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "replay/liveout.h"
#include "replay/orders.h"
#include "sys/mapping.h"
#include "sys/memory.h"

/* A function that begins with int3: PAIR_REGION(name, "instructions"). */
#define PAIR_REGION(name, body)                                           \
	void name(void *data);                                            \
	__asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name       \
		", @function\n" #name ":\n\tint3\n" body "\n.size " #name \
		", .-" #name "\n")

typedef void pair_function(void *data);

struct pair_shared {
	uint32_t tids[REPLAY_THREADS], go, end;
};

struct pair_thread {
	pair_function *function;
	void *data;
	struct pair_shared *shared;
	int number;
};

struct pair {
	struct pair_shared *shared;
	struct pair_thread threads[REPLAY_THREADS];
	pid_t pid;
	struct memory memory;
	struct mappings mappings;
	/* the second thread's process is another one: */
	bool two;
	pid_t other;
	struct memory other_memory;
	struct mappings other_mappings;
	struct replay_hints hints;
	bool ends_at_missed;
	struct replay_capture *capture;
	struct processor *processor;
	struct replay_outcome ab, ba;
	struct vec differing; /* struct liveout */
};

static inline void *pair_thread_body(void *arg)
{
	struct pair_thread *thread = arg;

	tracee_tell(&thread->shared->tids[thread->number],
		    (uint32_t)syscall(SYS_gettid));
	tracee_await(&thread->shared->go, 1);
	thread->function(thread->data);
	tracee_await(&thread->shared->end, 1);
	return NULL;
}

static inline void pair_body(void *arg)
{
	struct pair *pair = arg;
	pthread_t other;

	pthread_create(&other, NULL, pair_thread_body, &pair->threads[1]);
	pair_thread_body(&pair->threads[0]);
	pthread_join(other, NULL);
	/* nobody made it a parent */
	if (waitpid(-1, NULL, __WALL) != -1 || errno != ECHILD)
		_exit(1);
}

/* Seize a thread that is about to meet int3, and wait until it has. */
static inline void pair_hold(struct pair *pair)
{
	for (int i = 0; i < REPLAY_THREADS; i++) {
		while (!__atomic_load_n(&pair->shared->tids[i],
					__ATOMIC_ACQUIRE))
			sched_yield();
		assert_ok(trace_seize((pid_t)pair->shared->tids[i], true));
	}
	tracee_tell(&pair->shared->go, 1);
	for (int i = 0; i < REPLAY_THREADS; i++) {
		struct stop_reason stop =
			tracee_wait((pid_t)pair->shared->tids[i]);

		assert_int_equal(stop.kind, STOP_SIGNAL);
		assert_int_equal(stop.signal, SIGTRAP);
	}
}

static inline void pair_start(struct pair *pair, pair_function *a, void *a_data,
			      pair_function *b, void *b_data)
{
	pair->shared = tracee_share(sizeof(*pair->shared));
	pair->threads[0] = (struct pair_thread){ a, a_data, pair->shared, 0 };
	pair->threads[1] = (struct pair_thread){ b, b_data, pair->shared, 1 };
	pair->pid = tracee_fork(pair_body, pair);
	pair_hold(pair);
	memory_init(&pair->memory, pair->pid);
	mappings_init(&pair->mappings, pair->pid);
	memset(&pair->hints, 0, sizeof(pair->hints));
}

static inline void pair_stop(struct pair *pair)
{
	memory_deinit(&pair->memory);
	mappings_deinit(&pair->mappings);
	kill(pair->pid, SIGKILL);
	/* the first thread's end is told after the other's was waited for */
	waitpid((pid_t)pair->shared->tids[1], NULL, __WALL);
	waitpid(pair->pid, NULL, __WALL);
	munmap(pair->shared, sizeof(*pair->shared));
}

/* Let both go on to where they wait for the end. */
static inline void pair_go_on(struct pair *pair)
{
	for (int i = 0; i < REPLAY_THREADS; i++)
		assert_ok(trace_continue((pid_t)pair->shared->tids[i], 0));
}

/* And to their ends, which is to exit with 0. */
static inline void pair_end(struct pair *pair)
{
	struct stop_reason stop = { 0 };

	tracee_tell(&pair->shared->end, 1);
	do
		stop = tracee_wait((pid_t)pair->shared->tids[1]);
	while (stop.kind != STOP_EXITED);
	assert_int_equal(stop.status, 0);
	stop = tracee_wait(pair->pid);
	assert_int_equal(stop.kind, STOP_EXITED);
	assert_int_equal(stop.status, 0);
	memory_deinit(&pair->memory);
	mappings_deinit(&pair->mappings);
	munmap(pair->shared, sizeof(*pair->shared));
}

static inline void pair_finish(struct pair *pair)
{
	pair_go_on(pair);
	pair_end(pair);
}

static inline struct replay_instance pair_instance(struct pair *pair)
{
	struct replay_instance instance = {
		.sources = { { .memory = &pair->memory,
			       .mappings = &pair->mappings },
			     { .memory = &pair->other_memory,
			       .mappings = &pair->other_mappings } },
		.two = pair->two,
		.hints = &pair->hints,
		.ends_at_missed = pair->ends_at_missed,
		.limit_ns = 50 * CLOCK_NS_PER_MS,
	};

	for (int i = 0; i < REPLAY_THREADS; i++) {
		struct x86_registers regs = { 0 };
		struct mapping stack;
		bool found = false;
		pid_t tid = (pid_t)pair->shared->tids[i];

		assert_ok(trace_registers(tid, &regs));
		assert_ok(mappings_find(
			instance.sources[pair->two ? i : 0].mappings,
			regs.gpr[X86_RSP], &stack, &found));
		assert_true(found);
		instance.threads[i] = (struct replay_thread){
			.return_slot = regs.gpr[X86_RSP],
			.stack_low = stack.start,
		};
	}
	return instance;
}

static inline struct error *pair_take(struct pair *pair)
{
	const pid_t tids[REPLAY_THREADS] = {
		(pid_t)pair->shared->tids[0],
		(pid_t)pair->shared->tids[1],
	};

	const struct memory *const memories[REPLAY_THREADS] = {
		&pair->memory,
		pair->two ? &pair->other_memory : &pair->memory,
	};

	return replay_capture_take(tids, memories, NULL, &pair->hints,
				   pair->capture);
}

/* Capture the two, and load that. */
static inline void pair_capture(struct pair *pair,
				const struct replay_instance *instance)
{
	assert_ok(pair_take(pair));
	assert_ok(processor_load(pair->processor, pair->capture, instance));
}

/* Capture it anew, and run a schedule; the first time may be to learn. */
enum { PAIR_LEARNS = 8 };

static inline void pair_run(struct pair *pair, const struct replay_step *steps,
			    size_t count, struct replay_outcome *ret)
{
	struct replay_instance instance = pair_instance(pair);

	for (int i = 0; i < PAIR_LEARNS; i++) {
		pair_capture(pair, &instance);
		assert_ok(orders_run(pair->processor, steps, count, ret));
		if (ret->stop.kind != REPLAY_LEARNING)
			return;
	}
	fail_msg("it does not end learning");
}

/* Both orders of one instance, from the same capture. */
static inline void pair_both(struct pair *pair)
{
	vec_clear(&pair->differing);
	pair_run(pair, orders_ab, ORDERS_WHOLE_STEPS, &pair->ab);
	assert_ok(orders_run(pair->processor, orders_ba, ORDERS_WHOLE_STEPS,
			     &pair->ba));
	if (pair->ba.stop.kind == REPLAY_LEARNING) {
		pair_both(pair);
		return;
	}
	assert_ok(liveout_compare(pair->processor, &pair->ab, &pair->ba,
				  &pair->differing));
}

static inline uint32_t pair_word(const struct pair *pair,
				 const struct replay_outcome *outcome,
				 const void *address)
{
	uint32_t word = 0;

	assert_true(outcome_read(outcome, pair->processor, 0,
				 (uintptr_t)address, &word, sizeof(word)));
	return word;
}

static inline void pair_init(struct pair *pair, enum scratch_way way)
{
	memset(pair, 0, sizeof(*pair));
	pair->differing.size = sizeof(struct liveout);
	outcome_init(&pair->ab);
	outcome_init(&pair->ba);
	pair->capture = calloc(1, sizeof(*pair->capture));
	assert_non_null(pair->capture);
	assert_ok(processor_create(way, &pair->processor));
}

static inline void pair_deinit(struct pair *pair)
{
	processor_destroy(pair->processor);
	free(pair->capture);
	outcome_deinit(&pair->ab);
	outcome_deinit(&pair->ba);
	vec_deinit(&pair->differing);
}

/* Tests in both ways of the scratch process: name, name_mapped. */
static inline int pair_setup(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	pair_init(pair, SCRATCH_BY_FAULTFD);
	*state = pair;
	return 0;
}

static inline int pair_setup_mapped(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	pair_init(pair, SCRATCH_BY_MAPPINGS);
	*state = pair;
	return 0;
}

static inline int pair_teardown(void **state)
{
	pair_deinit(*state);
	free(*state);
	return 0;
}

#define PAIR_TEST(test)                                                    \
	cmocka_unit_test_setup_teardown(test, pair_setup, pair_teardown),  \
	{                                                                  \
#test " (mapped)", test, pair_setup_mapped, pair_teardown, \
			NULL                                               \
	}

#endif
