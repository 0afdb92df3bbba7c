/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs without a sample, by reason; see unsampled.h.
 */
#include "sweep/unsampled.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/object.h"
#include "report/text.h"
#include "sweep/results.h"

static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int compare_runs(const void *a, const void *b)
{
	const struct results_run *x = *(const struct results_run *const *)a;
	const struct results_run *y = *(const struct results_run *const *)b;
	int order = compare_texts(x->unsampled_reason, y->unsampled_reason);

	return order ? order
		     : (x->number > y->number) - (x->number < y->number);
}

static int compare_groups(const void *a, const void *b)
{
	const struct unsampled_group *x = a, *y = b;

	if (x->runs != y->runs)
		return x->runs < y->runs ? 1 : -1;
	return (x->first_run > y->first_run) - (x->first_run < y->first_run);
}

/* The unsampled runs, by reason and number. */
static struct error *list_runs(const struct results *results, struct vec *list)
{
	for (size_t i = 0; i < results->runs.count; i++) {
		const struct results_run *run = vec_at(&results->runs, i);

		if (run->finished && run->outcome.unsampled &&
		    !vec_push(list, &run))
			return error_nomem;
	}
	if (list->count > 0)
		qsort(list->items, list->count, list->size, compare_runs);
	return NULL;
}

/* Add a run that comes after those of the groups in the order of the list. */
static struct error *add_run(struct vec *groups, const struct results_run *run)
{
	struct unsampled_group *group =
		groups->count ? vec_at(groups, groups->count - 1) : NULL;

	if (!group ||
	    compare_texts(group->reason, run->unsampled_reason) != 0) {
		group = vec_append(groups);
		if (!group)
			return error_nomem;
		group->reason = run->unsampled_reason;
		group->text = run->unsampled_text;
		group->first_run = run->number;
	}
	group->runs++;
	group->differs |= compare_texts(group->text, run->unsampled_text) != 0;
	return NULL;
}

struct error *unsampled_count(const struct results *results, struct vec *ret)
{
	struct vec list = VEC_INIT(const struct results_run *);
	struct error *err = list_runs(results, &list);

	for (size_t i = 0; !err && i < list.count; i++)
		err = add_run(ret,
			      *(const struct results_run **)vec_at(&list, i));
	if (!err && ret->count > 0)
		qsort(ret->items, ret->count, ret->size, compare_groups);
	vec_deinit(&list);
	return err;
}

void unsampled_add_text(struct strbuf *out, const struct vec *groups,
			uint64_t finished)
{
	for (size_t i = 0; i < groups->count; i++) {
		const struct unsampled_group *group = vec_at(groups, i);

		strbuf_addf(out, "  %" PRIu64 " of ", group->runs);
		text_add_plural(out, finished, "run");
		strbuf_add(out, " took no sample of the program's own modules");
		if (group->text) {
			strbuf_add(out, ": ");
			utf8_add_visible(out, group->text);
		}
		if (group->text && group->differs)
			strbuf_addf(out, " (figures of run %" PRIu64 ")",
				    group->first_run);
		strbuf_add(out, "\n");
	}
}

void unsampled_put(struct object *line, const struct vec *groups)
{
	json_t *array = json_array();

	for (size_t i = 0; i < groups->count; i++) {
		const struct unsampled_group *group = vec_at(groups, i);
		struct object object = object_begin(NULL);

		object_put_text(&object, "reason", group->reason);
		object_put_text(&object, "text", group->text);
		object_put_uint(&object, "runs", group->runs);
		object_put_uint(&object, "first_run", group->first_run);
		object_append(line, array, object_end(&object));
	}
	object_put(line, "unsampled", array);
}
