/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places that were not found; see unmatched.h.
 */
#include "sweep/unmatched.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "report/run.h"
#include "report/text.h"
#include "sweep/ledger.h"

struct unmatched {
	const char *text; /* the ledger's */
	uint64_t runs;
};

struct error *unmatched_text(const struct run_at *at, size_t count, char **ret)
{
	struct strbuf text = { 0 };
	bool any = false;

	*ret = NULL;
	for (size_t i = 0; i < count; i++) {
		if (at[i].sites > 0)
			continue;
		strbuf_addf(&text, "%s--at %s: %s", any ? "; " : "",
			    at[i].where,
			    at[i].problem ? at[i].problem
					  : "it was not looked for");
		any = true;
	}
	if (!any)
		return NULL;
	*ret = strbuf_steal(&text);
	return *ret ? NULL : error_nomem;
}

static struct error *count_run(struct vec *list, const char *text)
{
	struct unmatched *unmatched;

	for (size_t i = 0; i < list->count; i++) {
		unmatched = vec_at(list, i);
		if (strcmp(unmatched->text, text) == 0) {
			unmatched->runs++;
			return NULL;
		}
	}
	unmatched = vec_append(list);
	if (!unmatched)
		return error_nomem;
	*unmatched = (struct unmatched){ text, 1 };
	return NULL;
}

struct error *unmatched_add(struct strbuf *out, const struct ledger *ledger)
{
	struct vec list = VEC_INIT(struct unmatched);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < ledger->runs.count; i++) {
		const struct ledger_run *run = vec_at(&ledger->runs, i);

		if (run->finished && run->unmatched)
			err = count_run(&list, run->unmatched);
	}
	for (size_t i = 0; !err && i < list.count; i++) {
		const struct unmatched *unmatched = vec_at(&list, i);

		strbuf_addf(out, "  %" PRIu64 " of ", unmatched->runs);
		text_add_plural(out, ledger->finished, "run");
		strbuf_add(out, " matched nothing with ");
		utf8_add_visible(out, unmatched->text);
		strbuf_add(out, "\n");
	}
	vec_deinit(&list);
	return err;
}
