/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The formats by name; see render.h.
 */
#include "report/render.h"

#include <string.h>

static const struct renderer_ops *const renderers[] = {
	&render_text, &render_json, &render_sarif, &render_junit, &render_html,
};

const struct renderer_ops *render_find(const char *name)
{
	for (size_t i = 0; i < sizeof(renderers) / sizeof(renderers[0]); i++) {
		if (strcmp(renderers[i]->name, name) == 0)
			return renderers[i];
	}
	return NULL;
}
