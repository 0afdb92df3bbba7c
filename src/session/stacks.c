/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that sleeping threads will return to; see stacks.h.
 */
#include "session/stacks.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "image/elftext.h"
#include "image/image.h"
#include "session/watched.h"
#include "sys/memory.h"
#include "sys/procfs.h"
#include "x86/call.h"

/* A look costs some 20 us for each thread. */
static const uint64_t STACKS_STEP_NS = 200 * CLOCK_NS_PER_MS;
static const uint64_t STACKS_STEP_MAX_NS = 5 * CLOCK_NS_PER_S;

struct stacks_thread {
	pid_t pid, tid;
	const struct image *image;
};

/* All threads of those processes. */
struct stacks_threads {
	struct vec list; /* of struct stacks_thread */
	struct stacks_thread next; /* its pid and image */
};

void stacks_init(struct stacks *stacks)
{
	*stacks = (struct stacks){ .step_ns = STACKS_STEP_NS };
}

bool stacks_is_return(const struct image *image, uint64_t address)
{
	const struct module *module = image_module_at(image, address);
	size_t size = 0;
	const uint8_t *bytes;

	if (!module || !module->text || address - module->start < X86_CALL_MAX)
		return false;
	bytes = elftext_bytes(module->text,
			      address - module->bias - X86_CALL_MAX, &size);
	return bytes && size >= X86_CALL_MAX &&
	       x86_ends_in_call(bytes, X86_CALL_MAX);
}

/* From the top of its stack on. */
static struct error *stacks_look_from(const struct image *image,
				      const struct memory *memory, uint64_t top,
				      stacks_found *found, void *data)
{
	uint64_t words[STACKS_BYTES / sizeof(uint64_t)];
	struct error *err;
	size_t size = 0;

	err = memory_read(memory, top, words, sizeof(words), &size);
	error_free(err);
	if (err)
		return NULL;
	for (size_t i = 0; i < size / sizeof(words[0]); i++) {
		if (!stacks_is_return(image, words[i]))
			continue;
		/* the call itself, which may be the last of its function */
		err = found(data, image, words[i] - 1);
		if (err)
			return err;
	}
	return NULL;
}

struct error *stacks_look_at(const struct image *image,
			     const struct memory *memory, pid_t tid,
			     stacks_found *found, void *data)
{
	uint64_t top;

	return procfs_stack_pointer(tid, &top)
		       ? stacks_look_from(image, memory, top, found, data)
		       : NULL;
}

static bool stacks_add_thread(pid_t tid, void *data)
{
	struct stacks_threads *threads = data;

	threads->next.tid = tid;
	return vec_push(&threads->list, &threads->next);
}

static void stacks_list(const struct watched *watched,
			struct stacks_threads *threads)
{
	for (size_t i = 0; i < watched->processes.count; i++) {
		const struct watched_process *process =
			vec_at(&watched->processes, i);
		const struct watched_program *program =
			watched_program(watched, process->program);

		if (!program || !program->awake)
			continue;
		threads->next.pid = process->pid;
		threads->next.image = program->image;
		error_free(procfs_threads(process->pid, stacks_add_thread,
					  threads));
	}
}

struct error *stacks_look(struct stacks *stacks, const struct watched *watched,
			  stacks_found *found, void *data)
{
	struct stacks_threads threads = {
		.list = VEC_INIT(struct stacks_thread),
	};
	struct memory memory;
	struct error *err = NULL;
	pid_t pid = 0; /* whose memory that is */

	stacks_list(watched, &threads);
	if (stacks->next >= threads.list.count)
		stacks->next = 0;
	for (int i = 0;
	     !err && i < STACKS_THREADS && stacks->next < threads.list.count;
	     i++) {
		const struct stacks_thread *thread =
			vec_at(&threads.list, stacks->next++);
		uint64_t top;

		if (!procfs_stack_pointer(thread->tid, &top))
			continue;
		if (thread->pid != pid && pid != 0)
			memory_deinit(&memory);
		if (thread->pid != pid)
			memory_init(&memory, thread->pid);
		pid = thread->pid;
		err = stacks_look_from(thread->image, &memory, top, found,
				       data);
	}
	if (pid != 0)
		memory_deinit(&memory);
	vec_deinit(&threads.list);
	return err;
}

void stacks_looked(struct stacks *stacks, uint64_t now_ns, bool found)
{
	stacks->step_ns = found ? STACKS_STEP_NS : 2 * stacks->step_ns;
	if (stacks->step_ns > STACKS_STEP_MAX_NS)
		stacks->step_ns = STACKS_STEP_MAX_NS;
	stacks->due_ns = now_ns + stacks->step_ns;
}
