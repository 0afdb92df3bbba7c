/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the sources of an instance's run share; private to them.
 */
#ifndef REPLAY_INSTANCE_PARTS_H
#define REPLAY_INSTANCE_PARTS_H

#include "replay/instance.h"
#include "replay/orders.h"

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
 * the same ends, and add what differs to the result. ERROR_NOMEM only.
 */
struct error *instance_compare(struct instance *instance, uint32_t schedules);

/* instance-verdict.c: what the outcomes mean. ERROR_NOMEM only. */
struct error *instance_judge(struct instance *instance);

#endif
