/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a suppression matches a race; see supprule.h. What ThreadSanitizer's
 * kinds match is what they match there: names of functions, files and modules
 * of the frames, and the global variable.
 */
#include "judge/supprule.h"

#include <string.h>
#include <strings.h>

#include "judge/suppress.h"
#include "judge/wildcard.h"
#include "report/race.h"

/* The module is called by its path or the last part of it. */
static bool is_module(const char *path, const char *name)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return path && (strcmp(path, name) == 0 ||
			(slash && strcmp(slash + 1, name) == 0));
}

static bool frame_matches(const char *pattern, const struct race_frame *frame)
{
	return wildcard_matches(pattern, frame->function) ||
	       wildcard_matches(pattern, frame->file) ||
	       wildcard_matches(pattern, frame->module);
}

static bool global_matches(const char *pattern, const struct race *race)
{
	const struct race_variable *variable = &race->variable;

	return variable->region == REGION_GLOBAL &&
	       (wildcard_matches(pattern, variable->symbol) ||
		wildcard_matches(pattern, variable->name) ||
		wildcard_matches(pattern, variable->module));
}

/* Any frame by the names that the key is about. */
static bool frames_match(const struct suppress_condition *condition,
			 const struct race_side *side)
{
	const char *pattern = condition->text;

	for (size_t i = 0; i < side->frames.count; i++) {
		const struct race_frame *frame = vec_at(&side->frames, i);
		bool found;

		switch ((int)condition->key) {
		case KEY_FUNCTION:
			found = wildcard_matches(pattern, frame->function);
			break;
		case KEY_FILE:
			found = wildcard_matches(pattern, frame->file);
			break;
		case KEY_MODULE:
			found = wildcard_matches(pattern, frame->module);
			break;
		default:
			found = frame_matches(pattern, frame);
			break;
		}
		if (found)
			return true;
	}
	return false;
}

/* The kernel's access has the system call's name for a function. */
static bool syscall_matches(const char *pattern, const struct race_side *side)
{
	return wildcard_matches(pattern, side->syscall);
}

static bool top_matches(const char *pattern, const struct race_side *side)
{
	return syscall_matches(pattern, side) ||
	       (side->frames.count > 0 &&
		frame_matches(pattern, vec_at(&side->frames, 0)));
}

static bool is_code(const struct suppress_condition *condition,
		    const struct race_frame *frame)
{
	return frame->offset == condition->low &&
	       ((frame->build_id &&
		 strcasecmp(frame->build_id, condition->text) == 0) ||
		is_module(frame->module, condition->text));
}

/* The instruction, or with `calls' a call on the way to it. */
static bool code_matches(const struct suppress_condition *condition,
			 const struct race_side *side, bool calls)
{
	for (size_t i = 0; i < side->frames.count; i++) {
		const struct race_frame *frame = vec_at(&side->frames, i);

		if (frame->inlined)
			continue;
		if (is_code(condition, frame))
			return true;
		if (!calls)
			return false;
	}
	return false;
}

/*
 * ThreadSanitizer passes over what a library does through the functions that
 * it intercepts, which are the C library's: here, accesses made in the C
 * library or by the kernel, called from there.
 */
static bool called_from(const char *pattern, const struct race_side *side)
{
	bool inside = side->syscall != NULL;

	for (size_t i = 0; i < side->frames.count; i++) {
		const struct race_frame *frame = vec_at(&side->frames, i);

		if (!race_frame_is_c_library(frame))
			return inside &&
			       wildcard_matches(pattern, frame->module);
		inside = true;
	}
	return false;
}

static bool side_matches(const struct suppress_condition *condition,
			 const struct race *race, int n)
{
	const struct race_side *side = &race->sides[n];
	const char *pattern = condition->text;

	switch ((int)condition->key) {
	case KEY_RACE:
		return syscall_matches(pattern, side) ||
		       frames_match(condition, side) ||
		       global_matches(pattern, race);
	case KEY_RACE_TOP:
		return top_matches(pattern, side);
	case KEY_CALLED_FROM_LIB:
		return called_from(pattern, side);
	case KEY_FUNCTION:
		return syscall_matches(pattern, side) ||
		       frames_match(condition, side);
	case KEY_CODE:
		return code_matches(condition, side, true);
	default:
		return frames_match(condition, side);
	}
}

static bool address_matches(const struct suppress_condition *condition,
			    const struct race *race)
{
	const struct race_variable *variable = &race->variable;
	uint64_t address = race->address;

	if (condition->text) {
		address = variable->module_offset;
		if (!is_module(variable->module, condition->text))
			return false;
	}
	return address >= condition->low && address <= condition->high &&
	       (race->size == 0 || race->size - 1 <= condition->high - address);
}

