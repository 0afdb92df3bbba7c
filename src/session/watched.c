/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs and processes that are watched; see watched.h.
 */
#include "session/watched.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/opener.h"
#include "image/image.h"
#include "sampling/coverage.h"
#include "sys/procfs.h"

static const uint64_t TIMER_FIRST_NS = 10 * CLOCK_NS_PER_MS;
static const uint64_t TIMER_LAST_NS = 5 * CLOCK_BEAT_NS;
/* another mapping may have taken the place of one as large */
static const uint64_t TIMER_READ_NS = 10 * CLOCK_NS_PER_S;
/* for a debug file; meanwhile no sites are fed */
static const uint64_t SERVERS_LIMIT_NS = 10 * CLOCK_NS_PER_S;

void watched_timer_set(struct watched_timer *timer, bool changed)
{
	timer->last_ns = clock_now_ns();
	timer->step_ns += timer->step_ns / 2;
	if (changed || timer->step_ns < TIMER_FIRST_NS)
		timer->step_ns = TIMER_FIRST_NS;
	if (timer->step_ns > TIMER_LAST_NS)
		timer->step_ns = TIMER_LAST_NS;
	timer->due_ns = timer->last_ns + timer->step_ns;
	/* those of many processes together */
	if (timer->step_ns == TIMER_LAST_NS)
		timer->due_ns = clock_align(timer->due_ns, TIMER_LAST_NS);
}

bool watched_timer_reads(struct watched_timer *timer, int pid)
{
	uint64_t now = clock_now_ns(), mapped = 0;
	bool known = procfs_mapped(pid, &mapped);

	if (known && timer->read_ns != 0 && mapped == timer->mapped &&
	    now - timer->read_ns < TIMER_READ_NS)
		return false;
	timer->mapped = mapped;
	timer->read_ns = now;
	return true;
}

void watched_timer_hurry(struct watched_timer *timer, bool changed)
{
	uint64_t soon = timer->last_ns + TIMER_FIRST_NS;

	timer->read_ns = 0;

	if (changed)
		timer->step_ns = TIMER_FIRST_NS;
	if (soon < timer->due_ns)
		timer->due_ns = soon;
}

void watched_init(struct watched *watched, const struct rules *rules,
		  uint64_t seed)
{
	*watched = (struct watched){
		.rules = rules,
		.seed = seed,
		.programs = VEC_INIT(struct watched_program *),
		.processes = VEC_INIT(struct watched_process),
		.writable = VEC_INIT(struct shared_file),
		.coverage = VEC_INIT(struct run_coverage),
		.tallies = VEC_INIT(struct run_program),
	};
}

static struct error *program_create(const struct watched *watched, uint32_t id,
				    int pid, struct watched_program **ret)
{
	struct watched_program *program = calloc(1, sizeof(*program));
	struct error *err;

	if (!program)
		return error_nomem;
	program->id = program->key = id;
	program->pid = pid;
	program->unplaced = (struct vec)VEC_INIT(uint64_t);
	program->begun_ns = clock_now_ns();
	err = image_create(pid, &program->image);
	if (!err)
		image_use_opener(program->image, watched->opener);
	if (!err && watched->debuginfod)
		image_ask_servers(program->image, SERVERS_LIMIT_NS);
	if (!err)
		err = sampleset_init(&program->set, program->image,
				     watched->rules, pid, watched->seed + id);
	program->set.scanner.own_marks = true;
	if (err) {
		image_destroy(program->image);
		free(program);
		return err;
	}
	*ret = program;
	return NULL;
}

static void program_destroy(struct watched_program *program)
{
	sampleset_deinit(&program->set);
	image_destroy(program->image);
	vec_deinit(&program->unplaced);
	free(program);
}

void watched_deinit(struct watched *watched)
{
	for (size_t i = 0; i < watched->programs.count; i++)
		program_destroy(watched_at(watched, i));
	vec_deinit(&watched->programs);
	vec_deinit(&watched->processes);
	vec_deinit(&watched->writable);
	coverage_deinit(&watched->coverage);
	tally_deinit(&watched->tallies);
}

const char *watched_path(const struct watched_program *program)
{
	const struct vec *modules = image_modules(program->image);

	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module =
			*(struct module **)vec_at(modules, i);

		if (module->main)
			return module->path;
	}
	return NULL;
}

