/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks of code that were seen to run; see running.h.
 */
#include "tracer/running.h"

#include "base/clock.h"
#include "wire/channel.h"
#include "wire/message.h"
#include "wire/running.h"

static const uint64_t RUNNING_TELL_NS = CLOCK_NS_PER_S;
static const uint64_t RUNNING_SWEEP_NS = 250 * CLOCK_NS_PER_MS;
static const uint64_t RUNNING_KEEP_NS = 30 * CLOCK_NS_PER_S;
/* where there is no room for more */
static const uint64_t RUNNING_KEEP_FULL_NS = 2 * CLOCK_NS_PER_S;

enum {
	/* no address of a program is larger, with 5-level page tables too */
	RUNNING_ADDRESS_BITS = 56,
	RUNNING_PROGRAM_SHIFT = 52, /* an address without its block's bits */
};

struct running_block {
	struct wire_running wire; /* count: since it was last told */
	uint64_t born_ns; /* when it was first seen */
	uint64_t seen_ns;
	uint64_t told_ns; /* 0: never */
};

void running_init(struct running *running)
{
	*running = (struct running){
		.blocks = VEC_INIT(struct running_block),
	};
}

void running_deinit(struct running *running)
{
	vec_deinit(&running->blocks);
	map_deinit(&running->index);
	running->known = 0;
}

static struct running_block *running_at(const struct running *running, size_t i)
{
	return vec_at(&running->blocks, i);
}

/* The low bits of the program's number fit; they are compared in full. */
static uint64_t running_key(uint32_t program, uint64_t address)
{
	return address / WIRE_RUNNING_BLOCK | (uint64_t)program
						      << RUNNING_PROGRAM_SHIFT;
}

static bool running_add(struct running *running,
			const struct running_block *block)
{
	uint64_t key = running_key(block->wire.program, block->wire.address);

	if (running->blocks.count >= RUNNING_BLOCKS_MAX ||
	    !vec_push(&running->blocks, block))
		return false;
	if (map_set(&running->index, key, running->blocks.count - 1))
		return true;
	running->blocks.count--;
	return false;
}

uint64_t running_note(struct running *running, uint32_t program,
		      uint64_t address, uint64_t now)
{
	struct running_block new = {
		.wire = { .address = address & -(uint64_t)WIRE_RUNNING_BLOCK,
			  .program = program,
			  .count = 1 },
		.born_ns = now,
		.seen_ns = now,
	};
	struct running_block *block;
	const uint64_t *place;

	if (address >> RUNNING_ADDRESS_BITS)
		return 0;
	place = map_get(&running->index, running_key(program, address));
	if (!place)
		return running_add(running, &new) ? now : 0;
	block = running_at(running, (size_t)*place);
	if (block->wire.program != program)
		return 0;
	block->seen_ns = now;
	if (block->wire.count < UINT32_MAX)
		block->wire.count++;
	return block->born_ns;
}

/* Blocks for one message, and where they are. */
struct running_batch {
	struct wire_running wire[WIRE_RUNNING_MAX];
	size_t places[WIRE_RUNNING_MAX];
	size_t count;
};

static bool running_send(struct running *running, struct channel *channel,
			 struct running_batch *batch, uint64_t now)
{
	size_t count = batch->count;

	batch->count = 0;
	if (count > 0 && !channel_send(channel, WIRE_RUNNING, batch->wire,
				       count * sizeof(batch->wire[0])))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct running_block *block =
			running_at(running, batch->places[i]);

		block->wire.count = 0;
		block->told_ns = now;
	}
	return true;
}

static bool running_is_due(const struct running_block *block, uint64_t now)
{
	return block->wire.count > 0 &&
	       (block->told_ns == 0 || now - block->told_ns >= RUNNING_TELL_NS);
}

static void running_tell_from(struct running *running, struct channel *channel,
			      size_t first, uint64_t now)
{
	struct running_batch batch = { .count = 0 };

	for (size_t i = first; i < running->blocks.count; i++) {
		const struct running_block *block = running_at(running, i);

		if (!running_is_due(block, now))
			continue;
		batch.wire[batch.count] = block->wire;
		batch.places[batch.count++] = i;
		if (batch.count == WIRE_RUNNING_MAX &&
		    !running_send(running, channel, &batch, now))
			return;
	}
	running_send(running, channel, &batch, now);
}

static void running_remove(struct running *running, size_t i)
{
	const struct wire_running *wire = &running_at(running, i)->wire;
	uint64_t *place;

	map_remove(&running->index, running_key(wire->program, wire->address));
	vec_remove_swap(&running->blocks, i);
	if (i == running->blocks.count)
		return;
	wire = &running_at(running, i)->wire;
	place = map_get(&running->index,
			running_key(wire->program, wire->address));
	if (place)
		*place = i;
}

static void running_expire(struct running *running, uint64_t now)
{
	uint64_t keep = running->blocks.count < RUNNING_BLOCKS_MAX
				? RUNNING_KEEP_NS
				: RUNNING_KEEP_FULL_NS;

	for (size_t i = running->blocks.count; i-- > 0;) {
		if (now - running_at(running, i)->seen_ns >= keep)
			running_remove(running, i);
	}
}

void running_tell(struct running *running, struct channel *channel,
		  uint64_t now)
{
	bool sweep = now - running->swept_ns >= RUNNING_SWEEP_NS;

	if (!sweep && running->known == running->blocks.count)
		return;
	running_tell_from(running, channel, sweep ? 0 : running->known, now);
	if (sweep) {
		running_expire(running, now);
		running->swept_ns = now;
	}
	running->known = running->blocks.count;
}
