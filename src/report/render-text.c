/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports for people. A race, in columns that both stacks share:
 *
 *	WARNING: racewatch: data race #1 (pid 4242 "cache"), write against ...
 *	  shards[3].used      struct shard, cache.c:7; global at cache+0x40c8
 *	  thread 4246 "filler" was stalled before it WRITES
 *	    #0 shard_add      cache.c:11   addq %rsi, 0x8(%rdi)   cache+0x1179
 *	    #1 filler         cache.c:14
 *	  thread 4244 "evictor" then WROTE
 *	    ...
 *	  evidence    watchpoint (perf), 0.4 ms into a 1.0 ms stall; first seen
 *	  verdict     suspect
 *
 * The first words of a line do not change with folding or colours, so that
 * scripts can look for them.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/candidate-record.h"
#include "report/doubt.h"
#include "report/phrase-locks.h"
#include "report/phrase-replay.h"
#include "report/phrase-run.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/related.h"
#include "report/render.h"
#include "report/run.h"
#include "report/target-record.h"
#include "report/text-crash.h"
#include "report/text-frames.h"
#include "report/text-hand-over.h"
#include "report/text-recorded.h"
#include "report/text-stack.h"
#include "report/text.h"

enum {
	TEXT_FRAME_INDENT = 4,
	TEXT_CREATED_FRAMES = 5,
	TEXT_INDENT = 2,
};

static void write_heading(struct text *text, const struct race *race)
{
	text_set_color(text, TEXT_BOLD_RED);
	strbuf_addf(&text->line, "WARNING: racewatch: data race #%" PRIu64,
		    race->id);
	text_reset_color(text);
	strbuf_addf(&text->line, " (pid %d", race->pid);
	text_add_quoted(&text->line, race->program);
	strbuf_add(&text->line, "), ");
	phrase_add_accesses(&text->line, race);
	phrase_add_value(&text->line, race);
	text_end_line(text, 0, 2 * TEXT_INDENT);
}

