/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traces to test hunt with, as a recorder would write them: a file trace.42 in a
 * folder of its own.
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hunt/trace-events.h"
#include "hunt/trace-format.h"

#define WRITER_PROGRAM "/nonexistent/program"

struct writer {
	char folder[40], path[64];
	FILE *file;
	uint64_t dropped_locksets; /* that the end tells of */
};

static inline void writer_require(int fact)
{
	if (!fact)
		abort();
}

static inline void writer_chunk(struct writer *writer, uint32_t type,
				const void *data, size_t size,
				const void *behind, size_t more)
{
	struct trace_chunk chunk = { type, (uint32_t)(size + more) };
	static const char zeros[8];

	fwrite(&chunk, sizeof(chunk), 1, writer->file);
	fwrite(data, size, 1, writer->file);
	if (more)
		fwrite(behind, more, 1, writer->file);
	fwrite(zeros, -(size + more) & 7, 1, writer->file);
	writer_require(!ferror(writer->file));
}

/* A program with the module 1, whose code is at its offset, and thread 1. */
static inline void writer_begin_by(struct writer *writer, uint32_t recorder,
				   uint32_t promises)
{
	struct trace_header header = { .magic = TRACE_MAGIC,
				       .version = TRACE_VERSION,
				       .recorder = recorder,
				       .promises = promises,
				       .pid = 42 };
	struct trace_program program = { .argc = 0 };
	struct trace_module module = { .id = 1, .low = 0x1000, .high = 0x9000 };

	writer->dropped_locksets = 0;
	strcpy(writer->folder, "/tmp/racewatch-test.XXXXXX");
	writer_require(mkdtemp(writer->folder) != NULL);
	snprintf(writer->path, sizeof(writer->path), "%s/trace.42",
		 writer->folder);
	writer->file = fopen(writer->path, "we");
	writer_require(writer->file != NULL);
	fwrite(&header, sizeof(header), 1, writer->file);
	writer_chunk(writer, TRACE_PROGRAM, &program, sizeof(program),
		     WRITER_PROGRAM, sizeof(WRITER_PROGRAM));
	writer_chunk(writer, TRACE_MODULE, &module, sizeof(module),
		     WRITER_PROGRAM, sizeof(WRITER_PROGRAM));
}

static inline void writer_begin(struct writer *writer)
{
	writer_begin_by(writer, TRACE_BY_VALGRIND,
			TRACE_TOTAL_ORDER | TRACE_EXACT_LOCKS);
}

/* joined 0: it was not. creation: the id of a descriptor, or 0. */
static inline void writer_thread(struct writer *writer, uint32_t id,
				 uint32_t parent, uint32_t ordinal,
				 uint64_t created, uint64_t joined,
				 uint32_t joiner, uint32_t creation)
{
	struct trace_thread thread = {
		.id = id,
		.parent = parent,
		.ordinal = ordinal,
		.created = created,
		.ended = joined ? joined : TRACE_NEVER,
		.joined = joined ? joined : TRACE_NEVER,
		.joiner = joiner,
		.descriptor = creation,
	};

	writer_chunk(writer, TRACE_THREAD, &thread, sizeof(thread), NULL, 0);
}

/* An instruction of 8 bytes at offset, called from these, innermost first. */
static inline void writer_descriptor(struct writer *writer, uint32_t id,
				     uint32_t flags, uint64_t offset,
				     const uint64_t *callers, uint32_t depth)
{
	struct trace_descriptor descriptor = {
		.id = id,
		.flags = flags,
		.place = { .module = 1, .offset = offset },
		.size = 8,
		.depth = depth,
	};
	struct trace_place stack[TRACE_STACK_MAX] = { 0 };

	for (uint32_t i = 0; i < depth; i++)
		stack[i] = (struct trace_place){ 1, 0, callers[i] };
	writer_chunk(writer, TRACE_DESCRIPTOR, &descriptor, sizeof(descriptor),
		     stack, depth * sizeof(*stack));
}

/* A mutex at that address. */
static inline void writer_lockset(struct writer *writer, uint32_t id,
				  uint64_t address)
{
	struct trace_lockset set = { id, 1 };
	struct trace_lock lock = { .address = address, .kind = TRACE_MUTEX };

	writer_chunk(writer, TRACE_LOCKSET, &set, sizeof(set), &lock,
		     sizeof(lock));
}

/* One access of all 8 bytes. */
static inline struct trace_cell writer_cell(uint64_t address, uint32_t thread,
					    uint32_t descriptor,
					    uint64_t sequence)
{
	return (struct trace_cell){
		.address = address,
		.thread = thread,
		.descriptor = descriptor,
		.count = 1,
		.first = sequence,
		.last = sequence,
		.mask = 0xff,
		.first_mask = 0xff,
	};
}

static inline void writer_add(struct writer *writer,
			      const struct trace_cell *cell)
{
	writer_chunk(writer, TRACE_CELL, cell, sizeof(*cell), NULL, 0);
}

/* So many accesses, each a millisecond after the one before. */
static inline void writer_end(struct writer *writer, uint64_t accesses)
{
	struct trace_end end = { .sequence = accesses,
				 .ns = accesses * 1000000,
				 .busy_ns = accesses * 1000000,
				 .dropped_locksets = writer->dropped_locksets };

	writer_chunk(writer, TRACE_END, &end, sizeof(end), NULL, 0);
	writer_require(fclose(writer->file) == 0);
	writer->file = NULL;
}

static inline void writer_remove(struct writer *writer)
{
	if (writer->file)
		fclose(writer->file);
	unlink(writer->path);
	rmdir(writer->folder);
}

#endif
