/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races of two processes in memory that both have, each at an address of its own,
 * in all their orders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replay-scene.h"

#include <sys/mman.h>

enum { PAGE = 4096, SHARED_SIZE = 2 * PAGE };

/* At the offsets that the instructions below have. */
struct shared {
	uint32_t counter, flag, value, other;
	uint8_t rest[PAGE - 16];
	uint32_t far;
};

_Static_assert(offsetof(struct shared, far) == PAGE, "offset");

/* The same memory at two addresses: a process keeps the one of its number. */
static struct shared *views[REPLAY_THREADS];
static bool read_only[REPLAY_THREADS];

/* Each process has its own, at the same address. */
extern uint32_t mine[PAGE / sizeof(uint32_t)];
uint32_t mine[PAGE / sizeof(uint32_t)] __attribute__((aligned(PAGE))) = { 0 };

SCENE(count_o1, "",
      "mov (%rdi), %eax\n"
      "add $1, %eax\n"
      "mov %eax, (%rdi)\n"
      "ret");
SCENE(count_o2, "",
      "addl $1, (%rdi)\n"
      "ret");
/* it has loaded already */
SCENE(count_o1_store,
      "mov (%rdi), %eax\n"
      "add $1, %eax",
      "mov %eax, (%rdi)\n"
      "ret");
SCENE(count_lock, "",
      "lock addl $1, (%rdi)\n"
      "ret");
SCENE(flag_one, "",
      "movl $1, 4(%rdi)\n"
      "ret");
/* they leave a number of their own in their own memory */
SCENE(note_one, "",
      "movl $1, 4(%rdi)\n"
      "movl $1, mine(%rip)\n"
      "ret");
SCENE(note_two, "",
      "movl $1, 4(%rdi)\n"
      "movl $2, mine(%rip)\n"
      "ret");
SCENE(keep, "",
      "mov 4(%rdi), %eax\n"
      "mov %eax, mine(%rip)\n"
      "ret");
/* what no register points to is written behind the flag */
SCENE(publish, "",
      "movl $1, 4(%rdi)\n"
      "movl $9, 4096(%rdi)\n"
      "ret");
SCENE(consume, "",
      "cmpl $0, 4(%rdi)\n"
      "je 1f\n"
      "mov 4096(%rdi), %eax\n"
      "add $1, %eax\n"
      "mov %eax, mine(%rip)\n"
      "1: ret");
SCENE(spin, "",
      "1: cmpl $0, 4(%rdi)\n"
      "jne 2f\n"
      "pause\n"
      "jmp 1b\n"
      "2: mov 8(%rdi), %eax\n"
      "mov %eax, 12(%rdi)\n"
      "ret");
SCENE(spin_end, "movl $5, 8(%rdi)",
      "movl $1, 4(%rdi)\n"
      "ret");

/* A process of one thread, with one of the views. */
static void alone(void *arg)
{
	struct pair_thread *thread = arg;
	int number = thread->number;

	munmap(views[!number], SHARED_SIZE);
	if (read_only[number])
		mprotect(views[number], SHARED_SIZE, PROT_READ);
	pair_thread_body(thread);
}

static void two_start(struct pair *pair, const struct scene *scene)
{
	pair->shared = tracee_share(sizeof(*pair->shared));
	for (int i = 0; i < REPLAY_THREADS; i++)
		pair->threads[i] = (struct pair_thread){
			scene->sides[i].function,
			scene->sides[i].data,
			pair->shared,
			i,
		};
	pair->two = true;
	pair->pid = tracee_fork(alone, &pair->threads[0]);
	pair->other = tracee_fork(alone, &pair->threads[1]);
	pair_hold(pair);
	memory_init(&pair->memory, pair->pid);
	mappings_init(&pair->mappings, pair->pid);
	memory_init(&pair->other_memory, pair->other);
	mappings_init(&pair->other_mappings, pair->other);
	memset(&pair->hints, 0, sizeof(pair->hints));
}

static void two_stop(struct pair *pair)
{
	memory_deinit(&pair->memory);
	mappings_deinit(&pair->mappings);
	memory_deinit(&pair->other_memory);
	mappings_deinit(&pair->other_mappings);
	tracee_kill(pair->pid);
	tracee_kill(pair->other);
	munmap(pair->shared, sizeof(*pair->shared));
}

