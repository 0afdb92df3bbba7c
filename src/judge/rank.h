/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The verdict: synchronization if both sides show evidence of it, else
 * harmful by a sign (harm.h), else unlikely by a rule (benign.h), else
 * suspect. One synchronizing side and one plain one are a race (DataCollider,
 * section 3.1.1), and the grounds say which is which. Replays are among the
 * signs and the rules (replayed.h).
 */
#ifndef JUDGE_RANK_H
#define JUDGE_RANK_H

struct error;
struct race;
struct vec;

/*
 * Set verdict, reason and grounds from the record, the evidence of
 * synchronization included. If the race was judged before, the verdict stays or
 * becomes graver, and the grounds say which reason for a less grave one does
 * not hold; but replays make a suspect race unlikely. Synchronization stays
 * synchronization. special: of const char *, globs of the user's special
 * variables; may be NULL. ERROR_NOMEM.
 */
struct error *rank_race(struct race *race, const struct vec *special);

/*
 * Of a race of several merged runs, whose verdict is the worst that a run gave
 * it: judge it anew by its replays in all of them, and by nothing else. Enough of
 * them without an effect make it unlikely, and where there are not it is suspect
 * again; a sign of harm that a run has seen stays. Nothing where race->replay_related
 * has no race. ERROR_NOMEM.
 */
struct error *rank_merged(struct race *race);

#endif
