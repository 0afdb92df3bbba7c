/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a trace (hunt/trace-format.h) chunk by chunk. What comes out fits its
 * structure: a chunk is at least as long as that, holds the array or the text
 * behind it whole, and texts end with a zero. Ids are not checked.
 */
#ifndef HUNT_TRACE_FILE_H
#define HUNT_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunt/trace-cells.h"
#include "hunt/trace-format.h"

struct error;

struct trace_file {
	struct trace_header header;
	char *path;
	const unsigned char *bytes; /* the file, mapped */
	size_t size;
	size_t at; /* where the next chunk begins */
	size_t chunk; /* where the last one that was read does */
	struct trace_unpacked cells; /* of the last one, a TRACE_CELLS */
	bool ended; /* the last chunk that was read is TRACE_END */
};

/*
 * A chunk; valid until trace_file_close(), but a cell until the next item only. Those of
 * a TRACE_CELLS come as TRACE_CELL, one by one.
 */
struct trace_item {
	uint32_t type; /* enum trace_type */
	size_t at; /* of the chunk, in the file */
	size_t size;
	const void *payload; /* aligned to 8 bytes */
	const void *behind; /* what is behind the structure */
};

/*
 * ERROR_FORMAT: the file is no trace, is of another version, or says of itself
 * what no recorder writes. The message names path.
 */
struct error *trace_file_open(const char *path, struct trace_file *ret);
void trace_file_close(struct trace_file *trace);

/*
 * The next chunk of a known type; its payload is NULL at the end of the file. A
 * chunk that the file holds in part only is its end too: the recorder was
 * killed. ERROR_FORMAT: a chunk is shorter than its structure says.
 */
struct error *trace_file_next(struct trace_file *trace, struct trace_item *ret);

/* Read the chunks from the first one again. */
void trace_file_rewind(struct trace_file *trace);

#endif
