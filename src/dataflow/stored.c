/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ways from a read to a store; see stored-parts.h.
 */
#include "dataflow/stored-parts.h"

#include "base/map.h"
#include "base/vec.h"

enum { STEPS = 4000 }; /* instructions of one search */

/* A search for a way from an instruction to another one. */
struct search {
	const struct follow *follow;
	uint64_t to;
	const uint64_t *avoided; /* no way leads through these */
	unsigned int avoided_count;
	struct map seen; /* addresses */
	struct vec work; /* of uint64_t: the same, to be looked at */
	bool failed; /* there may be a way, or not */
};

void stored_add(struct stored_places *places, uint64_t address)
{
	for (unsigned int i = 0; i < places->count; i++) {
		if (places->at[i] == address)
			return;
	}
	if (places->count == STORED_PLACES)
		places->overflow = true;
	else
		places->at[places->count++] = address;
}

static void search_add(struct search *search, uint64_t address)
{
	for (unsigned int i = 0; i < search->avoided_count; i++) {
		if (search->avoided[i] == address)
			return;
	}
	if (address - search->follow->start >= search->follow->size ||
	    map_get(&search->seen, address))
		return;
	if (!map_set(&search->seen, address, 1) ||
	    !vec_push(&search->work, &address))
		search->failed = true;
}

/* What may be executed after the instruction. */
static void search_step(struct search *search, uint64_t address)
{
	struct insn_access access;

	pattern_access(search->follow, address, &access);
	if (access.refusal == X86_REFUSED_UNDECODABLE ||
	    access.flow == X86_FLOW_RET || access.flow == X86_FLOW_STOP)
		return;
	if (access.flow == X86_FLOW_BRANCH ||
	    (access.flow == X86_FLOW_JUMP && !access.indirect))
		search_add(search, access.target);
	if (access.flow != X86_FLOW_JUMP)
		search_add(search, address + access.length);
}

static bool search_finds(struct search *search, uint64_t from)
{
	search_step(search, from);
	for (unsigned int i = 0; i < STEPS && search->work.count > 0; i++) {
		uint64_t address = *(uint64_t *)vec_at(&search->work,
						       search->work.count - 1);

		if (address == search->to)
			return true;
		search->work.count--;
		search_step(search, address);
	}
	search->failed |= search->work.count > 0;
	return false;
}

/* if_unknown is the answer where the search could not be ended. */
static bool leads(const struct follow *follow, uint64_t from, uint64_t to,
		  const uint64_t *avoided, unsigned int count, bool if_unknown)
{
	struct search search = { .follow = follow,
				 .to = to,
				 .avoided = avoided,
				 .avoided_count = count,
				 .work = VEC_INIT(uint64_t) };
	bool found = search_finds(&search, from);

	map_deinit(&search.seen);
	vec_deinit(&search.work);
	return search.failed ? if_unknown : found;
}

static bool may_release(const struct follow *follow,
			const struct stored *stored, uint64_t store,
			uint64_t read)
{
	for (unsigned int i = 0; i < stored->locked.count; i++) {
		if (leads(follow, stored->locked.at[i], store, &read, 1, true))
			return true;
	}
	return false;
}

bool stored_plainly(const struct follow *follow, const struct stored *stored,
		    uint64_t read)
{
	if (stored->stores.overflow || stored->locked.overflow)
		return false;
	for (unsigned int i = 0; i < stored->stores.count; i++) {
		uint64_t store = stored->stores.at[i];

		if (leads(follow, read, store, stored->locked.at,
			  stored->locked.count, false) &&
		    !may_release(follow, stored, store, read))
			return true;
	}
	return false;
}