static void write_variable(struct text *text, const struct race *race,
			   const struct text_columns *columns)
{
	int column = TEXT_FRAME_INDENT + columns->index + 1 +
		     columns->function - TEXT_INDENT;
	struct strbuf *line = &text->line;

	text_set_color(text, TEXT_BOLD);
	phrase_add_variable(line, race);
	text_reset_color(text);
	text_pad(text, 0, column);
	strbuf_addf(line, "%*s", TEXT_GAP, "");
	phrase_add_home(line, race);
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

static void write_side_heading(struct text *text, const struct race *race,
			       const struct race_side *side)
{
	struct strbuf *line = &text->line;

	if (side->role == RACE_UNKNOWN) {
		phrase_add_side(line, race, side);
	} else {
		phrase_add_thread(line, side->tid, side->thread);
		strbuf_add(line, phrase_side_moment(race, side));
		text_set_color(text, TEXT_BOLD);
		strbuf_add(line, phrase_side_verb(race, side));
		text_reset_color(text);
		phrase_add_side_rest(line, race, side);
	}
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

/* Where the thread comes from, if it was born while it was watched. */
static void write_created(struct text *text, const struct race_side *side)
{
	if (!side->creator && !side->created.count)
		return;
	strbuf_add(&text->line, "created by ");
	phrase_add_thread(&text->line, side->creator, side->creator_thread);
	text_end_line(text, TEXT_FRAME_INDENT, TEXT_INDENT);
	text_add_stack(text, &side->created, TEXT_CREATED_FRAMES,
		       TEXT_FRAME_INDENT + TEXT_INDENT);
}

static void write_side(struct text *text, const struct race *race, int n,
		       const struct text_columns *columns)
{
	const struct race_side *side = &race->sides[n];

	write_side_heading(text, race, side);
	if (side->role == RACE_UNKNOWN)
		return;
	text_frames_write(text, TEXT_FRAME_INDENT, &side->frames, side->insn,
			  columns);
	if (side->frames.count == 0) {
		strbuf_add(&text->line, "(no stack)");
		text_end_line(text, TEXT_FRAME_INDENT, 0);
	}
	if (phrase_add_holds(&text->line, side))
		text_end_line(text, TEXT_FRAME_INDENT, TEXT_INDENT);
	write_created(text, side);
	text_recorded_side(text, race, side);
}

static void write_evidence(struct text *text, const struct race *race,
			   bool live)
{
	strbuf_add(&text->line, "evidence    ");
	phrase_add_evidence(&text->line, race, live);
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

static void write_locks(struct text *text, const struct race *race)
{
	struct strbuf *line = &text->line;

	strbuf_add(line, "locks       ");
	if (phrase_add_lock_pair(line, race))
		text_end_line(text, TEXT_INDENT, TEXT_INDENT);
	else
		strbuf_clear(line);
}

/* Only where there is more than the heading says. */
static void write_values(struct text *text, const struct race *race)
{
	struct strbuf *line = &text->line;

	if (race->values.count < 2)
		return;
	strbuf_add(line, "values      ");
	for (size_t i = 0; i < race->values.count; i++) {
		const struct race_values *values = vec_at(&race->values, i);

		strbuf_add(line, i ? ", " : "");
		phrase_add_values(line, race, values);
		if (values->count > 1)
			strbuf_addf(line, " (%" PRIu64 " times)",
				    values->count);
	}
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

/* When it was seen again, in how many runs, and on which machines. */
static void write_seen(struct text *text, const struct race *race)
{
	struct strbuf *line = &text->line;
	char first[CLOCK_RFC3339_SIZE], last[CLOCK_RFC3339_SIZE];

	if (race->last_time > race->time) {
		clock_format_rfc3339(race->time, first);
		clock_format_rfc3339(race->last_time, last);
		strbuf_addf(line, "seen        first %s, last %s", first, last);
		text_end_line(text, TEXT_INDENT, TEXT_INDENT);
	}
	if (race->runs < 2 && race->hosts.count == 0)
		return;
	strbuf_add(line, "runs        ");
	text_add_count(line, race->runs ? race->runs : 1);
	for (size_t i = 0; i < race->hosts.count; i++) {
		strbuf_add(line, i ? ", " : ", on ");
		utf8_add_visible(line, *(char **)vec_at(&race->hosts, i));
	}
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

/* What replays came to, and where there were none why. */
static void write_replay(struct text *text, const struct race_replay *replay)
{
	struct strbuf *line = &text->line;

	if (replay->instances > 0) {
		strbuf_add(line, "replay      ");
		phrase_add_replay(line, replay);
		text_end_line(text, TEXT_INDENT, TEXT_INDENT);
	}
	if (replay->failures.count > 0) {
		strbuf_add(line, "replay      ");
		phrase_add_replay_failures(line, replay);
		text_end_line(text, TEXT_INDENT, TEXT_INDENT);
	}
}

static void write_verdict(struct text *text, const struct race *race)
{
	strbuf_addf(&text->line, "verdict     %s",
		    race_verdict_name(race->verdict));
	text_add_bracketed(&text->line, race->reason);
	if (phrase_status(race))
		strbuf_addf(&text->line, "; %s", phrase_status(race));
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
	if (race->grounds) {
		strbuf_add(&text->line, "grounds     ");
		utf8_add_visible(&text->line, race->grounds);
		text_end_line(text, TEXT_INDENT, TEXT_INDENT);
	}
	write_replay(text, &race->replay);
	if (race_doubt(race)) {
		strbuf_addf(&text->line, "doubt       %s",
			    race_doubt_text(race));
		text_end_line(text, TEXT_INDENT, TEXT_INDENT);
	}
	if (!race->suppressed.rule)
		return;
	strbuf_add(&text->line, "suppressed  by ");
	phrase_add_suppression(&text->line, &race->suppressed);
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

/* What suppressions and baselines know it by. */
static void write_identity(struct text *text, const struct race *race)
{
	if (!text->style.identities || !race->fingerprint[0])
		return;
	strbuf_addf(&text->line, "identity    %s by names", race->fingerprint);
	if (race->fingerprint_code[0])
		strbuf_addf(&text->line, ", %s by code",
			    race->fingerprint_code);
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

/* Append the text up to the word, and the number for it. Returns the rest. */
static const char *add_number(struct strbuf *line, const char *text,
			      const char *word, uint64_t number)
{
	const char *at = strstr(text, word);

	if (!at)
		return text;
	strbuf_addf(line, "%.*s%" PRIu64, (int)(at - text), text, number);
	return at + strlen(word);
}

/* The command, with the race's number and process. */
static void write_again(struct text *text, const struct race *race,
			const char *again)
{
	strbuf_add(&text->line, "again       ");
	again = add_number(&text->line, again, "{id}", race->id);
	again = add_number(&text->line, again, "{pid}",
			   (uint64_t)race->sides[0].pid);
	strbuf_add(&text->line, again);
	/* folded, it could not be pasted */
	strbuf_addf(&text->out, "  %s\n", strbuf_text(&text->line));
	strbuf_clear(&text->line);
}

static struct error *text_race(struct renderer *renderer,
			       const struct race *race)
{
	struct text_columns columns = { .function = TEXT_FUNCTION_MIN };
	struct text text = text_begin(renderer);

	for (int i = 0; i < 2; i++) {
		const struct race_side *side = &race->sides[i];

		text_frames_measure(&text, &columns, &side->frames, side->insn);
	}
	write_heading(&text, race);
	write_variable(&text, race, &columns);
	write_side(&text, race, 0, &columns);
	write_side(&text, race, 1, &columns);
	write_evidence(&text, race, renderer->live);
	write_locks(&text, race);
	write_values(&text, race);
	write_seen(&text, race);
	text_recorded_write(&text, race);
	write_verdict(&text, race);
	write_identity(&text, race);
	/* of the other side nothing is known */
	if (renderer->again && !race_is_one_sided(race))
		write_again(&text, race, renderer->again);
	return text_end(&text);
}

/* "suspect: write against write of hits: set a.c:7 against get a.c:9" */
static void add_in_short(struct strbuf *line, const struct race *race)
{
	strbuf_add(line, race_verdict_name(race->verdict));
	text_add_bracketed(line, race->reason);
	strbuf_add(line, ": ");
	phrase_add_accesses(line, race);
	if (race->variable.name) {
		strbuf_add(line, " of ");
		utf8_add_visible(line, race->variable.name);
	}
	strbuf_add(line, ": ");
	phrase_add_innermost(line, &race->sides[0]);
	strbuf_add(line, " against ");
	phrase_add_innermost(line, &race->sides[1]);
}

struct error *render_text_short(struct renderer *renderer,
				const struct race *race)
{
	struct text text = text_begin(renderer);
	struct strbuf *line = &text.line;

	strbuf_addf(line, "racewatch: #%" PRIu64 " ", race->id);
	if (race->status == STATUS_KNOWN || race->status == STATUS_GONE)
		strbuf_addf(line, "%s, ", race_status_name(race->status));
	add_in_short(line, race);
	if (race->count > 1) {
		strbuf_add(line, ", ");
		text_add_plural(line, race->count, "time");
	}
	text_end_line(&text, 0, 2 * TEXT_INDENT);
	return text_end(&text);
}

struct error *render_text_graver(struct renderer *renderer,
				 const struct race *race)
{
	struct text text = text_begin(renderer);
	struct strbuf *line = &text.line;

	text_set_color(&text, TEXT_BOLD_RED);
	strbuf_addf(line, "racewatch: race #%" PRIu64, race->id);
	text_reset_color(&text);
	strbuf_add(line, " is now ");
	add_in_short(line, race);
	if (race->grounds) {
		strbuf_add(line, "; ");
		utf8_add_visible(line, race->grounds);
	}
	text_end_line(&text, 0, 2 * TEXT_INDENT);
	return text_end(&text);
}

struct error *render_text_completed(struct renderer *renderer,
				    const struct race *race)
{
	struct text text = text_begin(renderer);
	struct strbuf *line = &text.line;

	strbuf_addf(line, "racewatch: race #%" PRIu64 ", now with both sides: ",
		    race->id);
	add_in_short(line, race);
	text_end_line(&text, 0, 2 * TEXT_INDENT);
	return text_end(&text);
}

struct error *render_text_replayed(struct renderer *renderer,
				   const struct race *race)
{
	struct text text = text_begin(renderer);
	struct strbuf *line = &text.line;

	strbuf_addf(line, "racewatch: race #%" PRIu64 " replayed: ", race->id);
	phrase_add_replay_all(line, &race->replay);
	strbuf_addf(line, "; verdict %s", race_verdict_name(race->verdict));
	text_add_bracketed(line, race->reason);
	text_end_line(&text, 0, 2 * TEXT_INDENT);
	return text_end(&text);
}

struct error *render_text_counts(struct renderer *renderer,
				 const struct vec *races)
{
	struct text text = text_begin(renderer);
	struct strbuf *line = &text.line;
	bool again = false;

	strbuf_add(line, "racewatch: seen in all:");
	for (size_t i = 0; i < races->count; i++) {
		const struct race *race =
			*(const struct race *const *)vec_at(races, i);

		strbuf_addf(line, "%s #%" PRIu64 " ", i ? "," : "", race->id);
		if (race->count <= 1)
			strbuf_add(line, "once");
		else
			text_add_plural(line, race->count, "time");
		again |= race->count > 1;
	}
	if (again)
		text_end_line(&text, 0, 2 * TEXT_INDENT);
	else
		strbuf_clear(line);
	return text_end(&text);
}

/* The text report begins with the first race: what is watched is known. */
static struct error *text_run(struct renderer *renderer,
			      const struct run_record *run)
{
	(void)renderer;
	(void)run;
	return NULL;
}

static void add_races(struct strbuf *line, const struct run_summary *summary,
		      bool ignored)
{
	text_add_plural(line, summary->races, "race");
	if (summary->races == 0 && summary->suppressed == 0 &&
	    summary->known == 0 && summary->unlikely == 0)
		return;
	strbuf_add(line, " (");
	text_add_count(line, summary->races_new);
	strbuf_add(line, " new");
	if (summary->known) {
		strbuf_add(line, ", ");
		text_add_count(line, summary->known);
		strbuf_add(line, " known");
	}
	if (summary->suppressed) {
		strbuf_add(line, ", ");
		text_add_count(line, summary->suppressed);
		strbuf_add(line, " suppressed");
	}
	if (summary->unlikely) {
		strbuf_add(line, ", ");
		text_add_count(line, summary->unlikely);
		strbuf_add(line, ignored ? " unlikely ignored" : " unlikely");
	}
	strbuf_add(line, ")");
}

/* Lines of programs, at most; as many as are looked through at a glance. */
enum { TEXT_PROGRAMS = 10 };

static void add_program(struct text *text, const struct run_program *program)
{
	struct strbuf *line = &text->line;

	strbuf_add(line, "  ");
	utf8_add_visible(line, program->path);
	strbuf_add(line, ": ");
	text_add_count(line, program->processes);
	strbuf_addf(line, " process%s, at most ",
		    program->processes == 1 ? "" : "es");
	text_add_plural(line, program->threads, "thread");
	strbuf_add(line, ", ");
	text_add_plural(line, program->samples, "sample");
	if (program->samples > 0) {
		strbuf_add(line, ", ");
		text_add_count(line, program->samples_stalled);
		strbuf_add(line, " with a stall");
	}
	strbuf_add(line, ", ");
	text_add_plural(line, program->races, "race");
	text_end_line(text, 0, 2 * TEXT_INDENT);
}

/* Whose samples they are, where several programs were watched. */
static void add_programs(struct text *text, const struct run_summary *summary)
{
	size_t count = summary->program_count;
	uint64_t single = summary->processes_single;
	struct strbuf *line = &text->line;

	if (count == 0 || (count == 1 && single == 0))
		return;
	strbuf_add(line, "Programs with threads or samples:");
	text_end_line(text, 0, 2 * TEXT_INDENT);
	for (size_t i = 0; i < count && i < TEXT_PROGRAMS; i++)
		add_program(text, &summary->programs[i]);
	if (count > TEXT_PROGRAMS) {
		strbuf_add(line, "  and ");
		text_add_count(line, count - TEXT_PROGRAMS);
		strbuf_addf(line, " more program%s",
			    count == TEXT_PROGRAMS + 1 ? "" : "s");
		text_end_line(text, 0, 2 * TEXT_INDENT);
	}
	if (single > 0) {
		strbuf_add(line, "  ");
		text_add_count(line, single);
		strbuf_addf(line, " other process%s had one thread",
			    single == 1 ? "" : "es");
		text_end_line(text, 0, 2 * TEXT_INDENT);
	}
}

static struct error *text_summary(struct renderer *renderer,
				  const struct run_summary *summary)
{
	struct text text = text_begin(renderer);
	struct strbuf *line = &text.line;

	add_programs(&text, summary);
	text_set_color(&text, summary->races ? TEXT_BOLD_RED : TEXT_BOLD_GREEN);
	strbuf_add(line, "SUMMARY: racewatch: ");
	add_races(line, summary, renderer->ignore_unlikely);
	text_reset_color(&text);
	strbuf_add(line, ", ");
	phrase_add_samples(line, summary);
	strbuf_addf(line, ", %.1f s, ", (double)summary->elapsed_ns / 1e9);
	phrase_add_overhead(line, summary);
	if (summary->stats.dropped) {
		strbuf_add(line, ", ");
		text_add_plural(line, summary->stats.dropped, "conflict");
		strbuf_add(line, " lost");
	}
	text_end_line(&text, 0, 2 * TEXT_INDENT);
	return text_end(&text);
}

static struct error *text_target(struct renderer *renderer,
				 const struct target_record *target)
{
	struct text text = text_begin(renderer);
	struct strbuf *line = &text.line;

	strbuf_addf(line, "racewatch: target #%" PRIu64 ": ", target->side.id);
	target_say_side(line, &target->side);
	strbuf_add(line, ": ");
	target_say_outcome(line, target);
	text_end_line(&text, 0, 2 * TEXT_INDENT);
	if (renderer->show_ordered)
		text_hand_overs(&text, &target->side);
	return text_end(&text);
}

static struct error *text_candidate(struct renderer *renderer,
				    const struct candidate_record *candidate)
{
	struct text text = text_begin(renderer);
	struct strbuf *line = &text.line;

	strbuf_addf(line, "racewatch: candidate #%" PRIu64 ": ", candidate->id);
	candidate_say(line, candidate);
	text_end_line(&text, 0, 2 * TEXT_INDENT);
	return text_end(&text);
}

const struct renderer_ops render_text = {
	.name = "text",
	.run = text_run,
	.race = text_race,
	.crash = text_crash,
	.target = text_target,
	.candidate = text_candidate,
	.summary = text_summary,
};
