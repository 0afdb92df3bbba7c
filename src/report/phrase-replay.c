/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays in words; see phrase-replay.h.
 */
#include "report/phrase-replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "report/phrase.h"
#include "report/race-replay.h"
#include "report/text.h"

/* Variables that are told, and orders of a value; more are counted. */
enum { PHRASE_VARIABLES = 3, PHRASE_ORDERS = 2 };

void phrase_add_replay_fault(struct strbuf *line,
			     const struct race_replay_fault *fault)
{
	char **schedules = fault->schedules;

	phrase_add_signal(line, fault->signal);
	if (fault->handled)
		strbuf_add(line, ", for which there is a handler,");
	if (fault->executes)
		strbuf_add(line, " on a jump to what is no code");
	if (fault->address != RACE_REPLAY_NOWHERE)
		strbuf_addf(line, " at 0x%" PRIx64, fault->address);
	for (size_t i = 0; schedules && schedules[i]; i++) {
		if (i == 0)
			strbuf_add(line,
				   schedules[1] ? " in orders " : " in order ");
		else
			strbuf_add(line, ", ");
		utf8_add_visible(line, schedules[i]);
	}
}

static const struct race_replay_change *change_at(const struct vec *changes,
						  size_t i)
{
	return vec_at(changes, i);
}

static bool same_variable(const struct vec *changes, size_t i, size_t j)
{
	return strcmp(change_at(changes, i)->variable,
		      change_at(changes, j)->variable) == 0;
}

static bool same_value(const struct vec *changes, size_t i, size_t j)
{
	return same_variable(changes, i, j) &&
	       strcmp(change_at(changes, i)->value,
		      change_at(changes, j)->value) == 0;
}

/* Is i the first for which that holds of it and an earlier one? */
static bool is_first(const struct vec *changes, size_t i,
		     bool (*same)(const struct vec *changes, size_t i,
				  size_t j))
{
	for (size_t j = 0; j < i; j++) {
		if (same(changes, i, j))
			return false;
	}
	return true;
}

/* "100 (ab, ba)", "100 (ab, ba and 2 more)" */
static void add_value(struct strbuf *line, const struct vec *changes, size_t i)
{
	size_t orders = 0;

	utf8_add_visible(line, change_at(changes, i)->value);
	strbuf_add(line, " (");
	for (size_t j = i; j < changes->count; j++) {
		if (!same_value(changes, i, j) || ++orders > PHRASE_ORDERS)
			continue;
		strbuf_add(line, j > i ? ", " : "");
		utf8_add_visible(line, change_at(changes, j)->schedule);
	}
	if (orders > PHRASE_ORDERS)
		strbuf_addf(line, " and %zu more", orders - PHRASE_ORDERS);
	strbuf_add(line, ")");
}

/* "`used`: 100 (ab, ba), 99 (a(b)a)" */
static void add_variable(struct strbuf *line, const struct vec *changes,
			 size_t i)
{
	strbuf_add(line, "`");
	utf8_add_visible(line, change_at(changes, i)->variable);
	strbuf_add(line, "`: ");
	for (size_t j = i; j < changes->count; j++) {
		if (!same_variable(changes, i, j) ||
		    !is_first(changes, j, same_value))
			continue;
		strbuf_add(line, j > i ? ", " : "");
		add_value(line, changes, j);
	}
}

/* Variables, and whether all that differed is among them. */
static void add_changed(struct strbuf *line, const struct race_replay *replay)
{
	const struct vec *changes = &replay->changed;
	size_t variables = 0;

	for (size_t i = 0; i < changes->count; i++) {
		if (!is_first(changes, i, same_variable))
			continue;
		if (++variables > PHRASE_VARIABLES)
			continue;
		strbuf_add(line, variables > 1 ? "; " : " ");
		add_variable(line, changes, i);
	}
	if (variables > PHRASE_VARIABLES)
		strbuf_addf(line, "; %zu more", variables - PHRASE_VARIABLES);
	if (replay->registers > 0 && variables > 0) {
		strbuf_add(line, "; and registers in ");
		text_add_count(line, replay->registers);
	} else if (variables == 0) {
		strbuf_add(line, replay->registers > 0 ? " registers"
						       : " other memory");
	}
}

static void add_instances(struct strbuf *line, uint64_t some, uint64_t all)
{
	text_add_count(line, some);
	strbuf_add(line, " of ");
	text_add_plural(line, all, "instance");
}

static void add_same(struct strbuf *line, const struct race_replay *replay)
{
	strbuf_add(line, "no effect in ");
	add_instances(line, replay->instances, replay->instances);
	strbuf_addf(line, " (with %.0f %% confidence at most %.1f %% have one)",
		    100 * REPLAY_CONFIDENCE,
		    100 * race_replay_bound(replay->instances));
}

void phrase_add_replay(struct strbuf *line, const struct race_replay *replay)
{
	if (replay->instances == 0)
		return;
	if (replay->faults) {
		phrase_add_replay_fault(line, &replay->fault);
		strbuf_add(line, " in ");
		add_instances(line, replay->faults, replay->instances);
	}
	if (replay->changes) {
		strbuf_add(line, replay->faults ? "; in " : "in ");
		if (replay->faults)
			text_add_count(line, replay->changes);
		else
			add_instances(line, replay->changes, replay->instances);
		strbuf_add(line, " the order changed");
		add_changed(line, replay);
	}
	if (!replay->faults && !replay->changes)
		add_same(line, replay);
}

static int compare_failures(const void *a, const void *b)
{
	const struct race_replay_failure *one =
		*(const struct race_replay_failure *const *)a;
	const struct race_replay_failure *two =
		*(const struct race_replay_failure *const *)b;

	if (one->count != two->count)
		return one->count < two->count ? 1 : -1;
	return strcmp(one->name, two->name);
}

static void add_failures(struct strbuf *line, const struct vec *failures)
{
	for (size_t i = 0; i < failures->count; i++) {
		const struct race_replay_failure *failure =
			*(struct race_replay_failure **)vec_at(failures, i);

		strbuf_add(line, i ? ", " : "not possible: ");
		utf8_add_visible(line, failure->name);
		strbuf_add(line, " ");
		text_add_count(line, failure->count);
	}
}

void phrase_add_replay_failures(struct strbuf *line,
				const struct race_replay *replay)
{
	struct vec sorted = VEC_INIT(const struct race_replay_failure *);

	for (size_t i = 0; i < replay->failures.count; i++) {
		const struct race_replay_failure *failure =
			vec_at(&replay->failures, i);

		if (!vec_push(&sorted, &failure))
			line->failed = true;
	}
	if (sorted.count > 0)
		qsort(sorted.items, sorted.count, sorted.size,
		      compare_failures);
	add_failures(line, &sorted);
	vec_deinit(&sorted);
}

void phrase_add_replay_all(struct strbuf *line,
			   const struct race_replay *replay)
{
	phrase_add_replay(line, replay);
	if (replay->instances > 0 && replay->failures.count > 0)
		strbuf_add(line, "; ");
	phrase_add_replay_failures(line, replay);
}
