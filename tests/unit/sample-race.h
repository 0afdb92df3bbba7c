/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races to test the report with: the one of racewatch-run(1), every field set,
 * and one of which nothing is known.
 */
#ifndef SAMPLE_RACE_H
#define SAMPLE_RACE_H

#include <stdlib.h>
#include <string.h>

#include "report/doubt.h"
#include "report/race.h"

static inline void sample_set(char **text, const char *value)
{
	free(*text);
	*text = value ? strdup(value) : NULL;
}

/* Append a frame of the module /usr/bin/cache. */
static inline struct race_frame *sample_frame(struct race_side *side,
					      const char *function, int line,
					      uint64_t offset)
{
	struct race_frame *frame = vec_append(&side->frames);

	if (!frame)
		abort();
	sample_set(&frame->function, function);
	sample_set(&frame->file, line ? "/home/src/cache.c" : NULL);
	sample_set(&frame->module, "/usr/bin/cache");
	sample_set(&frame->build_id, "00aa11bb");
	frame->line = line;
	frame->offset = offset;
	return frame;
}

static inline void sample_side(struct race_side *side, int tid,
			       const char *thread, uint32_t child)
{
	side->pid = 4242;
	side->tid = tid;
	side->size = 8;
	sample_set(&side->thread, thread);
	side->thread_path = calloc(2, sizeof(*side->thread_path));
	if (!side->thread_path)
		abort();
	side->thread_path[1] = child;
	side->thread_path_length = 2;
}

static inline void sample_variable(struct race_variable *variable)
{
	sample_set(&variable->name, "shards[3].used");
	sample_set(&variable->symbol, "shards");
	sample_set(&variable->type, "long");
	sample_set(&variable->container, "struct shard");
	sample_set(&variable->file, "/home/src/cache.c");
	sample_set(&variable->module, "/usr/bin/cache");
	variable->offset = 56;
	variable->line = 7;
	variable->region = REGION_GLOBAL;
	variable->module_offset = 0x40c8;
}

/* End with race_deinit(). */
static inline void sample_race(struct race *race)
{
	race_init(race);
	race->id = 1;
	race->time = UINT64_C(1769862896789012345);
	race->pid = 4242;
	race->address = 0x5555555580c8;
	race->size = 8;
	race->before[0] = 100;
	race->after[0] = 101;
	race->evidence = EVIDENCE_WATCHPOINT;
	race->count = 3;
	race->verdict = VERDICT_SUSPECT;
	race->stall_ns = 1000000;
	race->elapsed_ns = 400000;
	sample_set(&race->program, "cache");
	sample_set(&race->backend, "perf");
	sample_variable(&race->variable);
	sample_side(&race->sides[0], 4246, "filler", 3);
	race->sides[0].role = RACE_STALLED;
	race->sides[0].access = ACCESS_RMW;
	sample_set(&race->sides[0].insn, "addq %rsi, 0x8(%rdi)");
	sample_frame(&race->sides[0], "shard_add", 11, 0x1179);
	sample_frame(&race->sides[0], "filler", 14, 0x11a0);
	sample_side(&race->sides[1], 4244, "evictor", 1);
	race->sides[1].role = RACE_RACING;
	race->sides[1].access = ACCESS_WRITE;
	sample_set(&race->sides[1].insn, "movq %rax, 0x8(%rbx)");
	sample_frame(&race->sides[1], "shard_evict", 12, 0x1216);
	sample_frame(&race->sides[1], "evictor", 21, 0x1240);
}

/*
 * Nobody saw its second side, which goes to *ret: put it back, or free it as
 * part of a race.
 */
static inline void sample_hide_side(struct race *race, struct race_side *ret)
{
	*ret = race->sides[1];
	race->sides[1] = (struct race_side){
		.role = RACE_UNKNOWN,
		.frames = VEC_INIT(struct race_frame),
		.created = VEC_INIT(struct race_frame),
		.locks = VEC_INIT(struct recorded_lock),
	};
}

/* The second side holds the lock, and the first none. */
static inline void sample_locks(struct race *race)
{
	struct recorded_lock *lock = vec_append(&race->sides[1].locks);

	if (!lock)
		abort();
	*lock = (struct recorded_lock){
		.address = 0x5555555580a0,
		.taken = VEC_INIT(struct race_frame),
	};
	sample_set(&lock->name, "shards[3].lock");
	race->sides[0].locks_known = race->sides[1].locks_known = true;
}

