/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What --at named and runs of a sweep did not find, by its text: a place that
 * is misspelled would have a whole sweep look elsewhere.
 */
#ifndef SWEEP_UNMATCHED_H
#define SWEEP_UNMATCHED_H

#include <stddef.h>

struct error;
struct ledger;
struct run_at;
struct strbuf;

/*
 * Set *ret to what of the places had no instruction, such as "--at no_such: no
 * function has that name", or to NULL. The caller frees it. ERROR_NOMEM only.
 */
struct error *unmatched_text(const struct run_at *at, size_t count, char **ret);

/*
 * Append a line for each such text: "  3 of 3 runs matched nothing with --at
 * no_such: no function has that name". ERROR_NOMEM only.
 */
struct error *unmatched_add(struct strbuf *out, const struct ledger *ledger);

#endif
