/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints that leave the text as it is; see execpoint.h.
 */
#include "tracee/execpoint.h"

#include <stddef.h>

#include "base/clock.h"

enum {
	/* bringing threads into line takes one part of the time in this */
	EXECPOINT_COST_SHARE = 16,
};

void execpoints_begin(struct execpoints *execpoints, struct watch *watch)
{
	*execpoints = (struct execpoints){ .watch = watch };
}

/*
 * How long a location may stay now. One that is reached often is hit at once,
 * and one that is reached rarely is hit as often in many short times as in few
 * long ones: short is better, but for the cost of moving, to the threads too,
 * which the rate asked for bounds.
 */
static uint64_t execpoints_stay_ns(const struct execpoints *execpoints)
{
	uint64_t stay = execpoints->cost_ns * EXECPOINT_COST_SHARE;

	return stay > execpoints->stay_ns ? stay : execpoints->stay_ns;
}

void execpoints_set_rate(struct execpoints *execpoints, uint32_t rate)
{
	execpoints->stay_ns = CLOCK_NS_PER_S / (rate > 0 ? rate : 1);
}

static struct execpoint *execpoints_find(struct execpoints *execpoints,
					 const struct program_text *text,
					 uint64_t address)
{
	for (int i = 0; i < EXECPOINT_PLACES; i++) {
		struct execpoint *point = &execpoints->points[i];

		if (point->text == text && point->address == address)
			return point;
	}
	return NULL;
}

static bool execpoint_claim(struct execpoints *execpoints,
			    struct execpoint *point)
{
	point->claimed = watch_claim_execution(execpoints->watch, point->text,
					       point->address, &point->claim);
	if (!point->claimed)
		return false;
	point->since_ns = clock_now_ns();
	execpoints->changed = true;
	return true;
}

static void execpoint_release(struct execpoints *execpoints,
			      struct execpoint *point)
{
	uint64_t had = clock_now_ns() - point->since_ns;

	if (!point->claimed)
		return;
	watch_release(execpoints->watch, &point->claim);
	point->claimed = false;
	point->left_ns = point->left_ns > had ? point->left_ns - had : 0;
	execpoints->changed = true;
}

bool execpoints_has_room(const struct execpoints *execpoints)
{
	bool place = false;
	bool slot = false;

	for (int i = 0; i < EXECPOINT_PLACES; i++)
		place |= !execpoints->points[i].text;
	for (int i = 0; i < DREGS_SLOTS; i++)
		slot |= execpoints->watch->dregs.slots[i].users == 0;
	return place && slot;
}

bool execpoint_set(struct execpoints *execpoints,
		   const struct program_text *text, uint64_t address)
{
	struct execpoint *point = execpoints_find(execpoints, NULL, 0);

	if (!point)
		return false;
	*point = (struct execpoint){
		.text = text,
		.address = address,
		.left_ns = execpoints_stay_ns(execpoints),
	};
	if (execpoint_claim(execpoints, point))
		return true;
	*point = (struct execpoint){ .text = NULL };
	return false;
}

static void execpoint_free(struct execpoints *execpoints,
			   struct execpoint *point)
{
	execpoint_release(execpoints, point);
	*point = (struct execpoint){ .text = NULL };
}

void execpoint_unset(struct execpoints *execpoints,
		     const struct program_text *text, uint64_t address)
{
	struct execpoint *point = execpoints_find(execpoints, text, address);

	if (point)
		execpoint_free(execpoints, point);
}

void execpoints_forget(struct execpoints *execpoints,
		       const struct program_text *text)
{
	for (int i = 0; i < EXECPOINT_PLACES; i++) {
		if (execpoints->points[i].text == text)
			execpoint_free(execpoints, &execpoints->points[i]);
	}
}

void execpoints_suspend(struct execpoints *execpoints)
{
	for (int i = 0; i < EXECPOINT_PLACES; i++)
		execpoint_release(execpoints, &execpoints->points[i]);
}

enum execpoints_news execpoints_resume(struct execpoints *execpoints,
				       bool stalled)
{
	bool any = stalled;

	for (int i = 0; i < EXECPOINT_PLACES; i++) {
		struct execpoint *point = &execpoints->points[i];

		if (point->text && !point->claimed && !stalled)
			execpoint_claim(execpoints, point);
		any |= point->claimed;
	}
	if (!execpoints->changed)
		return EXECPOINTS_SAME;
	execpoints->changed = false;
	return any ? EXECPOINTS_SET : EXECPOINTS_NONE;
}

const struct execpoint *execpoint_of_trap(const struct execpoints *execpoints,
					  const struct program_text *text,
					  uint8_t slots,
					  const uint64_t gens[DREGS_SLOTS])
{
	for (int i = 0; i < EXECPOINT_PLACES; i++) {
		const struct execpoint *point = &execpoints->points[i];

		if (point->text != text || !point->claimed)
			continue;
		for (int s = 0; s < DREGS_SLOTS; s++) {
			if ((slots & point->claim.claim.slots & (1u << s)) &&
			    gens[s] == point->claim.generation[s])
				return point;
		}
	}
	return NULL;
}

static uint64_t execpoint_due_ns(const struct execpoint *point)
{
	return point->claimed ? point->since_ns + point->left_ns : UINT64_MAX;
}

const struct execpoint *execpoints_due(const struct execpoints *execpoints,
				       uint64_t now)
{
	for (int i = 0; i < EXECPOINT_PLACES; i++) {
		if (now >= execpoint_due_ns(&execpoints->points[i]))
			return &execpoints->points[i];
	}
	return NULL;
}

uint64_t execpoints_next_ns(const struct execpoints *execpoints)
{
	uint64_t next = UINT64_MAX;

	for (int i = 0; i < EXECPOINT_PLACES; i++) {
		uint64_t due = execpoint_due_ns(&execpoints->points[i]);

		if (due < next)
			next = due;
	}
	return next;
}
