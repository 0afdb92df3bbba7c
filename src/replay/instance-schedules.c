/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schedules of an instance, and which of them are run; see instance-parts.h.
 */
#include "replay/instance-parts.h"

#include "base/error.h"
#include "replay/processor-parts.h"

enum { SCHEDULE_STEPS = 5 };

struct plan {
	const char *name;
	struct replay_step steps[SCHEDULE_STEPS];
	size_t count;
	int split; /* the thread whose access is split; -1: none */
};

enum { A = 0, B = 1 };

static const struct plan plans[REPLAY_SCHEDULES] = {
	[REPLAY_AB] = { "ab",
			{ { A, REPLAY_ACCESS },
			  { B, REPLAY_ACCESS },
			  { A, REPLAY_REST },
			  { B, REPLAY_REST } },
			4,
			-1 },
	[REPLAY_BA] = { "ba",
			{ { B, REPLAY_ACCESS },
			  { A, REPLAY_ACCESS },
			  { A, REPLAY_REST },
			  { B, REPLAY_REST } },
			4,
			-1 },
	[REPLAY_AB_WHOLE] = { "ab-whole",
			      { { A, REPLAY_REST }, { B, REPLAY_REST } },
			      2,
			      -1 },
	[REPLAY_BA_WHOLE] = { "ba-whole",
			      { { B, REPLAY_REST }, { A, REPLAY_REST } },
			      2,
			      -1 },
	[REPLAY_IN_A] = { "a(b)a",
			  { { A, REPLAY_ACCESS },
			    { B, REPLAY_REST },
			    { A, REPLAY_REST } },
			  3,
			  -1 },
	[REPLAY_IN_B] = { "b(a)b",
			  { { B, REPLAY_ACCESS },
			    { A, REPLAY_REST },
			    { B, REPLAY_REST } },
			  3,
			  -1 },
	{ "a[b]a",
	  { { A, REPLAY_LOAD },
	    { B, REPLAY_ACCESS },
	    { A, REPLAY_STORE },
	    { A, REPLAY_REST },
	    { B, REPLAY_REST } },
	  5,
	  A },
	{ "b[a]b",
	  { { B, REPLAY_LOAD },
	    { A, REPLAY_ACCESS },
	    { B, REPLAY_STORE },
	    { B, REPLAY_REST },
	    { A, REPLAY_REST } },
	  5,
	  B },
};

const char *replay_schedule_name(int schedule)
{
	return plans[schedule].name;
}

enum { ALWAYS = -1 };

/*
 * Schedules that have all accesses in the same order as one that was run before; some
 * only where the rest of a thread is bare.
 */
static const struct {
	int schedule, same, bare;
} equals[] = {
	{ REPLAY_IN_B, REPLAY_BA, ALWAYS }, { REPLAY_IN_A, REPLAY_AB, A },
	{ REPLAY_IN_A, REPLAY_AB, B },	    { REPLAY_AB_WHOLE, REPLAY_AB, A },
	{ REPLAY_BA_WHOLE, REPLAY_BA, B },
};

/* The schedule that it is; itself where it is to be run. */
static int instance_equal(const bool bare[REPLAY_THREADS], int schedule)
{
	for (size_t i = 0; i < sizeof(equals) / sizeof(equals[0]); i++) {
		if (equals[i].schedule == schedule &&
		    (equals[i].bare == ALWAYS || bare[equals[i].bare]))
			return equals[i].same;
	}
	return schedule;
}

struct error *instance_run_all(struct instance *instance, bool *ret_endless)
{
	bool bare[REPLAY_THREADS];
	struct error *err = NULL;

	for (int i = 0; i < REPLAY_THREADS; i++)
		bare[i] = instance_rest_is_bare(instance, i);
	*ret_endless = false;
	instance->ran = instance->ret->equal = 0;
	for (int i = 0; i < REPLAY_SCHEDULES && !err && !*ret_endless; i++) {
		const struct plan *plan = &plans[i];
		struct replay_outcome *outcome = &instance->outcomes[i];
		int same = instance_equal(bare, i);

		if (plan->split >= 0 &&
		    !orders_can_split(instance->processor, plan->split))
			continue;
		instance->ran |= UINT32_C(1) << i;
		if (same == i)
			err = orders_run(instance->processor, plan->steps,
					 plan->count, outcome);
		else if (!outcome_copy(&instance->outcomes[same], outcome))
			err = error_nomem;
		if (same != i)
			instance->ret->equal |= UINT32_C(1) << i;
		*ret_endless = outcome->stop.kind == REPLAY_LIMIT;
	}
	return err;
}
