/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words for races; see phrase.h.
 */
#include "report/phrase.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/crash.h"
#include "report/race.h"
#include "report/text.h"
#include "report/value.h"

void phrase_add_variable(struct strbuf *line, const struct race *race)
{
	const struct race_variable *variable = &race->variable;

	if (variable->name)
		utf8_add_visible(line, variable->name);
	else if (variable->symbol)
		utf8_add_visible(line, variable->symbol);
	else
		strbuf_add(line, "memory without a name");
}

static const char *access_name(const struct race_side *side)
{
	if (side->access == ACCESS_NONE)
		return "access";
	return access_kind_name(side->access);
}

/* Of what another tool has reported, no values are known, but sizes are. */
static uint64_t size_of(const struct race *race)
{
	return race->size ? race->size : race->sides[0].size;
}

void phrase_add_accesses(struct strbuf *line, const struct race *race)
{
	strbuf_addf(line, "%s against ", access_name(&race->sides[0]));
	if (race->sides[1].role == RACE_UNKNOWN)
		strbuf_add(line, "unknown origin");
	else
		strbuf_add(line, access_name(&race->sides[1]));
	/* Go's race detector says none */
	if (size_of(race) > 0) {
		strbuf_add(line, ", ");
		text_add_plural(line, size_of(race), "byte");
	}
}

static void add_change(struct strbuf *line, const struct race *race,
		       const uint8_t *before, const uint8_t *after)
{
	const char *type = race->variable.type;
	uint32_t size = race->size < X86_ACCESS_MAX ? race->size
						    : X86_ACCESS_MAX;

	value_add(line, before, size, type);
	if (memcmp(before, after, size) != 0) {
		strbuf_add(line, " -> ");
		value_add(line, after, size, type);
	}
}

void phrase_add_change(struct strbuf *line, const struct race *race)
{
	add_change(line, race, race->before, race->after);
}

void phrase_add_values(struct strbuf *line, const struct race *race,
		       const struct race_values *values)
{
	add_change(line, race, values->before, values->after);
}

const char *phrase_value_word(const struct race *race)
{
	return value_is_number(race->size) ? "value" : "bytes";
}

void phrase_add_value(struct strbuf *line, const struct race *race)
{
	if (race->size == 0)
		return;
	strbuf_addf(line, ", %s ", phrase_value_word(race));
	phrase_add_change(line, race);
}

/* "global ", "stack of thread 4247 "main" ", ... */
static void add_region(struct strbuf *line,
		       const struct race_variable *variable)
{
	switch (variable->region) {
	case REGION_GLOBAL:
		strbuf_add(line, "global ");
		break;
	case REGION_HEAP:
		strbuf_add(line, "heap ");
		break;
	case REGION_STACK:
		strbuf_add(line, "stack ");
		break;
	case REGION_TLS:
		strbuf_add(line, "thread-local ");
		break;
	case REGION_MAPPING:
		strbuf_add(line, "mapping ");
		break;
	case REGION_UNKNOWN:
		break;
	}
	if (!variable->owner && !variable->owner_thread)
		return;
	strbuf_add(line, "of ");
	phrase_add_thread(line, variable->owner, variable->owner_thread);
	strbuf_add(line, " ");
}

