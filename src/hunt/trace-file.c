/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file is mapped whole. For each type, a table has the size of its
 * structure and a function that says how much has to be behind it.
 */
#include "hunt/trace-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "hunt/trace-events.h"
#include "hunt/trace-packed.h"
#include "hunt/trace-stream.h"

/* Whether `size' bytes hold n texts, each with its zero. */
static bool has_texts(const char *text, size_t size, size_t n)
{
	const char *end = text + size;

	for (size_t i = 0; i < n; i++) {
		const char *zero = memchr(text, '\0', (size_t)(end - text));

		if (!zero)
			return false;
		text = zero + 1;
	}
	return true;
}

static bool has_array(size_t size, uint64_t count, size_t item)
{
	return count <= size / item;
}

static bool text_fits(const struct trace_item *item, size_t behind)
{
	return has_texts(item->behind, behind, 1);
}

static bool program_fits(const struct trace_item *item, size_t behind)
{
	const struct trace_program *program = item->payload;

	return has_texts(item->behind, behind, (size_t)program->argc + 1);
}

static bool module_fits(const struct trace_item *item, size_t behind)
{
	const struct trace_module *module = item->payload;

	return module->build_id_size <= sizeof(module->build_id) &&
	       has_texts(item->behind, behind, 1);
}

static bool descriptor_fits(const struct trace_item *item, size_t behind)
{
	const struct trace_descriptor *descriptor = item->payload;

	return descriptor->depth <= TRACE_STACK_MAX &&
	       has_array(behind, descriptor->depth,
			 sizeof(struct trace_place)) &&
	       has_texts(descriptor->name, sizeof(descriptor->name), 1);
}

static bool lockset_fits(const struct trace_item *item, size_t behind)
{
	const struct trace_lockset *lockset = item->payload;

	return has_array(behind, lockset->count, sizeof(struct trace_lock));
}

static bool accesses_fit(const struct trace_item *item, size_t behind)
{
	const struct trace_accesses *accesses = item->payload;

	return has_array(behind, accesses->count,
			 sizeof(struct trace_access_raw));
}

static bool superblock_fits(const struct trace_item *item, size_t behind)
{
	const struct trace_superblock *head = item->payload;

	return behind == head->slots * sizeof(struct trace_slot) +
				 head->exits * sizeof(struct trace_exit) +
				 head->instructions + (size_t)head->size &&
	       has_texts(head->name, sizeof(head->name), 1);
}

static bool stream_fits(const struct trace_item *item, size_t behind)
{
	const struct trace_stream *head = item->payload;

	return head->size <= TRACE_STREAM_BYTES && head->size <= behind;
}

static const struct {
	size_t size; /* of the structure; 0: not a type that is known */
	bool (*fits)(const struct trace_item *item, size_t behind);
} types[] = {
	[TRACE_END] = { sizeof(struct trace_end), NULL },
	[TRACE_PROGRAM] = { sizeof(struct trace_program), program_fits },
	[TRACE_MODULE] = { sizeof(struct trace_module), module_fits },
	[TRACE_UNLOAD] = { sizeof(struct trace_unload), NULL },
	[TRACE_THREAD] = { sizeof(struct trace_thread), NULL },
	[TRACE_DESCRIPTOR] = { sizeof(struct trace_descriptor),
			       descriptor_fits },
	[TRACE_USES] = { sizeof(struct trace_uses), NULL },
	[TRACE_CELL] = { sizeof(struct trace_cell), NULL },
	[TRACE_ACCESSES] = { sizeof(struct trace_accesses), accesses_fit },
	[TRACE_LOCKSET] = { sizeof(struct trace_lockset), lockset_fits },
	[TRACE_BLOCK] = { sizeof(struct trace_block), NULL },
	[TRACE_FREE] = { sizeof(struct trace_free), NULL },
	[TRACE_EVENT] = { sizeof(struct trace_event), NULL },
	[TRACE_TRANSFER] = { sizeof(struct trace_transfer), NULL },
	[TRACE_CLOCK] = { sizeof(struct trace_clock), NULL },
	[TRACE_UNABLE] = { sizeof(struct trace_unable), text_fits },
	[TRACE_SUPERBLOCK] = { sizeof(struct trace_superblock),
			       superblock_fits },
	[TRACE_STREAM] = { sizeof(struct trace_stream), stream_fits },
	[TRACE_STREAM_END] = { sizeof(struct trace_stream_end), NULL },
	[TRACE_CHANNEL] = { sizeof(struct trace_channel), NULL },
	[TRACE_CELLS] = { sizeof(struct trace_cells), NULL },
	[TRACE_WHOLE_CELL] = { sizeof(struct trace_cell), NULL },
};

static bool is_known(uint32_t type)
{
	return type < sizeof(types) / sizeof(*types) && types[type].size > 0;
}

