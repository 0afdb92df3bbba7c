/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who comes to a held side; see hunt-meet.h.
 */
#include "tracer/hunt-meet.h"

#include <stdbool.h>

#include "base/error.h"
#include "base/hash.h"
#include "sys/memory.h"
#include "tracee/addrspace.h"
#include "tracee/process.h"
#include "tracee/thread.h"
#include "tracer/engine.h"
#include "tracer/hunt.h"

/* A frame pointer is so far from the top of the stack at most. */
enum { HUNT_FRAME_MAX = 64 << 10 };

static bool hunt_has_met(const struct hunt_target *target, uint64_t after)
{
	for (size_t i = 0; i < target->met.count; i++) {
		const struct hunt_met *met = vec_at(&target->met, i);

		if (met->after == after)
			return true;
	}
	return false;
}

static bool hunt_has_met_all(const struct hunt_target *target)
{
	const struct wire_hunt *wire = &target->wire;

	if (wire->unlisted || wire->early_count < wire->partner_count)
		return false;
	for (uint32_t i = 0; i < wire->partner_count; i++) {
		if (!hunt_has_met(target, wire_site_end(&wire->partners[i])))
			return false;
	}
	return wire->partner_count > 0;
}

static bool hunt_knows(const struct hunt_target *target,
		       const struct hunt_met *wanted)
{
	int callers = 0;

	for (size_t i = 0; i < target->met.count; i++) {
		const struct hunt_met *met = vec_at(&target->met, i);

		if (met->after != wanted->after)
			continue;
		if (met->caller == wanted->caller || ++callers == HUNT_CALLERS)
			return true;
	}
	return false;
}

enum stall_meeting hunt_meet(struct hunt_target *target, uint64_t after,
			     uint64_t caller)
{
	const struct hunt_met met = { .after = after, .caller = caller };

	if (!target->wire.until_all)
		return STALL_ENDS;
	if (hunt_knows(target, &met))
		return STALL_KNOWS;
	if (!vec_push(&target->met, &met) || hunt_has_met_all(target))
		return STALL_ENDS;
	return STALL_STAYS;
}

/* 0: it cannot be read. */
static uint64_t hunt_stack_word(const struct thread *thread, uint64_t address)
{
	uint64_t word;
	size_t size;
	struct error *err = memory_read(&thread->process->space->memory,
					address, &word, sizeof(word), &size);

	if (err || size < sizeof(word)) {
		error_free(err);
		return 0;
	}
	return word;
}

uint64_t hunt_caller(const struct thread *thread,
		     const struct x86_registers *regs)
{
	uint64_t top = regs->gpr[X86_RSP], frame = regs->gpr[X86_RBP];
	uint64_t words[3] = { top, hunt_stack_word(thread, top) };

	if (frame >= top && frame - top < HUNT_FRAME_MAX)
		words[2] = hunt_stack_word(thread, frame + sizeof(words[0]));
	return hash_blocks(words, sizeof(words));
}

enum stall_meeting hunt_meet_focus(struct engine *engine,
				   const struct thread *thread,
				   const struct x86_registers *regs,
				   uint64_t after)
{
	struct hunt_target *target = engine->hunt.focus;

	if (!target || target->state != HUNT_HELD)
		return STALL_ENDS;
	return hunt_meet(target, after,
			 target->wire.until_all ? hunt_caller(thread, regs)
						: 0);
}

/* Without it, the conflict is told as one of no side. */
void hunt_tell_meeting(struct engine *engine)
{
	struct wire_hunted news = engine->hunt.focus->news;

	news.end = WIRE_HUNT_MET;
	news.more = true;
	channel_send(&engine->core.channel, WIRE_HUNTED, &news, sizeof(news));
}
