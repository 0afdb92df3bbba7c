/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The races that an earlier hunt has left in a store (hunt/kept.h), as far as they
 * are still races of the files that are there: those of code that has changed are
 * for this hunt to find.
 */
#ifndef HUNT_EARLIER_H
#define HUNT_EARLIER_H

#include <stdint.h>

struct error;
struct outcomes;
struct vec;

/*
 * Sides whose code is in the store of an older hunt with the same bytes, and that were
 * tried there, become TARGET_UNCHANGED; *ret_count: how many. Races that were met at
 * them are kept in this store too. A side that has met a race is to be tried again if
 * that race is not there, or has an access besides those of the side and its
 * partners: of such code nothing is known. So are all sides with the same code.
 * Errors: ERROR_USAGE, ERROR_FORMAT: there is no such store.
 */
struct error *earlier_since(struct outcomes *outcomes, const char *path,
			    uint64_t *ret_count);

/*
 * Append the races in this store (struct race *, the caller's, also on failure): to
 * `changed' those with a file that is there and of another build than the one in which
 * they were met, or in which their side was found to be unchanged, to `races' others.
 */
struct error *earlier_races(struct outcomes *outcomes, struct vec *races,
			    struct vec *changed);

#endif