/* "at cache+0x40c8", "at 0x55d0c0de4010" */
static void add_place(struct strbuf *line, const struct race *race)
{
	const struct race_variable *variable = &race->variable;
	bool in_file = variable->module && (variable->region == REGION_GLOBAL ||
					    variable->region == REGION_MAPPING);

	strbuf_add(line, "at ");
	if (in_file)
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

/* ", bytes 56..63 of " */
static void add_bytes(struct strbuf *line, uint64_t offset, uint64_t size)
{
	if (size == 1)
		strbuf_addf(line, ", byte %" PRIu64 " of ", offset);
	else
		strbuf_addf(line, ", bytes %" PRIu64 "..%" PRIu64 " of ",
			    offset, offset + size - 1);
}

/* ", bytes 56..63 of shards", where the name is of a part of the symbol. */
static void add_extent(struct strbuf *line, const struct race *race)
{
	const struct race_variable *variable = &race->variable;

	if (!variable->symbol || race->size == 0 ||
	    (variable->offset == 0 && variable->name &&
	     strcmp(variable->name, variable->symbol) == 0))
		return;
	add_bytes(line, variable->offset, race->size);
	utf8_add_visible(line, variable->symbol);
}

/*
 * ", bytes 16..23 of a block at 0x55d0c0de4000 with room for 56 bytes, in use";
 * where the struct just named begins the block, its bytes are not said again.
 */
static void add_block(struct strbuf *line, const struct race *race)
{
	const struct race_variable *variable = &race->variable;
	const struct race_block *block = &variable->block;

	if (block->address == 0)
		return;
	if (variable->symbol && variable->offset == block->offset)
		strbuf_add(line, ", in ");
	else
		add_bytes(line, block->offset, race->size);
	strbuf_addf(line, "a block at 0x%" PRIx64 " with room for ",
		    block->address);
	text_add_plural(line, block->size, "byte");
	if (block->state == BLOCK_IN_USE)
		strbuf_add(line, ", in use");
	else if (block->state == BLOCK_FREE)
		strbuf_add(line, ", free");
}

void phrase_add_home(struct strbuf *line, const struct race *race)
{
	add_declaration(line, &race->variable);
	add_region(line, &race->variable);
	add_place(line, race);
	add_extent(line, race);
	add_block(line, race);
}

void phrase_add_thread(struct strbuf *line, int tid, const char *name)
{
	if (tid)
		strbuf_addf(line, "thread %d", tid);
	else
		strbuf_add(line, "a thread");
	text_add_quoted(line, name);
}

const char *phrase_side_moment(const struct race *race,
			       const struct race_side *side)
{
	if (side->role == RACE_STALLED)
		return " was stalled before it ";
	if (race->evidence == EVIDENCE_REPORTED)
		return " ";
	if (race->evidence == EVIDENCE_COLLISION)
		return " too was stalled before it ";
	return " then ";
}

const char *phrase_side_verb(const struct race *race,
			     const struct race_side *side)
{
	bool past = side->role != RACE_STALLED &&
		    race->evidence != EVIDENCE_COLLISION &&
		    race->evidence != EVIDENCE_REPORTED;

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

void phrase_add_side_rest(struct strbuf *line, const struct race *race,
			  const struct race_side *side)
{
	if (side->syscall) {
		strbuf_add(line, " in system call ");
		utf8_add_visible(line, side->syscall);
	}
	if (side->pid && race->pid && side->pid != race->pid)
		strbuf_addf(line, " (pid %d)", side->pid);
}

static void add_unknown_side(struct strbuf *line, const struct race *race)
{
	if (race->evidence == EVIDENCE_REPORTED) {
		strbuf_add(line, "by an access that the report does not show");
		return;
	}
	strbuf_addf(line, "by something that left no trace here: %s changed ",
		    phrase_value_word(race));
	phrase_add_change(line, race);
	if (race->backend && strcmp(race->backend, "value") == 0)
		strbuf_add(line, " (the value back-end never sees by whom)");
	else
		strbuf_add(line, " (the kernel or another mapping, or no "
				 "debug register was free)");
}

void phrase_add_side(struct strbuf *line, const struct race *race,
		     const struct race_side *side)
{
	if (side->role == RACE_UNKNOWN) {
		add_unknown_side(line, race);
		return;
	}
	phrase_add_thread(line, side->tid, side->thread);
	strbuf_add(line, phrase_side_moment(race, side));
	strbuf_add(line, phrase_side_verb(race, side));
	phrase_add_side_rest(line, race, side);
}

void phrase_add_function(struct strbuf *line, const struct race_frame *frame)
{
	if (frame->function)
		utf8_add_visible(line, frame->function);
	else
		text_add_offset(line, frame->module, frame->offset);
}

void phrase_add_innermost(struct strbuf *line, const struct race_side *side)
{
	const struct race_frame *frame;

	if (side->frames.count == 0) {
		strbuf_add(line, "?");
		return;
	}
	frame = vec_at(&side->frames, 0);
	phrase_add_function(line, frame);
	if (frame->file) {
		strbuf_add(line, " ");
		text_add_place(line, frame->file, frame->line);
	}
}

/* Some bytes of a source line, its tabs as one column each. */
static void add_source_part(struct strbuf *line, const char *text,
			    size_t length)
{
	struct strbuf part = { 0 };

	for (size_t i = 0; i < length; i++)
		strbuf_add_bytes(&part, text[i] == '\t' ? " " : &text[i], 1);
	utf8_add_visible(line, strbuf_text(&part));
	if (part.failed)
		line->failed = true;
	strbuf_deinit(&part);
}

int phrase_add_source(struct strbuf *line, const struct race_frame *frame)
{
	const char *text = frame->source;
	size_t length = strlen(text);
	size_t skip = strspn(text, " \t");
	size_t column = (size_t)(frame->column > 0 ? frame->column - 1 : 0);
	size_t start = line->length;
	int caret = -1;

	while (length > skip && strchr(" \t\r\n", text[length - 1]))
		length--;
	if (frame->column > 0 && column >= skip && column < length) {
		add_source_part(line, text + skip, column - skip);
		caret = (int)utf8_columns(strbuf_text(line) + start, SIZE_MAX);
		skip = column;
	}
	if (length > skip)
		add_source_part(line, text + skip, length - skip);
	return caret;
}

static void add_count(struct strbuf *line, uint64_t count)
{
	if (count <= 1)
		strbuf_add(line, "once");
	else
		text_add_plural(line, count, "time");
}

void phrase_add_evidence(struct strbuf *line, const struct race *race,
			 bool live)
{
	strbuf_add(line, race_evidence_name(race->evidence));
	text_add_bracketed(line, race->backend);
	if (race->earlier)
		strbuf_add(line, " by an earlier hunt");
	strbuf_add(line, ", ");
	if (race->evidence == EVIDENCE_REPORTED) {
		strbuf_add(line, "not seen by racewatch; reported ");
		add_count(line, race->count);
		return;
	}
	text_add_time(line, race->elapsed_ns);
	strbuf_add(line, " into a ");
	text_add_time(line, race->stall_ns);
	if (live) {
		strbuf_add(line, " stall; first seen");
		return;
	}
	strbuf_add(line, " stall; seen ");
	add_count(line, race->count);
}

const char *phrase_status(const struct race *race)
{
	switch (race->status) {
	case STATUS_NEW:
		return "new to the baseline";
	case STATUS_KNOWN:
		return "known in the baseline";
	case STATUS_GONE:
		return "gone since the baseline";
	case STATUS_UNSET:
		break;
	}
	return NULL;
}

void phrase_add_suppression(struct strbuf *line,
			    const struct race_suppression *suppression)
{
	utf8_add_visible(line, suppression->rule);
	if (suppression->file) {
		strbuf_add(line, " (");
		text_add_place(line, suppression->file, suppression->line);
		strbuf_add(line, ")");
	}
	if (suppression->reason) {
		strbuf_add(line, ": ");
		utf8_add_visible(line, suppression->reason);
	}
	text_add_bracketed(line, suppression->bug);
}

void phrase_add_signal(struct strbuf *line, int number)
{
	const char *name = sigabbrev_np(number);

	if (name)
		strbuf_addf(line, "SIG%s", name);
	else
		strbuf_addf(line, "signal %d", number);
}

void phrase_add_crash(struct strbuf *line, const struct crash *crash)
{
	strbuf_addf(line, "process %d died of ", crash->pid);
	phrase_add_signal(line, crash->signal);
	if (crash->has_address)
		strbuf_addf(line, " at address 0x%" PRIx64, crash->address);
}

static void add_crash_marks(struct strbuf *line, const struct crash_race *race)
{
	const struct {
		bool is;
		const char *text;
	} marks[] = {
		{ race->same_address, "at that address" },
		{ race->same_object && !race->same_address,
		  "next to that address" },
		{ race->same_pointer, "of a pointer that leads there" },
		{ race->same_function, "in a function of that stack" },
	};
	const char *before = ": ";

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (!marks[i].is)
			continue;
		strbuf_add(line, before);
		strbuf_add(line, marks[i].text);
		before = ", ";
	}
}

void phrase_add_crash_race(struct strbuf *line, const struct crash_race *race)
{
	if (race->id)
		strbuf_addf(line, "#%" PRIu64, race->id);
	else
		strbuf_add(line, "one that is not in this report");
	if (race->variable) {
		strbuf_add(line, " of ");
		utf8_add_visible(line, race->variable);
	}
	strbuf_add(line, ", ");
	text_add_time(line, race->before_ns);
	strbuf_add(line, " before");
	add_crash_marks(line, race);
}
