/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports as one HTML page that needs nothing else: no network, no other
 * file, no JavaScript (with it, races can be searched and identities copied).
 * What is to be acted on comes first and open; the rest is folded.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/crash.h"
#include "report/document.h"
#include "report/html.h"
#include "report/phrase-run.h"
#include "report/race.h"
#include "report/render.h"
#include "report/run.h"
#include "report/target-counts.h"
#include "report/text.h"
#include "report/xml.h"

enum {
	HTML_OPEN = 10, /* races that are open at first */
	HTML_HAND_OVERS = 200, /* that are drawn, at most */
	HTML_FILTER = 4, /* races from which on there is a filter */
	/* beyond this every other one is dropped: a day is 86 400 seconds */
	HTML_PROGRESS_MAX = 8192,
};

static const struct {
	const char *name;
	const char *what;
} ranks[DOCUMENT_RANKS] = {
	[DOCUMENT_HARMFUL] = { "harmful", "an order changed the outcome" },
	[DOCUMENT_SUSPECT] = { "suspect", "it happened; look at it" },
	[DOCUMENT_UNLIKELY] = { "unlikely", "to matter, for the reason given" },
	[DOCUMENT_SYNC] = { "sync", "both sides are synchronization" },
	[DOCUMENT_KNOWN] = { "known", "the baseline has it" },
	[DOCUMENT_GONE] = { "gone", "only the baseline has it" },
	[DOCUMENT_SUPPRESSED] = { "suppressed", "a rule says so" },
};

struct html {
	struct document races;
	struct strbuf runs, crashes; /* sections */
	struct strbuf tiles; /* of the summary */
	struct strbuf sides; /* of a hunt: rows of a table */
	struct strbuf hand_overs; /* of sides, drawn of so many, ... */
	size_t drawn, not_drawn; /* ... and not of these */
	struct target_counts counts; /* of them */
	struct vec progress; /* of struct run_summary */
	struct vec modules; /* of struct html_module */
	char *program; /* for the title */
	bool has_summary;
	const char *unsampled; /* NULL: there were samples */
	bool hunt;
	bool ignore_unlikely;
	bool failed;
};

static struct html *html_state(struct renderer *renderer)
{
	struct html *html = renderer->state;

	if (html)
		return html;
	html = calloc(1, sizeof(*html));
	if (!html)
		return NULL;
	document_init(&html->races);
	html->progress = (struct vec)VEC_INIT(struct run_summary);
	html->modules = (struct vec)VEC_INIT(struct html_module);
	html->ignore_unlikely = renderer->ignore_unlikely;
	renderer->state = html;
	return html;
}

static void html_destroy(struct renderer *renderer, struct html *html)
{
	document_deinit(&html->races);
	strbuf_deinit(&html->runs);
	strbuf_deinit(&html->crashes);
	strbuf_deinit(&html->tiles);
	strbuf_deinit(&html->sides);
	strbuf_deinit(&html->hand_overs);
	vec_deinit(&html->progress);
	for (size_t i = 0; i < html->modules.count; i++) {
		struct html_module *module = vec_at(&html->modules, i);

		free(module->path);
	}
	vec_deinit(&html->modules);
	free(html->program);
	free(html);
	renderer->state = NULL;
}

static void add_fact(struct strbuf *out, const char *name, const char *value)
{
	if (!value)
		return;
	strbuf_addf(out, "<dt>%s</dt><dd class=\"code\">", name);
	xml_add(out, value);
	strbuf_add(out, "</dd>\n");
}

/* The command as one line: also what the page is called. */
static char *command_line(const struct run_record *run)
{
	struct strbuf line = { 0 };

	for (size_t i = 0; run->command && run->command[i]; i++) {
		strbuf_add(&line, i ? " " : "");
		utf8_add_visible(&line, run->command[i]);
	}
	if (!run->command)
		strbuf_addf(&line, "process %d", run->pid);
	return strbuf_steal(&line);
}

