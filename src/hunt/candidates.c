/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading candidates; see candidates.h. */
#include "hunt/candidates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
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

static struct error *add_record(struct candidates *candidates,
				struct report_record *record)
{
	if (record->type == REPORT_RACE)
		return add(candidates, &record->race);
	if (record->type == REPORT_CANDIDATE)
		return add(candidates, &record->candidate.race);
	return NULL;
}

static struct error *read_report(const char *path,
				 struct candidates *candidates)
{
	struct report_record record;
	struct reader *reader;
	bool more = true;
	struct error *err = reader_open(path, &reader);

	if (err)
		return err;
	report_record_init(&record);
	while (!err && !(err = reader_next(reader, &record, &more)) && more)
		err = add_record(candidates, &record);
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
	FILE *file;
	int c;

	*ret = false;
	/* it can be read once only */
	if (strcmp(path, "-") == 0)
		return NULL;
	file = fopen(path, "re");
	if (!file)
		return error_os(errno, "%s", path);
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
				   path);
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
