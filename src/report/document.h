/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For formats that are one document: keeps each rendered race, the latest for
 * each id, in the order in which they appear, until the document is written.
 * Uses as much memory as the document has bytes.
 */
#ifndef REPORT_DOCUMENT_H
#define REPORT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"

struct error;
struct race;

/* In what order races are shown: what is to be acted on first. */
enum document_rank {
	DOCUMENT_HARMFUL,
	DOCUMENT_SUSPECT,
	DOCUMENT_UNLIKELY,
	DOCUMENT_SYNC,
	DOCUMENT_KNOWN,
	DOCUMENT_GONE,
	DOCUMENT_SUPPRESSED,
	DOCUMENT_RANKS,
};

struct document_part {
	uint64_t id;
	enum document_rank rank;
	bool last; /* of its rank: race_replay_settles() */
	char *text;
};

struct document {
	struct vec parts; /* of struct document_part */
	struct map places; /* of ids in parts, until they are sorted */
};

void document_init(struct document *document);
void document_deinit(struct document *document);

enum document_rank document_rank(const struct race *race);
/* Is a race of this rank one that makes the gate fail? */
bool document_rank_fails(enum document_rank rank, bool ignore_unlikely);

/* Takes the text; what was put for the same race before goes. ERROR_NOMEM. */
struct error *document_put(struct document *document, const struct race *race,
			   struct strbuf *text);

/* By rank, those that are last in it, then by id. Nothing may be put afterwards. */
void document_sort(struct document *document);

/* How many are of this rank, and of all those that make the gate fail. */
size_t document_count(const struct document *document, enum document_rank rank);
size_t document_failures(const struct document *document, bool ignore_unlikely);

/*
 * Write to a file and flush it, ends the text; ERROR_NOMEM if an append had
 * failed.
 */
struct error *document_write(FILE *out, struct strbuf *text);

#endif
