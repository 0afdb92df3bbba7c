/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What replays say of a race (report/race-replay.h), as signs of harm and as a
 * reason why it is less likely to be an error: Narayanasamy et al., PLDI'07,
 * section 4.3. Signs and rules are in the manner of harm.h and benign.h.
 */
#ifndef JUDGE_REPLAYED_H
#define JUDGE_REPLAYED_H

#include <stdbool.h>
#include <stdint.h>

struct race;
struct strbuf;
struct vec;

/* In one order a signal ended it, in another it did not. */
bool replayed_fault(const struct race *race, struct strbuf *grounds);

/*
 * An overlap of the two functions led to what neither of them whole before the
 * other leads to, and that reached other memory or a value that a function
 * returns. The paper takes any difference between two orders for harm, and
 * finds settings and flags among them (section 5.4, both values valid); a
 * reader returns or stores what it finds. A lock would leave such a difference as
 * it is: by itself it is no sign of harm. bench/replay/measured.txt has both
 * rules. An overlap that reaches the raced bytes alone is a lost update,
 * replayed_add_lost().
 */
bool replayed_overlap(const struct race *race, struct strbuf *grounds);

/*
 * No order made a difference, in replayed_enough() instances that tell
 * (struct race_replay_related) of all the races on these bytes, some of each, none of
 * which has a failure that may be a difference.
 *
 * A redundant write (section 5.4) has no such instance: what is stored is there
 * always. By itself that says little, since the effect may be that of a state which
 * is rare: a bit that is clear, a list that is not a ring. So it takes more: as many
 * instances that tell or are blind (replay/instance.h), which no bit and no list
 * is; and enough of each race that less than one in twenty of its own has an
 * effect: a reader for whom a seldom change matters is looked at as often.
 */
bool replayed_same(const struct race *race, const struct vec *special,
		   struct strbuf *grounds);

/*
 * In as many instances a reader found what one of two whole functions before the
 * other leaves, and no overlap did more. The functions are atomic as to these
 * bytes; whether their order is right no replay knows. That is the paper's "both
 * values valid" (section 5.4), as far as it can be seen.
 */
bool replayed_either(const struct race *race, const struct vec *special,
		     struct strbuf *grounds);

/* An instance of a race on these bytes speaks against both. */
bool replayed_is_refuted(const struct race *race);

/*
 * Where the order makes a difference to the raced bytes alone, append that to
 * the grounds, after a semicolon if there are some. Else nothing.
 */
void replayed_add_lost(const struct race *race, struct strbuf *grounds);

/*
 * The number of independent instances without an effect that shows, with
 * REPLAY_CONFIDENCE, that less than one in five has an effect.
 */
uint64_t replayed_enough(void);

#endif
