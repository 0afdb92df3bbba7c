/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks from a snapshot; see unwind.h. libunwind is asked first: it needs
 * nothing but the few bytes of .eh_frame on its way. Where it does not come to
 * the outermost frame or the end of the bytes, libdwfl is asked as well.
 */
#include "image/unwind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "image/unwinddwfl.h"
#include "image/unwindunw.h"
#include "image/unwindwalk.h"

/* libdwfl's stack, if it is longer than the one in walk. */
static struct error *ask_dwfl(struct unwind_walk *walk)
{
	struct unwind_walk other = *walk;
	struct error *err;

	other.frames = calloc(walk->max, sizeof(*walk->frames));
	if (!other.frames)
		return error_nomem;
	err = unwind_by_dwfl(&other);
	if (!err) {
		log_debug(LOG_IMAGE,
			  "stack of %d: %zu frames by libunwind, %zu by "
			  "libdwfl%s",
			  walk->input->tid, walk->count, other.count,
			  other.count > walk->count ? ", which is taken" : "");
		if (other.count > walk->count) {
			memcpy(walk->frames, other.frames,
			       other.count * sizeof(*walk->frames));
			walk->count = other.count;
		}
	}
	free(other.frames);
	return err;
}

struct error *unwind_frames_by(enum unwind_library library, struct image *image,
			       const struct unwind_input *input,
			       struct unwind_frame *frames, size_t max,
			       size_t *ret_count)
{
	struct unwind_walk walk = {
		.image = image, .input = input, .frames = frames, .max = max
	};
	struct error *err;

	if (library == UNWIND_DWFL)
		err = unwind_by_dwfl(&walk);
	else
		err = unwind_by_unw(&walk);
	if (!err && walk.end == UNWIND_REFUSED)
		log_debug(
			LOG_IMAGE,
			"stack of %d: harmful unwind information at 0x%" PRIx64,
			input->tid, frames[walk.count - 1].pc);
	if (!err && library == UNWIND_BOTH && walk.end == UNWIND_LOST)
		err = ask_dwfl(&walk);
	if (err)
		return err;
	*ret_count = walk.count;
	return NULL;
}

struct error *unwind_frames(struct image *image,
			    const struct unwind_input *input,
			    struct unwind_frame *frames, size_t max,
			    size_t *ret_count)
{
	return unwind_frames_by(UNWIND_BOTH, image, input, frames, max,
				ret_count);
}