/* What only some reports have: a merged one, with a thread born while watched. */
static inline void sample_more(struct race *race)
{
	struct race_side created = race->sides[1];
	char *alpha = strdup("alpha"), *beta = strdup("beta");
	struct race_frame *frame = vec_at(&race->sides[0].frames, 0);

	race->last_time = race->time + 1000000000;
	race->status = STATUS_KNOWN;
	race->runs = 2;
	if (!alpha || !beta || !vec_push(&race->hosts, &alpha) ||
	    !vec_push(&race->hosts, &beta) ||
	    !race_add_values(race, race->before, race->after, 2))
		abort();
	sample_set(&race->suppressed.rule, "race:shard_*");
	sample_set(&race->suppressed.file, "team.supp");
	sample_set(&race->suppressed.reason, "for the status page");
	sample_set(&race->suppressed.bug, "CACHE-17");
	race->suppressed.line = 4;
	race->variable.owner = 4247;
	sample_set(&race->variable.owner_thread, "main");
	race->variable.block = (struct race_block){ .address = 0x555555558000,
						    .offset = 0xc8,
						    .size = 264,
						    .state = BLOCK_FREE };
	sample_set(&frame->source, "shard->used += n;");
	created.frames = (struct vec)VEC_INIT(struct race_frame);
	sample_frame(&created, "start_workers", 30, 0x1300);
	race->sides[1].created = created.frames;
	race->sides[1].creator = 4242;
	race->sides[1].address = race->address;
	sample_set(&race->sides[1].sync, "synchronizing");
	race->sides[1].pattern =
		(struct code_pattern){ .change = PATTERN_BITS,
				       .changed = 0x10,
				       .used = 0x04,
				       .compared = true,
				       .locked_beside = true,
				       .locked_adds = true,
				       .stored_plainly = true,
				       .retested = true,
				       .dispatch = true,
				       .pair = PATTERN_PAIR_ABOVE,
				       .double_check = PATTERN_LAST,
				       .lock = 0x5555555580d0 };
	race->sides[1].missing = RACE_MISSES_SOURCE;
	sample_locks(race);
	sample_set(&race->grounds, "other bits");
	sample_set(&race->sides[1].creator_thread, "main");
}

/* An instance in which the order changed the variable, and `beyond' (or NULL). */
static inline void sample_change(struct race *race, const char *raced,
				 const char *beyond)
{
	const struct replay_note_change changes[] = {
		{ raced, "ab", "101", false, false },
		{ raced, "a(b)a", "100", false, true },
		{ beyond, "ab", "\"full\"", true, false },
	};
	const struct replay_note note = {
		.outcome = RACE_REPLAY_CHANGE,
		.beyond = beyond,
		.registers = beyond,
		.overlap = true,
		.overlap_memory = beyond,
		.changes = changes,
		.change_count = beyond ? 3 : 2,
	};

	if (!race_replay_add(race, &note))
		abort();
}

static inline void sample_fault(struct race *race)
{
	static const char *const schedules[] = { "b(a)b", "ba", NULL };
	const struct replay_note note = {
		.outcome = RACE_REPLAY_FAULT,
		.signal = 11,
		.fault_address = 0x10,
		.fault_schedules = schedules,
	};

	if (!race_replay_add(race, &note))
		abort();
}

/* Instances without an effect, or that failed; why: of those. */
static inline void sample_replays(struct race *race, int times, const char *why)
{
	const struct replay_note note = {
		.outcome = why ? RACE_REPLAY_FAILURE : RACE_REPLAY_SAME,
		.failure = why,
	};

	for (int i = 0; i < times; i++) {
		if (!race_replay_add(race, &note))
			abort();
	}
}

/* A changed value, and no names. End with race_deinit(). */
static inline void sample_unknown(struct race *race)
{
	race_init(race);
	race->id = 2;
	race->address = 0x7f0000001000;
	race->size = 4;
	race->after[0] = 7;
	race->evidence = EVIDENCE_VALUE_CHANGE;
	race->verdict = VERDICT_SUSPECT;
	race->sides[0].role = RACE_STALLED;
	race->sides[1].role = RACE_UNKNOWN;
	for (int i = 0; i < 2; i++)
		race->sides[i].pattern.used = UINT64_MAX;
}

#endif
