/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The size of the pool of breakpoints; see govern.h.
 */
#include "tracer/govern.h"

#include <string.h>

#include "base/clock.h"
#include "guardian/guardtable.h"
#include "schedule/governor.h"
#include "tracer/arm.h"
#include "tracer/engine.h"
#include "wire/params.h"

_Static_assert((int)GOVERNOR_TEXT_MAX <= (int)GUARDTABLE_ENTRIES,
	       "the guardian can restore every breakpoint");

static struct governor_state govern_state(const struct engine *engine,
					  uint64_t now)
{
	const struct wire_stats *stats = &engine->core.stats;
	const struct budget *budget = &engine->load.budget;
	/* where time is counted, these need no rate */
	uint64_t idle = engine->pool.params.share > 0
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
		.rate = (uint32_t)(pool_rate(&engine->pool) + 0.5),
		.armed = (uint32_t)core_armed(&engine->core),
		.sites = engine->supply,
	};
}

void govern_begin(struct engine *engine, const struct wire_params *params)
{
	const struct governor_budget budget = governor_budget(params);

	engine->pool.params = *params;
	budget_set_share(&engine->load.budget, params->share);
	governor_init(&engine->governor, &budget, clock_now_ns());
}

void govern_restart(struct engine *engine)
{
	const struct governor_state state =
		govern_state(engine, clock_now_ns());

	governor_restart(&engine->governor, &state);
}

void govern_tick(struct engine *engine, uint64_t now)
{
	const struct governor_state state = govern_state(engine, now);

	governor_tick(&engine->governor, &state);
	arm_shrink(engine);
}

void govern_supplied(struct engine *engine, const void *payload, size_t size)
{
	struct wire_supply supply;

	if (size != sizeof(supply))
		return;
	memcpy(&supply, payload, sizeof(supply));
	engine->supply = supply.sites;
}
