/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From evidence to a verdict; see rank.h.
 */
#include "judge/rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "judge/benign.h"
#include "judge/harm.h"
#include "judge/replayed.h"
#include "judge/syncness.h"
#include "report/race.h"

/*
 * The write trapped, and never has a write changed the value. That is not what
 * makes it harmless: DataCollider, figure 4.
 */
static bool stores_the_same(const struct race *race)
{
	const struct race_values *values =
		race->values.count ? vec_at(&race->values, 0) : NULL;

	return values && race->values.count == 1 && !race->joined &&
	       (race->evidence == EVIDENCE_WATCHPOINT ||
		race->evidence == EVIDENCE_PROVOKED) &&
	       race->sides[1].role == RACE_RACING &&
	       race->sides[0].access == ACCESS_READ &&
	       race->sides[1].access == ACCESS_WRITE &&
	       memcmp(values->before, values->after, sizeof(values->before)) ==
		       0;
}

/* The verdict, by the first that has anything to say. */
static enum race_verdict decide(const struct race *race,
				const struct vec *special,
				struct strbuf *reason, struct strbuf *grounds)
{
	const struct race_side *sides = race->sides;
	const struct benign_rule *rule;
	const struct harm_sign *sign;

	if (syncness_both(race)) {
		const char *first = sides[0].sync ? sides[0].sync
						  : sides[1].sync;
		const char *second = sides[1].sync ? sides[1].sync : "not seen";

		strbuf_add(reason, first);
		strbuf_addf(grounds, "both sides synchronize (%s, %s)", first,
			    second);
		return VERDICT_SYNC;
	}
	sign = harm_find(race, benign_is_named(race, special), grounds);
	if (sign) {
		strbuf_add(reason, sign->name);
		return VERDICT_HARMFUL;
	}
	rule = benign_find(race, special, grounds);
	if (rule) {
		strbuf_add(reason, rule->name);
		replayed_add_lost(race, grounds);
		return VERDICT_UNLIKELY;
	}
	if (sides[0].sync || sides[1].sync)
		strbuf_addf(grounds,
			    "the %s side synchronizes (%s), the other does not",
			    race_role_name(sides[sides[0].sync ? 0 : 1].role),
			    sides[sides[0].sync ? 0 : 1].sync);
	else if (stores_the_same(race)) {
		strbuf_add(reason, "same-value");
		strbuf_add(grounds, "the racing side was seen to write, and "
				    "the value stayed what it was");
	} else if (syncness_is_volatile(race)) {
		strbuf_add(grounds, "the variable is volatile, which makes no "
				    "access atomic and orders no others");
	}
	replayed_add_lost(race, grounds);
	return VERDICT_SUSPECT;
}

static bool is_by_replay(const char *reason)
{
	return reason && (strcmp(reason, RACE_REPLAY_SAME_NAME) == 0 ||
			  strcmp(reason, RACE_REPLAY_EITHER_NAME) == 0);
}

/*
 * Keep the reason for which the race was unlikely, once that is refuted. A new
 * race on the same bytes, which was not replayed yet, refutes nothing.
 */
static void note_refuted(struct race *race, enum race_verdict verdict)
{
	if (!race->judged || race->verdict != VERDICT_UNLIKELY ||
	    verdict != VERDICT_SUSPECT ||
	    (is_by_replay(race->reason) && !replayed_is_refuted(race)))
		return;
	free(race->refuted);
	race->refuted = race->reason;
	race->reason = NULL;
}

static void add_refuted(const struct race *race, struct strbuf *grounds)
{
	if (grounds->length > 0)
		strbuf_add(grounds, "; ");
	strbuf_addf(grounds,
		    "what was seen later does not fit %s, the reason for "
		    "which it was unlikely",
		    race->refuted);
}

/* The text, which the caller owns, or NULL when it is empty. */
static bool take(struct strbuf *text, char **ret)
{
	bool ok = !text->failed;

	free(*ret);
	*ret = ok && text->length ? strdup(strbuf_text(text)) : NULL;
	ok = ok && (*ret || text->length == 0);
	strbuf_deinit(text);
	return ok;
}

struct error *rank_race(struct race *race, const struct vec *special)
{
	struct strbuf reason = { 0 }, grounds = { 0 };
	enum race_verdict verdict;
	bool ok;

	if (race->verdict == VERDICT_SYNC || race->verdict == VERDICT_HARMFUL)
		return NULL;
	if (!syncness_find(race))
		return error_nomem;
	verdict = decide(race, special, &reason, &grounds);
	/*
	 * What one sighting has shown, another does not take back. Enough
	 * replays do, where no sign of harm was seen.
	 */
	if (race->judged && verdict > race->verdict &&
	    !is_by_replay(strbuf_text(&reason))) {
		strbuf_deinit(&reason);
		strbuf_deinit(&grounds);
		return NULL;
	}
	note_refuted(race, verdict);
	if (race->refuted && verdict == VERDICT_SUSPECT)
		add_refuted(race, &grounds);
	ok = take(&reason, &race->reason);
	ok = take(&grounds, &race->grounds) && ok;
	race->verdict = verdict;
	race->judged = true;
	return ok ? NULL : error_nomem;
}

/* Unlikely by replays, or suspect since they are not enough of all races. */
static bool decide_merged(const struct race *race, enum race_verdict *verdict,
			  struct strbuf *reason, struct strbuf *grounds)
{
	const char *name = NULL;

	if (replayed_same(race, NULL, grounds))
		name = RACE_REPLAY_SAME_NAME;
	else if (replayed_either(race, NULL, grounds))
		name = RACE_REPLAY_EITHER_NAME;
	*verdict = name ? VERDICT_UNLIKELY : VERDICT_SUSPECT;
	if (name)
		strbuf_add(reason, name);
	return name || race_replay_excuses(race);
}

struct error *rank_merged(struct race *race)
{
	struct strbuf reason = { 0 }, grounds = { 0 };
	enum race_verdict verdict;
	bool ok = true;

	if (race->verdict == VERDICT_SYNC || race->verdict == VERDICT_HARMFUL ||
	    race->replay_related.races == 0)
		return NULL;
	if (decide_merged(race, &verdict, &reason, &grounds)) {
		ok = take(&reason, &race->reason);
		ok = take(&grounds, &race->grounds) && ok;
		race->verdict = verdict;
	}
	strbuf_deinit(&reason);
	strbuf_deinit(&grounds);
	return ok ? NULL : error_nomem;
}
