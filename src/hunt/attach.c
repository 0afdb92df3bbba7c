/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a side to a race; see attach.h. Names are looked up here, not when a
 * recording is read: most sides are never met.
 */
#include "hunt/attach.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/same-text.h"
#include "base/vec.h"
#include "conflict/symbolize.h"
#include "report/field.h"
#include "report/race.h"
#include "report/target-record.h"

static bool is_at(const struct race_side *race_side,
		  const struct hunt_side *side)
{
	const struct vec *frames = &race_side->frames;
	const struct race_frame *frame;

	if (frames->count == 0)
		return false;
	frame = vec_at(frames, 0);
	return frame->offset == side->place.offset &&
	       ((frame->module &&
		 same_text(frame->module, side->place.module)) ||
		(frame->build_id &&
		 same_text(frame->build_id, side->place.build_id)));
}

/* Two races may have one fingerprint: it goes by names of functions. */
bool attach_fits(const struct race *race, const struct hunt_side *side,
		 const char *fingerprint)
{
	if (fingerprint[0] && strcmp(race->fingerprint, fingerprint) != 0)
		return false;
	return is_at(&race->sides[0], side) || is_at(&race->sides[1], side);
}

/* A file that has no build id may be another one now: then it has no names. */
static bool can_be_named(const struct vec *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		const struct race_frame *frame = vec_at(frames, i);

		if (frame->module && !frame->build_id)
			return false;
	}
	return true;
}

static struct error *name_frames(struct symbolizer *symbolizer,
				 struct vec *frames)
{
	bool changed;

	return can_be_named(frames)
		       ? symbolize_frames(symbolizer, frames, &changed)
		       : NULL;
}

static struct error *name_access(struct symbolizer *symbolizer,
				 struct recorded_access *access)
{
	struct error *err = name_frames(symbolizer, &access->frames);

	for (size_t i = 0; !err && i < access->locks.count; i++) {
		struct recorded_lock *lock = vec_at(&access->locks, i);

		err = name_frames(symbolizer, &lock->taken);
	}
	return err;
}

static struct error *name_all(struct symbolizer *symbolizer,
			      struct recorded *recorded)
{
	struct error *err = name_frames(symbolizer, &recorded->block.allocated);

	for (size_t i = 0; !err && i < recorded->accesses.count; i++)
		err = name_access(symbolizer, vec_at(&recorded->accesses, i));
	return err;
}

/* Its stack is the side's own, of the run that met the race. */
static struct error *attach_side(struct race *race, int i, bool other)
{
	struct race_side *side = &race->sides[i];
	const struct recorded_access *access =
		recorded_find(&race->recorded, side, other);

	if (!access)
		return NULL;
	if (!fields_copy(&recorded_access_fields, &side->recorded, access))
		return error_nomem;
	race_frames_clear(&side->recorded.frames);
	return NULL;
}

struct error *attach_recorded(struct symbolizer *symbolizer,
			      const struct hunt_side *side, struct race *race)
{
	/* a thread was held at its partner when it came */
	bool turned = !is_at(&race->sides[0], side) &&
		      is_at(&race->sides[1], side);
	struct error *err = NULL;

	if (!fields_copy(&recorded_fields, &race->recorded, &side->recorded))
		return error_nomem;
	err = name_all(symbolizer, &race->recorded);
	for (int i = 0; !err && i < 2; i++)
		err = attach_side(race, i, turned ? i == 0 : i == 1);
	return err;
}

struct error *attach_names(struct symbolizer *symbolizer,
			   struct hunt_side *side)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < side->ordered_pair.count; i++) {
		struct recorded_access *access = vec_at(&side->ordered_pair, i);

		err = name_frames(symbolizer, &access->frames);
	}
	for (size_t i = 0; !err && i < side->hand_overs.count; i++) {
		struct hunt_hand_over *hand_over = vec_at(&side->hand_overs, i);

		err = name_frames(symbolizer, &hand_over->sent_frames);
		if (!err)
			err = name_frames(symbolizer,
					  &hand_over->received_frames);
	}
	return err;
}
