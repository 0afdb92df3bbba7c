/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading candidates; see candidates.h. */
#include "hunt/candidates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/map.h"
#include "foreign/foreign.h"
#include "report/race.h"
#include "report/read.h"
#include "report/record.h"

static struct error *add(struct candidates *candidates, struct race *race)
{
	struct candidate candidate = {
		.sides = VEC_INIT(struct candidate_side),
	};

	candidate.race = malloc(sizeof(*candidate.race));
	if (!candidate.race)
		return error_nomem;
	*candidate.race = *race;
	if (!vec_push(&candidates->items, &candidate)) {
		free(candidate.race);
		return error_nomem;
	}
	race_init(race);
	candidate.race->id = candidates->items.count;
	return NULL;
}

/* A report has a race once more when its count has grown: the last one holds. */
static struct error *add_race(struct candidates *candidates, struct map *by_id,
			      struct race *race)
{
	const uint64_t *place = map_get(by_id, race->id);
	struct race *known;

	if (!place)
		return map_set(by_id, race->id, candidates->items.count)
			       ? add(candidates, race)
			       : error_nomem;
	known = ((struct candidate *)vec_at(&candidates->items, *place))->race;
	race_deinit(known);
	*known = *race;
	known->id = *place + 1;
	race_init(race);
	return NULL;
}

/* by_id: the races of this run */
static struct error *add_record(struct candidates *candidates,
				struct map *by_id, struct report_record *record)
{
	if (record->type == REPORT_RUN)
		map_deinit(by_id);
	if (record->type == REPORT_RACE)
		return add_race(candidates, by_id, &record->race);
	if (record->type == REPORT_CANDIDATE)
		return add(candidates, &record->candidate.race);
	return NULL;
}

static struct error *read_report(const char *path,
				 struct candidates *candidates)
{
	struct report_record record;
	struct map by_id = { 0 };
	struct reader *reader;
	bool more = true;
	struct error *err = reader_open(path, &reader);

	if (err)
		return err;
	report_record_init(&record);
	while (!err && !(err = reader_next(reader, &record, &more)) && more)
		err = add_record(candidates, &by_id, &record);
	map_deinit(&by_id);
	report_record_deinit(&record);
	reader_close(reader);
	return err;
}

static struct error *read_foreign(const char *path,
				  struct candidates *candidates)
{
	struct foreign_report report;
	struct error *err = foreign_read(FOREIGN_AUTO, path, &report);

	if (err)
		return err;
	for (size_t i = 0; !err && i < report.races.count; i++)
		err = add(candidates,
			  *(struct race **)vec_at(&report.races, i));
	foreign_report_deinit(&report);
	return err;
}

/* Reports of racewatch are lines of JSON. */
static struct error *is_report(const char *path, bool *ret)
{
	struct stat status;
	FILE *file;
	int c;

	*ret = false;
	/* it can be read once only */
	if (strcmp(path, "-") == 0)
		return NULL;
	file = fopen(path, "re");
	if (!file)
		return error_os(errno, "%s", path);
	/* of a pipe, what is read here would be lost to the reader */
	if (fstat(fileno(file), &status) == 0 && !S_ISREG(status.st_mode)) {
		fclose(file);
		return error_create(ERROR_USAGE,
				    "%s is not a regular file; - is standard "
				    "input",
				    path);
	}
	c = getc(file);
	*ret = c == '{';
	fclose(file);
	return NULL;
}

struct error *candidates_read(const char *path, struct candidates *ret)
{
	struct candidates candidates = { VEC_INIT(struct candidate) };
	bool report;
	struct error *err = is_report(path, &report);

	if (!err)
		err = report ? read_report(path, &candidates)
			     : read_foreign(path, &candidates);
	if (!err && candidates.items.count == 0)
		err = error_create(ERROR_FORMAT, "%s has no report of a race",
				   foreign_name(path));
	if (err)
		candidates_deinit(&candidates);
	else
		*ret = candidates;
	return err;
}

void candidates_deinit(struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->items.count; i++) {
		struct candidate *candidate = vec_at(&candidates->items, i);

		race_free(candidate->race);
		vec_deinit(&candidate->sides);
	}
	vec_deinit(&candidates->items);
}
