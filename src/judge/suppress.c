/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Suppressions from their files to the race; see suppress.h. The lines are
 * read in suppparse.c, the matching is done in suppmatch.c.
 */
#include "judge/suppress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "judge/supprule.h"
#include "report/race.h"

enum {
	/* a file with more is none of suppressions */
	SUPPRESS_FILE_MAX = 16 << 20,
	SUPPRESS_CHUNK = 64 << 10,
	SECONDS_PER_DAY = 24 * 60 * 60,
};

void suppressions_init(struct suppressions *suppressions)
{
	*suppressions = (struct suppressions){
		.rules = VEC_INIT(struct suppress_rule),
		.files = VEC_INIT(char *),
		.today = (int64_t)(clock_wall_ns() / CLOCK_NS_PER_S /
				   SECONDS_PER_DAY),
	};
}

void suppressions_deinit(struct suppressions *suppressions)
{
	for (size_t i = 0; i < suppressions->rules.count; i++)
		suppress_rule_deinit(vec_at(&suppressions->rules, i));
	for (size_t i = 0; i < suppressions->files.count; i++)
		free(*(char **)vec_at(&suppressions->files, i));
	vec_deinit(&suppressions->rules);
	vec_deinit(&suppressions->files);
}

static struct error *suppress_read_all(FILE *file, const char *path,
				       struct strbuf *text)
{
	char chunk[SUPPRESS_CHUNK];
	size_t n;

	do {
		errno = 0;
		n = fread(chunk, 1, sizeof(chunk), file);
		strbuf_add_bytes(text, chunk, n);
		if (text->failed)
			return error_nomem;
		if (ferror(file))
			return error_os(errno ? errno : EIO, "%s", path);
		if (text->length > SUPPRESS_FILE_MAX)
			return error_create(ERROR_FORMAT,
					    "%s: no suppressions: more than "
					    "%d MiB",
					    path, SUPPRESS_FILE_MAX >> 20);
	} while (n > 0);
	return NULL;
}

struct error *suppressions_read(struct suppressions *suppressions,
				const char *path)
{
	cleanup_fclose FILE *file = fopen(path, "re");
	struct strbuf text = { 0 };
	struct error *err;

	if (!file)
		return error_os(errno, "%s", path);
	err = suppress_read_all(file, path, &text);
	if (!err)
		err = suppressions_parse(suppressions, path, strbuf_text(&text),
					 text.length);
	strbuf_deinit(&text);
	return err;
}

void suppressions_set_optional(struct suppressions *suppressions)
{
	for (size_t i = 0; i < suppressions->rules.count; i++) {
		struct suppress_rule *rule = vec_at(&suppressions->rules, i);

		rule->optional = true;
	}
}

/* strdup() of what may be NULL. */
static bool copy_string(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return *ret || !text;
}

static void suppression_clear(struct race_suppression *suppression)
{
	free(suppression->rule);
	free(suppression->file);
	free(suppression->reason);
	free(suppression->bug);
	*suppression = (struct race_suppression){ .rule = NULL };
}

static struct error *suppression_set(struct race_suppression *suppression,
				     const struct suppress_rule *rule)
{
	if (copy_string(rule->text, &suppression->rule) &&
	    copy_string(rule->file, &suppression->file) &&
	    copy_string(rule->reason, &suppression->reason) &&
	    copy_string(rule->bug, &suppression->bug)) {
		suppression->line = rule->line;
		return NULL;
	}
	suppression_clear(suppression);
	return error_nomem;
}

struct error *suppressions_judge(struct suppressions *suppressions,
				 struct race *race, bool *ret_settled)
{
	bool settled = race->suppressed.rule != NULL;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < suppressions->rules.count; i++) {
		struct suppress_rule *rule = vec_at(&suppressions->rules, i);

		if (!suppress_rule_matches(rule, race))
			continue;
		rule->used++;
		if (rule->expired)
			continue;
		settled = settled || suppress_rule_settles(rule, race);
		if (!race->suppressed.rule)
			err = suppression_set(&race->suppressed, rule);
	}
	if (!err)
		*ret_settled = settled;
	return err;
}

struct error *suppressions_judge_again(struct suppressions *suppressions,
				       struct race *race)
{
	const struct suppress_rule *found = NULL;

	if (!suppressions->by_values || !race->suppressed.rule)
		return NULL;
	for (size_t i = 0; !found && i < suppressions->rules.count; i++) {
		const struct suppress_rule *rule =
			vec_at(&suppressions->rules, i);

		if (!rule->expired && suppress_rule_matches(rule, race))
			found = rule;
	}
	suppression_clear(&race->suppressed);
	return found ? suppression_set(&race->suppressed, found) : NULL;
}
