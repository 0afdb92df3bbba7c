/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Printing merged reports; see report-print.h. Text has the races that are
 * reported in full before those worth a line, so it takes two passes.
 */
#include "output/report-print.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "judge/judge.h"
#include "judge/sides.h"
#include "report/merge.h"
#include "report/record.h"
#include "sweep/species.h"
#include "sweep/unseen.h"

/* What of the records a pass prints. */
enum pass { PASS_ALL, PASS_FULL, PASS_REST };

struct counts {
	uint64_t races, races_new, known, gone, suppressed, unlikely;
	struct species_counts species; /* of the races, by their runs */
};

/* The races of one report, as either fingerprint or one side tells them. */
struct race_set {
	struct map hashes;
	struct sides sides;
};

static bool is_text(const struct report_print *print)
{
	return print->renderer.ops == &render_text;
}

static bool is_actionable(const struct report_print *print,
			  const struct race *race)
{
	return race_is_actionable(race, print->renderer.ignore_unlikely);
}

/* As the watching commands print them. */
static bool is_full(const struct report_print *print, const struct race *race)
{
	return print->show_all ||
	       (is_actionable(print, race) && race->status != STATUS_GONE);
}

static void count_race(const struct report_print *print, struct counts *counts,
		       const struct race *race)
{
	if (race->verdict == VERDICT_SYNC)
		return;
	if (race->suppressed.rule) {
		counts->suppressed++;
		return;
	}
	if (race->status == STATUS_GONE) {
		counts->gone++;
		return;
	}
	counts->unlikely += race->verdict == VERDICT_UNLIKELY;
	if (!race_counts(race, print->renderer.ignore_unlikely))
		return;
	counts->races++;
	counts->known += race->status == STATUS_KNOWN;
	counts->races_new += race->status != STATUS_KNOWN;
	species_add(&counts->species, race->runs ? race->runs : 1);
}

static void put_counts(struct run_summary *summary, const struct counts *counts)
{
	summary->races = counts->races;
	summary->races_new = counts->races_new;
	summary->known = counts->known;
	summary->suppressed = counts->suppressed;
	summary->unlikely = counts->unlikely;
}

static struct error *print_short(struct report_print *print,
				 const struct race *race)
{
	if (print->quiet || !race_counts(race, false))
		return NULL;
	return render_text_short(&print->renderer, race);
}

/* The record is read anew in each pass, and so judged in each. */
static struct error *apply_judge(const struct report_print *print,
				 struct race *race)
{
	bool settled = false;

	return print->judge ? judge_race(print->judge, race, &settled) : NULL;
}

static struct error *print_race(struct report_print *print, enum pass pass,
				const struct race *race, struct counts *counts)
{
	bool full = is_full(print, race);

	if (!filters_match(print->filters, race))
		return NULL;
	if (pass != PASS_REST)
		count_race(print, counts, race);
	if (is_actionable(print, race))
		print->any_actionable = true;
	if (pass == PASS_ALL || (pass == PASS_FULL && full))
		return print->renderer.ops->race(&print->renderer, race);
	return pass == PASS_REST && !full ? print_short(print, race) : NULL;
}

struct printing {
	struct report_print *print;
	struct counts *counts;
	enum pass pass;
};

static struct error *print_record(void *context, struct report_record *record)
{
	const struct printing *printing = context;
	struct report_print *print = printing->print;
	struct counts *counts = printing->counts;
	enum pass pass = printing->pass;
	bool before = record->type == REPORT_RUN ||
		      record->type == REPORT_PROGRESS;
	/* the run may have ignored what is unlikely, or not */
	bool recount = print->filters->items.count || print->judge ||
		       counts->unlikely > 0;
	struct error *err;

	if (record->type == REPORT_RACE) {
		err = apply_judge(print, &record->race);
		return err ? err
			   : print_race(print, pass, &record->race, counts);
	}
	if (pass == (before ? PASS_REST : PASS_FULL))
		return NULL;
	if (record->type == REPORT_RUN)
		counts->species.samples += record->run.runs ? record->run.runs
							    : 1;
	if (record->type == REPORT_SUMMARY && print->quiet && is_text(print))
		return NULL;
	if (record->type == REPORT_SUMMARY && recount)
		put_counts(&record->summary, counts);
	return render_record(&print->renderer, record);
}

static struct error *print_pass(struct report_print *print, enum pass pass,
				struct merge *merge, struct counts *counts)
{
	struct printing printing = { print, counts, pass };

	return merge_each(merge, print_record, &printing);
}

static struct error *print_unseen(struct report_print *print,
				  const struct species_counts *counts)
{
	struct species_estimate estimate = species_estimate_incidence(counts);
	struct strbuf text = { 0 };
	struct error *err = NULL;

	unseen_add_text(&text, counts, &estimate);
	if (text.failed)
		err = error_nomem;
	else if (fputs(strbuf_text(&text), print->renderer.out) < 0)
		err = error_os(errno ? errno : EIO, "write the report");
	strbuf_deinit(&text);
	return err;
}

/* The first error counts; finishing frees what the renderer has. */
static struct error *print_end(struct report_print *print, struct error *err)
{
	struct error *last = render_finish(&print->renderer);

	if (err) {
		error_free(last);
		return err;
	}
	return last;
}

struct error *report_print(struct report_print *print, struct merge *merge)
{
	struct counts counts = { 0 };
	struct error *err;

