/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of a SARIF 2.1.0 result (OASIS, sections 3.28 to 3.44) that are about
 * places: for render-sarif.c only.
 */
#ifndef REPORT_SARIF_H
#define REPORT_SARIF_H

#include "report/object.h"

struct race;
struct race_frame;
struct strbuf;
struct vec;

/* Of relatedLocations; a message links to them. */
enum sarif_location_id {
	SARIF_FIRST_SIDE = 1,
	SARIF_SECOND_SIDE,
	SARIF_DECLARATION,
	SARIF_ALLOCATION, /* of the heap block, in a recording */
	/* and more: the calls that took the first side's locks, the second's */
	SARIF_LOCKS,
};

/* What relative paths are relative to: the value of "uriBaseId". */
#define SARIF_BASE "%SRCROOT%"

/* A message object of the text, which is ended. */
json_t *sarif_message(struct strbuf *text);

/*
 * Text in which brackets begin no link (3.11.6); as a link to a related
 * location when id is not 0.
 */
void sarif_add_text(struct strbuf *message, const char *text, int id);

/* A location object (3.28); message is ended, NULL for none; id 0: none. */
json_t *sarif_location(const struct race_frame *frame, int id,
		       struct strbuf *message);

/* "locations", "relatedLocations", "stacks" and "codeFlows" of a result. */
void sarif_put_places(struct object *result, const struct race *race);

/*
 * What a hunt's recording knows: sentences for a message, with links to what is
 * appended to its related locations, the history of the bytes too. Nothing where
 * there was no recording.
 */
void sarif_add_recorded(struct strbuf *message, const struct race *race);
void sarif_append_recorded(struct object *result, json_t *array,
			   const struct race *race);

#endif
