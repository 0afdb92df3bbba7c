/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace-print FILE: a trace as text, a line for each chunk, for tests and
 * benches. Places are MODULE+OFFSET, with the file's name only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "hunt/trace-events.h"
#include "hunt/trace-file.h"

static struct vec modules = VEC_INIT(char *);
static struct vec descriptors = VEC_INIT(char *);

static void set_text(struct vec *vec, uint32_t id, const char *text)
{
	while (vec->count <= id) {
		if (!vec_append(vec))
			exit(1);
	}
	*(char **)vec_at(vec, id) = strdup(text);
}

static const char *text_of(const struct vec *vec, uint32_t id)
{
	const char *text = id < vec->count ? *(char **)vec_at(vec, id) : NULL;

	return text ? text : "?";
}

static int add_place(char *to, size_t room, const struct trace_place *place)
{
	return snprintf(to, room, "%s+0x%" PRIx64,
			place->module ? text_of(&modules, place->module) : "",
			place->offset);
}

static void add_flags(char *to, uint32_t flags)
{
	static const char names[] = "rwaks-";

	for (int i = 0; names[i] != '-'; i++) {
		if (flags & 1u << i)
			*to++ = names[i];
	}
	*to = '\0';
}

static void print_descriptor(const struct trace_item *item)
{
	const struct trace_descriptor *descriptor = item->payload;
	const struct trace_place *places = item->behind;
	char text[1024], flags[16];
	size_t n;

	add_flags(flags, descriptor->flags);
	n = (size_t)add_place(text, sizeof(text), &descriptor->place);
	n += (size_t)snprintf(text + n, sizeof(text) - n, " %s %u %s", flags,
			      descriptor->size,
			      descriptor->name[0] ? descriptor->name : "-");
	for (uint32_t i = 0; i < descriptor->depth; i++) {
		text[n++] = i ? ',' : ' ';
		n += (size_t)add_place(text + n, sizeof(text) - n, &places[i]);
	}
	set_text(&descriptors, descriptor->id, text);
	printf("descriptor %u %s\n", descriptor->id, text);
}

static void print_cell(const struct trace_cell *cell)
{
	printf("cell 0x%" PRIx64 " mask %02x/%02x thread %u ordinal %u count %u"
	       " first %" PRIu64 " last %" PRIu64 " value 0x%" PRIx64
	       " locks %u/%u block %u: %s\n",
	       cell->address, cell->first_mask, cell->mask, cell->thread,
	       cell->ordinal, cell->count, cell->first, cell->last, cell->value,
	       cell->lockset, cell->common, cell->block,
	       text_of(&descriptors, cell->descriptor));
}

static void print_thread(const struct trace_thread *thread)
{
	printf("thread %u parent %u ordinal %u created %" PRIu64
	       " ended %" PRId64 " joined %" PRId64 " joiner %u\n",
	       thread->id, thread->parent, thread->ordinal, thread->created,
	       thread->ended, thread->joined, thread->joiner);
}

static void print_module(const struct trace_item *item)
{
	const struct trace_module *module = item->payload;
	const char *path = item->behind, *name = strrchr(path, '/');

	set_text(&modules, module->id, name ? name + 1 : path);
	printf("module %u %s bias 0x%" PRIx64 " build-id %u bytes\n",
	       module->id, path, module->bias, module->build_id_size);
}

static void print_lockset(const struct trace_item *item)
{
	const struct trace_lockset *set = item->payload;
	const struct trace_lock *locks = item->behind;

	printf("lockset %u", set->id);
	for (uint32_t i = 0; i < set->count; i++) {
		const char *stack = text_of(&descriptors, locks[i].descriptor);

		printf(" 0x%" PRIx64 "/%u%s", locks[i].address, locks[i].kind,
		       locks[i].shared ? "r" : "");
		/* the call that took it, without its callers */
		if (locks[i].descriptor)
			printf("@%.*s", (int)strcspn(stack, " "), stack);
	}
	printf("\n");
}