/* Without memory it is missing from the list only. */
static void watched_tally(struct watched *watched,
			  const struct watched_program *program)
{
	const char *path = watched_path(program);

	if (tally_is_told(&program->seen) &&
	    !tally_add(&watched->tallies, path ? path : "?", &program->seen))
		log_debug(LOG_DETECT, "figures of a program are lost");
}

void watched_add_up(struct watched *watched)
{
	for (size_t i = 0; i < watched->programs.count; i++)
		watched_tally(watched, watched_at(watched, i));
	tally_sort(&watched->tallies);
}

bool watched_coverage(const struct watched *watched, struct vec *coverage)
{
	if (!coverage_add_all(coverage, &watched->coverage))
		return false;
	for (size_t i = 0; i < watched->programs.count; i++) {
		if (!sampleset_coverage(&watched_at(watched, i)->set, coverage))
			return false;
	}
	return true;
}

struct watched_program *watched_program(const struct watched *watched,
					uint32_t id)
{
	for (size_t i = 0; i < watched->programs.count; i++) {
		struct watched_program *program = watched_at(watched, i);

		if (program->id == id)
			return program;
	}
	return NULL;
}

static struct watched_process *watched_process(const struct watched *watched,
					       int pid)
{
	for (size_t i = 0; i < watched->processes.count; i++) {
		struct watched_process *process =
			vec_at(&watched->processes, i);

		if (process->pid == pid)
			return process;
	}
	return NULL;
}

static void watched_drop(struct watched *watched,
			 struct watched_program *program)
{
	uint64_t known, sampled;

	for (size_t i = 1; i < watched->programs.count; i++) {
		if (watched_at(watched, i) != program)
			continue;
		sampleset_count_own(&program->set, &known, &sampled);
		watched_tally(watched, program);
		watched->sites_known_own += known;
		watched->sites_sampled_own += sampled;
		watched->own_incomplete |=
			!sampleset_own_complete(&program->set);
		watched->sites_sampled += program->set.sampler.sampled;
		watched->sites_known += program->set.sampler.known;
		/* without memory it is missing from the list only */
		if (!sampleset_coverage(&program->set, &watched->coverage))
			log_debug(LOG_DETECT, "coverage of a program is lost");
		vec_remove(&watched->programs, i);
		program_destroy(program);
		return;
	}
}

/* Of those that rest, the one that has done so for longest; not the first. */
static struct watched_program *watched_oldest(const struct watched *watched,
					      size_t *ret_count)
{
	struct watched_program *oldest = NULL;

	*ret_count = 0;
	for (size_t i = 1; i < watched->programs.count; i++) {
		struct watched_program *program = watched_at(watched, i);

		if (program->pid != 0)
			continue;
		++*ret_count;
		if (!oldest || program->ended < oldest->ended)
			oldest = program;
	}
	return oldest;
}

/* Nobody runs it any more. */
static void watched_rest(struct watched *watched,
			 struct watched_program *program)
{
	struct watched_program *oldest;
	size_t count;

	program->ended = ++watched->ends;
	sampleset_rest(&program->set);
	/* nothing was read of it */
	if (!watched_path(program))
		watched_drop(watched, program);
	oldest = watched_oldest(watched, &count);
	if (count > WATCHED_RESTING)
		watched_drop(watched, oldest);
}

/* The process does not run the program any more: let another stand for it. */
static void watched_leave(struct watched *watched, int pid, uint32_t id)
{
	struct watched_program *program = watched_program(watched, id);

	if (!program || program->pid != pid)
		return;
	program->pid = 0;
	for (size_t i = 0; i < watched->processes.count; i++) {
		const struct watched_process *process =
			vec_at(&watched->processes, i);

		if (process->pid == pid || process->program != id)
			continue;
		program->pid = process->pid;
		program->set.pid = process->pid;
		image_follow(program->image, process->pid);
		return;
	}
	watched_rest(watched, program);
}

/* What the process executes. False: it cannot be told, or it has ended. */
static bool watched_executable(const struct watched *watched, int pid,
			       struct stat *ret)
{
	char path[32];
	const struct open_request request = { .path = path };
	struct error *err;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	err = opener_stat(watched->opener, &request, ret);
	error_free(err);
	return !err;
}