static struct error *html_run(struct renderer *renderer,
			      const struct run_record *run)
{
	struct html *html = html_state(renderer);
	char time[CLOCK_RFC3339_SIZE], number[24];
	char *command = command_line(run);

	if (!html || !command) {
		free(command);
		return error_nomem;
	}
	clock_format_rfc3339(run->start, time);
	strbuf_add(&html->runs, "<dl class=\"card facts\">\n");
	add_fact(&html->runs, "command", command);
	snprintf(number, sizeof(number), "%d", run->pid);
	add_fact(&html->runs, "process", run->pid ? number : NULL);
	add_fact(&html->runs, "machine", run->host);
	add_fact(&html->runs, "started", time);
	add_fact(&html->runs, "back-end", run->backend);
	snprintf(number, sizeof(number), "%" PRIu64, run->seed);
	add_fact(&html->runs, "seed", number);
	add_fact(&html->runs, "racewatch", run->version);
	strbuf_add(&html->runs, "</dl>\n");
	if (html->program)
		free(command);
	else
		html->program = command;
	return NULL;
}

static struct error *html_race(struct renderer *renderer,
			       const struct race *race)
{
	struct html *html = html_state(renderer);
	struct strbuf text = { 0 };

	if (!html)
		return error_nomem;
	html_add_race(&text, renderer, race);
	return document_put(&html->races, race, &text);
}

static struct error *html_crash(struct renderer *renderer,
				const struct crash *crash)
{
	struct html *html = html_state(renderer);

	if (!html)
		return error_nomem;
	html_add_crash(&html->crashes, crash);
	return NULL;
}

static void thin_out(struct vec *progress)
{
	struct run_summary *items = progress->items;

	for (size_t i = 0; 2 * i < progress->count; i++)
		items[i] = items[2 * i];
	progress->count = (progress->count + 1) / 2;
}

static struct error *html_target(struct renderer *renderer,
				 const struct target_record *record)
{
	struct html *html = html_state(renderer);
	bool drawn = false;

	if (!html)
		return error_nomem;
	target_counts_add(&html->counts, record);
	if (html->drawn < HTML_HAND_OVERS)
		drawn = html_add_hand_overs(&html->hand_overs, record);
	html->drawn += drawn;
	html->not_drawn += !drawn && record->side.hand_overs.count > 0;
	html_add_target(&html->sides, record, drawn);
	return NULL;
}

static struct error *html_progress(struct renderer *renderer,
				   const struct run_summary *progress)
{
	struct html *html = html_state(renderer);

	if (!html)
		return error_nomem;
	/* the curves are of samples */
	if (progress->hunt.known)
		return NULL;
	if (html->progress.count == HTML_PROGRESS_MAX)
		thin_out(&html->progress);
	return vec_push(&html->progress, progress) ? NULL : error_nomem;
}

static struct error *html_keep_modules(struct html *html,
				       const struct run_summary *summary)
{
	for (size_t i = 0; i < summary->coverage_count; i++) {
		const struct run_coverage *from = &summary->coverage[i];
		struct html_module *module;

		if (from->sites_eligible == 0)
			continue;
		module = vec_append(&html->modules);
		if (!module)
			return error_nomem;
		module->sampled = from->sites_sampled;
		module->eligible = from->sites_eligible;
		module->path = strdup(from->path ? from->path : "?");
		if (!module->path)
			return error_nomem;
	}
	return NULL;
}

static void begin_tile(struct strbuf *out)
{
	strbuf_add(out, "<li><b>");
}

static void end_tile(struct strbuf *out, const char *what)
{
	strbuf_addf(out, "</b><span>%s</span></li>\n", what);
}

static void add_sample_tiles(struct strbuf *out,
			     const struct run_summary *summary)
{
	begin_tile(out);
	text_add_count(out, summary->stats.samples);
	end_tile(out, summary->stats.samples == 1 ? "sample" : "samples");
	begin_tile(out);
	text_add_count(out, summary->sites_sampled);
	strbuf_add(out, " of ");
	text_add_count(out, summary->sites_eligible);
	end_tile(out, "sites sampled");
	begin_tile(out);
	text_add_time(out, summary->elapsed_ns);
	end_tile(out, "watched");
	begin_tile(out);
	strbuf_addf(out, "%.1f %%", summary->overhead_pct);
	end_tile(out, "overhead");
}

static void add_hunt_tiles(struct strbuf *out,
			   const struct target_counts *counts,
			   const struct run_summary *summary)
{
	begin_tile(out);
	text_add_count(out, counts->sides);
	end_tile(out, counts->sides == 1 ? "side" : "sides");
	for (unsigned int i = 0; i < TARGET_RESULTS; i++) {
		if (counts->results[i] == 0)
			continue;
		begin_tile(out);
		text_add_count(out, counts->results[i]);
		end_tile(out, target_counts_word(i));
	}
	if (summary->hunt.recorder) {
		begin_tile(out);
		xml_add(out, summary->hunt.recorder);
		end_tile(out, "recorded it");
	}
	begin_tile(out);
	text_add_time(out, summary->elapsed_ns);
	end_tile(out, "hunted");
}

