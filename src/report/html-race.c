/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A race in the HTML report; see html.h.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/crash.h"
#include "report/document.h"
#include "report/doubt.h"
#include "report/html.h"
#include "report/phrase-locks.h"
#include "report/phrase-replay.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/render.h"
#include "report/text.h"
#include "report/xml.h"

static const char *badge(const struct race *race)
{
	switch (document_rank(race)) {
	case DOCUMENT_SUPPRESSED:
		return "suppressed";
	case DOCUMENT_KNOWN:
		return "known";
	case DOCUMENT_GONE:
		return "gone";
	case DOCUMENT_HARMFUL:
	case DOCUMENT_SUSPECT:
	case DOCUMENT_UNLIKELY:
	case DOCUMENT_SYNC:
	case DOCUMENT_RANKS:
		break;
	}
	return race_verdict_name(race->verdict);
}

static void add_summary(struct strbuf *out, const struct race *race)
{
	struct strbuf text = { 0 };

	strbuf_addf(out, "<summary><span class=\"badge\">%s</span>",
		    badge(race));
	strbuf_add(out, "<span class=\"what code\">");
	phrase_add_variable(&text, race);
	html_add_ended(out, &text);
	strbuf_add(out, "</span><span>");
	phrase_add_accesses(&text, race);
	html_add_ended(out, &text);
	strbuf_add(out, "</span><span class=\"code\">");
	phrase_add_change(&text, race);
	html_add_ended(out, &text);
	strbuf_add(out, "</span><span class=\"tail\">");
	if (race->count > 1)
		text_add_plural(out, race->count, "time");
	else
		strbuf_add(out, "once");
	strbuf_addf(out, " &middot; #%" PRIu64 "</span></summary>\n", race->id);
}

static void add_created(struct strbuf *out, const struct race_side *side)
{
	struct strbuf text = { 0 };

	if (!side->creator && side->created.count == 0)
		return;
	strbuf_add(out, "<details class=\"created\"><summary>created by ");
	phrase_add_thread(&text, side->creator, side->creator_thread);
	html_add_ended(out, &text);
	strbuf_add(out, "</summary>\n");
	html_add_frames(out, &side->created);
	strbuf_add(out, "</details>\n");
}

static void add_side(struct strbuf *out, const struct race *race,
		     const struct race_side *side)
{
	struct strbuf text = { 0 };

	strbuf_add(out, "<section class=\"side\"><h3>");
	phrase_add_side(&text, race, side);
	html_add_ended(out, &text);
	strbuf_add(out, "</h3>\n");
	if (side->insn) {
		strbuf_add(out, "<code class=\"insn\">");
		xml_add(out, side->insn);
		strbuf_add(out, "</code>\n");
	}
	if (side->frames.count > 0)
		html_add_frames(out, &side->frames);
	else if (side->role != RACE_UNKNOWN)
		strbuf_add(out, "<p class=\"soft\">(no stack)</p>\n");
	if (phrase_add_holds(&text, side)) {
		strbuf_add(out, "<p class=\"held\">");
		html_add_ended(out, &text);
		strbuf_add(out, "</p>\n");
	}
	add_created(out, side);
	html_add_held(out, race, side);
	strbuf_add(out, "</section>\n");
}

/* A pair is two cells: what the bytes were, and what they became. */
static void add_values(struct strbuf *out, const struct race *race)
{
	struct strbuf text = { 0 };

	if (race->values.count == 0)
		return;
	strbuf_addf(out,
		    "<div class=\"scroll\"><table class=\"values\"><caption>"
		    "%s before and after, and how often</caption>\n",
		    phrase_value_word(race));
	for (size_t i = 0; i < race->values.count; i++) {
		const struct race_values *values = vec_at(&race->values, i);

		strbuf_add(out, "<tr><td class=\"code\">");
		phrase_add_values(&text, race, values);
		html_add_ended(out, &text);
		strbuf_add(out, "</td><td class=\"number\">");
		text_add_plural(out, values->count, "time");
		strbuf_add(out, "</td></tr>\n");
	}
	strbuf_add(out, "</table></div>\n");
}

static void add_fact(struct strbuf *out, const char *name, struct strbuf *text)
{
	strbuf_addf(out, "<dt>%s</dt><dd>", name);
	html_add_ended(out, text);
	strbuf_add(out, "</dd>\n");
}

/* Something to be copied; its id tells the button what. */
static void add_copied(struct strbuf *out, const struct race *race,
		       const char *name, const char *id, const char *value)
{
	strbuf_addf(out, "<dt>%s</dt><dd><code id=\"%s-%" PRIu64 "\">", name,
		    id, race->id);
	xml_add(out, value);
	strbuf_addf(out,
		    "</code><button type=\"button\" class=\"copy\" "
		    "data-copy=\"%s-%" PRIu64
		    "\" aria-label=\"copy the %s\">copy</button></dd>\n",
		    id, race->id, name);
}

