/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plain accesses to memory that others synchronize by; see plain.h.
 */
#include "judge/plain.h"

#include <string.h>

#include "report/doubt.h"
#include "report/race.h"
#include "sampling/names.h"

/* Evidence that is not about the access itself. */
static bool is_weak(const char *evidence)
{
	return !evidence || strcmp(evidence, "locked-beside") == 0 ||
	       strcmp(evidence, "partner") == 0;
}

static bool is_string_function(const struct race_frame *frame)
{
	return frame->function && race_frame_is_c_library(frame) &&
	       rules_string_name(frame->function);
}

/* The innermost that is no string function of libc's, such as memset(). */
static const struct race_frame *caller_of(const struct race_side *side,
					  bool *ret_string)
{
	*ret_string = false;
	for (size_t i = 0; i < side->frames.count; i++) {
		const struct race_frame *frame = vec_at(&side->frames, i);

		if (!is_string_function(frame))
			return frame;
		*ret_string = true;
	}
	return NULL;
}

static bool source_is_plain(const struct race_side *side)
{
	bool string;
	const struct race_frame *frame = caller_of(side, &string);

	return !side->atomic && !side->syscall && frame &&
	       !race_frame_is_c_library(frame) &&
	       (string ||
		(side->missing == RACE_MISSES_NOTHING && frame->line > 0));
}

bool plain_is_known(const struct race_side *side)
{
	return is_weak(side->sync) && source_is_plain(side);
}

bool plain_loses(const struct race_side *side)
{
	const struct code_pattern *pattern = &side->pattern;

	if (!pattern->locked_beside || !plain_is_known(side))
		return false;
	return side->access == ACCESS_READ
		       ? pattern->compared && pattern->stored_plainly
		       : pattern->locked_adds;
}

bool plain_stores(const struct race *race)
{
	const struct race_side *sides = race->sides;

	return sides[0].access == ACCESS_WRITE &&
	       sides[1].access == ACCESS_WRITE && plain_is_known(&sides[0]) &&
	       plain_is_known(&sides[1]);
}

/* "__GI___pthread_mutex_lock" is "pthread_mutex_lock". */
static const char *bare_name(const char *function)
{
	function += strspn(function, "_");
	if (strncmp(function, "GI_", 3) == 0)
		function += 3;
	return function + strspn(function, "_");
}

static bool uses_lock(const struct race_side *side)
{
	static const char *const prefixes[] = {
		"pthread_mutex_",
		"pthread_rwlock_",
		"pthread_spin_",
		"pthread_cond_",
		"pthread_barrier_",
		"pthread_once",
		"condvar_",
		"new_sem_",
		"sem_",
		"mtx_",
		"cnd_",
		"lll_",
		"futex_",
	};
	const struct race_frame *frame =
		side->frames.count ? vec_at(&side->frames, 0) : NULL;
	const char *name;

	if (!frame || !frame->function || !race_frame_is_c_library(frame))
		return false;
	name = bare_name(frame->function);
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

static bool is_threading(const struct race_frame *frame)
{
	return rules_threading_name(frame->function) ||
	       rules_synchronization_name(frame->function);
}

bool plain_over_lock(const struct race *race, int i, bool lock_type)
{
	const struct race_side *side = &race->sides[i];
	bool string;

	return (side->access & ACCESS_WRITE) &&
	       (is_weak(side->sync) || strcmp(side->sync, "runtime") == 0) &&
	       !side->pattern.locked_beside && source_is_plain(side) &&
	       !is_threading(caller_of(side, &string)) &&
	       (lock_type || uses_lock(&race->sides[1 - i]));
}

bool plain_is_of_one_module(const struct race *race)
{
	bool string;
	const struct race_frame *first = caller_of(&race->sides[0], &string);
	const struct race_frame *second = caller_of(&race->sides[1], &string);

	return first && second && first->module && second->module &&
	       strcmp(first->module, second->module) == 0;
}
