/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text of Helgrind and DRD; see valgrind-text.h. A frame is one of
 *
 *	   at 0x1091A9: add (s.c:9)
 *	   by 0x1091DB: ??? (in /tmp/s)
 *	   by 0x1FFF00052F: ???
 *
 * Those of functions that were inlined have the address of the one below.
 */
#include "foreign/valgrind-text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "foreign/foreign.h"
#include "foreign/gather.h"
#include "foreign/scan.h"
#include "foreign/valgrind.h"
#include "report/field.h"
#include "report/race.h"

struct valgrind_process {
	int pid;
	struct gather gather;
	/* with -v all reports come once more, behind their number */
	bool over;
};

void valgrind_text_init(struct valgrind_text *text, const char *name,
			unsigned int tools, struct foreign_report *report,
			struct map *keys)
{
	*text = (struct valgrind_text){
		.name = name,
		.tools = tools,
		.report = report,
		.keys = keys,
		.processes = VEC_INIT(struct valgrind_process *),
	};
}

static struct valgrind_process *process_at(const struct valgrind_text *text,
					   size_t i)
{
	return *(struct valgrind_process **)vec_at(&text->processes, i);
}

void valgrind_text_deinit(struct valgrind_text *text)
{
	for (size_t i = 0; i < text->processes.count; i++) {
		gather_deinit(&process_at(text, i)->gather);
		free(process_at(text, i));
	}
	vec_deinit(&text->processes);
}

static struct error *find_process(struct valgrind_text *text, int pid,
				  struct valgrind_process **ret)
{
	struct valgrind_process *process;

	for (size_t i = 0; i < text->processes.count; i++) {
		*ret = process_at(text, i);
		if ((*ret)->pid == pid)
			return NULL;
	}
	process = calloc(1, sizeof(*process));
	if (!process || !vec_push(&text->processes, &process)) {
		free(process);
		return error_nomem;
	}
	process->pid = pid;
	gather_init(&process->gather, text->name, text->report, text->keys);
	process->gather.pid = pid;
	*ret = process;
	return NULL;
}

/* "==00:00:00:01.234 4242== ", with --time-stamp=yes */
static void scan_time(struct scan *scan)
{
	enum { LENGTH = sizeof("00:00:00:00.000 ") };
	struct scan near = *scan, time;

	/* a line may be long, and this is asked at each "==" of it */
	if (near.length > LENGTH)
		near.length = LENGTH;
	if (!scan_before(&near, " ", &time) || !scan_first(&time, ":"))
		return;
	scan->at += time.length + 1;
	scan->length -= time.length + 1;
}

/*
 * Take "==4242== " off the line, behind what the program has printed without an end
 * of line. What else Valgrind prints begins with "--4242-- ".
 */
static bool scan_prefix(struct scan *line, int *ret_pid)
{
	struct scan rest = *line, before;
	uint64_t pid;

	while (scan_before(&rest, "==", &before)) {
		struct scan number = rest;

		scan_time(&number);
		if (!scan_number(&number, &pid) || pid > INT_MAX ||
		    !scan_word(&number, "=="))
			continue;
		scan_word(&number, " ");
		*line = number;
		*ret_pid = (int)pid;
		return true;
	}
	return false;
}

/* Where the last parenthesis begins; NULL: there is none. */
static const char *find_last(const struct scan *text)
{
	int depth = 0;

	for (size_t i = text->length; i-- > 1;) {
		depth += text->at[i] == ')';
		if (text->at[i] == '(' && --depth <= 0)
			return text->at[i - 1] == ' ' ? text->at + i - 1 : NULL;
	}
	return NULL;
}

/* "add (s.c:9)", "??? (in /tmp/s)" */
static void read_place(struct gather *gather, struct scan *text,
		       struct race_frame *frame)
{
	const char *module = scan_first(text, " (in /");
	const char *open = module ? module : find_last(text);
	struct scan place, file;
	const char *colon;
	uint64_t line;

	if (!open || text->at[text->length - 1] != ')')
		return;
	place = (struct scan){ open + 2, 0 };
	scan_cut(&place, text->at + text->length - 1);
	if (scan_word(&place, "in ")) {
		gather_text(gather, &frame->module, &place);
		scan_cut(text, open);
		return;
	}
	colon = scan_last(&place, ":");
	if (!colon)
		return;
	file = place;
	scan_cut(&file, colon);
	place.length -= file.length + 1;
	place.at = colon + 1;
	if (!scan_number(&place, &line) || place.length > 0 || line > INT_MAX)
		return;
	gather_text(gather, &frame->file, &file);
	frame->line = (int)line;
	scan_cut(text, open);
}

static bool read_frame(struct gather *gather, const struct scan *line)
{
	struct race_frame frame;
	struct scan rest = *line;
	uint64_t address;

	if ((!scan_word(&rest, "   at ") && !scan_word(&rest, "   by ")) ||
	    !scan_address(&rest, &address) || !scan_word(&rest, ": "))
		return false;
	fields_init(&race_frame_fields, &frame);
	frame.offset = valgrind_offset(address);
	read_place(gather, &rest, &frame);
	if (!scan_word(&rest, "???"))
		gather_function(gather, &frame.function, &rest);
	gather_frame(gather, &frame, address);
	return true;
}

/* "Thread #3 was created" */
static bool read_announcement(struct gather *gather, const struct scan *line)
{
	struct scan rest = *line, label;
	uint64_t number;

	if (!scan_word(&rest, "Thread "))
		return false;
	label = rest;
	if (!scan_word(&rest, "#") || !scan_number(&rest, &number))
		return false;
	scan_cut(&label, rest.at);
	if (!scan_word(&rest, " was created"))
		return false;
	gather_thread(gather, &label, NULL, 0);
	return true;
}

/* What stands between a report's sentence and its stack. */
static bool is_between(const struct scan *line)
{
	struct scan rest = *line;

	return scan_word(&rest, "Locks held:");
}

static void read_line(struct valgrind_process *process, unsigned int tools,
		      const struct scan *line, size_t number)
{
	struct gather *gather = &process->gather;
	size_t place;

	if (read_frame(gather, line) || is_between(line))
		return;
	if (read_announcement(gather, line))
		return;
	if (scan_first(line, "ERROR SUMMARY: ") == line->at)
		process->over = true;
	if (process->over || scan_first(line, "----------------") == line->at ||
	    scan_first(line, "---Thread-Announcement") == line->at)
		gather_end(gather, false, &place);
	else if (!valgrind_sentence(gather, tools, line, number))
		gather_no_frames(gather);
}

struct error *valgrind_text_line(struct valgrind_text *text, struct scan line,
				 size_t number)
{
	struct valgrind_process *process;
	struct error *err;
	int pid;

	if (!scan_prefix(&line, &pid))
		return NULL;
	err = find_process(text, pid, &process);
	if (err || process->over)
		return err;
	read_line(process, text->tools, &line, number);
	return process->gather.failed ? error_nomem : NULL;
}

struct error *valgrind_text_finish(struct valgrind_text *text)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < text->processes.count; i++)
		err = gather_finish(&process_at(text, i)->gather, false);
	return err;
}
