/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An engine that the test turns by hand, attached to a child of the test with
 * several threads, and what it told the front end. Include once in a test,
 * after <cmocka.h>.
 */
#ifndef TESTS_UNIT_DRIVEN_H
#define TESTS_UNIT_DRIVEN_H

#include "tracee.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "machine.h"
#include "sites.h"
#include "sys/procfs.h"
#include "tracee/breakpoint.h"
#include "tracee/selftest.h"
#include "tracee/sigstate.h"
#include "tracee/thread.h"
#include "tracee/watch-update.h"
#include "tracee/writer.h"
#include "tracer/arm.h"
#include "tracer/engine.h"
#include "tracer/launch.h"
#include "tracer/release.h"
#include "tracer/startup.h"
#include "wire/channel.h"
#include "wire/hunt.h"
#include "wire/running.h"

enum { LANES = 4, DRIVEN_LIMIT = 64 << 20, TEXT_PAGES = 2 * 4096 };

/* A thread of the child: does its work `done` times, up to `todo`. */
struct lane {
	uint32_t todo, done;
	pid_t tid;
	uint64_t result;
};

struct arena {
	uint32_t ready, over, flag;
	struct lane lanes[LANES];
	_Alignas(64) uint64_t data[32];
};

typedef void lane_work(struct arena *arena, struct lane *lane);

/* What the child is to be; in the test and, by fork, in the child. */
static struct {
	struct arena *arena;
	lane_work *work[LANES]; /* NULL: no such thread */
	void (*prepare)(void); /* in the child's first thread; NULL: nothing */
} child_plan;

static void *lane_main(void *arg)
{
	struct lane *lane = arg;
	struct arena *arena = child_plan.arena;
	lane_work *work = child_plan.work[lane - arena->lanes];

	lane->tid = gettid();
	__atomic_add_fetch(&arena->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&arena->over, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(&lane->todo, __ATOMIC_ACQUIRE) ==
		    lane->done) {
			sched_yield();
			continue;
		}
		work(arena, lane);
		tracee_tell(&lane->done, lane->done + 1);
	}
	return NULL;
}

/* The first lane is the child's first thread. */
static void child_body(void *arg)
{
	struct arena *arena = child_plan.arena;
	pthread_t threads[LANES];

	(void)arg;
	if (child_plan.prepare)
		child_plan.prepare();
	for (int i = 1; i < LANES; i++) {
		if (child_plan.work[i])
			pthread_create(&threads[i], NULL, lane_main,
				       &arena->lanes[i]);
	}
	lane_main(&arena->lanes[0]);
	for (int i = 1; i < LANES; i++) {
		if (child_plan.work[i])
			pthread_join(threads[i], NULL);
	}
	_exit(42);
}

struct told_conflict {
	struct wire_conflict wire;
	uint8_t stacks[2][WIRE_STACK_MAX];
};

enum { TOLD_MAX = 4096 };

struct driven {
	struct engine engine;
	struct channel peer;
	pid_t pid;
	int sample_count, passed_count, conflict_count;
	int returned_count, note_count;
	struct wire_sample samples[TOLD_MAX];
	struct wire_returned returned[TOLD_MAX];
	struct told_conflict conflict; /* the last */
	int instance_count;
	struct wire_instance instance; /* the last, and what follows it */
	uint64_t instance_pages[WIRE_PAGES_MAX];
	uint8_t instance_bytes[WIRE_PAGES_MAX][WIRE_PAGE];
	int startup_count, running_count, hunted_count;
	struct wire_hunted hunted; /* the last */
	/* of WIRE_CALLERS: words that lie in [callers_from, callers_to) */
	uint64_t callers_from, callers_to;
	int callers_count;
	bool detached, exited, execed;
	struct wire_exited exit;
	struct memory memory; /* of the child, to look at its text */
};

static inline void driven_conflict(struct driven *driven, const void *payload,
				   size_t size)
{
	const uint8_t *stacks =
		(const uint8_t *)payload + sizeof(struct wire_conflict);
	struct wire_conflict *wire = &driven->conflict.wire;

	assert_true(size >= sizeof(*wire));
	memcpy(wire, payload, sizeof(*wire));
	for (int i = 0; i < 2; i++)
		size -= wire->sides[i].birth.stack_size;
	assert_int_equal(size, sizeof(*wire) + wire->sides[0].stack_size +
				       wire->sides[1].stack_size +
				       machine_size(&wire->sides[0]) +
				       machine_size(&wire->sides[1]));
	memcpy(driven->conflict.stacks[0], stacks, wire->sides[0].stack_size);
	memcpy(driven->conflict.stacks[1], stacks + wire->sides[0].stack_size,
	       wire->sides[1].stack_size);
	driven->conflict_count++;
}