static struct error *html_summary(struct renderer *renderer,
				  const struct run_summary *summary)
{
	struct html *html = html_state(renderer);
	struct strbuf *out;

	if (!html)
		return error_nomem;
	out = &html->tiles;
	strbuf_clear(out);
	if (summary->hunt.known)
		add_hunt_tiles(out, &html->counts, summary);
	else
		add_sample_tiles(out, summary);
	begin_tile(out);
	strbuf_addf(out, "%d", summary->exit_status);
	end_tile(out, "exit status");
	html->has_summary = true;
	html->hunt = summary->hunt.known;
	html->unsampled = run_is_unsampled(summary) ? phrase_unsampled(summary)
						    : NULL;
	return html_keep_modules(html, summary);
}

/* "3 data races": those that the gate counts. */
static void add_title(struct strbuf *out, const struct html *html)
{
	size_t count = document_failures(&html->races, html->ignore_unlikely);

	if (count == 0)
		strbuf_add(out, "No data races");
	else
		text_add_plural(out, count, "data race");
}

static void add_head(struct strbuf *out, const struct html *html)
{
	strbuf_add(out,
		   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		   "<meta charset=\"utf-8\">\n"
		   "<meta name=\"viewport\" content=\"width=device-width, "
		   "initial-scale=1\">\n"
		   "<meta name=\"color-scheme\" content=\"light dark\">\n"
		   /* nothing is ever fetched, whatever a name may contain */
		   "<meta http-equiv=\"Content-Security-Policy\" content=\""
		   "default-src 'none'; style-src 'unsafe-inline'; "
		   "script-src 'unsafe-inline'; img-src data:\">\n"
		   "<link rel=\"icon\" href=\"data:,\">\n<title>");
	add_title(out, html);
	if (html->program) {
		strbuf_add(out, " in ");
		xml_add(out, html->program);
	}
	strbuf_addf(out, " - racewatch</title>\n<style>\n%s</style>\n</head>\n",
		    html_style);
}

static void add_header(struct strbuf *out, const struct html *html)
{
	strbuf_add(out, "<body>\n<header>\n<h1>");
	add_title(out, html);
	strbuf_add(out, "</h1>\n");
	if (html->program) {
		strbuf_add(out, "<code class=\"command\">");
		xml_add(out, html->program);
		strbuf_add(out, "</code>\n");
	}
	strbuf_add(out, "<ul class=\"tiles\">\n");
	for (int rank = 0; rank < DOCUMENT_RANKS; rank++) {
		size_t count =
			document_count(&html->races, (enum document_rank)rank);

		if (count == 0 && rank != DOCUMENT_SUSPECT)
			continue;
		strbuf_addf(out, "<li class=\"%s\" title=\"%s\"><b>",
			    ranks[rank].name, ranks[rank].what);
		text_add_count(out, count);
		end_tile(out, ranks[rank].name);
	}
	strbuf_add(out, strbuf_text(&html->tiles));
	strbuf_add(out, "</ul>\n</header>\n<main>\n");
}

static void add_filter(struct strbuf *out, const struct html *html)
{
	if (html->races.parts.count < HTML_FILTER)
		return;
	strbuf_add(out, "<div class=\"filter\" role=\"search\">\n"
			"<input type=\"search\" id=\"search\" placeholder=\""
			"Function, file, variable, thread ...\" "
			"aria-label=\"Show races that contain\">\n");
	for (int rank = 0; rank < DOCUMENT_RANKS; rank++) {
		if (document_count(&html->races, (enum document_rank)rank))
			strbuf_addf(out,
				    "<label><input type=\"checkbox\" "
				    "value=\"%s\" checked> %s</label>\n",
				    ranks[rank].name, ranks[rank].name);
	}
	strbuf_add(out,
		   "<button type=\"button\" data-open=\"yes\">open all</button>"
		   "<button type=\"button\" data-open=\"no\">close all</button>"
		   "<span id=\"shown\" class=\"soft\" aria-live=\"polite\">"
		   "</span>\n</div>\n");
}

