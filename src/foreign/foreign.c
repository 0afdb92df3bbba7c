/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of other race detectors; see foreign.h. */
#include "foreign/foreign.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "foreign/gather.h"
#include "foreign/scan.h"
#include "foreign/tsan.h"
#include "foreign/valgrind-text.h"
#include "foreign/valgrind-xml.h"
#include "foreign/valgrind.h"
#include "report/race.h"

void foreign_report_deinit(struct foreign_report *report)
{
	for (size_t i = 0; i < report->races.count; i++)
		race_free(*(struct race **)vec_at(&report->races, i));
	vec_deinit(&report->races);
}

/* What only they write; the first that is there tells. */
static const struct {
	const char *mark;
	enum foreign_tool tool;
} marks[] = {
	{ "<valgrindoutput", FOREIGN_XML },
	{ "WARNING: ThreadSanitizer: ", FOREIGN_TSAN },
	{ "WARNING: DATA RACE", FOREIGN_TSAN },
	{ "== Helgrind, a thread error detector", FOREIGN_HELGRIND },
	{ "== drd, a thread error detector", FOREIGN_DRD },
	{ "== Possible data race during ", FOREIGN_HELGRIND },
	{ "== Conflicting load by thread ", FOREIGN_DRD },
	{ "== Conflicting store by thread ", FOREIGN_DRD },
};

enum foreign_tool foreign_detect(const char *text, size_t size)
{
	const struct scan all = { text, size };

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		if (scan_first(&all, marks[i].mark))
			return marks[i].tool;
	}
	return FOREIGN_AUTO;
}

/* The next line without its end, CR LF or LF. */
static struct scan next_line(struct scan *rest)
{
	const char *end = memchr(rest->at, '\n', rest->length);
	struct scan line = *rest;

	if (end)
		scan_cut(&line, end);
	rest->at += line.length + (end != NULL);
	rest->length -= line.length + (end != NULL);
	if (line.length > 0 && line.at[line.length - 1] == '\r')
		line.length--;
	return line;
}

static struct error *parse_tsan(const char *name, struct scan rest,
				struct foreign_report *report, struct map *keys)
{
	struct gather gather;
	struct tsan tsan = { .gather = &gather };
	struct error *err;

	gather_init(&gather, name, report, keys);
	for (size_t number = 1; rest.length > 0 && !gather.failed; number++)
		tsan_line(&tsan, next_line(&rest), number);
	/* it always names both accesses */
	err = gather_finish(&gather, true);
	gather_deinit(&gather);
	return err;
}

static struct error *parse_valgrind(const char *name, struct scan rest,
				    unsigned int tools,
				    struct foreign_report *report,
				    struct map *keys)
{
	struct valgrind_text text;
	struct error *err = NULL;

	valgrind_text_init(&text, name, tools, report, keys);
	for (size_t number = 1; !err && rest.length > 0; number++)
		err = valgrind_text_line(&text, next_line(&rest), number);
	if (!err)
		err = valgrind_text_finish(&text);
	valgrind_text_deinit(&text);
	return err;
}

static struct error *parse(enum foreign_tool tool, const char *name,
			   struct scan all, struct foreign_report *report,
			   struct map *keys)
{
	switch (tool) {
	case FOREIGN_TSAN:
		return parse_tsan(name, all, report, keys);
	case FOREIGN_HELGRIND:
		return parse_valgrind(name, all, VALGRIND_HELGRIND, report,
				      keys);
	case FOREIGN_DRD:
		return parse_valgrind(name, all, VALGRIND_DRD, report, keys);
	case FOREIGN_XML:
		return valgrind_xml_parse(name, all.at, all.length, report,
					  keys);
	case FOREIGN_AUTO:
		break;
	}
	return error_create(ERROR_FORMAT,
			    "%s: there is no report of ThreadSanitizer, "
			    "Helgrind or DRD in it",
			    name);
}

struct error *foreign_parse(enum foreign_tool tool, const char *name,
			    const char *text, size_t size,
			    struct foreign_report *ret)
{
	struct foreign_report report = { .races = VEC_INIT(struct race *) };
	struct map keys = { 0 };
	struct error *err;

	if (tool == FOREIGN_AUTO)
		tool = foreign_detect(text, size);
	err = parse(tool, name, (struct scan){ text, size }, &report, &keys);
	map_deinit(&keys);
	if (err)
		foreign_report_deinit(&report);
	else
		*ret = report;
	return err;
}

/* When they were reported, as far as the file tells. */
static void set_time(const struct foreign_report *report, FILE *file)
{
	struct stat status;
	uint64_t time = clock_wall_ns();

	if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode))
		time = (uint64_t)status.st_mtim.tv_sec * CLOCK_NS_PER_S +
		       (uint64_t)status.st_mtim.tv_nsec;
	for (size_t i = 0; i < report->races.count; i++) {
		struct race *race = *(struct race **)vec_at(&report->races, i);

		race->time = race->last_time = time;
	}
}

static struct error *read_all(FILE *file, const char *name, struct strbuf *ret)
{
	char buffer[1 << 16];
	size_t count;

	while ((count = fread(buffer, 1, sizeof(buffer), file)) > 0) {
		strbuf_add_bytes(ret, buffer, count);
		if (ret->failed)
			return error_nomem;
		if (ret->length > FOREIGN_SIZE_MAX)
			return error_create(ERROR_FORMAT,
					    "%s: it has more than %d MB", name,
					    FOREIGN_SIZE_MAX >> 20);
	}
	return ferror(file) ? error_os(errno, "%s", name) : NULL;
}

const char *foreign_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

struct error *foreign_read(enum foreign_tool tool, const char *path,
			   struct foreign_report *ret)
{
	bool standard = strcmp(path, "-") == 0;
	const char *name = foreign_name(path);
	FILE *file = standard ? stdin : fopen(path, "re");
	struct strbuf text = { 0 };
	struct error *err;

	if (!file)
		return error_os(errno, "%s", path);
	err = read_all(file, name, &text);
	if (!err)
		err = foreign_parse(tool, name, strbuf_text(&text), text.length,
				    ret);
	if (!err)
		set_time(ret, file);
	if (!standard)
		fclose(file);
	strbuf_deinit(&text);
	return err;
}
