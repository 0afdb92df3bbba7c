/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time in generated code; see generated.h.
 */
#include "session/generated.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "image/image.h"
#include "image/maps.h"
#include "session/watched.h"
#include "sys/cpuclock.h"
#include "sys/procfs.h"

static const uint64_t GENERATED_PERIOD_NS = 5 * CLOCK_NS_PER_MS;

/* At a time: a ring takes two pages that cannot be swapped. */
enum { GENERATED_CLOCKS = 16 };

struct generated_clock {
	struct cpuclock clock;
	int pid;
};

/* All threads of the processes. */
struct generated_threads {
	struct vec list; /* of struct generated_clock, not open */
	int pid;
};

void generated_init(struct generated *generated)
{
	*generated = (struct generated){
		.clocks = VEC_INIT(struct generated_clock),
	};
}

static void generated_close_all(struct generated *generated)
{
	for (size_t i = 0; i < generated->clocks.count; i++) {
		struct generated_clock *clock = vec_at(&generated->clocks, i);

		cpuclock_close(&clock->clock);
	}
	vec_clear(&generated->clocks);
}

void generated_deinit(struct generated *generated)
{
	generated_close_all(generated);
	vec_deinit(&generated->clocks);
}

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool generated_is_code(const struct map_entry *entry)
{
	if (!entry->exec)
		return false;
	if (begins_with(entry->path, "/memfd:") ||
	    begins_with(entry->path, "/dev/zero"))
		return true;
	if (entry->inode != 0)
		return false;
	return entry->path[0] == '\0' || begins_with(entry->path, "[anon") ||
	       begins_with(entry->path, "[heap]") ||
	       begins_with(entry->path, "[stack");
}

/* A program may be run from a memfd: then it is a module like others. */
static bool generated_in_image(const struct image *image,
			       const struct map_entry *entry)
{
	const struct module *module = image_module_at(image, entry->start);

	return generated_is_code(entry) && !(module && module->text);
}

static bool generated_is_there(const struct watched *watched)
{
	for (size_t i = 0; i < watched->programs.count; i++) {
		const struct watched_program *program = watched_at(watched, i);
		const struct vec *entries =
			&image_maps(program->image)->entries;

		for (size_t j = 0; program->pid != 0 && j < entries->count;
		     j++) {
			if (generated_in_image(program->image,
					       vec_at(entries, j)))
				return true;
		}
	}
	return false;
}

/* The image of the program that the process runs, or ran; NULL: not known. */
static const struct image *generated_image(const struct watched *watched,
					   int pid)
{
	for (size_t i = 0; i < watched->processes.count; i++) {
		const struct watched_process *process =
			vec_at(&watched->processes, i);
		const struct watched_program *program;

		if (process->pid != pid)
			continue;
		program = watched_program(watched, process->program);
		return program ? program->image : NULL;
	}
	/* it has just ended; the first program stays */
	return watched->programs.count == 1 ? watched_at(watched, 0)->image
					    : NULL;
}

/*
 * What is not in the maps as they were read last has come since then, and
 * libraries come seldom.
 */
static bool generated_holds(const struct image *image, uint64_t address)
{
	const struct map_entry *entry = maps_find(image_maps(image), address);

	return !entry || generated_in_image(image, entry);
}

static void generated_count(struct generated *generated,
			    const struct watched *watched)
{
	for (size_t i = 0; i < generated->clocks.count; i++) {
		struct generated_clock *clock = vec_at(&generated->clocks, i);
		const struct image *image =
			generated_image(watched, clock->pid);
		uint64_t address;

		while (cpuclock_next(&clock->clock, &address)) {
			if (!image)
				continue;
			generated->looks++;
			generated->inside += generated_holds(image, address);
		}
	}
}

static bool generated_add_thread(pid_t tid, void *data)
{
	struct generated_threads *threads = data;
	struct generated_clock thread = { .clock = { .fd = -1, .tid = tid },
					  .pid = threads->pid };

	return vec_push(&threads->list, &thread);
}

/* Clocks for as many threads as there may be, others each time. */
static void generated_open(struct generated *generated,
			   const struct vec *threads)
{
	size_t count = threads->count < GENERATED_CLOCKS ? threads->count
							 : GENERATED_CLOCKS;

	for (size_t i = 0; i < count && !generated->refused; i++) {
		struct generated_clock clock =
			*(const struct generated_clock *)vec_at(
				threads,
				(generated->next + i) % threads->count);
		struct error *err = cpuclock_open(
			clock.clock.tid, GENERATED_PERIOD_NS, &clock.clock);

		if (err && err != error_gone) {
			log_debug(LOG_DETECT, "%s", error_message(err));
			generated->refused = true;
		} else if (!err && !vec_push(&generated->clocks, &clock)) {
			cpuclock_close(&clock.clock);
		}
		error_free(err);
	}
	generated->next += count;
}

void generated_look(struct generated *generated, const struct watched *watched)
{
	struct generated_threads threads = {
		.list = VEC_INIT(struct generated_clock),
	};

	if (!generated->seen)
		generated->seen = generated_is_there(watched);
	if (!generated->seen || generated->refused)
		return;
	generated_count(generated, watched);
	generated_close_all(generated);
	for (size_t i = 0; i < watched->processes.count; i++) {
		const struct watched_process *process =
			vec_at(&watched->processes, i);

		threads.pid = process->pid;
		error_free(procfs_threads(process->pid, generated_add_thread,
					  &threads));
	}
	generated_open(generated, &threads.list);
	vec_deinit(&threads.list);
}
