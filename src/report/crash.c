/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Life of the crash record; see crash.h.
 */
#include "report/crash.h"

#include <stdlib.h>
#include <string.h>

#include "report/race.h"

void crash_init(struct crash *crash)
{
	memset(crash, 0, sizeof(*crash));
	crash->frames = (struct vec)VEC_INIT(struct race_frame);
	crash->races = (struct vec)VEC_INIT(struct crash_race);
}

void crash_deinit(struct crash *crash)
{
	race_frames_clear(&crash->frames);
	vec_deinit(&crash->frames);
	vec_deinit(&crash->races);
	free(crash->thread);
	crash_init(crash);
}
