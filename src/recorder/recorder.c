/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An access asks for its use, takes the next sequence number and is folded into
 * the granules that it touches.
 */
#include "recorder/recorder.h"

#include "hunt/trace-format.h"
#include "recorder/again.h"
#include "recorder/emit.h"
#include "recorder/os.h"
#include "recorder/slots.h"
#include "recorder/watched.h"

void recorder_init(struct recorder *recorder,
		   const struct recorder_options *options)
{
	recorder->options = *options;
	recorder->writer.fd = -1;
	heir_init(&recorder->heir);
	modules_init(&recorder->modules);
	contexts_init(&recorder->contexts);
	uses_init(&recorder->uses);
	locksets_init(&recorder->locksets);
	holds_init(&recorder->holds);
	heap_init(&recorder->heap);
	shadow_init(&recorder->shadow, options->memory);
	if (options->whole)
		whole_init(&recorder->whole);
	if (options->code)
		stream_init(&recorder->stream, options->window,
			    options->folder);
	records_init(&recorder->threads, sizeof(struct thread));
	if (options->promises & TRACE_LOSSLESS)
		recorder->raw = os_map(WRITER_BUFFER);
	recorder->whole_or_raw = options->whole || recorder->raw;
	recorder->start = os_ns();
}

static void threads_deinit(struct records *threads)
{
	for (uint32_t id = 1; id <= threads->count; id++) {
		struct thread *thread = records_at(threads, id);

		stack_deinit(&thread->stack);
	}
	records_deinit(threads);
}

void recorder_deinit(struct recorder *recorder)
{
	modules_deinit(&recorder->modules);
	contexts_deinit(&recorder->contexts);
	uses_deinit(&recorder->uses);
	locksets_deinit(&recorder->locksets);
	heap_deinit(&recorder->heap);
	shadow_deinit(&recorder->shadow);
	stream_deinit(&recorder->stream);
	threads_deinit(&recorder->threads);
	writer_deinit(&recorder->writer);
	if (recorder->raw)
		os_unmap(recorder->raw, WRITER_BUFFER);
}

static bool open_trace(struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;
	const struct writer_process process = {
		.recorder = options->recorder,
		.promises = options->promises,
		.pid = options->pid ? options->pid : os_pid(),
		.ppid = options->pid ? options->ppid : os_parent_pid(),
	};

	return writer_open(&recorder->writer, options->folder, &process);
}

/* Texts one behind another, each with its zero; the sum of their lengths. */
static size_t put_texts(char *to, const char *const *texts, uint32_t count)
{
	size_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		size_t n = os_length(texts[i]) + 1;

		if (to)
			os_copy(to + at, texts[i], n);
		at += n;
	}
	return at;
}

bool recorder_begin(struct recorder *recorder, const char *const *arguments,
		    uint32_t argc)
{
	struct trace_program program = { .argc = argc };
	const char *file = recorder->options.file;
	size_t first = os_length(file) + 1;
	size_t size = first + put_texts(NULL, arguments, argc);
	char *texts;

	if (!open_trace(recorder))
		return false;
	texts = os_alloc(size);
	os_copy(texts, file, first);
	put_texts(texts + first, arguments, argc);
	writer_chunk(&recorder->writer, TRACE_PROGRAM, &program,
		     sizeof(program), texts, size);
	os_free(texts);
	return true;
}

void recorder_map(struct recorder *recorder, const char *path, uint64_t address,
		  uint64_t offset)
{
	uint32_t count = recorder->modules.count;

	modules_map(&recorder->modules, path, address, offset,
		    recorder->sequence);
	if (recorder->modules.count > count)
		emit_module(recorder, recorder->modules.count);
}

/* What was written is not in the trace of the child. */
static void forget_written(struct recorder *recorder)
{
	struct uses *uses = &recorder->uses;

	for (uint32_t id = 1; id <= uses->all.count; id++) {
		use_at(uses, id)->descriptor = 0;
		use_at(uses, id)->memo = (struct shadow_memo){ 0 };
	}
	for (uint32_t id = 1; id <= uses->sites.count; id++)
		site_at(uses, id)->wanted = false;
	for (uint32_t id = 1; id <= recorder->locksets.all.count; id++)
		lockset_at(&recorder->locksets, (uint16_t)id)->written = false;
	for (uint32_t id = 1; id <= recorder->holds.all.count; id++)
		hold_at(&recorder->holds, id)->written = false;
	for (uint32_t id = 1; id <= recorder->contexts.all.count; id++)
		context_at(&recorder->contexts, id)->descriptor = 0;
	for (uint32_t id = 1; id <= recorder->heap.blocks.count; id++) {
		struct block *block = records_at(&recorder->heap.blocks, id);

		block->number = 0;
	}
	recorder->heap.numbers = 0;
	recorder->descriptors = 0;
	recorder->raw_count = 0;
	recorder->cells = 0;
	recorder->events = 0;
}

