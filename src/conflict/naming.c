/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for saved reports; see naming.h.
 */
#include "conflict/naming.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "conflict/symbolize.h"
#include "report/merge.h"
#include "report/read.h"

/* What a crash says of a race, anew. */
struct renamed_race {
	char fingerprint[sizeof(((struct race *)NULL)->fingerprint)];
	char *variable; /* or NULL */
};

struct error *naming_init(struct naming *naming, const char *directory)
{
	struct stat status;

	*naming = (struct naming){ .renamed = VEC_INIT(struct renamed_race) };
	if (!directory)
		return NULL;
	if (stat(directory, &status) < 0 || !S_ISDIR(status.st_mode))
		return error_create(ERROR_USAGE,
				    "--symbolize: '%s' is not a "
				    "directory",
				    directory);
	return symbolizer_create(directory, &naming->symbolizer);
}

static void forget_renamed(struct naming *naming)
{
	for (size_t i = 0; i < naming->renamed.count; i++) {
		struct renamed_race *renamed = vec_at(&naming->renamed, i);

		free(renamed->variable);
	}
	vec_clear(&naming->renamed);
	map_deinit(&naming->by_id);
}

void naming_deinit(struct naming *naming)
{
	forget_renamed(naming);
	vec_deinit(&naming->renamed);
	symbolizer_destroy(naming->symbolizer);
	naming->symbolizer = NULL;
}

static struct error *add_modules(struct naming *naming,
				 const struct run_record *run)
{
	struct error *err = NULL;

	forget_renamed(naming);
	for (size_t i = 0; !err && i < run->module_count; i++) {
		if (run->modules[i].path)
			err = symbolizer_add_module(naming->symbolizer,
						    run->modules[i].path,
						    run->modules[i].build_id);
	}
	return err;
}

/* The place of a race that is renamed, of which the last record counts. */
static struct renamed_race *place_renamed(struct naming *naming, uint64_t id)
{
	const uint64_t *place = map_get(&naming->by_id, id);
	struct renamed_race *renamed;

	if (place)
		return vec_at(&naming->renamed, *place);
	if (!map_set(&naming->by_id, id, naming->renamed.count))
		return NULL;
	renamed = vec_append(&naming->renamed);
	if (renamed)
		*renamed = (struct renamed_race){ .variable = NULL };
	return renamed;
}

static struct error *keep_renamed(struct naming *naming,
				  const struct race *race)
{
	struct renamed_race *renamed = place_renamed(naming, race->id);
	const char *variable = race->variable.name;

	if (!renamed)
		return error_nomem;
	memcpy(renamed->fingerprint, race->fingerprint,
	       sizeof(renamed->fingerprint));
	free(renamed->variable);
	renamed->variable = variable ? strdup(variable) : NULL;
	return variable && !renamed->variable ? error_nomem : NULL;
}

static struct error *name_race(struct naming *naming, struct race *race)
{
	bool changed = false;
	struct error *err = symbolize_race(naming->symbolizer, race, &changed);

	if (err || !changed)
		return err;
	naming->changed = true;
	return keep_renamed(naming, race);
}

static struct error *name_crash(struct naming *naming, struct crash *crash)
{
	for (size_t i = 0; i < crash->races.count; i++) {
		struct crash_race *race = vec_at(&crash->races, i);
		const uint64_t *place = map_get(&naming->by_id, race->id);
		const struct renamed_race *renamed;

		if (!place)
			continue;
		renamed = vec_at(&naming->renamed, *place);
		memcpy(race->fingerprint, renamed->fingerprint,
		       sizeof(race->fingerprint));
		if (!renamed->variable)
			continue;
		free(race->variable);
		race->variable = strdup(renamed->variable);
		if (!race->variable)
			return error_nomem;
	}
	return symbolize_frames(naming->symbolizer, &crash->frames,
				&naming->changed);
}

static struct error *name_record(struct naming *naming,
				 struct report_record *record)
{
	if (record->type == REPORT_RUN)
		return add_modules(naming, &record->run);
	if (record->type == REPORT_RACE)
		return name_race(naming, &record->race);
	if (record->type == REPORT_CRASH)
		return name_crash(naming, &record->crash);
	return NULL;
}

struct error *naming_add_all(struct naming *naming, struct merge *merge,
			     struct reader *reader)
{
	struct report_record record;
	struct error *err;
	bool more = true;

	if (!naming->symbolizer)
		return merge_add_all(merge, reader);
	forget_renamed(naming);
	report_record_init(&record);
	do {
		err = reader_next(reader, &record, &more);
		if (!err && more)
			err = name_record(naming, &record);
		if (!err && more)
			err = merge_add(merge, &record);
	} while (!err && more);
	report_record_deinit(&record);
	merge_end_file(merge);
	return err;
}
