/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The steps of a schedule; private to src/replay/orders.c.
 */
#ifndef REPLAY_SCHEDULE_PARTS_H
#define REPLAY_SCHEDULE_PARTS_H

#include <stddef.h>

struct error;
struct processor;
struct replay_outcome;
struct replay_step;

/*
 * Make the steps from the contexts in *ret, which become those that the threads
 * then have. The memory stays as it is then. Errors as of region_run().
 */
struct error *schedule_run(struct processor *processor,
			   const struct replay_step *steps, size_t count,
			   struct replay_outcome *ret);

#endif
