/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sites of a provocation, and which of them are armed; see provoke-list.h.
 */
#include "tracer/provoke-list.h"

#include "tracee/breakpoint.h"
#include "tracee/process.h"
#include "tracer/core.h"
#include "tracer/provoke.h"

struct wire_site *provoke_site(const struct provoke *provoke, size_t i)
{
	return vec_at(&provoke->sites, i);
}

void provoke_take(struct provoke *provoke, const struct wire_site *sites,
		  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!vec_push(&provoke->sites, &sites[i]))
			core_return_site(provoke->core, sites[i].program,
					 sites[i].id, WIRE_LIFTED);
		else
			provoke->unset++;
	}
}

void provoke_forget(struct provoke *provoke, const struct wire_range *range)
{
	for (size_t i = provoke->sites.count; i-- > 0;) {
		const struct wire_site *site = provoke_site(provoke, i);

		if (site->program == range->program &&
		    site->address >= range->start && site->address < range->end)
			vec_remove_swap(&provoke->sites, i);
	}
}

struct breakpoint *provoke_breakpoint(const struct provoke *provoke,
				      const struct wire_site *site,
				      struct addrspace **ret_space)
{
	for (size_t i = 0; i < provoke->core->tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&provoke->core->tracees, i);

		if (process->role != PROCESS_WATCHED ||
		    process->space->text->program != site->program)
			continue;
		*ret_space = process->space;
		return breakpoint_find(process->space, site->address);
	}
	return NULL;
}

bool provoke_pairs(const struct wire_site *one, const struct wire_site *other)
{
	uint8_t a = one->provoke, b = other->provoke;

	return ((a & wire_side_bit(0)) && (b & wire_side_bit(1))) ||
	       ((a & wire_side_bit(1)) && (b & wire_side_bit(0)));
}

bool provoke_is_set(const struct provoke *provoke, const struct wire_site *site)
{
	struct addrspace *space;
	const struct breakpoint *breakpoint =
		provoke_breakpoint(provoke, site, &space);

	return breakpoint && breakpoint->policy == BREAKPOINT_PERSISTENT &&
	       (breakpoint->armed || breakpoint->passing > 0);
}

bool provoke_waits(const struct provoke *provoke, uint32_t program)
{
	for (size_t i = 0; i < provoke->sites.count; i++) {
		const struct wire_site *site = provoke_site(provoke, i);

		if (site->program == program && !provoke_is_set(provoke, site))
			return true;
	}
	return false;
}
