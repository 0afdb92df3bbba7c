/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ThreadSanitizer's text; see tsan.h. It writes, by its option
 * stack_trace_format's default, for a frame
 *
 *	    #0 add /src/cache.c:9:78 (cache+0x1218) (BuildId: 72d6...)
 *
 * with <null> for what is not known. Go writes
 *
 *	  main.add()
 *	      /src/cache.go:9 +0x44
 */
#include "foreign/tsan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/foreign.h"
#include "foreign/gather.h"
#include "foreign/scan.h"
#include "report/field.h"
#include "report/race.h"

/* "data race", "data race on vptr (...)", "heap-use-after-free" */
static bool is_race(const struct scan *kind)
{
	return scan_first(kind, "data race") == kind->at ||
	       scan_first(kind, "race on ") == kind->at ||
	       scan_first(kind, "heap-use-after-free") == kind->at;
}

static bool read_heading(struct tsan *tsan, const struct scan *line,
			 size_t number)
{
	struct gather *gather = tsan->gather;
	struct scan rest = *line, kind;
	uint64_t pid = 0;
	size_t place;

	if (scan_before(&rest, "WARNING: DATA RACE", &kind)) {
		gather_end(gather, true, &place);
		gather_forget_threads(gather);
		gather->pid = 0;
		gather_begin(gather, "tsan", number);
		return true;
	}
	if (!scan_before(&rest, "WARNING: ThreadSanitizer: ", &kind))
		return false;
	gather_end(gather, true, &place);
	gather_forget_threads(gather);
	if (!scan_before(&rest, " (pid=", &kind)) {
		kind = rest;
	} else if (!scan_number(&rest, &pid) || pid > INT_MAX) {
		pid = 0;
	}
	gather->pid = (int)pid;
	if (is_race(&kind))
		gather_begin(gather, "tsan", number);
	else
		gather->report->others++;
	return true;
}

static bool scan_kind(struct scan *line, struct gather_access *access)
{
	scan_word(line, "Previous ");
	access->atomic = scan_word(line, "atomic ") ||
			 scan_word(line, "Atomic ");
	if (scan_word(line, "Write ") || scan_word(line, "write "))
		access->access = ACCESS_WRITE;
	else if (scan_word(line, "Read ") || scan_word(line, "read "))
		access->access = ACCESS_READ;
	else
		return false;
	return true;
}

/* "thread T1", "main thread", "goroutine 7", "main goroutine" */
static bool scan_thread(struct scan *line, struct scan *ret)
{
	struct scan rest = *line;

	if (scan_word(&rest, "main thread") ||
	    scan_word(&rest, "main goroutine")) {
		*ret = scan_of("main");
	} else if (scan_word(&rest, "thread ") ||
		   scan_word(&rest, "goroutine ")) {
		*ret = rest;
		while (rest.length > 0 && !strchr(" :(,", *rest.at)) {
			rest.at++;
			rest.length--;
		}
		scan_cut(ret, rest.at);
		if (ret->length == 0)
			return false;
	} else {
		return false;
	}
	*line = rest;
	return true;
}

/* "  Previous write of size 8 at 0x7b04 by thread T1 (mutexes: write M0):" */
static bool read_access(struct tsan *tsan, const struct scan *line,
			size_t number)
{
	struct gather_access access = { .size = 0 };
	struct scan rest = *line;
	/* Go's has no size, and begins its line */
	bool sized = scan_word(&rest, "  ");

	if (!scan_kind(&rest, &access) ||
	    !scan_word(&rest, sized ? "of size " : "at "))
		return false;
	if ((sized && (!scan_number(&rest, &access.size) ||
		       !scan_word(&rest, " at "))) ||
	    !scan_address(&rest, &access.address) ||
	    !scan_word(&rest, " by ") || !scan_thread(&rest, &access.thread)) {
		gather_bad(tsan->gather, number,
			   "an access has no size, address or thread");
		gather_no_frames(tsan->gather);
		return true;
	}
	gather_access(tsan->gather, &access);
	return true;
}

