/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * executed-print FILE [MODULE]: what the threads of a trace executed, one thread
 * after another: a line for each instruction (of the file of that name only), each
 * access and each event. What was received says who sent it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hunt/executed-moves.h"
#include "hunt/executed.h"
#include "hunt/recording.h"

static struct recording recording;
static struct executed *executed;
static const char *only;

static void require(struct error *err)
{
	if (!err)
		return;
	fprintf(stderr, "executed-print: %s\n", error_message(err));
	exit(1);
}

static const char *file_of(uint32_t module)
{
	const struct recording_module *of =
		recording_module(&recording, module);
	const char *name = of ? strrchr(of->path, '/') : NULL;

	return !of ? "" : name ? name + 1 : of->path;
}

static void print_access(const struct translated_access *access)
{
	printf("\t%s%s 0x%" PRIx64 " %u", access->done ? "" : "not ",
	       access->flags & TRACE_WRITES ? "write" : "read", access->address,
	       access->size);
	if (access->has_value)
		printf(" = 0x%" PRIx64, access->value);
	printf("%s\n", access->flags & TRACE_ATOMIC ? " atomic" : "");
}

static void print_step(const struct executed_cursor *cursor)
{
	const struct unpacked_step *step = executed_step(cursor);
	const struct translated *translated =
		executed_superblock(executed, step->superblock);
	const struct trace_superblock *head = translated->head;
	size_t count = translated_count(translated, step->exit), next = 0;
	struct translated_access *accesses =
		calloc(count + 1, sizeof(*accesses));

	if (!accesses || (only && strcmp(file_of(head->place.module), only))) {
		free(accesses);
		return;
	}
	translated_accesses(translated, step->exit, executed_words(cursor),
			    accesses);
	for (uint32_t i = 0; i < translated->exits[step->exit].instructions;
	     i++) {
		printf("%u %" PRIu64 " %s+0x%" PRIx64 "%s%s\n", cursor->thread,
		       step->number, file_of(head->place.module),
		       head->place.offset + translated_address(translated, i) -
			       head->address,
		       i == 0 && head->name[0] ? " " : "",
		       i == 0 ? head->name : "");
		for (; next < count && accesses[next].instruction == i; next++)
			print_access(&accesses[next]);
	}
	free(accesses);
}

/* Who sent the bytes of a part; nothing, if it was not received by a channel. */
static void print_sender(const struct executed_cursor *cursor)
{
	static const char *const words[] = { "unknown", "value", "position" };
	const uint64_t *part = executed_words(cursor);
	const struct executed_write write = {
		.kind = EXECUTED_MOVED,
		.thread = cursor->thread,
		.number = executed_step(cursor)->number,
	};
	struct executed_sent sent;

	require(executed_sender(executed, &write, part[0], part[1], &sent));
	if (!sent.channel)
		return;
	printf(" from %s", words[sent.by]);
	if (sent.by)
		printf(" %u %" PRIu64 " 0x%" PRIx64 " %" PRIu64, sent.thread,
		       sent.number, sent.address, sent.size);
}

static void print_event(const struct executed_cursor *cursor)
{
	static const char *const names[] = { "resumed", "broken", "heap",
					     "moved", "part" };
	static const uint8_t counts[] = TRACE_STREAM_NUMBERS;
	const struct unpacked_step *step = executed_step(cursor);

	printf("%u %" PRIu64 " %s", cursor->thread, step->number,
	       names[step->event]);
	for (uint32_t i = 0; i < counts[step->event]; i++)
		printf(" 0x%" PRIx64, executed_words(cursor)[i]);
	if (step->event == TRACE_MOVED_PART)
		print_sender(cursor);
	printf("\n");
}

static void print_thread(uint32_t thread)
{
	struct executed_cursor cursor;
	bool more;

	require(executed_seek(executed, thread, UINT64_MAX, &cursor, &more));
	while (more)
		require(executed_previous(&cursor, &more));
	for (more = cursor.unpacked.steps.count > 0; more;) {
		if (executed_step(&cursor)->superblock)
			print_step(&cursor);
		else
			print_event(&cursor);
		require(executed_next(&cursor, &more));
	}
	executed_cursor_deinit(&cursor);
}

int main(int argc, char **argv)
{
	const struct executed_totals *totals;

	if (argc < 2 || argc > 3) {
		fputs("usage: executed-print FILE [MODULE]\n", stderr);
		return 2;
	}
	only = argv[2];
	require(recording_open(argv[1], &recording));
	require(executed_create(&recording, &executed));
	for (size_t i = 0; i < recording.threads.count; i++) {
		const struct recording_thread *thread =
			vec_at(&recording.threads, i);

		print_thread(thread->raw.id);
	}
	totals = executed_totals(executed);
	printf("end steps %" PRIu64 " instructions %" PRIu64 " bytes %" PRIu64
	       " dropped %" PRIu64 " superblocks %zu\n",
	       totals->steps, totals->instructions, totals->bytes,
	       totals->dropped, totals->superblocks);
	executed_destroy(executed);
	recording_close(&recording);
	return 0;
}
