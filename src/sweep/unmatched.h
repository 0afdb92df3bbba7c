/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What --at, --include and --exclude named and runs of a sweep did not find, by
 * its text: what is misspelled would have a whole sweep look elsewhere.
 */
#ifndef SWEEP_UNMATCHED_H
#define SWEEP_UNMATCHED_H

struct error;
struct ledger;
struct run_summary;
struct strbuf;

/*
 * Set *ret to the places that had no instruction, such as "--at no_such: no
 * function has that name", and the patterns without an effect, such as "--include
 * 'no_such'", in lines; or to NULL. The caller frees it. ERROR_NOMEM only.
 */
struct error *unmatched_text(const struct run_summary *summary, char **ret);

/*
 * Append each of these lines once: "  3 of 3 runs matched nothing with --at
 * no_such: no function has that name". ERROR_NOMEM only.
 */
struct error *unmatched_add(struct strbuf *out, const struct ledger *ledger);

#endif