static void print_end(const struct trace_end *end)
{
	printf("end sequence %" PRIu64 " ns %" PRIu64 " busy %" PRIu64
	       " granules %" PRIu64 " shared %" PRIu64 " cells %" PRIu64
	       " memory %" PRIu64 " dropped %" PRIu64 " stacks %" PRIu64
	       " locksets %" PRIu64 " events %" PRIu64 " starved %" PRIu64
	       " status %d reason %u\n",
	       end->sequence, end->ns, end->busy_ns, end->granules, end->shared,
	       end->cells, end->memory, end->dropped_cells, end->dropped_stacks,
	       end->dropped_locksets, end->dropped_events, end->starved_cells,
	       end->status, end->reason);
}

static void print_event(const struct trace_event *event)
{
	printf("event %u thread %u lock 0x%" PRIx64 "/%u sequence %" PRIu64
	       "\n",
	       event->kind, event->thread, event->lock.address,
	       event->lock.kind, event->sequence);
}

static void print_transfer(const struct trace_transfer *transfer)
{
	printf("transfer thread %u %s 0x%" PRIx64 " size %" PRIu64
	       " number %d fd %d\n",
	       transfer->thread, transfer->writes ? "in" : "out",
	       transfer->address, transfer->size, transfer->number,
	       transfer->fd);
}

static void print_block(const struct trace_block *block)
{
	printf("block %u 0x%" PRIx64 " size %" PRIu64 " thread %u: %s\n",
	       block->id, block->address, block->size, block->thread,
	       text_of(&descriptors, block->descriptor));
}

static void print_program(const struct trace_item *item)
{
	const struct trace_program *program = item->payload;
	const char *text = item->behind;

	printf("program");
	for (uint32_t i = 0; i <= program->argc; i++) {
		printf(" %s", text);
		text += strlen(text) + 1;
	}
	printf("\n");
}

static void print_item(const struct trace_item *item)
{
	const struct trace_uses *uses = item->payload;
	const struct trace_clock *clock = item->payload;
	const struct trace_free *freed = item->payload;

	switch ((enum trace_type)item->type) {
	case TRACE_END:
		print_end(item->payload);
		break;
	case TRACE_PROGRAM:
		print_program(item);
		break;
	case TRACE_MODULE:
		print_module(item);
		break;
	case TRACE_THREAD:
		print_thread(item->payload);
		break;
	case TRACE_DESCRIPTOR:
		print_descriptor(item);
		break;
	case TRACE_USES:
		printf("uses thread %u executions %" PRIu64 ": %s\n",
		       uses->thread, uses->executions,
		       text_of(&descriptors, uses->descriptor));
		break;
	case TRACE_CELL:
		print_cell(item->payload);
		break;
	case TRACE_LOCKSET:
		print_lockset(item);
		break;
	case TRACE_BLOCK:
		print_block(item->payload);
		break;
	case TRACE_FREE:
		printf("free block %u thread %u\n", freed->block,
		       freed->thread);
		break;
	case TRACE_EVENT:
		print_event(item->payload);
		break;
	case TRACE_TRANSFER:
		print_transfer(item->payload);
		break;
	case TRACE_CLOCK:
		printf("clock sequence %" PRIu64 " ns %" PRIu64 " busy %" PRIu64
		       " thread %u\n",
		       clock->sequence, clock->ns, clock->busy_ns,
		       clock->thread);
		break;
	case TRACE_UNABLE:
		printf("unable %s\n", (const char *)item->behind);
		break;
	case TRACE_UNLOAD:
	case TRACE_ACCESSES:
	case TRACE_CELLS: /* they came as TRACE_CELL */
	case TRACE_WHOLE_CELL:
		break;
	}
}

int main(int argc, char **argv)
{
	struct trace_file trace;
	struct trace_item item;
	struct error *err;

	if (argc != 2) {
		fprintf(stderr, "usage: trace-print FILE\n");
		return 2;
	}
	err = trace_file_open(argv[1], &trace);
	while (!err && !(err = trace_file_next(&trace, &item)) && item.payload)
		print_item(&item);
	if (err) {
		fprintf(stderr, "trace-print: %s\n", error_message(err));
		error_free(err);
		return 1;
	}
	if (!trace.ended)
		printf("cut off\n");
	trace_file_close(&trace);
	return 0;
}