/* "  Location is global 'shards' of size 64 at 0x5555 (cache+0x40f8)" */
static void read_global(struct gather *gather, struct scan *rest)
{
	struct scan name, module = { "", 0 };
	uint64_t size, address = 0, offset = 0, at;

	if (!scan_before(rest, "' of size ", &name) ||
	    !scan_number(rest, &size) || !scan_word(rest, " at ") ||
	    !scan_address(rest, &address))
		return;
	if (scan_word(rest, " (") && scan_last(rest, "+0x")) {
		module = *rest;
		scan_cut(&module, scan_last(rest, "+0x"));
		rest->length -= module.length + 1;
		rest->at += module.length + 1;
		if (!scan_address(rest, &offset))
			module.length = 0;
	}
	at = gather->race && gather->race->address > address
		     ? gather->race->address - address
		     : 0;
	gather_variable(gather, &name, at, &module, offset ? offset + at : 0);
}

static bool read_location(struct tsan *tsan, const struct scan *line)
{
	struct gather *gather = tsan->gather;
	struct scan rest = *line;
	uint64_t size, address;

	if (!scan_word(&rest, "  Location is "))
		return false;
	gather_no_frames(gather);
	if (scan_word(&rest, "global '"))
		read_global(gather, &rest);
	else if (scan_word(&rest, "heap block of size ") &&
		 scan_number(&rest, &size) && scan_word(&rest, " at ") &&
		 scan_address(&rest, &address))
		gather_block(gather, address, size);
	else if (scan_word(&rest, "stack of "))
		gather_region(gather, REGION_STACK, NULL);
	else if (scan_word(&rest, "TLS of "))
		gather_region(gather, REGION_TLS, NULL);
	return true;
}

/* "  Thread T2 'filler' (tid=18160, running) created by main thread at:" */
static bool read_thread(struct tsan *tsan, const struct scan *line)
{
	struct scan rest = *line, label, name, before;
	uint64_t tid = 0;
	bool named = false;

	if (!scan_word(&rest, "  Thread ") && !scan_word(&rest, "Goroutine "))
		return false;
	if (!scan_first(&rest, " created ") || !scan_before(&rest, " ", &label))
		return false;
	if (scan_word(&rest, "'"))
		named = scan_before(&rest, "' ", &name);
	if (!scan_before(&rest, "(tid=", &before) ||
	    !scan_number(&rest, &tid) || tid > INT_MAX)
		tid = 0;
	gather_thread(tsan->gather, &label, named ? &name : NULL, (int)tid);
	return true;
}

/* "/src/cache.c:9:78", "<null>"; false: it is no place */
static bool read_place(struct gather *gather, struct scan *text,
		       struct race_frame *frame)
{
	uint64_t numbers[2] = { 0, 0 };
	int count = 0;

	while (count < 2) {
		const char *colon = scan_last(text, ":");
		struct scan number;
		uint64_t value;

		if (!colon)
			break;
		number.at = colon + 1;
		number.length = text->length - (size_t)(number.at - text->at);
		if (!scan_number(&number, &value) || number.length > 0 ||
		    value > INT_MAX)
			break;
		numbers[count++] = value;
		scan_cut(text, colon);
	}
	if (scan_first(text, "<null>") == text->at)
		return true;
	if (count == 0 && !scan_first(text, "/"))
		return false;
	gather_text(gather, &frame->file, text);
	frame->line = (int)numbers[count == 2 ? 1 : 0];
	frame->column = count == 2 ? (int)numbers[0] : 0;
	return true;
}

/* "... /src/cache.c:9:78", "... <null>" */
static bool ends_with_place(const struct scan *text)
{
	size_t i = text->length;

	if (i > 6 && strncmp(text->at + i - 6, "<null>", 6) == 0)
		return true;
	while (i > 0 && text->at[i - 1] >= '0' && text->at[i - 1] <= '9')
		i--;
	return i > 0 && i < text->length && text->at[i - 1] == ':';
}

/* Behind a place, as a program's name may have a parenthesis, too; or the last one. */
static const char *find_module(const struct scan *rest)
{
	struct scan from = *rest, skipped, before;

	while (scan_before(&from, " (", &skipped)) {
		before = *rest;
		scan_cut(&before, from.at - strlen(" ("));
		if (ends_with_place(&before))
			return before.at + before.length;
	}
	return scan_last(rest, " (");
}

/* "(cache+0x1218) (BuildId: 72d6...)" at the end, which is cut off */
static void read_module(struct gather *gather, struct scan *rest,
			struct race_frame *frame)
{
	const char *id = scan_last(rest, " (BuildId: ");
	const char *open, *plus;
	struct scan text;