/* It follows its conflict, which announces it. */
static inline void driven_instance(struct driven *driven, const void *payload,
				   size_t size)
{
	struct wire_instance *instance = &driven->instance;
	const uint8_t *at = payload;
	size_t pages;

	assert_true(driven->conflict.wire.instance);
	assert_true(size >= sizeof(*instance));
	memcpy(instance, at, sizeof(*instance));
	at += sizeof(*instance) + instance->threads[0].vectors_size +
	      instance->threads[1].vectors_size;
	pages = instance->pages;
	assert_in_range(pages, 1, WIRE_PAGES_MAX);
	assert_int_equal(at - (const uint8_t *)payload +
				 pages * (sizeof(uint64_t) + WIRE_PAGE) +
				 instance->absent * sizeof(uint64_t),
			 size);
	memcpy(driven->instance_pages, at, pages * sizeof(uint64_t));
	memcpy(driven->instance_bytes, at + pages * sizeof(uint64_t),
	       pages * WIRE_PAGE);
	driven->instance_count++;
}

/* Hits without a stall are no samples. */
static inline void driven_sample(struct driven *driven,
				 const struct wire_sample *sample)
{
	if (sample->outcome == WIRE_PASSED)
		driven->passed_count++;
	else if (driven->sample_count < TOLD_MAX)
		driven->samples[driven->sample_count++] = *sample;
}

static inline void driven_callers(struct driven *driven, const void *payload,
				  size_t size)
{
	struct wire_callers callers;
	uint64_t word;

	assert_true(size >= sizeof(callers));
	memcpy(&callers, payload, sizeof(callers));
	assert_in_range(callers.count, 1, WIRE_CALLERS_MAX);
	assert_int_equal(size, sizeof(callers) + callers.count * sizeof(word));
	for (size_t at = sizeof(callers); at < size; at += sizeof(word)) {
		memcpy(&word, (const uint8_t *)payload + at, sizeof(word));
		driven->callers_count += word >= driven->callers_from &&
					 word < driven->callers_to;
	}
}

static inline void driven_message(struct driven *driven, enum wire_type type,
				  const void *payload, size_t size)
{
	size_t n = size / sizeof(struct wire_returned);

	switch ((int)type) {
	case WIRE_SAMPLE:
		driven_sample(driven, payload);
		break;
	case WIRE_RETURNED:
		for (size_t i = 0; i < n && driven->returned_count < TOLD_MAX;
		     i++)
			driven->returned[driven->returned_count++] =
				((const struct wire_returned *)payload)[i];
		break;
	case WIRE_CONFLICT:
		driven_conflict(driven, payload, size);
		break;
	case WIRE_INSTANCE:
		driven_instance(driven, payload, size);
		break;
	case WIRE_EXITED:
		driven->exited = true;
		memcpy(&driven->exit, payload, sizeof(driven->exit));
		break;
	case WIRE_DETACHED:
		driven->detached = true;
		break;
	case WIRE_PROCESS:
		driven->execed |= ((const struct wire_process *)payload)->exec;
		break;
	case WIRE_STARTUP:
		driven->startup_count++;
		break;
	case WIRE_HUNTED:
		assert_int_equal(size, sizeof(driven->hunted));
		memcpy(&driven->hunted, payload, size);
		driven->hunted_count++;
		break;
	case WIRE_RUNNING:
		driven->running_count++;
		break;
	case WIRE_CALLERS:
		driven_callers(driven, payload, size);
		break;
	case WIRE_NOTE:
		print_message("note: %.*s\n", (int)size, (const char *)payload);
		driven->note_count++;
		break;
	default:
		break;
	}
}

/* What the engine has to say. */
static inline void driven_listen(struct driven *driven)
{
	struct engine *engine = &driven->engine;
	enum wire_type type;
	const void *payload;
	size_t size;

	if (engine->core.returned.count > 0)
		channel_send(&engine->core.channel, WIRE_RETURNED,
			     engine->core.returned.items,
			     engine->core.returned.count *
				     engine->core.returned.size);
	vec_clear(&engine->core.returned);
	core_send_notes(&engine->core);
	do {
		channel_flush(&engine->core.channel);
		channel_fill(&driven->peer);
		while (channel_next(&driven->peer, &type, &payload, &size))
			driven_message(driven, type, payload, size);
	} while (channel_pending(&engine->core.channel));
}

/* Handle the next stop, if there is one. */
static inline bool driven_event(struct driven *driven)
{
	struct stop_reason stop;
	bool found = wait_came(&stop);

	if (found)
		engine_event(&driven->engine, &stop);
	return found;
}

/* As the tracer's loop does, without sleeping. */
static inline void driven_turn(struct driven *driven)
{
	uint64_t now;

	engine_early_events(&driven->engine);
	while (driven_event(driven))
		;
	now = clock_now_ns();
	stalls_take_samples(&driven->engine);
	watch_tick(&driven->engine.core.tracees, now);
	stalls_tick(&driven->engine, now);
	sigstate_tick(&driven->engine.core.tracees,
		      arm_may_trap(&driven->engine),
		      driven->engine.stalls.list.count > 0, now);
	if (driven->engine.stalls.list.count == 0)
		watch_suit(&driven->engine.core.tracees,
			   budget_is_small(&driven->engine.load.budget), now);
	arm_refill(&driven->engine, now);
	startup_tick(&driven->engine.startups, now);
	if (driven->engine.core.phase == PHASE_RELEASING)
		release_tick(&driven->engine, now);
	driven_listen(driven);
	sched_yield();
}

