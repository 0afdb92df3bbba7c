/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who comes to a held side; see hunt-meet.h.
 */
#include "tracer/hunt-meet.h"

#include <stdbool.h>

#include "tracer/engine.h"
#include "tracer/hunt.h"

static bool hunt_has_met(const struct hunt_target *target, uint64_t after)
{
	for (size_t i = 0; i < target->met.count; i++) {
		if (*(const uint64_t *)vec_at(&target->met, i) == after)
			return true;
	}
	return false;
}

static bool hunt_has_met_all(const struct hunt_target *target)
{
	const struct wire_hunt *wire = &target->wire;

	for (uint32_t i = 0; i < wire->partner_count; i++) {
		if (!hunt_has_met(target, wire_site_end(&wire->partners[i])))
			return false;
	}
	return wire->partner_count > 0;
}

enum stall_meeting hunt_meet(struct hunt_target *target, uint64_t after)
{
	if (!target->wire.until_all)
		return STALL_ENDS;
	if (hunt_has_met(target, after))
		return STALL_KNOWS;
	if (!vec_push(&target->met, &after) || hunt_has_met_all(target))
		return STALL_ENDS;
	return STALL_STAYS;
}

enum stall_meeting hunt_meet_focus(struct engine *engine, uint64_t after)
{
	struct hunt_target *target = engine->hunt.focus;

	return target && target->state == HUNT_HELD ? hunt_meet(target, after)
						    : STALL_ENDS;
}

/* Without it, the conflict is told as one of no side. */
void hunt_tell_meeting(struct engine *engine)
{
	struct wire_hunted news = engine->hunt.focus->news;

	news.end = WIRE_HUNT_MET;
	news.more = true;
	channel_send(&engine->core.channel, WIRE_HUNTED, &news, sizeof(news));
}
