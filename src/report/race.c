/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Life and words of the race record; see race.h. The fingerprints are made in
 * fingerprint.c.
 */
#include "report/race.h"

#include <stdlib.h>
#include <string.h>

#include "report/idioms.h"

static void side_init(struct race_side *side)
{
	side->frames = (struct vec)VEC_INIT(struct race_frame);
	side->created = (struct vec)VEC_INIT(struct race_frame);
}

static void frame_free(const struct race_frame *frame)
{
	free(frame->function);
	free(frame->file);
	free(frame->folder);
	free(frame->module);
	free(frame->build_id);
	free(frame->source);
}

void race_frames_clear(struct vec *frames)
{
	for (size_t i = 0; i < frames->count; i++)
		frame_free(vec_at(frames, i));
	vec_clear(frames);
}

void race_frames_drop_first(struct vec *frames)
{
	frame_free(vec_at(frames, 0));
	vec_remove(frames, 0);
}

bool race_frame_is_c_library(const struct race_frame *frame)
{
	static const char *const prefixes[] = { "libc.", "libc-",
						"libpthread" };
	const char *slash = frame->module ? strrchr(frame->module, '/') : NULL;
	const char *name = slash ? slash + 1 : frame->module;

	for (size_t i = 0; name && i < sizeof(prefixes) / sizeof(prefixes[0]);
	     i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

static void side_deinit(struct race_side *side)
{
	race_frames_clear(&side->frames);
	vec_deinit(&side->frames);
	race_frames_clear(&side->created);
	vec_deinit(&side->created);
	free(side->thread);
	free(side->thread_path);
	free(side->syscall);
	free(side->insn);
	free(side->sync);
	free(side->creator_thread);
}

static void variable_deinit(struct race_variable *variable)
{
	free(variable->name);
	free(variable->symbol);
	free(variable->type);
	free(variable->container);
	free(variable->file);
	free(variable->module);
	free(variable->owner_thread);
}

void race_init(struct race *race)
{
	memset(race, 0, sizeof(*race));
	side_init(&race->sides[0]);
	side_init(&race->sides[1]);
	race->values = (struct vec)VEC_INIT(struct race_values);
	race->hosts = (struct vec)VEC_INIT(char *);
}

static void suppression_deinit(struct race_suppression *suppression)
{
	free(suppression->rule);
	free(suppression->file);
	free(suppression->reason);
	free(suppression->bug);
}

void race_deinit(struct race *race)
{
	side_deinit(&race->sides[0]);
	side_deinit(&race->sides[1]);
	variable_deinit(&race->variable);
	suppression_deinit(&race->suppressed);
	for (size_t i = 0; i < race->hosts.count; i++)
		free(*(char **)vec_at(&race->hosts, i));
	vec_deinit(&race->hosts);
	vec_deinit(&race->values);
	free(race->program);
	free(race->backend);
	free(race->reason);
	free(race->grounds);
	free(race->refuted);
	race_init(race);
}

void race_free(struct race *race)
{
	race_deinit(race);
	free(race);
}

static struct race_values *find_values(const struct race *race,
				       const uint8_t *before,
				       const uint8_t *after)
{
	for (size_t i = 0; i < race->values.count; i++) {
		struct race_values *values = vec_at(&race->values, i);

		if (memcmp(values->before, before, sizeof(values->before)) ==
			    0 &&
		    memcmp(values->after, after, sizeof(values->after)) == 0)
			return values;
	}
	return NULL;
}

static void race_add_changed(struct race *race, const uint8_t *before,
			     const uint8_t *after)
{
	for (size_t i = 0; i < sizeof(race->changed); i++)
		race->changed[i] |= before[i] ^ after[i];
}

/* Without the last pair of equal values, which tells least. False: all differ. */
static bool drop_unchanged(struct race *race)
{
	for (size_t i = race->values.count; i-- > 0;) {
		const struct race_values *values = vec_at(&race->values, i);

		if (memcmp(values->before, values->after,
			   sizeof(values->before)) == 0) {
			vec_remove(&race->values, i);
			return true;
		}
	}
	return false;
}

bool race_add_values(struct race *race, const uint8_t *before,
		     const uint8_t *after, uint64_t count)
{
	struct race_values *values = find_values(race, before, after);

	race_add_changed(race, before, after);
	if (!values) {
		if (race->values.count == RACE_VALUES_MAX &&
		    (memcmp(before, after, sizeof(values->before)) == 0 ||
		     !drop_unchanged(race)))
			return true;
		values = vec_append(&race->values);
		if (!values)
			return false;
		memcpy(values->before, before, sizeof(values->before));
		memcpy(values->after, after, sizeof(values->after));
		values->count = 0;
	}
	values->count += count;
	return true;
}

/*
 * It was there when somebody was about to write it for the first time. Where
 * nothing changed, the write had been done when the value was looked at.
 */
static void doubt_check(struct race *race, const struct race *again)
{
	static const uint8_t zero[X86_ACCESS_MAX];

	if (memcmp(again->before, zero, sizeof(zero)) != 0 &&
	    memcmp(again->before, again->after, sizeof(zero)) != 0 &&
	    race->sides[0].idiom.guard != IDIOM_REREAD_ONLY &&
	    race->sides[1].idiom.guard != IDIOM_REREAD_ONLY &&
	    race_is_double_checked(race))
		race->sides[0].idiom.guard = IDIOM_UNGUARDED;
}

bool race_see_again(struct race *race, const struct race *again)
{
	race->count += again->count ? again->count : 1;
	if (again->last_time > race->last_time)
		race->last_time = again->last_time;
	doubt_check(race, again);
	/* values of other sizes are of other variables with the same name */
	if (again->size == race->size)
		return race_add_values(race, again->before, again->after, 1);
	race_add_changed(race, again->before, again->after);
	return true;
}

/* What nobody saw must have been a write: the value's change told of it. */
static bool side_writes(const struct race_side *side)
{
	return side->access == ACCESS_NONE || (side->access & ACCESS_WRITE);
}

const char *race_kind(const struct race *race)
{
	if (!side_writes(&race->sides[0]))
		return "read-write";
	return side_writes(&race->sides[1]) ? "write-write" : "write-read";
}

const char *race_evidence_name(enum race_evidence evidence)
{
	switch (evidence) {
	case EVIDENCE_WATCHPOINT:
		return "watchpoint";
	case EVIDENCE_COLLISION:
		return "collision";
	case EVIDENCE_VALUE_CHANGE:
		return "value-change";
	}
	return "unknown";
}

const char *race_verdict_name(enum race_verdict verdict)
{
	switch (verdict) {
	case VERDICT_HARMFUL:
		return "harmful";
	case VERDICT_SUSPECT:
		return "suspect";
	case VERDICT_UNLIKELY:
		return "unlikely";
	case VERDICT_SYNC:
		return "sync";
	}
	return "unknown";
}

const char *race_region_name(enum race_region region)
{
	switch (region) {
	case REGION_GLOBAL:
		return "global";
	case REGION_HEAP:
		return "heap";
	case REGION_STACK:
		return "stack";
	case REGION_TLS:
		return "tls";
	case REGION_MAPPING:
		return "mapping";
	case REGION_UNKNOWN:
		break;
	}
	return "unknown";
}

const char *race_role_name(enum race_role role)
{
	switch (role) {
	case RACE_STALLED:
		return "stalled";
	case RACE_RACING:
		return "racing";
	case RACE_UNKNOWN:
		break;
	}
	return "unknown";
}

const char *race_status_name(enum race_status status)
{
	switch (status) {
	case STATUS_NEW:
		return "new";
	case STATUS_KNOWN:
		return "known";
	case STATUS_GONE:
		return "gone";
	case STATUS_UNSET:
		break;
	}
	return NULL;
}

bool race_counts(const struct race *race, bool ignore_unlikely)
{
	return race->verdict != VERDICT_SYNC && !race->suppressed.rule &&
	       (race->verdict != VERDICT_UNLIKELY || !ignore_unlikely);
}

bool race_is_actionable(const struct race *race, bool ignore_unlikely)
{
	return race_counts(race, ignore_unlikely) &&
	       race->status != STATUS_KNOWN;
}
