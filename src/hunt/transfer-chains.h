/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hand-overs by which an address came through many threads: an object that goes
 * round, from a reader to a writer and back by a pool, is handed over hundreds of
 * times, and thousands of accesses are asked about. From where a thread has sent it,
 * all of these go back the same way; so it is gone once.
 */
#ifndef HUNT_TRANSFER_CHAINS_H
#define HUNT_TRANSFER_CHAINS_H

#include <stdint.h>

struct error;
struct transfer_chains;
struct transfer_question;
struct transfer_tracker;
struct vec;

/* Hand-overs that are found for one access, about, at most. */
enum { TRANSFER_CHAINED = 1000 };

/* The tracker stays in use. */
struct error *transfer_chains_create(struct transfer_tracker *tracker,
				     struct transfer_chains **ret);
/* NULL is fine. */
void transfer_chains_destroy(struct transfer_chains *chains);

/*
 * As transfer_track(), without the limit of instructions for all hand-overs
 * together: it is one for each. *ret_instructions: without what was known.
 */
struct error *transfer_chains_track(struct transfer_chains *chains,
				    const struct transfer_question *question,
				    struct vec *ret,
				    uint64_t *ret_instructions);

#endif
