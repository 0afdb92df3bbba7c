/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races of two held threads (replay-pair.h), replayed in all orders. Each function
 * is as a compiler makes it; its access is at a label. Include after <cmocka.h>.
 */
#ifndef TESTS_UNIT_REPLAY_SCENE_H
#define TESTS_UNIT_REPLAY_SCENE_H

#include "replay-pair.h"

#include "replay/instance.h"
#include "x86/decode.h"
#include "x86/effective.h"

/* A function and its access: SCENE(name, "before", "access and rest"). */
#define SCENE(name, before, rest)             \
	extern const uint8_t name##_access[]; \
	PAIR_REGION(name, before "\n" #name "_access: " rest)

struct scene_side {
	pair_function *function;
	const uint8_t *access;
	void *data;
	bool done; /* held behind its access */
	bool updates;
	bool varies; /* what it stores, as the question has it of one side */
	bool first,
		made; /* its access and value, as the question has of both */
};

#define SIDE(name, data_)                                                    \
	{                                                                    \
		.function = (name), .access = name##_access, .data = (data_) \
	}
#define SIDE_DONE(name, data_)                                                \
	{                                                                     \
		.function = (name), .access = name##_access, .data = (data_), \
		.done = true                                                  \
	}

#define SIDE_VARIES(name, data_)                                              \
	{                                                                     \
		.function = (name), .access = name##_access, .data = (data_), \
		.varies = true, .first = true, .made = true                   \
	}

struct scene {
	struct scene_side sides[REPLAY_THREADS];
	void *raced;
	uint32_t size;
};

static inline uint64_t scene_rip(const struct pair *pair, int thread)
{
	struct x86_registers regs = { 0 };

	assert_ok(trace_registers((pid_t)pair->shared->tids[thread], &regs));
	return regs.rip;
}

enum { SCENE_STEPS = 10000 };

static inline void scene_step(const struct pair *pair, int thread)
{
	pid_t tid = (pid_t)pair->shared->tids[thread];

	assert_ok(trace_step(tid, 0));
	assert_int_equal(tracee_wait(tid).signal, SIGTRAP);
}

static inline void scene_step_to(const struct pair *pair, int thread,
				 const uint8_t *address)
{
	for (int i = 0; i < SCENE_STEPS; i++) {
		if (scene_rip(pair, thread) == (uintptr_t)address)
			return;
		scene_step(pair, thread);
	}
	fail_msg("the access is not reached");
}

static inline void scene_read(const struct pair *pair, const void *address,
			      void *bytes, size_t size)
{
	size_t read = 0;

	assert_ok(memory_read(&pair->memory, (uintptr_t)address, bytes, size,
			      &read));
	assert_int_equal(read, size);
}

/* Where the second thread has the data less where the first has them. */
static inline uint64_t scene_shift(const struct pair *pair,
				   const struct scene *scene)
{
	return pair->two ? (uintptr_t)scene->sides[1].data -
				   (uintptr_t)scene->sides[0].data
			 : 0;
}

/* The thread stands before its access: what will it do? */
static inline void scene_decode(const struct pair *pair, int thread,
				const struct scene *scene,
				struct replay_side *ret)
{
	struct mem_access accesses[X86_OPERANDS_MAX],
		raced = { (uintptr_t)scene->raced +
				  (thread == 1 ? scene_shift(pair, scene) : 0),
			  scene->size, ACCESS_RMW };
	struct x86_registers regs = { 0 };
	struct decoder *decoder = NULL;
	int count;

	assert_ok(trace_registers((pid_t)pair->shared->tids[thread], &regs));
	assert_ok(decoder_create(&decoder));
	ret->rip = regs.rip;
	decoder_decode(decoder, scene->sides[thread].access, X86_INSN_MAX,
		       regs.rip, &ret->insn);
	decoder_destroy(decoder);
	count = effective_accesses(&ret->insn, &regs, accesses);
	for (int i = 0; i < count; i++) {
		if (mem_access_overlap(&accesses[i], &raced))
			ret->access = accesses[i];
	}
	assert_true(ret->access.size > 0);
}

/* The threads are held: bring them to or behind their accesses. */
static inline void scene_reach(struct pair *pair, const struct scene *scene,
			       struct replay_instance *ret_instance,
			       struct replay_question *ret)
{
	const struct scene_side *sides = scene->sides;

	memset(ret, 0, sizeof(*ret));
	*ret_instance = pair_instance(pair);
	ret->address = (uintptr_t)scene->raced;
	ret->size = scene->size;
	ret_instance->shift = scene_shift(pair, scene);
	for (int i = 0; i < REPLAY_THREADS; i++) {
		scene_step_to(pair, i, sides[i].access);
		scene_decode(pair, i, scene, &ret->sides[i]);
		ret->sides[i].done = sides[i].done;
		ret->sides[i].updates = sides[i].updates;
		ret->varies |= sides[i].varies;
		ret->first |= sides[i].first;
		ret->made |= sides[i].made;
	}
	scene_read(pair, scene->raced, ret->before, scene->size);
	for (int i = 0; i < REPLAY_THREADS; i++) {
		if (sides[i].done)
			scene_step(pair, i);
	}
}

/* Replay the race that is reached, as often as pages are to be learned. */
static inline void scene_learn(struct pair *pair,
			       const struct replay_instance *instance,
			       const struct replay_question *question,
			       struct replay_result *ret)
{
	for (int i = 0; i < PAIR_LEARNS; i++) {
		pair_capture(pair, instance);
		assert_ok(replay_run(pair->processor, question, ret));
		if (!ret->failure || strcmp(ret->failure, "learning") != 0)
			return;
	}
}

static inline void scene_replay(struct pair *pair, const struct scene *scene,
				struct replay_result *ret)
{
	const struct scene_side *sides = scene->sides;
	struct replay_instance instance;
	struct replay_question question;

	pair_start(pair, sides[0].function, sides[0].data, sides[1].function,
		   sides[1].data);
	scene_reach(pair, scene, &instance, &question);
	scene_learn(pair, &instance, &question, ret);
	pair_stop(pair);
}

#endif
