/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Documents in the making; see document.h.
 */
#include "report/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/race.h"

void document_init(struct document *document)
{
	memset(document, 0, sizeof(*document));
	document->parts = (struct vec)VEC_INIT(struct document_part);
}

void document_deinit(struct document *document)
{
	for (size_t i = 0; i < document->parts.count; i++) {
		struct document_part *part = vec_at(&document->parts, i);

		free(part->text);
	}
	vec_deinit(&document->parts);
	map_deinit(&document->places);
}

enum document_rank document_rank(const struct race *race)
{
	if (race->suppressed.rule)
		return DOCUMENT_SUPPRESSED;
	if (race->status == STATUS_KNOWN)
		return DOCUMENT_KNOWN;
	if (race->status == STATUS_GONE)
		return DOCUMENT_GONE;
	switch (race->verdict) {
	case VERDICT_HARMFUL:
		return DOCUMENT_HARMFUL;
	case VERDICT_SUSPECT:
		break;
	case VERDICT_UNLIKELY:
		return DOCUMENT_UNLIKELY;
	case VERDICT_SYNC:
		return DOCUMENT_SYNC;
	}
	return DOCUMENT_SUSPECT;
}

bool document_rank_fails(enum document_rank rank, bool ignore_unlikely)
{
	return rank == DOCUMENT_HARMFUL || rank == DOCUMENT_SUSPECT ||
	       (rank == DOCUMENT_UNLIKELY && !ignore_unlikely);
}

/* Its place: that of its forerunner, or a new one. NULL: out of memory. */
static struct document_part *document_place(struct document *document,
					    uint64_t id)
{
	uint64_t *known = map_get(&document->places, id);

	if (known)
		return vec_at(&document->parts, *known);
	if (!vec_reserve(&document->parts, document->parts.count + 1) ||
	    !map_set(&document->places, id, document->parts.count))
		return NULL;
	return vec_append(&document->parts);
}

struct error *document_put(struct document *document, const struct race *race,
			   struct strbuf *text)
{
	char *kept = strbuf_steal(text);
	struct document_part *part = NULL;

	if (kept)
		part = document_place(document, race->id);
	if (!part) {
		free(kept);
		return error_nomem;
	}
	free(part->text);
	*part = (struct document_part){ .id = race->id,
					.rank = document_rank(race),
					.last = race_replay_settles(race),
					.text = kept };
	return NULL;
}

static int compare_parts(const void *a, const void *b)
{
	const struct document_part *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	if (left->last != right->last)
		return left->last ? 1 : -1;
	return left->id < right->id ? -1 : left->id > right->id;
}

void document_sort(struct document *document)
{
	map_deinit(&document->places);
	if (document->parts.count > 0)
		qsort(document->parts.items, document->parts.count,
		      sizeof(struct document_part), compare_parts);
}

size_t document_count(const struct document *document, enum document_rank rank)
{
	size_t count = 0;

	for (size_t i = 0; i < document->parts.count; i++) {
		const struct document_part *part = vec_at(&document->parts, i);

		count += part->rank == rank;
	}
	return count;
}

size_t document_failures(const struct document *document, bool ignore_unlikely)
{
	size_t count = 0;

	for (size_t i = 0; i < document->parts.count; i++) {
		const struct document_part *part = vec_at(&document->parts, i);

		count += document_rank_fails(part->rank, ignore_unlikely);
	}
	return count;
}

struct error *document_write(FILE *out, struct strbuf *text)
{
	struct error *err = NULL;

	errno = 0;
	if (text->failed)
		err = error_nomem;
	else if (fwrite(strbuf_text(text), 1, text->length, out) !=
			 text->length ||
		 fflush(out) != 0)
		err = error_os(errno ? errno : EIO, "write the report");
	strbuf_deinit(text);
	return err;
}
