/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arguments of --at, --include and --exclude that matched nothing in runs of a
 * sweep: a misspelled one would make a whole sweep sample other code.
 */
#ifndef SWEEP_UNMATCHED_H
#define SWEEP_UNMATCHED_H

struct error;
struct results;
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
struct error *unmatched_add(struct strbuf *out, const struct results *results);

#endif
