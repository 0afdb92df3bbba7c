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
 *	  evidence    watchpoint (perf), 0.4 ms into a 1.0 ms stall; seen once
 *	  verdict     suspect
 *
 * The first words of a line do not change with folding or colours, so that
 * scripts can look for them.
 */
#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/race.h"
#include "report/render.h"
#include "report/run.h"
#include "report/text-crash.h"
#include "report/text-stack.h"
#include "report/text.h"
#include "report/value.h"

enum {
	TEXT_FUNCTION_MIN = 16,
	TEXT_FUNCTION_MAX = 44, /* longer names push their line's rest */
	TEXT_GAP = 3, /* between columns */
	TEXT_FRAME_INDENT = 4,
	TEXT_INDENT = 2,
	TEXT_CREATION_FRAMES = 5,
};

/* Widths of the columns of frames. */
struct columns {
	int index; /* "#0" */
	int function, place, insn;
};

/* "100 -> 101"; one value if it is the same. */
static void add_change(struct strbuf *line, const struct race *race)
{
	const char *type = race->variable.type;
	uint32_t size = race->size < X86_ACCESS_MAX ? race->size
						    : X86_ACCESS_MAX;

	value_add(line, race->before, size, type);
	if (memcmp(race->before, race->after, size) != 0) {
		strbuf_add(line, " -> ");
		value_add(line, race->after, size, type);
	}
}

static const char *value_word(const struct race *race)
{
	return value_is_number(race->size) ? "value" : "bytes";
}

static const char *access_name(const struct race_side *side)
{
	if (side->access == ACCESS_NONE)
		return "access";
	return access_kind_name(side->access);
}

static void add_accesses(struct strbuf *line, const struct race *race)
{
	strbuf_addf(line, "%s against ", access_name(&race->sides[0]));
	if (race->sides[1].role == RACE_UNKNOWN)
		strbuf_add(line, "unknown origin");
	else
		strbuf_add(line, access_name(&race->sides[1]));
	strbuf_add(line, ", ");
	text_add_plural(line, race->size, "byte");
}

static void write_heading(struct text *text, const struct race *race)
{
	text_set_color(text, TEXT_BOLD_RED);
	strbuf_addf(&text->line, "WARNING: racewatch: data race #%" PRIu64,
		    race->id);
	text_reset_color(text);
	strbuf_addf(&text->line, " (pid %d", race->pid);
	text_add_quoted(&text->line, race->program);
	strbuf_add(&text->line, "), ");
	add_accesses(&text->line, race);
	if (race->size) {
		strbuf_addf(&text->line, ", %s ", value_word(race));
		add_change(&text->line, race);
	}
	text_end_line(text, 0, 2 * TEXT_INDENT);
}

/* "of thread 4246 "filler" " */
static void add_owner(struct strbuf *line, const struct race_variable *variable)
{
	if (!variable->owner)
		return;
	strbuf_addf(line, "of thread %d ", variable->owner);
	if (!variable->owner_thread)
		return;
	strbuf_add(line, "\"");
	utf8_add_visible(line, variable->owner_thread);
	strbuf_add(line, "\" ");
}

/* "global at cache+0x40c8", "heap at 0x55d0c0de4010", ... */
static void add_region(struct strbuf *line, const struct race *race)
{
	const struct race_variable *variable = &race->variable;

	switch (variable->region) {
	case REGION_GLOBAL:
		strbuf_add(line, "global at ");
		break;
	case REGION_HEAP:
		strbuf_add(line, "heap at ");
		break;
	case REGION_STACK:
		strbuf_add(line, "stack ");
		add_owner(line, variable);
		strbuf_add(line, "at ");
		break;
	case REGION_TLS:
		strbuf_add(line, "thread-local ");
		add_owner(line, variable);
		strbuf_add(line, "at ");
		break;
	case REGION_MAPPING:
		strbuf_add(line, "mapping at ");
		break;
	case REGION_UNKNOWN:
		strbuf_add(line, "at ");
		break;
	}
	if (variable->module && (variable->region == REGION_GLOBAL ||
				 variable->region == REGION_MAPPING))
		text_add_offset(line, variable->module,
				variable->module_offset);
	else
		text_add_offset(line, NULL, race->address);
}