static void two_replay(struct pair *pair, const struct scene *scene,
		       struct replay_result *ret)
{
	struct replay_instance instance;
	struct replay_question question;

	two_start(pair, scene);
	scene_reach(pair, scene, &instance, &question);
	scene_learn(pair, &instance, &question, ret);
	two_stop(pair);
	if (ret->failure)
		print_error("failure: %s\n", ret->failure);
}

/* A race for a member: A and B name the functions. */
#define SCENE_OF(a, b, member)                                               \
	{                                                                    \
		{ SIDE(a, views[0]), SIDE(b, views[1]) }, &views[0]->member, \
			sizeof(views[0]->member)                             \
	}

static uint32_t value_of(const struct replay_change *change, int schedule)
{
	uint32_t value = 0;

	assert_true(change->schedules >> schedule & 1);
	memcpy(&value, change->values[schedule], sizeof(value));
	return value;
}

static int schedule_named(const char *name)
{
	for (int i = 0; i < REPLAY_SCHEDULES; i++) {
		if (strcmp(replay_schedule_name(i), name) == 0)
			return i;
	}
	fail_msg("no schedule %s", name);
	return -1;
}

static const struct replay_change *change_at(const struct replay_result *result,
					     int space, const void *address)
{
	for (size_t i = 0; i < result->changes.count; i++) {
		const struct replay_change *change =
			vec_at(&result->changes, i);

		if (change->space == space &&
		    change->address == (uintptr_t)address)
			return change;
	}
	fail_msg("no change there");
	return NULL;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void updates_of_two_processes_are_lost(void **state)
{
	struct scene scenes[] = {
		SCENE_OF(count_o1, count_o1, counter),
		SCENE_OF(count_o2, count_o2, counter),
		SCENE_OF(count_o1, count_o2, counter),
		SCENE_OF(count_o1_store, count_o1_store, counter),
		SCENE_OF(count_o2, count_o2, counter),
		SCENE_OF(count_o1_store, count_o1_store, counter),
	};
	struct replay_result result;

	scenes[4].sides[1].done = true;
	scenes[5].sides[1].done = true;
	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(scenes); i++) {
		const struct replay_change *change;

		views[0]->counter = 0;
		two_replay(*state, &scenes[i], &result);
		assert_int_equal(result.verdict, REPLAY_CHANGE);
		assert_false(result.beyond);
		assert_int_equal(result.changes.count, 1);
		change = change_at(&result, 0, &views[0]->counter);
		assert_int_equal(change->size, 4);
		assert_int_equal(value_of(change, schedule_named("ab-whole")),
				 2);
		assert_int_equal(value_of(change, schedule_named("ba-whole")),
				 2);
	}
	replay_result_deinit(&result);
}

static void what_no_order_changes_is_no_change(void **state)
{
	const struct scene scenes[] = {
		SCENE_OF(count_lock, count_lock, counter),
		SCENE_OF(flag_one, flag_one, flag),
		/* the number is at one address, but in two processes */
		SCENE_OF(note_one, note_two, flag),
		SCENE_OF(spin, spin_end, flag),
		SCENE_OF(spin_end, spin, flag),
	};
	struct replay_result result;

	replay_result_init(&result);
	for (size_t i = 0; i < COUNT(scenes); i++) {
		memset(views[0], 0, SHARED_SIZE);
		two_replay(*state, &scenes[i], &result);
		assert_int_equal(result.verdict, REPLAY_NO_CHANGE);
		assert_null(result.failure);
		assert_int_equal(result.changes.count, 0);
	}
	replay_result_deinit(&result);
}

/* What the one writes is seen by the other, which may only read there. */
static void check_kept(struct pair *pair, const struct scene *scene, int space)
{
	const struct replay_change *change;
	struct replay_result result;

	replay_result_init(&result);
	memset(views[0], 0, SHARED_SIZE);
	two_replay(pair, scene, &result);
	assert_int_equal(result.verdict, REPLAY_CHANGE);
	assert_true(result.beyond);
	assert_int_equal(result.changes.count, 1);
	change = change_at(&result, space, mine);
	assert_int_equal(value_of(change, schedule_named("ab")), space);
	assert_int_equal(value_of(change, schedule_named("ba")), !space);
	replay_result_deinit(&result);
}

