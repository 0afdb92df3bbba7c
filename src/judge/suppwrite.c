/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A ready suppression for a race; see suppress.h. Both stacks are signed: a
 * rule for one side alone would hide every other race of that function. There
 * is an alternative for builds without symbols, since names differ between
 * hosts with and without them, and the fingerprint for what both leave out.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "judge/suppress.h"
#include "report/phrase.h"
#include "report/race.h"

/*
 * A name as a pattern for the whole of it. What a pattern cannot say literally
 * stands as an asterisk: its end mark, and bytes that would break the line.
 */
static void add_exactly(struct strbuf *out, const char *name)
{
	strbuf_add(out, "^");
	for (; *name; name++) {
		if (*name == '$' || iscntrl((unsigned char)*name))
			strbuf_add(out, "*");
		else
			strbuf_add_bytes(out, name, 1);
	}
	strbuf_add(out, "$");
}

/* Of an index or a key behind the bracket: "3", "-7", "?", "\"alpha\""; else 0. */
static size_t index_length(const char *name)
{
	size_t length = strspn(name, "-?0123456789");

	if (name[0] == '"') {
		length = 1 + strcspn(name + 1, "\"]");
		length += name[length] == '"';
	}
	return name[length] == ']' ? length : 0;
}

/* A variable likewise: any element, and anywhere in what is not described. */
static void add_variable(struct strbuf *out, const char *name)
{
	strbuf_add(out, "^");
	while (*name) {
		size_t digits = *name == '[' ? index_length(name + 1)
					     : strspn(name + 1, "0123456789");

		if ((*name == '[' && digits > 0) ||
		    (*name == '+' && digits > 0 && !name[1 + digits])) {
			strbuf_addf(out, "%c*", *name);
			name += 1 + digits;
		} else if (*name == '$' || iscntrl((unsigned char)*name)) {
			strbuf_add(out, "*");
			name++;
		} else {
			strbuf_add_bytes(out, name++, 1);
		}
	}
	strbuf_add(out, "$");
}

static const char *side_name(const struct race_side *side)
{
	const struct race_frame *frame;

	if (side->syscall)
		return side->syscall;
	if (side->frames.count == 0)
		return NULL;
	frame = vec_at(&side->frames, 0);
	return frame->function;
}

/*
 * The frames to be named by their places: real ones, as far as the first
 * outside of the C library. False after the last.
 */
static bool next_code(const struct race_side *side, size_t *at,
		      const struct race_frame **ret)
{
	while (*at < side->frames.count) {
		const struct race_frame *frame = vec_at(&side->frames, *at);

		++*at;
		if (frame->inlined)
			continue;
		if (!race_frame_is_c_library(frame))
			*at = SIZE_MAX;
		*ret = frame;
		return true;
	}
	return false;
}

static void add_code(struct strbuf *out, const struct race_frame *frame)
{
	strbuf_add(out, frame->build_id ? frame->build_id
					: race_frame_module(frame));
	strbuf_addf(out, "+0x%" PRIx64 "\n", frame->offset);
}

/* A side that nothing was seen of has no stack to be signed. */
static bool side_is_seen(const struct race_side *side)
{
	return side->role != RACE_UNKNOWN;
}

static bool has_names(const struct race *race)
{
	for (int i = 0; i < 2; i++) {
		const char *name = side_name(&race->sides[i]);

		if (side_is_seen(&race->sides[i]) && (!name || !*name))
			return false;
	}
	return true;
}

static bool has_code(const struct race *race)
{
	for (int i = 0; i < 2; i++) {
		const struct race_frame *frame;
		size_t at = 0;

		if (side_is_seen(&race->sides[i]) &&
		    (!next_code(&race->sides[i], &at, &frame) ||
		     !(frame->build_id || frame->module)))
			return false;
	}
	return true;
}

static void add_names(struct strbuf *out, const struct race *race)
{
	const char *variable = race->variable.name ? race->variable.name
						   : race->variable.symbol;

	for (int i = 0; i < 2; i++) {
		if (!side_is_seen(&race->sides[i]))
			continue;
		strbuf_add(out, i ? "against:race_top:" : "race_top:");
		add_exactly(out, side_name(&race->sides[i]));
		strbuf_add(out, "\n");
	}
	if (!variable || !*variable)
		return;
	strbuf_add(out, "and:variable:");
	add_variable(out, variable);
	strbuf_add(out, "\n");
}

static void add_codes(struct strbuf *out, const struct race *race)
{
	for (int i = 0; i < 2; i++) {
		const char *word = i ? "against:code:" : "code:";
		const struct race_frame *frame;
		size_t at = 0;

		while (side_is_seen(&race->sides[i]) &&
		       next_code(&race->sides[i], &at, &frame) &&
		       (frame->build_id || frame->module)) {
			strbuf_add(out, word);
			add_code(out, frame);
			if (i == 0)
				word = "and:code:";
		}
	}
}

static void add_heading(struct strbuf *out, const struct race *race)
{
	char date[CLOCK_RFC3339_SIZE];
	bool seen = side_is_seen(&race->sides[1]);

	clock_format_rfc3339(race->time, date);
	strbuf_addf(out, "# race #%" PRIu64 ", %.10s: ", race->id, date);
	phrase_add_accesses(out, race);
	strbuf_add(out, "\n");
	if (!seen)
		strbuf_add(out, "# (one side was not seen: this fits whatever "
				"it was)\n");
}

void suppression_write(struct strbuf *out, const struct race *race)
{
	const char * or = "";

	add_heading(out, race);
	if (has_names(race)) {
		add_names(out, race);
		or = "or:";
	}
	if (has_code(race)) {
		strbuf_add(out, or);
		add_codes(out, race);
		or = "or:";
	}
	strbuf_addf(out, "%sfingerprint:%s\n", or, race->fingerprint);
	strbuf_add(out, "#reason: why this may stay\n"
			"#bug:\n"
			"#expires:2999-12-31\n\n");
}
