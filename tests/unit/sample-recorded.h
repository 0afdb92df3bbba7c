/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a recording knows of the race of sample-race.h, every field set: its first
 * side took two locks, of its second one the writer of the same instruction.
 */
#ifndef SAMPLE_RECORDED_H
#define SAMPLE_RECORDED_H

#include <stdlib.h>
#include <string.h>

#include "report/field.h"
#include "report/frame.h"
#include "report/recorded.h"

static inline void sample_recorded_frame(struct vec *frames,
					 const char *function, int line,
					 uint64_t offset)
{
	struct race_frame *frame = vec_append(frames);

	if (!frame)
		abort();
	fields_init(&race_frame_fields, frame);
	frame->function = strdup(function);
	frame->file = strdup("/home/src/cache.c");
	frame->line = line;
	frame->module = strdup("/usr/bin/cache");
	frame->build_id = strdup("00aa11bb");
	frame->offset = offset;
}

static inline void sample_recorded_lock(struct recorded_access *access,
					const char *name, unsigned int kind)
{
	struct recorded_lock *lock = vec_append(&access->locks);

	if (!lock)
		abort();
	fields_init(&recorded_lock_fields, lock);
	lock->name = name ? strdup(name) : NULL;
	lock->address = 0x10c0c0;
	lock->kind = kind;
	lock->shared = kind == RECORDED_RWLOCK;
	sample_recorded_frame(&lock->taken, "filler", 13, 0x1190);
}

static inline struct recorded_access *
sample_recorded_access(struct recorded *recorded, uint64_t first,
		       unsigned int access, const char *thread,
		       const char *function, int line, uint64_t offset)
{
	struct recorded_access *added = vec_append(&recorded->accesses);

	if (!added)
		abort();
	fields_init(&recorded_access_fields, added);
	added->first = added->last = first;
	added->count = 1;
	added->thread_path = strdup(thread);
	added->access = access;
	added->size = 8;
	sample_recorded_frame(&added->frames, function, line, offset);
	return added;
}

/* Of what is all empty. */
static inline void sample_recorded(struct recorded *recorded)
{
	struct recorded_access *access;

	recorded->pid = 4711;
	recorded->address = 0x10c0f8;
	recorded->size = 8;
	recorded->block.address = 0x10c0e0;
	recorded->block.size = 48;
	recorded->block.thread_path = strdup("0");
	sample_recorded_frame(&recorded->block.allocated, "make_shard", 9,
			      0x1100);
	access = sample_recorded_access(recorded, 12, 2, "0", "make_shard", 10,
					0x1108);
	access->string_function = strdup("memset");
	access = sample_recorded_access(recorded, 90, 3, "0.3", "shard_add", 11,
					0x1179);
	access->held = true;
	access->count = 3;
	access->last = 4000;
	sample_recorded_lock(access, "shards[3].lock", RECORDED_MUTEX);
	sample_recorded_lock(access, NULL, RECORDED_RWLOCK);
	access = sample_recorded_access(recorded, 95, 1, "0.1", "report", 30,
					0x1300);
	access->atomic = true;
	access->syscall = true;
	recorded->left_out = 2;
}

#endif