/* No bit has changed but those of the mask: 0 for none at all. */
static bool bits_match(uint64_t mask, const struct race *race)
{
	for (size_t i = 0; i < sizeof(race->changed); i++) {
		uint8_t allowed = i < 8 ? (uint8_t)(mask >> (8 * i)) : 0;

		if (race->changed[i] & ~allowed)
			return false;
	}
	return true;
}

static bool race_matches(const struct suppress_condition *condition,
			 const struct race *race)
{
	const struct race_variable *variable = &race->variable;
	const char *text = condition->text;

	switch ((int)condition->key) {
	case KEY_VARIABLE:
		return wildcard_matches(text, variable->name) ||
		       wildcard_matches(text, variable->symbol);
	case KEY_TYPE:
		return wildcard_matches(text, variable->type) ||
		       wildcard_matches(text, variable->container);
	case KEY_ADDRESS:
		return address_matches(condition, race);
	case KEY_VALUES:
		return bits_match(0, race);
	case KEY_BITS:
		return bits_match(condition->low, race);
	case KEY_FINGERPRINT:
		return strcasecmp(text, race->fingerprint) == 0 ||
		       strcasecmp(text, race->fingerprint_code) == 0;
	default:
		return false;
	}
}

static bool condition_holds(const struct suppress_condition *condition,
			    const struct race *race, int side)
{
	return suppress_key_is_of_side(condition->key)
		       ? side_matches(condition, race, side)
		       : race_matches(condition, race);
}

/* Does one that holds name what this side did? A global's name does not. */
static bool names_side(const struct suppress_condition *condition,
		       const struct race_side *side)
{
	if (!suppress_key_is_of_side(condition->key) ||
	    side->role == RACE_UNKNOWN)
		return false;
	return condition->key != KEY_RACE ||
	       syscall_matches(condition->text, side) ||
	       frames_match(condition, side);
}

/* Does one that holds tell the variable, or the instruction of this side? */
static bool is_of_place(const struct suppress_condition *condition,
			const struct race_side *side)
{
	return condition->key == KEY_VARIABLE ||
	       condition->key == KEY_ADDRESS ||
	       (condition->key == KEY_CODE &&
		code_matches(condition, side, false));
}

/*
 * With side n for the first one, and the other for that after "against". What is
 * asked of a side that was not seen may hold, where the rule has the side that
 * was, and its variable or instruction: *ret_guessed.
 */
static bool alternative_holds(const struct suppress_alternative *alternative,
			      const struct race *race, int n, bool *ret_guessed)
{
	bool has_seen = false, has_place = false;

	*ret_guessed = false;
	for (size_t i = 0; i < alternative->conditions.count; i++) {
		const struct suppress_condition *condition =
			vec_at(&alternative->conditions, i);
		int side = condition->against ? 1 - n : n;
		bool of_side = suppress_key_is_of_side(condition->key);
		bool seen = race->sides[side].role != RACE_UNKNOWN;

		if (condition_holds(condition, race, side)) {
			has_seen = has_seen ||
				   names_side(condition, &race->sides[side]);
			has_place = has_place ||
				    is_of_place(condition, &race->sides[side]);
		} else if (of_side && !seen) {
			*ret_guessed = true;
		} else {
			return false;
		}
	}
	return !*ret_guessed || (has_seen && has_place);
}

static bool looks_at_values(const struct suppress_alternative *alternative)
{
	for (size_t i = 0; i < alternative->conditions.count; i++) {
		const struct suppress_condition *condition =
			vec_at(&alternative->conditions, i);

		if (suppress_key_is_of_values(condition->key))
			return true;
	}
	return false;
}

/* settles: whatever is seen later, of the values and of an unknown side */
static bool rule_matches(const struct suppress_rule *rule,
			 const struct race *race, bool settles)
{
	for (size_t i = 0; i < rule->alternatives.count; i++) {
		const struct suppress_alternative *alternative =
			vec_at(&rule->alternatives, i);

		if (settles && looks_at_values(alternative))
			continue;
		for (int n = 0; n < 2; n++) {
			bool guessed;

			if (alternative_holds(alternative, race, n, &guessed) &&
			    !(settles && guessed))
				return true;
		}
	}
	return false;
}

bool suppress_rule_matches(const struct suppress_rule *rule,
			   const struct race *race)
{
	return !rule->ignored && rule_matches(rule, race, false);
}

bool suppress_rule_settles(const struct suppress_rule *rule,
			   const struct race *race)
{
	return !rule->ignored && rule_matches(rule, race, true);
}
