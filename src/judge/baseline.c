/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Races known from before; see baseline.h.
 */
#include "judge/baseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/replace.h"
#include "report/race.h"
#include "report/read.h"
#include "report/render.h"
#include "report/run.h"

enum { FINGERPRINT_DIGITS = 32 };

/* What is kept of each race. */
struct baseline_entry {
	char names[FINGERPRINT_DIGITS + 1], code[FINGERPRINT_DIGITS + 1];
	char *variable; /* its symbol; NULL: not known */
	bool named; /* both sides' innermost functions are known */
	/* index plus one of another entry of the same code; 0: none */
	size_t same_code;
};

void baseline_init(struct baseline *baseline, bool keep)
{
	*baseline = (struct baseline){
		.entries = VEC_INIT(struct baseline_entry),
		.races = VEC_INIT(struct race),
		.keep = keep,
	};
	sides_init(&baseline->sides);
}

void baseline_deinit(struct baseline *baseline)
{
	for (size_t i = 0; i < baseline->entries.count; i++) {
		struct baseline_entry *entry = vec_at(&baseline->entries, i);

		free(entry->variable);
	}
	for (size_t i = 0; i < baseline->races.count; i++)
		race_deinit(vec_at(&baseline->races, i));
	vec_deinit(&baseline->entries);
	vec_deinit(&baseline->races);
	map_deinit(&baseline->by_names);
	map_deinit(&baseline->by_code);
	sides_deinit(&baseline->sides);
}

/* The first 64 of its 128 bits. */
static uint64_t fingerprint_key(const char *fingerprint)
{
	char half[FINGERPRINT_DIGITS / 2 + 1] = "";

	memcpy(half, fingerprint, FINGERPRINT_DIGITS / 2);
	return strtoull(half, NULL, 16);
}

static bool is_fingerprint(const char *text)
{
	return strspn(text, "0123456789abcdef") == FINGERPRINT_DIGITS &&
	       strlen(text) == FINGERPRINT_DIGITS;
}

static bool race_is_named(const struct race *race)
{
	return side_is_named(&race->sides[0]) && side_is_named(&race->sides[1]);
}

static const struct baseline_entry *find_entry(const struct baseline *baseline,
					       const struct map *map,
					       const char *fingerprint)
{
	const uint64_t *index =
		is_fingerprint(fingerprint)
			? map_get(map, fingerprint_key(fingerprint))
			: NULL;

	return index ? vec_at(&baseline->entries, (size_t)*index) : NULL;
}

/* Nothing but the code is there to be compared, or the rest agrees. */
static bool names_allow(const struct baseline_entry *entry,
			const struct race *race)
{
	const char *symbol = race_symbol(race);

	if (!entry->named || !race_is_named(race))
		return true;
	return entry->variable && symbol &&
	       strcmp(entry->variable, symbol) == 0;
}

bool baseline_has(const struct baseline *baseline, const struct race *race)
{
	const struct baseline_entry *entry;

	entry = find_entry(baseline, &baseline->by_names, race->fingerprint);
	if (entry && strcmp(entry->names, race->fingerprint) == 0)
		return true;
	entry = find_entry(baseline, &baseline->by_code,
			   race->fingerprint_code);
	while (entry) {
		if (strcmp(entry->code, race->fingerprint_code) == 0 &&
		    names_allow(entry, race))
			return true;
		entry = entry->same_code == 0 ? NULL
					      : vec_at(&baseline->entries,
						       entry->same_code - 1);
	}
	return false;
}

bool baseline_knows(struct baseline *baseline, const struct race *race)
{
	return baseline_has(baseline, race) ||
	       sides_know(&baseline->sides, race);
}

