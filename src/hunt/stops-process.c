/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process of a recording by breakpoints; see stops-process.h. What a thread
 * accesses on its own stack is left out, as by the other recorders: from the
 * mapping that its stack pointer is in, what lies below its thread pointer.
 */
#include "hunt/stops-process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hunt/stops.h"
#include "hunt/trace-format.h"
#include "image/maps.h"
#include "recorder/emit.h"
#include "session/recording.h"
#include "wire/record.h"

enum { ARGUMENTS_MAX = 256, ARGUMENTS_SIZE = 32768, EVENTS_MAX = 1000000 };

static const uint64_t MEMORY_DEFAULT = UINT64_C(128) << 20;

/* Texts one behind another, each with its zero; how many there are. */
static uint32_t split(char *text, size_t size, const char **ret)
{
	uint32_t count = 0;

	for (size_t at = 0; at < size && count < ARGUMENTS_MAX;) {
		ret[count++] = text + at;
		at += strlen(text + at) + 1;
	}
	return count;
}

static uint32_t read_arguments(int32_t pid, char *text, const char **ret)
{
	char path[32];
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	if (file) {
		size = fread(text, 1, ARGUMENTS_SIZE - 1, file);
		fclose(file);
	}
	text[size] = '\0';
	return split(text, size, ret);
}

static struct error *begin(struct stops_process *process,
			   const struct stops_options *options,
			   const char *path)
{
	struct recorder_options recorder = {
		.folder = options->folder,
		.recorder = TRACE_BY_BREAKPOINTS,
		.memory = options->memory ? options->memory : MEMORY_DEFAULT,
		.events_max = EVENTS_MAX,
		.pid = process->pid,
		.file = path ? path : "",
	};
	char *text = malloc(ARGUMENTS_SIZE);
	const char *arguments[ARGUMENTS_MAX];
	uint32_t count;
	bool begun;

	if (!text)
		return error_nomem;
	count = read_arguments(process->pid, text, arguments);
	recorder_init(&process->recorder, &recorder);
	begun = recorder_begin(&process->recorder, arguments, count);
	process->recorder.options.file = NULL;
	free(text);
	return begun ? NULL
		     : error_create(ERROR_OTHER, "cannot create the trace %s",
				    process->recorder.writer.path);
}

struct error *stops_process_create(const struct stops_options *options,
				   const struct session_recorded *news,
				   struct stops_process **ret)
{
	struct stops_process *process = calloc(1, sizeof(*process));
	struct error *err;

	if (!process)
		return error_nomem;
	process->pid = news->wire->pid;
	process->program = news->wire->program;
	process->threads = (struct vec)VEC_INIT(struct stops_thread *);
	err = begin(process, options, news->path);
	if (err) {
		free(process);
		return err;
	}
	process->recorder.start = news->wire->ns;
	*ret = process;
	return NULL;
}

static struct stops_thread *thread_at(const struct stops_process *process,
				      size_t i)
{
	return *(struct stops_thread **)vec_at(&process->threads, i);
}

/* A join of one that still had accesses to make was none. */
static void settle_join(struct stops_process *process,
			const struct stops_thread *joined)
{
	struct thread *host = stops_host(process, joined);

	/* its end is told late, maybe after accesses of those that waited */
	if (joined->ended && joined->last > 0)
		host->ended = joined->last;
	if (joined->joiner == 0 || !joined->ended ||
	    joined->last > joined->joined)
		return;
	host->joiner = joined->joiner;
	host->joined = joined->joined;
}

void stops_process_end(struct stops_process *process, int status)
{
	struct recorder *recorder = &process->recorder;

	recorder->current = NULL;
	for (size_t i = 0; i < process->threads.count; i++)
		settle_join(process, thread_at(process, i));
	emit_all(recorder);
	emit_end(recorder, status, 0);
	writer_close(&recorder->writer);
	for (size_t i = 0; i < process->threads.count; i++)
		free(thread_at(process, i));
	vec_deinit(&process->threads);
	map_deinit(&process->by_tid);
	recorder_deinit(recorder);
	free(process);
}

void stops_process_map(struct stops_process *process, uint64_t address,
		       const struct maps *maps)
{
	struct recorder *recorder = &process->recorder;

	if (!maps || modules_find(&recorder->modules, address) != 0)
		return;
	for (size_t i = 0; i < maps->entries.count; i++) {
		const struct map_entry *entry = vec_at(&maps->entries, i);

		if (entry->exec && entry->path[0] == '/' && !entry->deleted)
			recorder_map(recorder, entry->path, entry->start,
				     entry->offset);
	}
}

struct thread *stops_host(const struct stops_process *process,
			  const struct stops_thread *thread)
{
	return records_at(&process->recorder.threads, thread->id);
}

struct error *stops_thread_add(struct stops_process *process, int32_t tid,
			       const struct stops_thread *creator,
			       struct stops_thread **ret)
{
	struct stops_thread *thread = calloc(1, sizeof(*thread));
	struct thread *host;

	if (!thread || !vec_push(&process->threads, &thread)) {
		free(thread);
		return error_nomem;
	}
	host = recorder_thread(&process->recorder,
			       creator ? stops_host(process, creator) : NULL);
	host->tid = tid;
	thread->id = host->id;
	thread->tid = tid;
	recorder_thread_begins(&process->recorder, host);
	if (!map_set(&process->by_tid, (uint64_t)tid, thread->id))
		return error_nomem;
	*ret = thread;
	return NULL;
}

struct stops_thread *stops_thread_find(const struct stops_process *process,
				       int32_t tid)
{
	const uint64_t *id = map_get(&process->by_tid, (uint64_t)tid);

	return id ? thread_at(process, *id - 1) : NULL;
}

struct error *stops_thread_of(struct stops_process *process, int32_t tid,
			      struct stops_thread **ret)
{
	struct stops_thread *known = stops_thread_find(process, tid);
	const struct stops_thread *creator = NULL;

	if (known) {
		*ret = known;
		return NULL;
	}
	/* one that was not announced is taken for a child of the first */
	if (process->threads.count > 0)
		creator = thread_at(process, 0);
	return stops_thread_add(process, tid, creator, ret);
}

void stops_thread_begin(struct stops_process *process,
			struct stops_thread *thread,
			const struct x86_registers *regs)
{
	struct thread *host = stops_host(process, thread);
	uint64_t sp = regs->gpr[X86_RSP], end;
	const struct map_entry *entry;
	struct maps maps;

	thread->pointer = host->pointer = regs->fs_base;
	maps_init(&maps);
	error_free(maps_read(process->pid, &maps));
	entry = maps_find(&maps, sp);
	if (entry) {
		end = thread->pointer > sp && thread->pointer < entry->end
			      ? thread->pointer
			      : entry->end;
		host->stack_low = entry->start;
		host->stack_size = end - entry->start;
	}
	maps_deinit(&maps);
}

void stops_thread_end(struct stops_process *process,
		      struct stops_thread *thread)
{
	if (thread->ended)
		return;
	thread->ended = true;
	/* whose time is that of the stops */
	process->recorder.current = NULL;
	recorder_thread_ends(&process->recorder, stops_host(process, thread));
}

struct stops_thread *
stops_thread_by_pointer(const struct stops_process *process, uint64_t pointer,
			const struct stops_thread *other)
{
	for (size_t i = process->threads.count; i-- > 0;) {
		struct stops_thread *thread = thread_at(process, i);

		if (thread != other && thread->pointer == pointer &&
		    thread->joiner == 0)
			return thread;
	}
	return NULL;
}