static void add_times(struct strbuf *out, const struct race *race)
{
	char time[CLOCK_RFC3339_SIZE];
	struct strbuf text = { 0 };

	if (race->time) {
		clock_format_rfc3339(race->time, time);
		strbuf_add(&text, time);
		add_fact(out, "first seen", &text);
	}
	if (race->last_time > race->time) {
		clock_format_rfc3339(race->last_time, time);
		strbuf_add(&text, time);
		add_fact(out, "last seen", &text);
	}
	if (race->runs < 2 && race->hosts.count == 0)
		return;
	text_add_count(&text, race->runs ? race->runs : 1);
	for (size_t i = 0; i < race->hosts.count; i++) {
		strbuf_add(&text, i ? ", " : ", on ");
		utf8_add_visible(&text, *(char **)vec_at(&race->hosts, i));
	}
	add_fact(out, "runs", &text);
}

static void add_verdict(struct strbuf *out, const struct race *race)
{
	struct strbuf text = { 0 };

	strbuf_add(&text, race_verdict_name(race->verdict));
	text_add_bracketed(&text, race->reason);
	if (phrase_status(race))
		strbuf_addf(&text, "; %s", phrase_status(race));
	add_fact(out, "verdict", &text);
	if (race->grounds) {
		strbuf_add(&text, race->grounds);
		add_fact(out, "grounds", &text);
	}
	if (race_replay_outcome(&race->replay) != RACE_REPLAY_NONE) {
		phrase_add_replay_all(&text, &race->replay);
		add_fact(out, "replay", &text);
	}
	if (race_doubt(race)) {
		strbuf_add(&text, race_doubt_text(race));
		add_fact(out, "doubt", &text);
	}
	if (!race->suppressed.rule)
		return;
	phrase_add_suppression(&text, &race->suppressed);
	add_fact(out, "suppressed by", &text);
}

/* Written by the caller's function, or by the fingerprint. */
static void add_suppression(struct strbuf *out, const struct renderer *renderer,
			    const struct race *race)
{
	struct strbuf text = { 0 };

	if (race->suppressed.rule ||
	    (!renderer->suppression && !race->fingerprint[0]))
		return;
	if (renderer->suppression)
		renderer->suppression(&text, race);
	else
		strbuf_addf(&text, "fingerprint:%s\n", race->fingerprint);
	strbuf_addf(out,
		    "<dt>suppression<button type=\"button\" class=\"copy\" "
		    "data-copy=\"rule-%" PRIu64
		    "\" aria-label=\"copy the suppression\">copy</button></dt>"
		    "<dd><pre class=\"block\" id=\"rule-%" PRIu64 "\">",
		    race->id, race->id);
	html_add_ended(out, &text);
	strbuf_add(out, "</pre></dd>\n");
}

static void add_facts(struct strbuf *out, const struct renderer *renderer,
		      const struct race *race)
{
	struct strbuf text = { 0 };

	strbuf_add(out, "<dl class=\"facts\">\n");
	if (race->pid || race->program) {
		strbuf_addf(&text, "%d", race->pid);
		text_add_quoted(&text, race->program);
		add_fact(out, "process", &text);
	}
	phrase_add_evidence(&text, race, false);
	add_fact(out, "evidence", &text);
	if (phrase_add_lock_pair(&text, race))
		add_fact(out, "locks", &text);
	add_verdict(out, race);
	add_times(out, race);
	if (race->fingerprint[0])
		add_copied(out, race, "fingerprint", "names",
			   race->fingerprint);
	if (race->fingerprint_code[0])
		add_copied(out, race, "by code", "code",
			   race->fingerprint_code);
	add_suppression(out, renderer, race);
	strbuf_add(out, "</dl>\n");
}

void html_add_race(struct strbuf *out, const struct renderer *renderer,
		   const struct race *race)
{
	struct strbuf text = { 0 };

	add_summary(out, race);
	strbuf_add(out, "<div class=\"body\"><p class=\"home code\">");
	phrase_add_home(&text, race);
	html_add_ended(out, &text);
	strbuf_add(out, "</p>\n<div class=\"sides\">\n");
	add_side(out, race, &race->sides[0]);
	add_side(out, race, &race->sides[1]);
	strbuf_add(out, "</div>\n");
	add_values(out, race);
	html_add_recorded(out, race);
	add_facts(out, renderer, race);
	strbuf_add(out, "</div>\n");
}

void html_add_crash(struct strbuf *out, const struct crash *crash)
{
	struct strbuf text = { 0 };

	strbuf_add(out, "<section class=\"card notice\"><h2>Crash</h2><p>");
	phrase_add_crash(&text, crash);
	if (crash->tid) {
		strbuf_add(&text, " in ");
		phrase_add_thread(&text, crash->tid, crash->thread);
	}
	html_add_ended(out, &text);
	strbuf_add(out, "</p>\n");
	if (crash->frames.count > 0)
		html_add_frames(out, &crash->frames);
	if (crash->races.count > 0)
		strbuf_add(out, "<h3>Races before it, the nearest first"
				"</h3>\n<ul>\n");
	for (size_t i = 0; i < crash->races.count; i++) {
		const struct crash_race *race = vec_at(&crash->races, i);

		strbuf_add(out, "<li>");
		if (race->id)
			strbuf_addf(out, "<a href=\"#race-%" PRIu64 "\">",
				    race->id);
		phrase_add_crash_race(&text, race);
		html_add_ended(out, &text);
		strbuf_add(out, race->id ? "</a></li>\n" : "</li>\n");
	}
	strbuf_add(out,
		   crash->races.count ? "</ul></section>\n" : "</section>\n");
}
