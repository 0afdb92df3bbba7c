/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places and patterns that matched nothing; see unmatched.h.
 */
#include "sweep/unmatched.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "report/run.h"
#include "report/text.h"
#include "sweep/results.h"

struct unmatched {
	char *line;
	uint64_t runs;
};

static void begin_line(struct strbuf *text)
{
	if (text->length > 0)
		strbuf_add(text, "\n");
}

struct error *unmatched_text(const struct run_summary *summary, char **ret)
{
	struct strbuf text = { 0 };

	*ret = NULL;
	for (size_t i = 0; i < summary->at_count; i++) {
		const struct run_at *at = &summary->at[i];

		if (at->sites > 0)
			continue;
		begin_line(&text);
		strbuf_addf(&text, "--at %s: %s", at->where,
			    at->problem ? at->problem
					: "it was not looked for");
	}
	for (size_t i = 0; i < summary->pattern_count; i++) {
		const struct run_pattern *pattern = &summary->patterns[i];

		begin_line(&text);
		strbuf_addf(&text, "--%s '%s'",
			    pattern->option ? pattern->option : "exclude",
			    pattern->pattern);
	}
	if (text.length == 0 && !text.failed)
		return NULL;
	*ret = strbuf_steal(&text);
	return *ret ? NULL : error_nomem;
}

static struct error *count_line(struct vec *list, const char *line,
				size_t length)
{
	struct unmatched *unmatched;

	for (size_t i = 0; i < list->count; i++) {
		unmatched = vec_at(list, i);
		if (strncmp(unmatched->line, line, length) == 0 &&
		    unmatched->line[length] == '\0') {
			unmatched->runs++;
			return NULL;
		}
	}
	unmatched = vec_append(list);
	if (!unmatched)
		return error_nomem;
	*unmatched = (struct unmatched){ strndup(line, length), 1 };
	return unmatched->line ? NULL : error_nomem;
}

static struct error *count_run(struct vec *list, const char *text)
{
	struct error *err = NULL;

	while (!err && *text) {
		size_t length = strcspn(text, "\n");

		err = count_line(list, text, length);
		text += length + (text[length] == '\n');
	}
	return err;
}

struct error *unmatched_add(struct strbuf *out, const struct results *results)
{
	struct vec list = VEC_INIT(struct unmatched);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < results->runs.count; i++) {
		const struct results_run *run = vec_at(&results->runs, i);

		if (run->finished && run->unmatched)
			err = count_run(&list, run->unmatched);
	}
	for (size_t i = 0; !err && i < list.count; i++) {
		const struct unmatched *unmatched = vec_at(&list, i);

		strbuf_addf(out, "  %" PRIu64 " of ", unmatched->runs);
		text_add_plural(out, results->finished, "run");
		strbuf_add(out, " matched nothing with ");
		utf8_add_visible(out, unmatched->line);
		strbuf_add(out, "\n");
	}
	for (size_t i = 0; i < list.count; i++)
		free(((struct unmatched *)vec_at(&list, i))->line);
	vec_deinit(&list);
	return err;
}
