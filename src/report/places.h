/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tells apart races of a hunt that have one fingerprint by names. */
#ifndef REPORT_PLACES_H
#define REPORT_PLACES_H

#include <stdint.h>

struct race;

/*
 * A hash of the lines of both accesses, whichever side was stalled (where the
 * lines are not known, of the instructions), and of the calls that allocated
 * their heap block: another line or another object is another race. A hunt meets
 * each race a few times, so that there are few; other races meet at every line
 * of a function, and are one: 0.
 */
uint64_t race_places(const struct race *race);

#endif
