/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The race and the crash record from their JSON objects. Private to this
 * folder; see record.h.
 */
#ifndef REPORT_RECORD_RACE_H
#define REPORT_RECORD_RACE_H

#include "report/members.h"

struct crash;
struct race;

/* Into an empty one; what is wrong is kept in `in'. */
void record_read_race(struct members *in, const json_t *object,
		      struct race *race);
void record_read_crash(struct members *in, const json_t *object,
		       struct crash *crash);

#endif