/* The surviving thread is the initial one: it is thread 1 from now on. */
static void keep_thread(struct recorder *recorder, struct thread *survivor)
{
	struct thread *first = records_at(&recorder->threads, 1);

	if (survivor != first) {
		stack_deinit(&first->stack);
		*first = *survivor;
		survivor->stack = (struct stack){ 0 };
	}
	for (uint32_t id = 2; id <= recorder->threads.count; id++) {
		struct thread *gone = records_at(&recorder->threads, id);

		stack_deinit(&gone->stack);
		*gone = (struct thread){ 0 };
	}
	recorder->threads.count = 1;
	first->id = 1;
	first->parent = 0;
	first->ordinal = 0;
	first->children = 0;
	first->descriptor = 0;
	first->tid = os_pid();
	first->key = uses_key(1, first->context);
	recorder->current = first;
}

bool recorder_fork(struct recorder *recorder, struct thread *survivor)
{
	heir_fork(&recorder->heir);
	recorder->over = false;
	if (recorder->writer.fd >= 0)
		os_close(recorder->writer.fd);
	recorder->writer.used = 0;
	stream_fork(recorder);
	forget_written(recorder);
	keep_thread(recorder, survivor);
	shadow_reset(&recorder->shadow);
	recorder->placed = 0;
	if (recorder->options.whole)
		whole_reset(&recorder->whole);
	if (!recorder_begin(recorder, NULL, 0))
		return false;
	for (uint32_t id = 1; id <= recorder->modules.count; id++)
		emit_module(recorder, id);
	emit_thread(recorder, recorder->current);
	return true;
}

struct thread *recorder_thread(struct recorder *recorder, struct thread *parent)
{
	uint32_t id = records_add(&recorder->threads);
	struct thread *thread = records_at(&recorder->threads, id);

	*thread = (struct thread){ .id = id,
				   .created = recorder->sequence,
				   .ended = TRACE_NEVER,
				   .joined = TRACE_NEVER };
	if (parent) {
		thread->parent = parent->id;
		thread->ordinal = parent->children++;
		thread->descriptor = emit_stack(recorder, parent->context);
	}
	thread->key = uses_key(id, 0);
	stack_init(&thread->stack);
	return thread;
}

/* Has it been accessed, by another thread then? */
static bool is_reached(struct recorder *recorder, uint64_t low, uint64_t size)
{
	for (uint64_t at = low; at - low < size;
	     at = (at | ((1 << SHADOW_SHIFT) - 1)) + 1) {
		if (shadow_find(&recorder->shadow, at))
			return true;
	}
	return false;
}

static void note_reached(struct recorder *recorder)
{
	const struct thread *thread = recorder->current;

	recorder->on_stack = thread &&
			     (thread->reached || thread->stack_size == 0);
}

void recorder_thread_begins(struct recorder *recorder, struct thread *thread)
{
	/* it may have been the stack of another one */
	emit_forgotten(recorder, thread->stack_low, thread->stack_size, NULL);
	thread->reached =
		is_reached(recorder, thread->stack_low, thread->stack_size);
	note_reached(recorder);
	emit_thread(recorder, thread);
}

void recorder_thread_ends(struct recorder *recorder, struct thread *thread)
{
	thread->ended = recorder->sequence;
	emit_thread(recorder, thread);
	stream_end(recorder, thread);
	stack_deinit(&thread->stack);
	if (recorder->current == thread)
		recorder_runs(recorder, NULL);
}

void recorder_ran(struct recorder *recorder, struct thread *thread, uint64_t ns)
{
	uint64_t now = ns > recorder->start ? ns - recorder->start : 0;

	if (recorder->current)
		recorder->busy += now - recorder->resumed;
	if (recorder->stream.on)
		stream_drain(recorder);
	recorder->resumed = now;
	recorder->current = thread;
	note_reached(recorder);
	emit_clock(recorder, false);
}