	if (is_text(print)) {
		err = print_pass(print, PASS_FULL, merge, &counts);
		if (!err)
			err = print_pass(print, PASS_REST, merge, &counts);
		if (!err && print->unseen)
			err = print_unseen(print, &counts.species);
	} else {
		err = print_pass(print, PASS_ALL, merge, &counts);
	}
	return print_end(print, err);
}

/* By names and by code; synchronization is never taken for a race. */
static void hash_race(const struct race *race, uint64_t hashes[2])
{
	uint64_t sync = race->verdict == VERDICT_SYNC;

	hashes[0] = hash_salted(race->fingerprint, 2 * sync);
	hashes[1] = hash_salted(race->fingerprint_code, 2 * sync + 1);
}

static bool set_has(struct race_set *set, const struct race *race)
{
	uint64_t hashes[2];

	hash_race(race, hashes);
	return map_get(&set->hashes, hashes[0]) ||
	       (race->fingerprint_code[0] &&
		map_get(&set->hashes, hashes[1])) ||
	       sides_know(&set->sides, race);
}

static struct error *set_add(void *context, struct report_record *record)
{
	struct race_set *set = context;
	uint64_t hashes[2];

	if (record->type != REPORT_RACE)
		return NULL;
	hash_race(&record->race, hashes);
	if (!map_set(&set->hashes, hashes[0], 1) ||
	    !map_set(&set->hashes, hashes[1], 1))
		return error_nomem;
	return sides_add(&set->sides, &record->race);
}

static struct error *set_fill(struct race_set *set, struct merge *merge)
{
	sides_init(&set->sides);
	return merge_each(merge, set_add, set);
}

static void set_deinit(struct race_set *set)
{
	map_deinit(&set->hashes);
	sides_deinit(&set->sides);
}

struct diff {
	struct report_print *print;
	struct race_set old, new;
	struct counts counts;
	uint64_t last_id;
	enum pass pass;
	struct report_record summary; /* of the new, when there is one */
};

static struct error *diff_new_race(struct diff *diff, struct race *race)
{
	struct error *err = apply_judge(diff->print, race);

	if (err)
		return err;
	race->status = set_has(&diff->old, race) ? STATUS_KNOWN : STATUS_NEW;
	if (race->id > diff->last_id)
		diff->last_id = race->id;
	return print_race(diff->print, diff->pass, race, &diff->counts);
}

static struct error *diff_new(void *context, struct report_record *record)
{
	struct diff *diff = context;

	if (record->type == REPORT_RACE)
		return diff_new_race(diff, &record->race);
	if (record->type == REPORT_SUMMARY) {
		struct report_record swapped = diff->summary;

		diff->summary = *record;
		*record = swapped;
		return NULL;
	}
	return diff->pass == PASS_REST
		       ? NULL
		       : render_record(&diff->print->renderer, record);
}

static struct error *diff_gone_race(struct diff *diff, struct race *race)
{
	struct report_print *print = diff->print;
	struct error *err = apply_judge(print, race);

	if (err)
		return err;
	race->status = STATUS_GONE;
	if (set_has(&diff->new, race) || !filters_match(print->filters, race))
		return NULL;
	race->id = ++diff->last_id;
	count_race(print, &diff->counts, race);
	return is_text(print) && !is_full(print, race)
		       ? print_short(print, race)
		       : print->renderer.ops->race(&print->renderer, race);
}

static struct error *diff_old(void *context, struct report_record *record)
{
	return record->type == REPORT_RACE
		       ? diff_gone_race(context, &record->race)
		       : NULL;
}

static struct error *diff_summary(struct diff *diff)
{
	struct report_record *record = &diff->summary;
	struct report_print *print = diff->print;
	struct renderer *renderer = &print->renderer;

	if (is_text(print) && print->quiet)
		return NULL;
	if (is_text(print) &&
	    fprintf(renderer->out,
		    "DIFF: racewatch: %llu new, %llu gone, %llu still there\n",
		    (unsigned long long)diff->counts.races_new,
		    (unsigned long long)diff->counts.gone,
		    (unsigned long long)diff->counts.known) < 0)
		return error_os(errno ? errno : EIO, "write the report");
	if (record->type != REPORT_SUMMARY)
		return NULL;
	put_counts(&record->summary, &diff->counts);
	return render_record(renderer, record);
}

static struct error *diff_passes(struct diff *diff, struct merge *old,
				 struct merge *new)
{
	bool text = is_text(diff->print);
	struct error *err = set_fill(&diff->old, old);

	if (!err)
		err = set_fill(&diff->new, new);
	diff->pass = text ? PASS_FULL : PASS_ALL;
	if (!err)
		err = merge_each(new, diff_new, diff);
	diff->pass = PASS_REST;
	if (!err && text)
		err = merge_each(new, diff_new, diff);
	if (!err)
		err = merge_each(old, diff_old, diff);
	return err ? err : diff_summary(diff);
}

struct error *report_print_diff(struct report_print *print, struct merge *old,
				struct merge *new, bool *ret_new)
{
	struct diff diff = { .print = print };
	struct error *err;

	report_record_init(&diff.summary);
	err = diff_passes(&diff, old, new);
	report_record_deinit(&diff.summary);
	set_deinit(&diff.old);
	set_deinit(&diff.new);
	*ret_new = diff.counts.races_new > 0;
	return print_end(print, err);
}