static struct error *check_header(const struct trace_file *trace)
{
	const struct trace_header *header = &trace->header;

	if (trace->size < sizeof(*header) ||
	    memcmp(trace->bytes, TRACE_MAGIC, sizeof(header->magic)) != 0)
		return error_create(ERROR_FORMAT, "%s is not a trace",
				    trace->path);
	if (header->version != TRACE_VERSION)
		return error_create(ERROR_FORMAT,
				    "%s is a trace of version %u, not %d",
				    trace->path, header->version,
				    TRACE_VERSION);
	return NULL;
}

static struct error *map_file(struct trace_file *trace)
{
	struct error *err = NULL;
	struct stat status;
	int fd = open(trace->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_os(errno, "open %s", trace->path);
	if (fstat(fd, &status) < 0) {
		err = error_os(errno, "read %s", trace->path);
	} else if (status.st_size > 0) {
		void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ,
				   MAP_PRIVATE, fd, 0);

		if (bytes == MAP_FAILED) {
			err = error_os(errno, "map %s", trace->path);
		} else {
			trace->bytes = bytes;
			trace->size = (size_t)status.st_size;
		}
	}
	close(fd);
	return err;
}

struct error *trace_file_open(const char *path, struct trace_file *ret)
{
	struct trace_file trace = { .path = strdup(path) };
	struct error *err;

	if (!trace.path)
		return error_nomem;
	err = map_file(&trace);
	if (!err && trace.size >= sizeof(trace.header))
		memcpy(&trace.header, trace.bytes, sizeof(trace.header));
	if (!err)
		err = check_header(&trace);
	if (err) {
		trace_file_close(&trace);
		return err;
	}
	trace_file_rewind(&trace);
	*ret = trace;
	return NULL;
}

void trace_file_close(struct trace_file *trace)
{
	if (trace->bytes)
		munmap((void *)trace->bytes, trace->size);
	free(trace->path);
	memset(trace, 0, sizeof(*trace));
}

void trace_file_rewind(struct trace_file *trace)
{
	trace->at = sizeof(trace->header);
	trace->cells.left = 0;
	trace->ended = false;
}

/* The chunk at `at', of any type; false: the file does not hold it whole. */
static bool take_chunk(struct trace_file *trace, struct trace_item *ret)
{
	struct trace_chunk chunk;
	size_t left = trace->size - trace->at, padded;

	if (left < sizeof(chunk))
		return false;
	memcpy(&chunk, trace->bytes + trace->at, sizeof(chunk));
	padded = ((size_t)chunk.size + 7) & ~(size_t)7;
	if (padded > left - sizeof(chunk))
		return false;
	ret->type = chunk.type;
	ret->at = trace->at;
	ret->size = chunk.size;
	ret->payload = trace->bytes + trace->at + sizeof(chunk);
	trace->at += sizeof(chunk) + padded;
	return true;
}

static bool item_fits(struct trace_item *item)
{
	size_t size = types[item->type].size;

	if (item->size < size)
		return false;
	item->behind = (const char *)item->payload + size;
	return !types[item->type].fits ||
	       types[item->type].fits(item, item->size - size);
}

static struct error *too_short(const struct trace_file *trace)
{
	return error_create(ERROR_FORMAT,
			    "%s: the chunk at byte %zu is too short",
			    trace->path, trace->chunk);
}

/* The next chunk of a known type; its payload is NULL at the end. */
static struct error *next_chunk(struct trace_file *trace,
				struct trace_item *ret)
{
	struct trace_item item = { 0 };

	do {
		trace->chunk = trace->at;
		if (!take_chunk(trace, &item)) {
			memset(ret, 0, sizeof(*ret));
			return NULL;
		}
	} while (!is_known(item.type));
	if (!item_fits(&item))
		return too_short(trace);
	trace->ended = item.type == TRACE_END;
	*ret = item;
	return NULL;
}

static struct error *next_cell(struct trace_file *trace, struct trace_item *ret)
{
	if (!trace_cells_next(&trace->cells))
		return too_short(trace);
	*ret = (struct trace_item){
		.type = TRACE_CELL,
		.at = trace->chunk,
		.size = sizeof(trace->cells.cell),
		.payload = &trace->cells.cell,
		.behind = &trace->cells.cell + 1,
	};
	return NULL;
}

struct error *trace_file_next(struct trace_file *trace, struct trace_item *ret)
{
	struct error *err;

	while (trace->cells.left == 0) {
		err = next_chunk(trace, ret);
		if (err || ret->type != TRACE_CELLS)
			return err;
		trace_cells_begin(&trace->cells, ret->payload, ret->behind,
				  ret->size - sizeof(struct trace_cells));
	}
	return next_cell(trace, ret);
}
