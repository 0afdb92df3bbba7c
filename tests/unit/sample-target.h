/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A target to test the report with: every field is set. */
#ifndef SAMPLE_TARGET_H
#define SAMPLE_TARGET_H

#include <stdlib.h>
#include <string.h>

#include "report/target-record.h"
#include "sample-race.h"
#include "sample-recorded.h"

static inline void sample_place(struct hunt_place *place, uint64_t offset)
{
	sample_set(&place->module, "/usr/bin/cache");
	sample_set(&place->build_id, "00aa11bb");
	place->offset = offset;
}

static inline void sample_partner(struct hunt_side *side)
{
	struct hunt_partner *partner = vec_append(&side->partners);

	if (!partner)
		abort();
	sample_place(&partner->place, 0x1216);
	sample_set(&partner->thread_path, "0.1");
	partner->size = 4;
	partner->writes = true;
	sample_set(&partner->function, "shard_evict");
	partner->distance_ns = 1234000;
}

static inline void sample_hunt_side(struct hunt_side *side, uint64_t id)
{
	struct hunt_place *caller = vec_append(&side->stack);

	if (!caller)
		abort();
	sample_place(caller, 0x1301);
	side->id = id;
	memcpy(side->fingerprint, "00112233445566778899aabbccddeeff", 33);
	sample_set(&side->program, "/usr/bin/cache");
	sample_set(&side->thread_path, "0.0");
	sample_place(&side->place, 0x1179);
	side->ordinal = 3;
	side->size = 8;
	side->writes = true;
	sample_set(&side->string_function, "memcpy");
	side->locked = true;
	sample_partner(side);
	side->hold_ns = 45000000;
	side->rank = 0.5;
	sample_set(&side->variable, "shards[3].used");
	sample_set(&side->function, "shard_add");
	sample_recorded(&side->recorded);
	memcpy(side->code_hash, "ffeeddccbbaa99887766554433221100", 33);
}

/* With that result (enum target_result); the record is initialized. */
static inline void sample_target(struct target_record *record,
				 unsigned int result)
{
	struct target_outcome *outcome = &record->outcome;

	sample_hunt_side(&record->side, 7);
	record->time = UINT64_C(1769862896789012000);
	outcome->result = result;
	outcome->runs = 2;
	outcome->reached = 2;
	outcome->hold_ns = 45000000;
	sample_set(&outcome->ordered_by, "a mutex");
	memcpy(outcome->race, "4c1f5dc13c24409f7bb0105291fc0a06", 33);
}

#endif
