/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The watch: which slots watch what; see watch.h.
 */
#include "tracee/watch.h"

#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracee/thread.h"

/* addresses of programs have no more bits (x86-64, four levels) */
enum { WATCH_TAG_SHIFT = 48 };

uint64_t watch_slot_address(const struct watch *watch, int slot)
{
	return watch->dregs.slots[slot].address &
	       ((UINT64_C(1) << WATCH_TAG_SHIFT) - 1);
}

static void watch_own(struct watch *watch, int slot,
		      const struct addrspace *space)
{
	struct watch_owner *owner = &watch->owners[slot];

	owner->text = NULL;
	owner->tag = space->tag;
	owner->shared = sharing_place(space, watch_slot_address(watch, slot),
				      watch->dregs.slots[slot].length,
				      &owner->place);
	watch->generation[slot] = ++watch->last_generation;
}

bool watch_claim(struct watch *watch, const struct addrspace *space,
		 uint64_t address, uint32_t size, enum dregs_type type,
		 struct watch_claim *ret)
{
	uint8_t used = 0;

	if (watch->ops->blind || address >> WATCH_TAG_SHIFT)
		return false;
	address |= (uint64_t)space->tag << WATCH_TAG_SHIFT;
	/* a change of type takes longer than most stalls: watch-cpu.c */
	watch->dregs.halves = watch->ops->halves;
	for (int i = 0; i < DREGS_SLOTS; i++)
		used |= (uint8_t)((watch->dregs.slots[i].users > 0) << i);
	if (!dregs_claim(&watch->dregs, address, size, type, true, &ret->claim))
		return false;
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (!(ret->claim.slots & (1u << i)))
			continue;
		if (!(used & (1u << i)))
			watch_own(watch, i, space);
		ret->generation[i] = watch->generation[i];
	}
	return true;
}

bool watch_claim_execution(struct watch *watch, const struct program_text *text,
			   uint64_t address, struct watch_claim *ret)
{
	/* any of the spaces: its tag tells programs apart */
	const struct addrspace *space =
		*(struct addrspace **)vec_at(&text->spaces, 0);

	if (address >> WATCH_TAG_SHIFT)
		return false;
	address |= (uint64_t)space->tag << WATCH_TAG_SHIFT;
	if (!dregs_claim(&watch->dregs, address, 1, DREGS_EXECUTE, false,
			 &ret->claim))
		return false;
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (!(ret->claim.slots & (1u << i)))
			continue;
		watch->owners[i] = (struct watch_owner){ .text = text };
		watch->generation[i] = ++watch->last_generation;
		ret->generation[i] = watch->generation[i];
	}
	return true;
}

void watch_narrow(struct watch *watch, const struct watch_claim *claim,
		  const struct thread_place *place, uint64_t period)
{
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (!(claim->claim.slots & (1u << i)))
			continue;
		watch->owners[i].thread = place;
		watch->owners[i].period = period;
	}
}

bool watch_claim_traps(const struct watch_claim *claim, uint8_t slots,
		       const uint64_t gens[DREGS_SLOTS])
{
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if ((slots & claim->claim.slots & (1u << i)) &&
		    gens[i] == claim->generation[i])
			return true;
	}
	return false;
}

void watch_release(struct watch *watch, const struct watch_claim *claim)
{
	dregs_release(&watch->dregs, &claim->claim);
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (watch->dregs.slots[i].users == 0)
			watch->generation[i] = 0;
	}
}

static bool watch_applies(const struct watch *watch, int slot,
			  const struct addrspace *space, uint64_t *ret)
{
	const struct watch_owner *owner = &watch->owners[slot];

	if (watch->generation[slot] == 0 ||
	    (owner->text && owner->text != space->text))
		return false;
	if (owner->text || owner->tag == space->tag) {
		*ret = watch_slot_address(watch, slot);
		return true;
	}
	return owner->shared &&
	       sharing_address(space, &owner->place,
			       watch->dregs.slots[slot].length, ret);
}

void watch_view(const struct watch *watch, const struct addrspace *space,
		struct watch_view *ret)
{
	ret->dregs = watch->dregs;
	for (int i = 0; i < DREGS_SLOTS; i++) {
		struct dregs_slot *slot = &ret->dregs.slots[i];

		ret->generation[i] = watch->generation[i];
		if (watch_applies(watch, i, space, &slot->address))
			continue;
		*slot = (struct dregs_slot){ .users = 0 };
		ret->generation[i] = 0;
	}
}

void watch_view_thread(const struct watch *watch, const struct thread *thread,
		       struct watch_view *ret)
{
	watch_view(watch, thread->process->space, ret);
	for (int i = 0; i < DREGS_SLOTS; i++) {
		const struct watch_owner *owner = &watch->owners[i];

		if (ret->generation[i] == 0 || !owner->text || !owner->thread ||
		    thread_is_at(thread, owner->thread))
			continue;
		ret->dregs.slots[i] = (struct dregs_slot){ .users = 0 };
		ret->generation[i] = 0;
	}
}

void watch_settled(struct watch *watch, struct thread *thread)
{
	if (!thread->watch.dirty)
		return;
	thread->watch.dirty = false;
	watch->pending--;
}

uint8_t watch_trap_of_the_past(uint64_t gens[DREGS_SLOTS])
{
	gens[0] = 0;
	return 1;
}

bool watch_current(const struct watch_view *view, const struct thread *thread)
{
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (thread->watch.generation[i] != view->generation[i])
			return false;
	}
	return true;
}
