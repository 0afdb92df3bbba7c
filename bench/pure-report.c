/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Of bench/pure, what is done to report: races and what was learned, read,
 * compared and written.
 */
#include "pure.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "report/dedupe.h"
#include "report/learned.h"
#include "report/merge.h"
#include "report/read.h"
#include "report/render.h"

enum { RACES = 32, LOCATIONS = 256 };

/* A state file, read. */
void pure_state(unsigned long n)
{
	char path[PURE_PATH_MAX];
	struct learned learned;

	pure_path("TMPDIR", "pure.state", path);
	learned_init(&learned);
	learned_module(&learned, "/usr/bin/x", NULL);
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		learned_site(&learned, 0, i * 5);
		learned_site_at(&learned, i)->hits = i + 1;
		learned_site_at(&learned, i)->shared = i + 1;
	}
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		uint32_t pair = learned_pair(&learned, i, i * 3 % LOCATIONS);

		learned_pair_at(&learned, pair)->seen = 1;
	}
	unlink(path);
	pure_must(learned_save(&learned, path));
	learned_deinit(&learned);
	for (; n > 0; n--) {
		learned_init(&learned);
		pure_must(learned_read(&learned, path));
		pure_require(learned.sites.count == LOCATIONS, "the state");
		learned_deinit(&learned);
	}
	unlink(path);
}

/* Reports. */

static size_t race_line(char *line, size_t room)
{
	static char text[PURE_TEXT_MAX];
	const char *from, *to;
	size_t size = pure_corpus("report/run", text, sizeof(text) - 1);

	text[size] = '\0';
	from = strstr(text, "{\"type\":\"race\"");
	pure_require(from != NULL, "no race in the corpus");
	to = strchr(from, '\n');
	pure_require(to && (size_t)(to - from) < room, "the race");
	memcpy(line, from, (size_t)(to - from));
	return (size_t)(to - from);
}

void pure_parse(unsigned long n)
{
	static char line[PURE_TEXT_MAX];
	size_t length = race_line(line, sizeof(line));
	struct report_record record;

	report_record_init(&record);
	for (; n > 0; n--)
		pure_must(report_record_parse(line, length, &record));
	report_record_deinit(&record);
}

/* The race, in record, as one of several: another function at the top. */
static void race_vary(struct race *race, unsigned long n)
{
	struct race_frame *top = vec_at(&race->sides[0].frames, 0);
	char name[32];

	snprintf(name, sizeof(name), "function%lu", n % RACES);
	free(top->function);
	top->function = strdup(name);
	race->id = n % RACES + 1;
	pure_require(top->function && race_fingerprint(race), "memory");
}

void pure_fingerprint(unsigned long n)
{
	static char line[PURE_TEXT_MAX];
	size_t length = race_line(line, sizeof(line));
	struct report_record record;

	report_record_init(&record);
	pure_must(report_record_parse(line, length, &record));
	for (; n > 0; n--)
		race_vary(&record.race, n);
	report_record_deinit(&record);
}

static struct race *race_take(struct report_record *record)
{
	struct race *race = malloc(sizeof(*race));

	pure_require(race != NULL, "memory");
	*race = record->race;
	race_init(&record->race);
	return race;
}

/* Races that come again and again; to have one, a line is parsed. */
void pure_dedupe(unsigned long n)
{
	static char line[PURE_TEXT_MAX];
	size_t length = race_line(line, sizeof(line));
	struct report_record record;
	struct dedupe dedupe;
	struct race *kept;
	enum dedupe_found found;

	dedupe_init(&dedupe);
	report_record_init(&record);
	for (; n > 0; n--) {
		pure_must(report_record_parse(line, length, &record));
		race_vary(&record.race, n);
		pure_must(
			dedupe_add(&dedupe, race_take(&record), &kept, &found));
	}
	report_record_deinit(&record);
	dedupe_deinit(&dedupe);
}

static void render(const struct renderer_ops *ops, FILE *out, unsigned long n)
{
	struct renderer renderer = { .ops = ops, .out = out };
	static char line[PURE_TEXT_MAX];
	size_t length = race_line(line, sizeof(line));
	struct report_record record;

	report_record_init(&record);
	pure_must(report_record_parse(line, length, &record));
	for (; n > 0; n--) {
		race_vary(&record.race, n);
		pure_must(ops->race(&renderer, &record.race));
	}
	pure_must(render_finish(&renderer));
	report_record_deinit(&record);
}

static void render_to_nobody(const struct renderer_ops *ops, unsigned long n)
{
	FILE *out = fopen("/dev/null", "we");

	pure_require(out != NULL, "/dev/null");
	render(ops, out, n);
	fclose(out);
}

void pure_json(unsigned long n)
{
	render_to_nobody(&render_json, n);
}

void pure_text(unsigned long n)
{
	render_to_nobody(&render_text, n);
}

/* Two files of N/2 races each, of few kinds, become one. */
void pure_merge(unsigned long n)
{
	char path[PURE_PATH_MAX];
	FILE *out = fopen(pure_path("TMPDIR", "pure.jsonl", path), "we");
	struct report_record record;
	struct merge *merge;
	bool more = true;

	pure_require(out != NULL, path);
	render(&render_json, out, n / 2);
	fclose(out);
	pure_must(merge_create(MERGE_MEMORY, &merge));
	for (int file = 0; file < 2; file++) {
		struct reader *reader;

		pure_must(reader_open(path, &reader));
		pure_must(merge_add_all(merge, reader));
		merge_end_file(merge);
		reader_close(reader);
	}
	report_record_init(&record);
	for (pure_must(merge_rewind(merge)); more;)
		pure_must(merge_next(merge, &record, &more));
	report_record_deinit(&record);
	merge_destroy(merge);
	unlink(path);
}