static struct error *baseline_enter(struct baseline *baseline,
				    const struct race *race)
{
	const char *symbol = race_symbol(race);
	uint64_t names = fingerprint_key(race->fingerprint);
	uint64_t code = fingerprint_key(race->fingerprint_code);
	struct baseline_entry entry = { .named = race_is_named(race) };
	size_t index = baseline->entries.count;
	const uint64_t *other = map_get(&baseline->by_code, code);

	memcpy(entry.names, race->fingerprint, sizeof(entry.names));
	memcpy(entry.code, race->fingerprint_code, sizeof(entry.code));
	entry.same_code = other ? (size_t)*other + 1 : 0;
	entry.variable = symbol ? strdup(symbol) : NULL;
	if ((symbol && !entry.variable) ||
	    !vec_push(&baseline->entries, &entry)) {
		free(entry.variable);
		return error_nomem;
	}
	if (!map_set(&baseline->by_names, names, index) ||
	    !map_set(&baseline->by_code, code, index))
		return error_nomem;
	return sides_add(&baseline->sides, race);
}

static bool can_be_known(const struct race *race)
{
	return race->verdict != VERDICT_SYNC && !race->suppressed.rule &&
	       is_fingerprint(race->fingerprint) &&
	       is_fingerprint(race->fingerprint_code);
}

/* A report has a race again when its count has grown. */
static bool is_entered(const struct baseline *baseline, const struct race *race)
{
	const struct baseline_entry *entry =
		find_entry(baseline, &baseline->by_names, race->fingerprint);

	return entry && strcmp(entry->names, race->fingerprint) == 0 &&
	       strcmp(entry->code, race->fingerprint_code) == 0;
}

struct error *baseline_take(struct baseline *baseline, struct race *race)
{
	struct error *err;

	if (!can_be_known(race) || is_entered(baseline, race))
		return NULL;
	err = baseline_enter(baseline, race);
	if (err || !baseline->keep)
		return err;
	if (!vec_push(&baseline->races, race))
		return error_nomem;
	/* it is ours now */
	race_init(race);
	return NULL;
}

static struct error *baseline_read_all(struct baseline *baseline,
				       struct reader *reader)
{
	struct report_record record;
	struct error *err = NULL;
	bool more = true;

	report_record_init(&record);
	while (!err) {
		err = reader_next(reader, &record, &more);
		if (err || !more)
			break;
		if (record.type == REPORT_RACE)
			err = baseline_take(baseline, &record.race);
	}
	report_record_deinit(&record);
	return err;
}

struct error *baseline_read(struct baseline *baseline, const char *path)
{
	struct reader *reader;
	struct error *err;

	if (baseline->keep && access(path, F_OK) < 0 && errno == ENOENT)
		return NULL;
	err = reader_open(path, &reader);
	if (err)
		return err;
	err = baseline_read_all(baseline, reader);
	reader_close(reader);
	return err;
}

/* With a number of its own, and nothing of what one run thought of it. */
static struct error *write_race(struct renderer *json, const struct race *race,
				uint64_t id)
{
	struct race plain = *race;

	plain.id = id;
	plain.status = STATUS_UNSET;
	return json->ops->race(json, &plain);
}

/* The baseline, and the races that are added to it. */
struct baseline_content {
	const struct baseline *baseline;
	const struct vec *more;
};

static struct error *write_races(const void *context, FILE *file)
{
	const struct baseline_content *content = context;
	const struct baseline *baseline = content->baseline;
	const struct vec *more = content->more;
	struct renderer json = { .ops = &render_json, .out = file };
	struct run_record run = { .version = PACKAGE_VERSION };
	uint64_t id = 0;
	struct error *err;

	if (baseline->races.count > 0)
		run.start = ((struct race *)baseline->races.items)->time;
	else if (more->count > 0)
		run.start = (*(struct race **)more->items)->time;
	err = json.ops->run(&json, &run);
	for (size_t i = 0; !err && i < baseline->races.count; i++)
		err = write_race(&json, vec_at(&baseline->races, i), ++id);
	for (size_t i = 0; !err && i < more->count; i++)
		err = write_race(&json, *(struct race **)vec_at(more, i), ++id);
	return err;
}

struct error *baseline_write(const struct baseline *baseline,
			     const struct vec *more, const char *path)
{
	const struct baseline_content content = { baseline, more };

	return error_wrap(replace_file(path, write_races, &content),
			  "the baseline was not written");
}