#define driven_until(driven, condition) \
	do {                            \
		driven_turn(driven);    \
	} while (!(condition))

static inline void driven_plan(lane_work *const *work, int count)
{
	memset(&child_plan, 0, sizeof(child_plan));
	child_plan.arena = tracee_share(sizeof(*child_plan.arena));
	for (int i = 0; i < count; i++)
		child_plan.work[i] = work[i];
}

/* An engine, attached to a child as planned; NULL ops: no watching at all. */
static inline struct driven *driven_start(const struct watch_ops *ops)
{
	struct driven *driven = calloc(1, sizeof(*driven));
	uint32_t threads = 0;
	int fds[2];

	assert_non_null(driven);
	for (int i = 0; i < LANES; i++)
		threads += child_plan.work[i] != NULL;
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	driven->pid = tracee_fork(child_body, NULL);
	tracee_await(&child_plan.arena->ready, threads);
	assert_ok(engine_init(&driven->engine, fds[0], 1));
	assert_ok(channel_init(&driven->peer, fds[1], DRIVEN_LIMIT));
	driven->engine.core.tracees.watch.ops = ops ? ops : &watch_by_value;
	driven->engine.pool.params = (struct wire_params){
		.rate = 100000,
		.stall_max_ns = CLOCK_NS_PER_S,
		.stretch_max = 1,
		.learns = true,
	};
	driven->engine.govern.governor =
		(struct governor){ .pool = 16, .stretch = 1 };
	assert_ok(launch_attach(&driven->engine, driven->pid, NULL));
	driven->engine.child = true;
	memory_init(&driven->memory, driven->pid);
	return driven;
}

/*
 * Stalls that run now go on until the test ends them, however slowly it comes
 * to that.
 */
static inline void driven_prolong(struct driven *driven)
{
	const struct vec *stalls = &driven->engine.stalls.list;

	for (size_t i = 0; i < stalls->count; i++) {
		struct stall *stall = *(struct stall **)vec_at(stalls, i);

		stall->length_ns = 3600 * CLOCK_NS_PER_S;
		stall->deadline_ns = clock_now_ns() + stall->length_ns;
	}
}

/* Arm one breakpoint, past the pool. */
static inline struct breakpoint *driven_arm(struct driven *driven,
					    const struct wire_site *site)
{
	struct addrspace *space =
		tracees_process(&driven->engine.core.tracees, driven->pid)
			->space;
	bool armed = false;

	assert_ok(breakpoint_arm(space, site, &armed));
	assert_true(armed);
	return breakpoint_find(space, site->address);
}

static inline void assert_pristine(const struct memory *memory)
{
	uint64_t text = (uintptr_t)site_write & ~UINT64_C(4095);
	uint8_t bytes[TEXT_PAGES];
	size_t size;

	assert_ok(memory_read(memory, text, bytes, sizeof(bytes), &size));
	assert_int_equal(size, sizeof(bytes));
	assert_memory_equal(bytes, (const void *)(uintptr_t)text, size);
}

/*
 * Detach, check that nothing is left behind. The patience with threads that do
 * not stop (one second) must not end while the machine pauses.
 */
static inline void driven_release(struct driven *driven)
{
	engine_release(&driven->engine);
	driven->engine.release_ns = clock_now_ns() + 3600 * CLOCK_NS_PER_S;
	do {
		driven_turn(driven);
	} while (driven->engine.core.phase == PHASE_RELEASING);
	assert_int_equal(driven->engine.core.phase, PHASE_RELEASED);
	assert_int_equal(driven->engine.core.tracees.threads.count, 0);
	assert_true(driven->detached);
	assert_pristine(&driven->memory);
}

static inline void driven_free(struct driven *driven)
{
	watch_shut(&driven->engine.core.tracees);
	engine_deinit(&driven->engine);
	channel_deinit(&driven->peer);
	memory_deinit(&driven->memory);
	free(driven);
	munmap(child_plan.arena, sizeof(*child_plan.arena));
}

/* Detach; the child then runs on undisturbed, and ends as it would. */
static inline void driven_end(struct driven *driven)
{
	int status;

	if (driven->engine.core.phase < PHASE_RELEASING)
		driven_release(driven);
	tracee_tell(&child_plan.arena->over, 1);
	assert_int_equal(waitpid(driven->pid, &status, 0), driven->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	driven_free(driven);
}

/* Let a lane do its work so many times more. */
static inline void lane_start(int i, uint32_t times)
{
	struct lane *lane = &child_plan.arena->lanes[i];

	tracee_tell(&lane->todo, lane->todo + times);
}

static inline bool lane_idle(int i)
{
	const struct lane *lane = &child_plan.arena->lanes[i];

	return __atomic_load_n(&lane->done, __ATOMIC_ACQUIRE) == lane->todo;
}

#endif
