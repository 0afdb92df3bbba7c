/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Races of earlier hunts; see earlier.h. */
#include "hunt/earlier.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/same-text.h"
#include "base/vec.h"
#include "hunt/attach.h"
#include "hunt/kept.h"
#include "hunt/outcomes.h"
#include "image/elftext.h"
#include "report/race.h"
#include "report/target-record.h"
#include "store/store.h"

static struct race *race_at(const struct vec *races, size_t i)
{
	return *(struct race **)vec_at(races, i);
}

static struct target_record *record_at(const struct vec *records, size_t i)
{
	return vec_at(records, i);
}

static void records_free(struct vec *records)
{
	for (size_t i = 0; i < records->count; i++)
		target_record_deinit(record_at(records, i));
	vec_deinit(records);
}

static void races_free(struct vec *races)
{
	for (size_t i = 0; i < races->count; i++)
		race_free(race_at(races, i));
	vec_deinit(races);
}

/* NULL: no access was seen. */
static const struct race_frame *access_of(const struct race *race, int side)
{
	const struct vec *frames = &race->sides[side].frames;

	return frames->count > 0 ? vec_at(frames, 0) : NULL;
}

static bool is_at(const struct race_frame *frame,
		  const struct hunt_place *place)
{
	return frame->offset == place->offset && frame->module &&
	       same_text(frame->module, place->module);
}

/* Is it an access of the side or of a partner, whose code its hash is of? */
static bool is_of_side(const struct race_frame *frame,
		       const struct hunt_side *side)
{
	if (is_at(frame, &side->place))
		return true;
	for (size_t i = 0; i < side->partners.count; i++) {
		const struct hunt_partner *partner = vec_at(&side->partners, i);

		if (is_at(frame, &partner->place))
			return true;
	}
	return false;
}

static bool was_met_at(const struct race *race,
		       const struct target_record *record)
{
	return race->target == record->side.id ||
	       attach_fits(race, &record->side, record->outcome.race);
}

/* Are there races of the side, and are both accesses of each in code of its hash? */
static bool is_explained(const struct target_record *record,
			 const struct vec *races)
{
	bool any = false;

	for (size_t i = 0; i < races->count; i++) {
		const struct race *race = race_at(races, i);

		if (!was_met_at(race, record))
			continue;
		for (int side = 0; side < 2; side++) {
			const struct race_frame *access = access_of(race, side);

			if (!access || !is_of_side(access, &record->side))
				return false;
		}
		any = true;
	}
	return any;
}

static bool is_same_code(const struct target_record *record,
			 const struct target_record *other)
{
	return strcmp(record->side.code_hash, other->side.code_hash) == 0;
}

/*
 * Several sides may have the same code: is the record the first of them in the list,
 * and all of them are explained?
 */
static bool is_code_explained(const struct vec *records, size_t place,
			      const struct vec *races)
{
	const struct target_record *record = record_at(records, place);

	if (!record->side.code_hash[0])
		return false;
	for (size_t i = 0; i < records->count; i++) {
		const struct target_record *other = record_at(records, i);

		if (is_same_code(record, other) &&
		    (i < place || !is_explained(other, races)))
			return false;
	}
	return true;
}

/* Keep the races of all sides with the code of that record, as met at `side'. */
static struct error *take_races(struct outcomes *outcomes,
				const struct target_record *record,
				const struct vec *records,
				const struct vec *races, uint64_t side)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < races->count; i++) {
		struct race *race = race_at(races, i);
		uint64_t before = race->target;
		bool met = false;

		for (size_t j = 0; !met && j < records->count; j++)
			met = is_same_code(record, record_at(records, j)) &&
			      was_met_at(race, record_at(records, j));
		if (!met)
			continue;
		race->target = side;
		err = kept_add_race(outcomes, race);
		race->target = before;
	}
	return err;
}

