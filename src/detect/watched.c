/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs and processes that are watched; see watched.h.
 */
#include "detect/watched.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "detect/coverage.h"
#include "image/image.h"
#include "image/maps.h"
#include "sys/procfs.h"

static const uint64_t TIMER_FIRST_NS = 10 * CLOCK_NS_PER_MS;
static const uint64_t TIMER_LAST_NS = 500 * CLOCK_NS_PER_MS;
/* another mapping may have taken the place of one as large */
static const uint64_t TIMER_READ_NS = 10 * CLOCK_NS_PER_S;
/* for a debug file; meanwhile no sites are fed */
static const uint64_t SERVERS_LIMIT_NS = 10 * CLOCK_NS_PER_S;

/* A message has room for no more; further mappings are not shared for us. */
enum { WATCHED_SHARED_MAX = 20000, WATCHED_WRITABLE_MAX = 1000 };

void watched_timer_set(struct watched_timer *timer, bool changed)
{
	timer->last_ns = clock_now_ns();
	timer->step_ns += timer->step_ns / 2;
	if (changed || timer->step_ns < TIMER_FIRST_NS)
		timer->step_ns = TIMER_FIRST_NS;
	if (timer->step_ns > TIMER_LAST_NS)
		timer->step_ns = TIMER_LAST_NS;
	timer->due_ns = timer->last_ns + timer->step_ns;
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
		.coverage = VEC_INIT(struct coverage),
		.tallies = VEC_INIT(struct tally),
	};
}

static struct error *program_create(const struct watched *watched, uint32_t id,
				    int pid, struct watched_program **ret)
{
	struct watched_program *program = calloc(1, sizeof(*program));
	struct error *err;

	if (!program)
		return error_nomem;
	program->id = id;
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
	watched_drop(watched, program);
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

/* /dev/zero and memfd mappings have an inode too; private ones are our own. */
static bool map_is_shared(const struct map_entry *entry)
{
	return entry->shared && entry->inode != 0 &&
	       (entry->read || entry->write);
}

static struct wire_shared map_place(const struct map_entry *entry)
{
	return (struct wire_shared){
		.start = entry->start,
		.end = entry->end,
		.offset = entry->offset,
		.device = (uint64_t)entry->dev_major << 32 | entry->dev_minor,
		.inode = entry->inode,
	};
}

static bool append_bytes(struct vec *bytes, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!vec_push(bytes, (const uint8_t *)data + i))
			return false;
	}
	return true;
}

static bool shared_is_writable(const struct watched *watched,
			       const struct shared_file *file)
{
	for (size_t i = 0; i < watched->writable.count; i++) {
		const struct shared_file *known = vec_at(&watched->writable, i);

		if (known->inode == file->inode &&
		    known->device == file->device)
			return true;
	}
	return false;
}

/*
 * Can what is mapped there change under those who have it mapped? Whoever has
 * it for reading only is told so when he is looked at after who writes to it.
 */
static bool shared_changes(struct watched *watched,
			   const struct map_entry *entry)
{
	const struct wire_shared place = map_place(entry);
	const struct shared_file file = { place.device, place.inode };

	if (shared_is_writable(watched, &file))
		return true;
	/* with too many, or no memory, those who only read it do without */
	if (entry->write && watched->writable.count < WATCHED_WRITABLE_MAX &&
	    !vec_push(&watched->writable, &file))
		log_debug(LOG_DETECT, "a shared mapping is not kept");
	return entry->write;
}

static bool shared_message(struct watched *watched, int pid,
			   const struct maps *maps, struct vec *bytes)
{
	struct wire_shared_head head = { .pid = pid };
	bool done = append_bytes(bytes, &head, sizeof(head));

	for (size_t i = 0;
	     done && i < maps->entries.count && head.count < WATCHED_SHARED_MAX;
	     i++) {
		const struct map_entry *entry = vec_at(&maps->entries, i);
		struct wire_shared shared = map_place(entry);

		if (!map_is_shared(entry) || !shared_changes(watched, entry))
			continue;
		done = append_bytes(bytes, &shared, sizeof(shared));
		head.count++;
	}
	if (done)
		*(struct wire_shared_head *)bytes->items = head;
	return done;
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

struct error *watched_shared(struct watched *watched,
			     struct watched_process *process, struct vec *ret)
{
	size_t writable = watched->writable.count;
	struct maps maps;
	struct error *err;
	uint64_t told;

	if (!watched_timer_reads(&process->shared, process->pid)) {
		watched_timer_set(&process->shared, false);
		return NULL;
	}
	maps_init(&maps);
	err = maps_read(process->pid, &maps);
	if (!err && !shared_message(watched, process->pid, &maps, ret))
		err = error_nomem;
	maps_deinit(&maps);
	if (err == error_gone)
		err = NULL;
	told = hash_bytes(ret->items, ret->count);
	process->shares = ret->count > sizeof(struct wire_shared_head);
	watched_timer_set(&process->shared, told != process->told);
	/* what others have mapped for reading counts from now on */
	for (size_t i = 0; watched->writable.count != writable &&
			   i < watched->processes.count;
	     i++) {
		struct watched_process *other = vec_at(&watched->processes, i);

		if (other != process)
			other->shared.read_ns = 0;
	}
	if (err || told == process->told)
		vec_clear(ret);
	else
		process->told = told;
	return err;
}

/* What is shared at the address, from there on; false: the process has ended. */
static bool shared_at(int pid, uint64_t address, struct wire_shared *ret)
{
	const struct map_entry *entry;
	struct maps maps;
	struct error *err;

	*ret = (struct wire_shared){ .inode = 0 };
	maps_init(&maps);
	err = maps_read(pid, &maps);
	entry = err ? NULL : maps_find(&maps, address);
	if (entry && map_is_shared(entry)) {
		*ret = map_place(entry);
		ret->offset += address - entry->start;
	}
	maps_deinit(&maps);
	error_free(err);
	return !err;
}

bool watched_same_memory(int pid, uint64_t address, int other_pid,
			 uint64_t other_address)
{
	struct wire_shared one, other;

	if (!shared_at(pid, address, &one) ||
	    !shared_at(other_pid, other_address, &other))
		return true;
	return one.inode != 0 && one.inode == other.inode &&
	       one.device == other.device && one.offset == other.offset;
}
