/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Filling in a command; see template.h.
 */
#include "sweep/template.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"

void template_add(struct strbuf *out, const char *word, uint64_t seed,
		  uint64_t run)
{
	while (*word) {
		size_t plain = strcspn(word, "{");

		strbuf_add_bytes(out, word, plain);
		word += plain;
		if (strncmp(word, "{seed}", 6) == 0) {
			strbuf_addf(out, "%" PRIu64, seed);
			word += 6;
		} else if (strncmp(word, "{run}", 5) == 0) {
			strbuf_addf(out, "%" PRIu64, run);
			word += 5;
		} else if (*word) {
			strbuf_add_bytes(out, word++, 1);
		}
	}
}

struct error *template_fill(char *const *command, uint64_t seed, uint64_t run,
			    char ***ret)
{
	struct strbuf text = { 0 };
	size_t count = 0;
	char **filled;
	char *at;

	for (; command[count]; count++) {
		template_add(&text, command[count], seed, run);
		strbuf_add_bytes(&text, "", 1);
	}
	filled = text.failed ? NULL
			     : malloc((count + 1) * sizeof(*filled) +
				      text.length + 1);
	if (!filled) {
		strbuf_deinit(&text);
		return error_nomem;
	}
	at = (char *)(filled + count + 1);
	if (text.length > 0)
		memcpy(at, text.text, text.length);
	for (size_t i = 0; i < count; i++) {
		filled[i] = at;
		at += strlen(at) + 1;
	}
	filled[count] = NULL;
	strbuf_deinit(&text);
	*ret = filled;
	return NULL;
}