static struct error *take_side(struct outcomes *outcomes, struct store *old,
			       const struct vec *records, size_t place,
			       const struct vec *races, uint64_t *count)
{
	const struct target_record *record = record_at(records, place);
	uint64_t side = 0, left_out = 0;
	bool pending;
	struct error *err;

	if (!is_code_explained(records, place, races))
		return NULL;
	err = outcomes_has_pending(old, record->side.code_hash, &pending);
	if (err || pending)
		return err;
	err = outcomes_leave_out(outcomes, record, &left_out, &side);
	if (!err && side)
		err = take_races(outcomes, record, records, races, side);
	*count += left_out;
	return err;
}

static struct error *read_old(struct store *old, struct vec *records,
			      struct vec *races)
{
	struct error *err = outcomes_load_met(old, records);

	return err ? err : kept_read_races(old, races);
}

struct error *earlier_since(struct outcomes *outcomes, const char *path,
			    uint64_t *ret_count)
{
	struct vec records = VEC_INIT(struct target_record);
	struct vec races = VEC_INIT(struct race *);
	struct store *old = NULL;
	uint64_t count = 0;
	struct error *err = outcomes_open_old(path, &old);

	if (!err)
		err = store_begin_read(old);
	if (!err)
		err = store_end(old, read_old(old, &records, &races));
	if (!err)
		err = outcomes_since(outcomes, old, &count);
	for (size_t i = 0; !err && i < records.count; i++)
		err = take_side(outcomes, old, &records, i, &races, &count);
	records_free(&records);
	races_free(&races);
	store_close(old);
	if (!err)
		*ret_count = count;
	return err;
}

/* Of a file without a build id, its time tells: was it written to since? */
static bool is_newer(const char *path, uint64_t time)
{
	struct stat status;

	return stat(path, &status) == 0 &&
	       (uint64_t)status.st_mtim.tv_sec * CLOCK_NS_PER_S +
			       (uint64_t)status.st_mtim.tv_nsec >
		       time;
}

/*
 * May the file be of that build now? So too one that cannot be read, as of a program
 * that the test builds or unpacks each time.
 */
static bool is_build(const char *path, const char *build_id, uint64_t time)
{
	struct elftext *text = NULL;
	struct error *err;
	bool same;

	/* code that is in no file, and the vDSO */
	if (!path || path[0] != '/')
		return true;
	if (!build_id)
		return !is_newer(path, time);
	err = elftext_open(path, path, &text);
	same = err || same_text(elftext_build_id(text), build_id);
	error_free(err);
	elftext_close(text);
	return same;
}

static bool is_side_of_build(const struct target_record *record)
{
	const struct hunt_side *side = &record->side;

	if (!is_build(side->place.module, side->place.build_id, record->time))
		return false;
	for (size_t i = 0; i < side->partners.count; i++) {
		const struct hunt_place *place =
			&((struct hunt_partner *)vec_at(&side->partners, i))
				 ->place;

		if (!is_build(place->module, place->build_id, record->time))
			return false;
	}
	return true;
}

static bool is_current(const struct race *race, const struct vec *records)
{
	for (size_t i = 0; i < records->count; i++) {
		const struct target_record *record = record_at(records, i);

		/* its frames are of another build, in which it was met */
		if (race->target == record->side.id &&
		    record->outcome.result == TARGET_UNCHANGED)
			return is_side_of_build(record);
	}
	for (int side = 0; side < 2; side++) {
		const struct race_frame *access = access_of(race, side);

		if (access &&
		    !is_build(access->module, access->build_id, race->time))
			return false;
	}
	return true;
}

static struct error *read_all(struct store *store, struct vec *records,
			      struct vec *races)
{
	struct error *err = store_begin_read(store);

	return err ? err : store_end(store, read_old(store, records, races));
}

struct error *earlier_races(struct outcomes *outcomes, struct vec *races,
			    struct vec *changed)
{
	struct vec records = VEC_INIT(struct target_record);
	struct vec all = VEC_INIT(struct race *);
	struct error *err = read_all(outcomes_store(outcomes), &records, &all);

	while (!err && all.count > 0) {
		struct race *race = race_at(&all, 0);
		bool current = is_current(race, &records);

		vec_remove(&all, 0);
		if (!vec_push(current ? races : changed, &race)) {
			race_free(race);
			err = error_nomem;
		}
	}
	races_free(&all);
	records_free(&records);
	return err;
}
