/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The races of one run; see pending.h.
 */
#include "report/pending.h"

#include <stdbool.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/combine.h"
#include "report/race.h"
#include "report/read.h"
#include "report/recordsort.h"
#include "report/sorter.h"

void pending_init(struct pending *pending, size_t limit)
{
	*pending = (struct pending){
		.limit = limit,
		.races = VEC_INIT(struct race),
	};
}

static void pending_clear(struct pending *pending)
{
	for (size_t i = 0; i < pending->races.count; i++)
		race_deinit(vec_at(&pending->races, i));
	vec_clear(&pending->races);
	map_deinit(&pending->by_id);
	pending->memory = 0;
}

void pending_deinit(struct pending *pending)
{
	pending_clear(pending);
	vec_deinit(&pending->races);
	sorter_destroy(pending->spilled);
	pending->spilled = NULL;
}

static struct error *pending_spill(struct pending *pending)
{
	struct error *err = NULL;

	if (!pending->spilled)
		err = sorter_create(pending->limit, &pending->spilled);
	for (size_t i = 0; !err && i < pending->races.count; i++) {
		const struct race *race = vec_at(&pending->races, i);
		struct strbuf key = { 0 };

		recordsort_number(&key, race->id);
		recordsort_number(&key, pending->order++);
		err = recordsort_add_race(pending->spilled, &key, race);
	}
	pending_clear(pending);
	return err;
}

struct error *pending_add(struct pending *pending, struct race *race)
{
	const uint64_t *place = race->id ? map_get(&pending->by_id, race->id)
					 : NULL;

	pending->memory += race_memory(race);
	if (place) {
		struct race *before = vec_at(&pending->races, *place);

		pending->memory -= race_memory(before);
		race_deinit(before);
		*before = *race;
	} else if (!vec_push(&pending->races, race)) {
		return error_nomem;
	}
	race_init(race);
	if (!place) {
		size_t last = pending->races.count - 1;
		const struct race *kept = vec_at(&pending->races, last);

		if (kept->id && !map_set(&pending->by_id, kept->id, last))
			return error_nomem;
	}
	if (pending->memory > pending->limit)
		return pending_spill(pending);
	return NULL;
}

/* Of those with the same id the last; those without an id are all others. */
static struct error *pending_finish_spilled(struct pending *pending,
					    const struct race_output *output)
{
	struct error *err = pending_spill(pending);
	bool more = true, have = false;
	struct report_record record;
	struct race last;

	report_record_init(&record);
	race_init(&last);
	if (!err)
		err = sorter_sort(pending->spilled);
	while (!err && more) {
		struct sorter_item item;

		err = recordsort_next(pending->spilled, &record, &item, &more);
		if (err)
			break;
		if (have &&
		    (!more || last.id == 0 || last.id != record.race.id))
			err = output->put(output->context, &last);
		race_deinit(&last);
		have = more;
		if (more) {
			last = record.race;
			race_init(&record.race);
		}
	}
	race_deinit(&last);
	report_record_deinit(&record);
	sorter_destroy(pending->spilled);
	pending->spilled = NULL;
	return err;
}

struct error *pending_finish(struct pending *pending,
			     const struct race_output *output)
{
	struct error *err = NULL;

	if (pending->spilled)
		return pending_finish_spilled(pending, output);
	for (size_t i = 0; !err && i < pending->races.count; i++)
		err = output->put(output->context, vec_at(&pending->races, i));
	pending_clear(pending);
	return err;
}
