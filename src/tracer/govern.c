/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The size of the pool of breakpoints; see govern.h.
 */
#include "tracer/govern.h"

#include <string.h>

#include "base/clock.h"
#include "guardian/guardtable.h"
#include "schedule/governor.h"
#include "schedule/pool.h"
#include "tracer/core.h"
#include "tracer/load.h"
#include "wire/params.h"

_Static_assert((int)GOVERNOR_TEXT_MAX <= (int)GUARDTABLE_ENTRIES,
	       "the guardian can restore every breakpoint");

static struct governor_state govern_state(const struct govern *govern,
					  uint64_t now)
{
	const struct wire_stats *stats = &govern->core->stats;
	const struct budget *budget = &govern->load->budget;
	/* where time is counted, these need no rate */
	uint64_t idle = govern->pool->params.share > 0
				? stats->hits_private + stats->hits_rested
				: 0;

	return (struct governor_state){
		.now_ns = now,
		.hits = stats->hits - stats->hits_once - stats->hits_aimed -
			idle,
		.hits_aimed = stats->hits_aimed,
		.samples = stats->samples,
		/* no sample has cost what was waited for before the first */
		.lost_ns = (uint64_t)budget->lost_ns - stats->startup_ns,
		.lost_cpu_ns = (uint64_t)budget->lost_cpu_ns,
		.rate = (uint32_t)(pool_rate(govern->pool) + 0.5),
		.armed = (uint32_t)core_armed(govern->core),
		.sites = govern->supply,
	};
}

void govern_begin(struct govern *govern, const struct wire_params *params)
{
	const struct governor_budget budget = governor_budget(params);

	govern->pool->params = *params;
	budget_set_share(&govern->load->budget, params->share);
	governor_init(&govern->governor, &budget, clock_now_ns());
}

void govern_restart(struct govern *govern)
{
	const struct governor_state state =
		govern_state(govern, clock_now_ns());

	governor_restart(&govern->governor, &state);
}

void govern_tick(struct govern *govern, uint64_t now)
{
	const struct governor_state state = govern_state(govern, now);

	governor_tick(&govern->governor, &state);
}

void govern_supplied(struct govern *govern, const void *payload, size_t size)
{
	struct wire_supply supply;

	if (size != sizeof(supply))
		return;
	memcpy(&supply, payload, sizeof(supply));
	govern->supply = supply.sites;
}