	if (id) {
		text.at = id + strlen(" (BuildId: ");
		text.length = rest->length - (size_t)(text.at - rest->at);
		if (text.length > 0 && text.at[text.length - 1] == ')')
			text.length--;
		gather_text(gather, &frame->build_id, &text);
		scan_cut(rest, id);
	}
	open = find_module(rest);
	plus = scan_last(rest, "+0x");
	if (!open || !plus || plus < open)
		return;
	text.at = plus + 1;
	text.length = rest->length - (size_t)(text.at - rest->at);
	if (!scan_address(&text, &frame->offset))
		return;
	text = (struct scan){ open + 2, (size_t)(plus - open - 2) };
	gather_text(gather, &frame->module, &text);
	scan_cut(rest, open);
}

/*
 * Where the file is, behind the function, which may have blanks; so may a file, whose
 * folder tells. NULL: there is none.
 */
static const char *find_place(const struct scan *rest)
{
	static const char *const begins[] = { " /", " ../", " ./" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		const char *blank = scan_first(rest, begins[i]);

		if (blank)
			return blank;
	}
	return scan_last(rest, " ");
}

static bool read_frame(struct tsan *tsan, const struct scan *line)
{
	struct gather *gather = tsan->gather;
	struct race_frame frame;
	struct scan rest = *line, place;
	uint64_t number;
	const char *blank;

	if (!scan_word(&rest, "    #") || !scan_number(&rest, &number) ||
	    !scan_word(&rest, " "))
		return false;
	fields_init(&race_frame_fields, &frame);
	read_module(gather, &rest, &frame);
	blank = find_place(&rest);
	if (blank) {
		place.at = blank + 1;
		place.length = rest.length - (size_t)(place.at - rest.at);
		if (read_place(gather, &place, &frame))
			scan_cut(&rest, blank);
	}
	if (rest.length > 0 && !scan_word(&rest, "<null>"))
		gather_function(gather, &frame.function, &rest);
	gather_frame(gather, &frame, frame.offset);
	return true;
}

/* "      /src/cache.go:9 +0x44", after the line with the function */
static bool read_go_place(struct tsan *tsan, const struct scan *line)
{
	struct gather *gather = tsan->gather;
	struct scan rest = *line, place, function = scan_of(tsan->function);
	struct race_frame frame;

	if (!function.length || !scan_word(&rest, "      "))
		return false;
	if (!scan_before(&rest, " +0x", &place))
		place = rest;
	fields_init(&race_frame_fields, &frame);
	read_place(gather, &place, &frame);
	gather_function(gather, &frame.function, &function);
	tsan->function[0] = '\0';
	gather_frame(gather, &frame, 0);
	return true;
}

/* "  main.add()" */
static bool read_go_function(struct tsan *tsan, const struct scan *line)
{
	struct scan rest = *line;

	if (!scan_word(&rest, "  ") || rest.length == 0 || *rest.at == ' ' ||
	    *rest.at == '#' || rest.at[rest.length - 1] != ')' ||
	    rest.length >= sizeof(tsan->function) || scan_first(&rest, ":"))
		return false;
	memcpy(tsan->function, rest.at, rest.length);
	tsan->function[rest.length] = '\0';
	return true;
}

/* "  Mutex M0 (0x5555) created at:", "  As if synchronized via sleep:" */
static bool ends_stack(const struct scan *line)
{
	return line->length > 3 && line->at[0] == ' ' && line->at[1] == ' ' &&
	       line->at[2] != ' ' && line->at[line->length - 1] == ':';
}

/* With color=always, and on a terminal, a line begins with "\033[1m\033[31m". */
static void skip_colors(struct scan *line)
{
	struct scan rest = *line, color;

	while (scan_word(&rest, "\033[") && scan_before(&rest, "m", &color))
		*line = rest;
}

void tsan_line(struct tsan *tsan, struct scan line, size_t number)
{
	size_t place;

	skip_colors(&line);
	if (read_heading(tsan, &line, number))
		tsan->function[0] = '\0';
	else if (!tsan->gather->race)
		return;
	else if (scan_first(&line, "==================") == line.at ||
		 scan_first(&line, "SUMMARY: ThreadSanitizer: ") == line.at)
		gather_end(tsan->gather, true, &place);
	else if (!read_frame(tsan, &line) &&
		 !read_access(tsan, &line, number) &&
		 !read_location(tsan, &line) && !read_thread(tsan, &line) &&
		 !read_go_place(tsan, &line) &&
		 !read_go_function(tsan, &line) && ends_stack(&line))
		gather_no_frames(tsan->gather);
}