static void add_none(struct strbuf *out, const struct html *html)
{
	if (!html->has_summary)
		return;
	if (html->unsampled)
		strbuf_addf(out, "<p class=\"card notice\">%s</p>\n",
			    html->unsampled);
	else
		strbuf_addf(out,
			    "<p class=\"card good\">No race was caught. "
			    "%s</p>\n",
			    html->sides.length > 0
				    ? "The sides below say how much that means."
			    : html->hunt ? "There was no side to try."
					 : "The samples below say how much "
					   "that means.");
}

static void add_races(struct strbuf *out, const struct html *html)
{
	size_t open = 0;

	strbuf_add(out, "<section aria-labelledby=\"races\">"
			"<h2 id=\"races\">Races</h2>\n");
	if (html->races.parts.count == 0)
		add_none(out, html);
	if (!html->has_summary)
		strbuf_add(out, "<p class=\"card notice\">The report has no "
				"summary: it was cut short.</p>\n");
	add_filter(out, html);
	for (size_t i = 0; i < html->races.parts.count; i++) {
		const struct document_part *part =
			vec_at(&html->races.parts, i);
		bool shown = document_rank_fails(part->rank,
						 html->ignore_unlikely) &&
			     open++ < HTML_OPEN;

		strbuf_addf(out,
			    "<details class=\"race %s\" id=\"race-%" PRIu64
			    "\"%s>\n",
			    ranks[part->rank].name, part->id,
			    shown ? " open" : "");
		strbuf_add(out, part->text);
		strbuf_add(out, "</details>\n");
	}
	strbuf_add(out, "</section>\n");
}

static void add_sides(struct strbuf *out, const struct html *html)
{
	if (html->sides.length == 0)
		return;
	strbuf_add(out, "<section aria-labelledby=\"sides\">"
			"<h2 id=\"sides\">Sides</h2>\n"
			"<div class=\"card scroll\"><table>\n");
	strbuf_add(out, strbuf_text(&html->sides));
	strbuf_add(out, "</table></div>\n</section>\n");
}

static void add_hand_overs(struct strbuf *out, const struct html *html)
{
	if (html->drawn == 0)
		return;
	strbuf_add(out, "<section aria-labelledby=\"hand-overs\">"
			"<h2 id=\"hand-overs\">Hand-overs</h2>\n"
			"<p class=\"soft\">What put these sides in order: the "
			"address of the bytes was handed over between the two "
			"accesses. They were not tried.</p>\n");
	strbuf_add(out, strbuf_text(&html->hand_overs));
	if (html->not_drawn > 0)
		strbuf_addf(out, "<p class=\"soft\">and %zu more</p>\n",
			    html->not_drawn);
	strbuf_add(out, "</section>\n");
}

static void add_watching(struct strbuf *out, const struct html *html)
{
	strbuf_add(out, "<section aria-labelledby=\"watching\">"
			"<h2 id=\"watching\">Watching</h2>\n");
	html_add_curves(out, &html->progress);
	html_add_coverage(out, &html->modules);
	strbuf_add(out, strbuf_text(&html->runs));
	strbuf_add(out, "</section>\n");
}

static struct error *html_finish(struct renderer *renderer)
{
	struct html *html = html_state(renderer);
	struct strbuf text = { 0 };
	struct error *err;

	if (!html)
		return error_nomem;
	document_sort(&html->races);
	add_head(&text, html);
	add_header(&text, html);
	strbuf_add(&text, strbuf_text(&html->crashes));
	add_races(&text, html);
	add_sides(&text, html);
	add_hand_overs(&text, html);
	add_watching(&text, html);
	strbuf_addf(&text,
		    "</main>\n<footer>Written by racewatch. A race that is "
		    "listed here happened: both threads were at these bytes at "
		    "the same time.</footer>\n<script>\n%s</script>\n</body>\n"
		    "</html>\n",
		    html_script);
	text.failed |= html->runs.failed | html->crashes.failed |
		       html->tiles.failed | html->sides.failed |
		       html->hand_overs.failed;
	err = document_write(renderer->out, &text);
	html_destroy(renderer, html);
	return err;
}

const struct renderer_ops render_html = {
	.name = "html",
	.run = html_run,
	.race = html_race,
	.crash = html_crash,
	.target = html_target,
	.progress = html_progress,
	.summary = html_summary,
	.finish = html_finish,
};