void recorder_runs(struct recorder *recorder, struct thread *thread)
{
	recorder_ran(recorder, thread, os_ns());
}

/* The use of the site by the current thread now, counted; NULL: no room. */
static inline struct use *count_use(struct recorder *recorder,
				    struct site *site)
{
	uint64_t key = recorder->current->key;
	struct use *use = site->last;

	if (site->key != key || !use)
		use = uses_switch(&recorder->uses, site, key);
	if (use)
		use->executions++;
	return use;
}

/* Bytes [from, from + size) of a granule. */
static inline uint8_t mask_of(uint64_t from, uint64_t size)
{
	return (uint8_t)(((1u << size) - 1) << from);
}

/* Bytes of an access that are not in a touch yet. */
struct rest {
	uint64_t address, size;
};

/* The next granule of an access; false: there is none. */
static bool next_granule(const struct recorder *recorder, struct touch *touch,
			 struct rest *rest)
{
	uint64_t from = rest->address % 8, now = 8 - from;

	if (rest->size == 0)
		return false;
	now = now < rest->size ? now : rest->size;
	touch->address = rest->address - from;
	touch->copy = touch->address + recorder->copy;
	touch->mask = mask_of(from, now);
	rest->address += now;
	rest->size -= now;
	return true;
}

/* A chunk of memory is accessed for the first time: is it a stack? */
static void place_chunk(struct recorder *recorder, uint64_t number)
{
	uint64_t low = number << SHADOW_SHIFT;
	uint64_t high = low + (1 << SHADOW_SHIFT);

	for (uint32_t id = 1; id <= recorder->threads.count; id++) {
		struct thread *thread = records_at(&recorder->threads, id);

		if (thread->ended == TRACE_NEVER &&
		    low < thread->stack_low + thread->stack_size &&
		    high > thread->stack_low)
			thread->reached = true;
	}
}

static void place_chunks(struct recorder *recorder)
{
	const struct shadow *shadow = &recorder->shadow;

	while (recorder->placed < shadow->chunks_count)
		place_chunk(recorder,
			    shadow->chunks[recorder->placed++]->number);
	note_reached(recorder);
}

/* What no thread but its own has accessed so far. */
static bool is_private(struct recorder *recorder, const struct thread *thread,
		       uint64_t address)
{
	struct shadow_chunk *chunk;

	if (address - thread->stack_low >= thread->stack_size)
		return false;
	if (!thread->reached)
		return true;
	chunk = shadow_find(&recorder->shadow, address);
	return !chunk || granule_at(chunk, address)->count == 0;
}

/* Of an access that is counted, and has the next sequence number. */
static struct touch new_touch(const struct recorder *recorder,
			      const struct site *site, const struct use *use)
{
	const struct thread *thread = recorder->current;

	return (struct touch){
		.sequence = recorder->sequence + 1,
		.use = use->id,
		.site = site->id,
		.thread = thread->id,
		.ordinal = (uint32_t)(use->executions - 1),
		.lockset = thread->lockset,
		.held = thread->held,
		.writes = site->flags & TRACE_WRITES,
	};
}

/* Fold it into what has no limits. */
static void touch_whole(struct recorder *recorder, const struct site *site,
			const struct use *use, uint64_t address, uint64_t size)
{
	struct touch touch = new_touch(recorder, site, use);
	struct rest rest = { address, size };

	while (next_granule(recorder, &touch, &rest))
		whole_touch(&recorder->whole, &touch, &recorder->uses,
			    &recorder->locksets);
}

static void touch_use(struct recorder *recorder, const struct site *site,
		      struct use *use, uint64_t address, uint64_t size)
{
	struct touch touch = new_touch(recorder, site, use);
	struct rest rest = { address, size };

	recorder->sequence++;
	if (recorder->raw)
		emit_access(recorder, use, address, size);
	recorder->dropped_locksets += touch.lockset == LOCKSET_UNKNOWN;
	while (next_granule(recorder, &touch, &rest))
		shadow_touch(&recorder->shadow, &touch, &recorder->uses,
			     &recorder->locksets, &use->memo);
	if (recorder->placed != recorder->shadow.chunks_count)
		place_chunks(recorder);
}

/*
 * An instruction may access its thread's own stack at one time, and shared memory at
 * another: each execution counts. Those of an allocator's own code do not, which
 * runs muted only.
 */
