/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Life and words of the race record; see race.h. The fingerprints are made in
 * fingerprint.c.
 */
#include "report/race.h"

#include <stdlib.h>
#include <string.h>

static void side_init(struct race_side *side)
{
	side->frames = (struct vec)VEC_INIT(struct race_frame);
}

static void side_deinit(struct race_side *side)
{
	for (size_t i = 0; i < side->frames.count; i++) {
		struct race_frame *frame = vec_at(&side->frames, i);

		free(frame->function);
		free(frame->file);
		free(frame->module);
		free(frame->build_id);
	}
	vec_deinit(&side->frames);
	free(side->thread);
	free(side->thread_path);
	free(side->syscall);
	free(side->insn);
}

static void variable_deinit(struct race_variable *variable)
{
	free(variable->name);
	free(variable->symbol);
	free(variable->type);
	free(variable->container);
	free(variable->file);
	free(variable->module);
}

void race_init(struct race *race)
{
	memset(race, 0, sizeof(*race));
	side_init(&race->sides[0]);
	side_init(&race->sides[1]);
}

void race_deinit(struct race *race)
{
	side_deinit(&race->sides[0]);
	side_deinit(&race->sides[1]);
	variable_deinit(&race->variable);
	free(race->program);
	free(race->backend);
	free(race->reason);
	race_init(race);
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