static void a_change_is_of_the_process_whose_memory_it_is(void **state)
{
	const struct scene kept_by_b = SCENE_OF(flag_one, keep, flag);
	const struct scene kept_by_a = SCENE_OF(keep, flag_one, flag);

	check_kept(*state, &kept_by_b, 1);
	check_kept(*state, &kept_by_a, 0);
	read_only[1] = true;
	check_kept(*state, &kept_by_b, 1);
	read_only[1] = false;
}

static void check_published(struct pair *pair, const struct scene *scene,
			    int consumer)
{
	const struct replay_change *change;
	struct replay_result result;
	uint64_t page = (uintptr_t)&views[!consumer]->far;

	replay_result_init(&result);
	memset(views[0], 0, SHARED_SIZE);
	two_replay(pair, scene, &result);
	assert_true(
		replay_hints_have(&pair->hints, replay_hint(!consumer, page)));
	assert_int_equal(result.verdict, REPLAY_CHANGE);
	change = change_at(&result, consumer, mine);
	/* the flag is set, and the number is not there; or neither is; or both */
	assert_int_equal(value_of(change,
				  schedule_named(consumer ? "ab" : "ba")),
			 consumer ? 10 : 1);
	assert_int_equal(value_of(change,
				  schedule_named(consumer ? "a(b)a" : "b(a)b")),
			 1);
	assert_int_equal(
		value_of(change,
			 schedule_named(consumer ? "ba-whole" : "ab-whole")),
		0);
	assert_int_equal(
		value_of(change,
			 schedule_named(consumer ? "ab-whole" : "ba-whole")),
		10);
	replay_result_deinit(&result);
}

/* A page that only one of them was seen to use is learned, and is both's. */
static void pages_of_both_are_learned(void **state)
{
	const struct scene consumed_by_b = SCENE_OF(publish, consume, flag);
	const struct scene consumed_by_a = SCENE_OF(consume, publish, flag);

	check_published(*state, &consumed_by_b, 1);
	check_published(*state, &consumed_by_a, 0);
}

static void processes_that_share_nothing_do_not_race(void **state)
{
	const struct scene scene = {
		{ SIDE(count_o2, mine), SIDE(count_o2, mine) }, mine, 4
	};
	struct replay_result result;

	replay_result_init(&result);
	two_replay(*state, &scene, &result);
	assert_int_equal(result.verdict, REPLAY_FAILURE);
	assert_string_equal(result.failure, "two-processes");
	replay_result_deinit(&result);
}

/* One process, after two: it has one scratch process again. */
static void one_process_may_follow_two(void **state)
{
	const struct scene two = SCENE_OF(count_o2, count_o2, counter);
	const struct scene one = {
		{ SIDE(count_o2, mine), SIDE(count_o2, mine) }, mine, 4
	};
	struct pair *pair = *state;
	struct replay_result result;

	replay_result_init(&result);
	two_replay(pair, &two, &result);
	assert_int_not_equal(
		scratch_pid(processor_scratch(pair->processor, 0)),
		scratch_pid(processor_scratch(pair->processor, 1)));
	pair->two = false;
	scene_replay(pair, &one, &result);
	assert_int_equal(result.verdict, REPLAY_CHANGE);
	assert_int_equal(scratch_pid(processor_scratch(pair->processor, 0)),
			 scratch_pid(processor_scratch(pair->processor, 1)));
	two_replay(pair, &two, &result);
	assert_int_equal(result.verdict, REPLAY_CHANGE);
	replay_result_deinit(&result);
}

static int make_views(void **state)
{
	int fd = memfd_create("space", MFD_CLOEXEC);

	(void)state;
	if (fd < 0 || ftruncate(fd, SHARED_SIZE) != 0)
		return -1;
	for (int i = 0; i < REPLAY_THREADS; i++) {
		views[i] = mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE,
				MAP_SHARED, fd, 0);
		if (views[i] == MAP_FAILED)
			return -1;
	}
	close(fd);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(updates_of_two_processes_are_lost),
		PAIR_TEST(what_no_order_changes_is_no_change),
		PAIR_TEST(a_change_is_of_the_process_whose_memory_it_is),
		PAIR_TEST(pages_of_both_are_learned),
		PAIR_TEST(processes_that_share_nothing_do_not_race),
		PAIR_TEST(one_process_may_follow_two),
	};

	return cmocka_run_group_tests(tests, make_views, NULL);
}