/* "struct shard, cache.c:7; " */
static void add_declaration(struct strbuf *line,
			    const struct race_variable *variable)
{
	const char *type = variable->container ? variable->container
					       : variable->type;

	if (type)
		utf8_add_visible(line, type);
	if (type && variable->file)
		strbuf_add(line, ", ");
	if (variable->file)
		text_add_place(line, variable->file, variable->line);
	if (type || variable->file)
		strbuf_add(line, "; ");
}

/* ", bytes 56..63 of shards", where the name is of a part of the symbol. */
static void add_extent(struct strbuf *line, const struct race *race)
{
	const struct race_variable *variable = &race->variable;

	if (!variable->symbol || race->size == 0 ||
	    (variable->offset == 0 && variable->name &&
	     strcmp(variable->name, variable->symbol) == 0))
		return;
	if (race->size == 1)
		strbuf_addf(line, ", byte %" PRIu64, variable->offset);
	else
		strbuf_addf(line, ", bytes %" PRIu64 "..%" PRIu64,
			    variable->offset,
			    variable->offset + race->size - 1);
	strbuf_add(line, " of ");
	utf8_add_visible(line, variable->symbol);
}

static void write_variable(struct text *text, const struct race *race,
			   const struct columns *columns)
{
	const struct race_variable *variable = &race->variable;
	int column = TEXT_FRAME_INDENT + columns->index + 1 +
		     columns->function - TEXT_INDENT;
	struct strbuf *line = &text->line;

	text_set_color(text, TEXT_BOLD);
	if (variable->name)
		utf8_add_visible(line, variable->name);
	else if (variable->symbol)
		utf8_add_visible(line, variable->symbol);
	else
		strbuf_add(line, "memory without a name");
	text_reset_color(text);
	text_pad(text, 0, column);
	strbuf_addf(line, "%*s", TEXT_GAP, "");
	add_declaration(line, variable);
	add_region(line, race);
	add_extent(line, race);
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

static const char *access_verb(const struct race_side *side, bool past)
{
	switch (side->access) {
	case ACCESS_READ:
		return past ? "READ" : "READS";
	case ACCESS_WRITE:
		return past ? "WROTE" : "WRITES";
	case ACCESS_RMW:
		return past ? "READ AND WROTE" : "READS AND WRITES";
	default:
		return past ? "TOUCHED IT" : "TOUCHES IT";
	}
}

static void write_side_heading(struct text *text, const struct race *race,
			       const struct race_side *side)
{
	bool collision = race->evidence == EVIDENCE_COLLISION;
	bool past = side->role != RACE_STALLED && !collision;
	struct strbuf *line = &text->line;

	if (side->tid)
		strbuf_addf(line, "thread %d", side->tid);
	else
		strbuf_add(line, "a thread");
	text_add_quoted(line, side->thread);
	if (side->role == RACE_STALLED)
		strbuf_add(line, " was stalled before it ");
	else
		strbuf_add(line, collision ? " too was stalled before it "
					   : " then ");
	text_set_color(text, TEXT_BOLD);
	strbuf_add(line, access_verb(side, past));
	text_reset_color(text);
	if (side->syscall) {
		strbuf_add(line, " in system call ");
		utf8_add_visible(line, side->syscall);
	}
	if (side->pid && race->pid && side->pid != race->pid)
		strbuf_addf(line, " (pid %d)", side->pid);
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

static void add_function(struct strbuf *line, const struct race_frame *frame)
{
	if (frame->function)
		utf8_add_visible(line, frame->function);
	else
		text_add_offset(line, frame->module, frame->offset);
}

/*
 * Behind the other columns: where the innermost frame is in the file; a frame
 * without a function's name has this in the name's place.
 */
static void add_tail(struct strbuf *line, const struct race_frame *frame,
		     bool innermost)
{
	bool place = innermost && frame->function && frame->module;

	if (place)
		text_add_offset(line, frame->module, frame->offset);
	if (frame->inlined)
		strbuf_add(line, place ? " (inlined)" : "(inlined)");
}

static void widen(int *column, struct strbuf *cell, int max)
{
	int columns = (int)utf8_columns(strbuf_text(cell), SIZE_MAX);

	if (columns > *column && columns <= max)
		*column = columns;
	strbuf_deinit(cell);
}

static void measure_side(const struct race_side *side, struct columns *columns)
{
	for (size_t i = 0; i < side->frames.count; i++) {
		const struct race_frame *frame = vec_at(&side->frames, i);
		struct strbuf cell = { 0 };

		strbuf_addf(&cell, "#%zu", i);
		widen(&columns->index, &cell, TEXT_FUNCTION_MAX);
		add_function(&cell, frame);
		widen(&columns->function, &cell, TEXT_FUNCTION_MAX);
		if (frame->file)
			text_add_place(&cell, frame->file, frame->line);
		widen(&columns->place, &cell, TEXT_FUNCTION_MAX);
		if (i == 0 && side->insn)
			utf8_add_visible(&cell, side->insn);
		widen(&columns->insn, &cell, TEXT_FUNCTION_MAX);
	}
}

/* Append a cell padded to its column, after the gap to the one before. */
static void put_cell(struct text *text, struct strbuf *cell, int column)
{
	size_t start = text->line.length;

	if (column) {
		strbuf_add(&text->line, strbuf_text(cell));
		text_pad(text, start, column);
		strbuf_addf(&text->line, "%*s", TEXT_GAP, "");
	}
	if (cell->failed)
		text->line.failed = true;
	strbuf_deinit(cell);
}

static void trim_line(struct strbuf *line)
{
	while (line->length && line->text[line->length - 1] == ' ')
		line->text[--line->length] = '\0';
}

static void write_frame(struct text *text, const struct race_side *side,
			size_t i, const struct columns *columns)
{
	const struct race_frame *frame = vec_at(&side->frames, i);
	struct strbuf cell = { 0 };

	strbuf_addf(&text->line, "#%zu", i);
	text_pad(text, 0, columns->index + 1);
	add_function(&cell, frame);
	put_cell(text, &cell, columns->function);
	if (frame->file)
		text_add_place(&cell, frame->file, frame->line);
	put_cell(text, &cell, columns->place);
	if (i == 0 && side->insn)
		utf8_add_visible(&cell, side->insn);
	put_cell(text, &cell, i == 0 ? columns->insn : 0);
	add_tail(&text->line, frame, i == 0);
	trim_line(&text->line);
	text_end_line(text, TEXT_FRAME_INDENT, columns->index + 1);
}

static void write_unknown_side(struct text *text, const struct race *race)
{
	struct strbuf *line = &text->line;

	strbuf_addf(line, "by something that left no trace here: %s changed ",
		    value_word(race));
	add_change(line, race);
	if (race->backend && strcmp(race->backend, "value") == 0)
		strbuf_add(line, " (the value back-end never sees by whom)");
	else
		strbuf_add(line, " (the kernel or another mapping, or no "
				 "debug register was free)");
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

/* Where the thread comes from, if it was born while it was watched. */
static void write_creation(struct text *text, const struct race_side *side)
{
	struct strbuf *line = &text->line;

	if (!side->creator)
		return;
	strbuf_addf(line, "created by thread %d", side->creator);
	text_add_quoted(line, side->creator_thread);
	text_end_line(text, TEXT_FRAME_INDENT, TEXT_INDENT);
	text_add_stack(text, &side->created, TEXT_CREATION_FRAMES,
		       TEXT_FRAME_INDENT + TEXT_INDENT);
}

static void write_side(struct text *text, const struct race *race, int n,
		       const struct columns *columns)
{
	const struct race_side *side = &race->sides[n];

	if (side->role == RACE_UNKNOWN) {
		write_unknown_side(text, race);
		return;
	}
	write_side_heading(text, race, side);
	for (size_t i = 0; i < side->frames.count; i++)
		write_frame(text, side, i, columns);
	if (side->frames.count == 0) {
		strbuf_add(&text->line, "(no stack)");
		text_end_line(text, TEXT_FRAME_INDENT, 0);
	}
	write_creation(text, side);
}

static void write_evidence(struct text *text, const struct race *race)
{
	struct strbuf *line = &text->line;

	strbuf_addf(line, "evidence    %s", race_evidence_name(race->evidence));
	text_add_bracketed(line, race->backend);
	strbuf_add(line, ", ");
	text_add_time(line, race->elapsed_ns);
	strbuf_add(line, " into a ");
	text_add_time(line, race->stall_ns);
	strbuf_add(line, " stall; seen ");
	if (race->count <= 1)
		strbuf_add(line, "once");
	else
		text_add_plural(line, race->count, "time");
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

static void write_verdict(struct text *text, const struct race *race)
{
	strbuf_addf(&text->line, "verdict     %s",
		    race_verdict_name(race->verdict));
	text_add_bracketed(&text->line, race->reason);
	text_end_line(text, TEXT_INDENT, TEXT_INDENT);
}

/* The command, with the race's number for "{id}". */
static void write_again(struct text *text, const struct race *race,
			const char *again)
{
	const char *id = strstr(again, "{id}");

	strbuf_add(&text->line, "again       ");
	if (id) {
		strbuf_addf(&text->line, "%.*s%" PRIu64, (int)(id - again),
			    again, race->id);
		again = id + strlen("{id}");
	}
	strbuf_add(&text->line, again);
	/* folded, it could not be pasted */
	strbuf_addf(&text->out, "  %s\n", strbuf_text(&text->line));
	strbuf_clear(&text->line);
}

static struct error *text_race(struct renderer *renderer,
			       const struct race *race)
{
	struct columns columns = { .function = TEXT_FUNCTION_MIN };
	struct text text = text_begin(renderer);

	measure_side(&race->sides[0], &columns);
	measure_side(&race->sides[1], &columns);
	write_heading(&text, race);
	write_variable(&text, race, &columns);
	write_side(&text, race, 0, &columns);
	write_side(&text, race, 1, &columns);
	write_evidence(&text, race);
	write_verdict(&text, race);
	if (renderer->again)
		write_again(&text, race, renderer->again);
	return text_end(&text);
}

static void add_innermost(struct strbuf *line, const struct race_side *side)
{
	const struct race_frame *frame;

	if (side->frames.count == 0) {
		strbuf_add(line, "?");
		return;
	}
	frame = vec_at(&side->frames, 0);
	add_function(line, frame);
	if (frame->file) {
		strbuf_add(line, " ");
		text_add_place(line, frame->file, frame->line);
	}
}

struct error *render_text_short(struct renderer *renderer,
				const struct race *race)
{
	struct text text = text_begin(renderer);
	struct strbuf *line = &text.line;

	strbuf_addf(line, "racewatch: #%" PRIu64 " %s", race->id,
		    race_verdict_name(race->verdict));
	text_add_bracketed(line, race->reason);
	strbuf_add(line, ": ");
	add_accesses(line, race);
	if (race->variable.name) {
		strbuf_add(line, " of ");
		utf8_add_visible(line, race->variable.name);
	}
	strbuf_add(line, ": ");
	add_innermost(line, &race->sides[0]);
	strbuf_add(line, " against ");
	add_innermost(line, &race->sides[1]);
	if (race->count > 1) {
		strbuf_add(line, ", ");
		text_add_plural(line, race->count, "time");
	}
	text_end_line(&text, 0, 2 * TEXT_INDENT);
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

static void add_races(struct strbuf *line, const struct run_summary *summary)
{
	text_add_plural(line, summary->races, "race");
	if (summary->races == 0 && summary->suppressed == 0)
		return;
	strbuf_add(line, " (");
	text_add_count(line, summary->races_new);
	strbuf_add(line, " new");
	if (summary->suppressed) {
		strbuf_add(line, ", ");
		text_add_count(line, summary->suppressed);
		strbuf_add(line, " suppressed");
	}
	strbuf_add(line, ")");
}

static struct error *text_summary(struct renderer *renderer,
				  const struct run_summary *summary)
{
	struct text text = text_begin(renderer);
	struct strbuf *line = &text.line;

	text_set_color(&text, summary->races ? TEXT_BOLD_RED : TEXT_BOLD_GREEN);
	strbuf_add(line, "SUMMARY: racewatch: ");
	add_races(line, summary);
	text_reset_color(&text);
	strbuf_add(line, ", ");
	text_add_plural(line, summary->samples, "sample");
	strbuf_add(line, " of ");
	text_add_plural(line, summary->sites_sampled, "site");
	strbuf_addf(line, ", %.1f s, overhead %.1f %%",
		    (double)summary->elapsed_ns / 1e9, summary->overhead_pct);
	if (summary->dropped) {
		strbuf_add(line, ", ");
		text_add_plural(line, summary->dropped, "conflict");
		strbuf_add(line, " lost");
	}
	text_end_line(&text, 0, 2 * TEXT_INDENT);
	return text_end(&text);
}

const struct renderer_ops render_text = {
	.name = "text",
	.run = text_run,
	.race = text_race,
	.crash = text_crash,
	.summary = text_summary,
};
