/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the renderers have in common: finding one by its name, and handing it a
 * record of any type.
 */
#include "report/render.h"

#include <string.h>

#include "base/error.h"
#include "report/record.h"

/* In the order of the manual. */
static const struct renderer_ops *const renderers[] = {
	&render_text,  &render_line,  &render_json,
	&render_sarif, &render_junit, &render_html,
};

const char *const render_names[] = { "text",  "line", "json", "sarif",
				     "junit", "html", NULL };

const struct renderer_ops *render_find(const char *name)
{
	for (size_t i = 0; i < sizeof(renderers) / sizeof(renderers[0]); i++) {
		if (strcmp(renderers[i]->name, name) == 0)
			return renderers[i];
	}
	return NULL;
}

void render_style_for_file(struct render_style *style)
{
	style->color = false;
	style->width = 0;
}

struct error *render_record(struct renderer *renderer,
			    const struct report_record *record)
{
	const struct renderer_ops *ops = renderer->ops;

	switch (record->type) {
	case REPORT_RUN:
		return ops->run(renderer, &record->run);
	case REPORT_RACE:
		return ops->race(renderer, &record->race);
	case REPORT_CRASH:
		return ops->crash ? ops->crash(renderer, &record->crash) : NULL;
	case REPORT_TARGET:
		return ops->target ? ops->target(renderer, &record->target)
				   : NULL;
	case REPORT_CANDIDATE:
		return ops->candidate
			       ? ops->candidate(renderer, &record->candidate)
			       : NULL;
	case REPORT_PROGRESS:
		return ops->progress ? ops->progress(renderer, &record->summary)
				     : NULL;
	case REPORT_SUMMARY:
		return ops->summary(renderer, &record->summary);
	case REPORT_OTHER:
		break;
	}
	return NULL;
}

struct error *render_finish(struct renderer *renderer)
{
	return renderer->ops->finish ? renderer->ops->finish(renderer) : NULL;
}
