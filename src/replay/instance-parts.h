/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the sources of an instance's run share; private to them.
 */
#ifndef REPLAY_INSTANCE_PARTS_H
#define REPLAY_INSTANCE_PARTS_H

#include "replay/instance.h"
#include "replay/orders.h"

#define REPLAY_UNEQUAL_END "unequal-end" /* the name of that failure */

/* Places in instance-schedules.c's table of schedules. */
enum {
	REPLAY_AB,
	REPLAY_BA,
	REPLAY_AB_WHOLE,
	REPLAY_BA_WHOLE,
	REPLAY_IN_A, /* the second region whole behind the first's access */
	REPLAY_IN_B,
	/* they differ in the order of the two accesses, and in nothing else */
	REPLAY_ACCESSES = 1 << REPLAY_AB | 1 << REPLAY_BA,
	/* one region after the other */
	REPLAY_SERIAL = 1 << REPLAY_AB_WHOLE | 1 << REPLAY_BA_WHOLE,
};

/* One run of all schedules. */
struct instance {
	struct processor *processor;
	const struct replay_question *question;
	struct replay_outcome outcomes[REPLAY_SCHEDULES];
	uint32_t ran; /* bit n: schedule n applies, and was run */
	bool old; /* a store ends an update whose load could not be found */
	/* a local variable differs in a function that has not returned */
	bool locals;
	struct replay_result *ret;
};

/*
 * instance-changes.c: compare the schedules of the set, all complete and with
 * the same ends, and add what differs to the result. The order of two regions
 * may decide about what they do under a lock or by atomic instructions, whatever
 * becomes of the race. So it counts what differs by the order of the accesses
 * alone, and what comes of an overlap of the regions and of neither order of
 * them. ERROR_NOMEM only.
 */
struct error *instance_compare(struct instance *instance, uint32_t schedules);

/*
 * instance-bare.c: behind the access the region has no accesses but to registers
 * that its function pulls from the stack, and ends with that function's return. False
 * when that is not known.
 */
bool instance_rest_is_bare(const struct instance *instance, int thread);

/*
 * instance-again.c: where both sides only store what is there already, find
 * ret->blind: run the schedules again with the complement of each raced byte in
 * its place, and compare them. The captured memory is then what it was. ERROR_NOMEM
 * and errors as of orders_run().
 */
struct error *instance_try_blind(struct instance *instance);

/*
 * instance-again.c: where schedules end differently, and a region of one ended
 * before a page that was not captured, run them again with the pages read late. If
 * no order makes a difference then, the way alone was another, and the instance is
 * one to learn from: the next has the pages. Else it remains a failure that may be
 * an effect, since the pages may be of another time. Errors as above.
 */
struct error *instance_try_late(struct instance *instance);

/*
 * instance-schedules.c: run the schedules that apply. *ret_endless: one has no end that is near, and
 * those behind it are not run. Errors as of orders_run().
 */
struct error *instance_run_all(struct instance *instance, bool *ret_endless);

/* instance-verdict.c: what the outcomes mean. ERROR_NOMEM only. */
struct error *instance_judge(struct instance *instance);

#endif