/* Of those that rest and have run that file, the one that most is known of. */
static struct watched_program *
watched_find_resting(const struct watched *watched, const struct stat *status)
{
	struct watched_program *best = NULL;

	for (size_t i = 0; i < watched->programs.count; i++) {
		struct watched_program *program = watched_at(watched, i);

		if (program->pid == 0 &&
		    image_runs_file(program->image, status) &&
		    (!best ||
		     program->set.sampler.sampled > best->set.sampler.sampled))
			best = program;
	}
	return best;
}

/* As one that has just begun, but for what is known of it. */
static void watched_begin_again(struct watched_program *program, uint32_t id,
				int pid)
{
	program->id = id;
	program->pid = program->set.pid = pid;
	image_take_over(program->image, pid);
	program->maps = (struct watched_timer){ .due_ns = 0 };
	program->begun_ns = clock_now_ns();
	program->work_ns = program->idle_ns = program->startup_ns = 0;
	program->quiet_ns = 0;
	program->walk = (struct sampleset_walk){ .part = 0 };
	program->entries = (struct sampleset_walk){ .part = 0 };
	program->walk_ns = program->unplaced_ns = 0;
	vec_clear(&program->unplaced);
	program->decoded = program->dry = program->aimed = false;
	program->awake = program->asked = program->threaded = false;
}

/* The program that the process executes, if it rests; or NULL. */
static struct watched_program *watched_take_over(struct watched *watched,
						 uint32_t id, int pid)
{
	struct watched_program *program;
	struct stat status;

	if (watched->ends == 0 || !watched_executable(watched, pid, &status))
		return NULL;
	program = watched_find_resting(watched, &status);
	if (!program)
		return NULL;
	log_debug(LOG_DETECT, "program %u is executed again, as %u",
		  program->key, id);
	watched_begin_again(program, id, pid);
	return program;
}

static struct error *watched_add_program(struct watched *watched, uint32_t id,
					 int pid, struct watched_program **ret)
{
	struct watched_program *program;
	struct error *err = program_create(watched, id, pid, &program);

	if (err)
		return err;
	if (!vec_push(&watched->programs, &program)) {
		program_destroy(program);
		return error_nomem;
	}
	*ret = program;
	return NULL;
}

static void watched_note_threads(struct watched_program *program,
				 const struct wire_process *message)
{
	if (program && message->threads > program->seen.threads)
		program->seen.threads = message->threads;
}

struct error *watched_began(struct watched *watched,
			    const struct wire_process *message,
			    struct watched_program **ret, bool *ret_new)
{
	struct watched_process *process =
		watched_process(watched, message->pid);
	struct watched_process added = { .pid = message->pid,
					 .program = message->program };
	uint32_t before = process ? process->program : message->program;
	bool is_new = !process || before != message->program;

	if (process)
		*process = added;
	else if (!vec_push(&watched->processes, &added))
		return error_nomem;
	if (before != message->program)
		watched_leave(watched, message->pid, before);
	*ret = watched_program(watched, message->program);
	*ret_new = !*ret;
	if (!*ret)
		*ret = watched_take_over(watched, message->program,
					 message->pid);
	if (!*ret) {
		struct error *err = watched_add_program(
			watched, message->program, message->pid, ret);

		if (err)
			return err;
	}
	(*ret)->seen.processes += is_new;
	watched_note_threads(*ret, message);
	return NULL;
}

void watched_ended(struct watched *watched, const struct wire_process *message)
{
	for (size_t i = 0; i < watched->processes.count; i++) {
		const struct watched_process *process =
			vec_at(&watched->processes, i);

		if (process->pid != message->pid)
			continue;
		watched_note_threads(watched_program(watched, process->program),
				     message);
		watched_leave(watched, process->pid, process->program);
		vec_remove(&watched->processes, i);
		return;
	}
}

void watched_wake(struct watched *watched, struct watched_program *program)
{
	if (program->awake)
		return;
	program->awake = true;
	program->dry = program->aimed = false;
	program->maps.due_ns = 0;
	if (!program->asked)
		program->begun_ns = clock_now_ns();
	watched->woken = true;
}