void recorder_range(struct recorder *recorder, struct site *site,
		    uint64_t address, uint64_t size)
{
	const struct thread *thread = recorder->current;
	struct use *use;

	if (!thread || (thread->muted != 0 && site->function == 0))
		return;
	use = count_use(recorder, site);
	if (!use || thread->muted != 0 || is_private(recorder, thread, address))
		return;
	if (recorder->options.whole)
		touch_whole(recorder, site, use, address, size);
	touch_use(recorder, site, use, address, size);
}

void recorder_moved(struct recorder *recorder, struct thread *thread,
		    const struct moved *moved)
{
	uint32_t flags = TRACE_SYSCALL;
	struct thread *current = recorder->current;
	uint64_t before = recorder->sequence;
	struct site *site;
	uint32_t id;

	flags |= moved->writes ? TRACE_WRITES : TRACE_READS;
	id = uses_site(&recorder->uses, moved->ip, 0, flags);
	if (id == 0)
		return;
	site = site_at(&recorder->uses, id);
	recorder->current = thread;
	recorder_range(recorder, site, moved->address, moved->size);
	if (recorder->sequence > before && site->last)
		emit_transfer(recorder, site->last, moved->address, moved->size,
			      moved->number, moved->fd);
	recorder->current = current;
}

static inline struct again again_of(const struct recorder *recorder,
				    const struct site *site, uint64_t address)
{
	return (struct again){
		.address = address - address % 8,
		.sequence = recorder->sequence + 1,
		.lockset = recorder->current->lockset,
		.mask = (uint8_t)(site->bytes << address % 8),
		.writes = site->flags & TRACE_WRITES,
	};
}

/* Whether its bytes are of one granule. */
static inline bool is_in_one(const struct site *site, uint64_t address)
{
	return ((uint32_t)site->bytes << address % 8) - 1 < UINT8_MAX;
}

static inline void count_access(struct recorder *recorder,
				const struct again *again)
{
	recorder->sequence++;
	recorder->dropped_locksets += again->lockset == LOCKSET_UNKNOWN;
}

/* An access that is counted, and that the use's memo is not of. */
static __attribute__((noinline)) void fold_access(struct recorder *recorder,
						  const struct site *site,
						  struct use *use,
						  uint64_t address)
{
	const struct again again = again_of(recorder, site, address);

	if (is_in_one(site, address) &&
	    shadow_again(&recorder->shadow, use, &again))
		count_access(recorder, &again);
	else
		touch_use(recorder, site, use, address, site->size);
}

/* The same to the thread's own stack, which another one has accessed. */
static __attribute__((noinline)) void fold_on_stack(struct recorder *recorder,
						    const struct site *site,
						    struct use *use,
						    uint64_t address)
{
	if (!is_private(recorder, recorder->current, address))
		fold_access(recorder, site, use, address);
}

/* What is done most often needs few registers: it saves none. */
void recorder_access(struct recorder *recorder, struct site *site,
		     uint64_t address)
{
	const struct thread *thread = recorder->current;
	struct use *use = site->last;
	struct again again;

	if (!thread || thread->muted != 0 || site->key != thread->key || !use ||
	    recorder->whole_or_raw) {
		recorder_range(recorder, site, address, site->size);
		return;
	}
	use->executions++;
	if (address - thread->stack_low < thread->stack_size) {
		if (thread->reached)
			fold_on_stack(recorder, site, use, address);
		return;
	}
	again = again_of(recorder, site, address);
	if (is_in_one(site, address) &&
	    again_memo(&recorder->shadow, use, &again))
		count_access(recorder, &again);
	else
		fold_access(recorder, site, use, address);
}

static void set_context(struct thread *thread, uint32_t context)
{
	thread->context = context;
	thread->key = uses_key(thread->id, context);
}

void recorder_call(struct recorder *recorder, uint64_t sp, uint64_t address)
{
	struct thread *thread = recorder->current;

	set_context(thread, stack_call(&recorder->contexts, &thread->stack, sp,
				       address));
}

void recorder_return(struct recorder *recorder, uint64_t sp, uint64_t result)
{
	struct thread *thread = recorder->current;

	set_context(thread, stack_return(&thread->stack, sp));
	if (thread->calls_count > 0)
		watched_return(recorder, thread, sp, result);
}

void recorder_forget(struct recorder *recorder, uint64_t address, uint64_t size)
{
	emit_forgotten(recorder, address, size, NULL);
}
