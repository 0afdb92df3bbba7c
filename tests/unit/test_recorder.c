/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/recorder: two threads by hand, and what the trace then says of them. The
 * memory that they access is a buffer of this test.
 */
#include "recorder/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hunt/trace-events.h"
#include "hunt/trace-file.h"
#include "recorder/emit.h"

enum { CODE = 0x400000, CELLS_MAX = 256 };

static char folder[32];
static uint64_t memory[512];
static struct recorder *recorder;
static struct thread *first, *second;
static struct trace_cell cells[CELLS_MAX];
static size_t cells_count, whole_count;
static struct trace_end end;

static int set_up(void **state)
{
	struct recorder_options options = { .recorder = TRACE_BY_VALGRIND,
					    .memory = 1 << 24,
					    .events_max = 100,
					    .file = "/bin/program" };

	(void)state;
	strcpy(folder, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(folder));
	options.folder = folder;
	recorder = calloc(1, sizeof(*recorder));
	assert_non_null(recorder);
	recorder_init(recorder, &options);
	assert_true(recorder_begin(recorder, NULL, 0));
	first = recorder_thread(recorder, NULL);
	second = recorder_thread(recorder, first);
	memset(memory, 0, sizeof(memory));
	return 0;
}

static int tear_down(void **state)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	(void)state;
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(folder);
	free(recorder);
	return 0;
}

static void access_at(struct thread *thread, uint64_t instruction,
		      uint32_t flags, const void *at, uint32_t size)
{
	uint32_t id = uses_site(&recorder->uses, instruction, size, flags);

	recorder->current = thread;
	recorder_access(recorder, site_at(&recorder->uses, id),
			(uint64_t)(uintptr_t)at);
}

/* Its cells and totals. */
static void read_cells(struct trace_file *trace)
{
	struct trace_item item;

	cells_count = 0;
	whole_count = 0;
	for (;;) {
		assert_null(trace_file_next(trace, &item));
		if (!item.payload)
			break;
		if (item.type == TRACE_CELL) {
			assert_true(cells_count < CELLS_MAX);
			memcpy(&cells[cells_count++], item.payload,
			       sizeof(*cells));
		}
		whole_count += item.type == TRACE_WHOLE_CELL;
		if (item.type == TRACE_END)
			memcpy(&end, item.payload, sizeof(end));
	}
	assert_true(trace->ended);
}

/* End the trace, and read its cells and totals. */
static void finish(void)
{
	struct trace_file trace;

	recorder->current = NULL;
	emit_all(recorder);
	emit_end(recorder, 0, 0);
	assert_null(trace_file_open(recorder->writer.path, &trace));
	read_cells(&trace);
	trace_file_close(&trace);
}

static void two_threads_of_which_one_writes_make_cells(void **state)
{
	(void)state;
	memory[0] = 7;
	access_at(first, CODE, TRACE_WRITES, &memory[0], 8);
	access_at(second, CODE + 4, TRACE_READS, &memory[0], 4);
	finish();
	assert_int_equal(cells_count, 2);
	assert_int_equal(cells[0].thread, first->id);
	assert_int_equal(cells[0].mask, 0xff);
	assert_int_equal(cells[0].value, 7);
	assert_int_equal(cells[0].first, 1);
	assert_int_equal(cells[1].thread, second->id);
	assert_int_equal(cells[1].mask, 0x0f);
	assert_int_equal(end.sequence, 2);
	assert_int_equal(end.shared, 1);
}

/* A recorder that is not in the process has a copy of what was accessed. */
static void another_process_is_named_and_its_memory_copied(void **state)
{
	const uint64_t address = UINT64_C(0x7f0000001000);
	struct recorder_options options = recorder->options;
	struct recorder *outside = calloc(1, sizeof(*outside));
	struct trace_file trace;
	char path[64];

	(void)state;
	assert_non_null(outside);
	options.pid = 4711;
	options.ppid = 4710;
	recorder_init(outside, &options);
	assert_true(recorder_begin(outside, NULL, 0));
	outside->current = recorder_thread(outside, NULL);
	memory[3] = 12;
	outside->copy = (uint64_t)(uintptr_t)&memory[3] - address;
	recorder_access(outside,
			site_at(&outside->uses, uses_site(&outside->uses, CODE,
							  8, TRACE_WRITES)),
			address);
	outside->current = recorder_thread(outside, outside->current);
	recorder_ran(outside, outside->current, outside->start + 5);
	assert_int_equal(outside->resumed, 5);
	recorder_access(outside, site_at(&outside->uses, 1), address);
	emit_all(outside);
	emit_end(outside, 0, 0);
	writer_close(&outside->writer);
	snprintf(path, sizeof(path), "%s/trace.4711", folder);
	assert_string_equal(outside->writer.path, path);
	recorder_deinit(outside);
	free(outside);
	assert_null(trace_file_open(path, &trace));
	assert_int_equal(trace.header.pid, 4711);
	assert_int_equal(trace.header.ppid, 4710);
	read_cells(&trace);
	trace_file_close(&trace);
	assert_int_equal(cells_count, 2);
	assert_int_equal(cells[0].address, address);
	assert_int_equal(cells[0].value, 12);
}

static void one_thread_or_readers_make_none(void **state)
{
	(void)state;
	access_at(first, CODE, TRACE_WRITES, &memory[0], 8);
	access_at(first, CODE, TRACE_READS, &memory[1], 8);
	access_at(second, CODE, TRACE_READS, &memory[1], 8);
	finish();
	assert_int_equal(cells_count, 0);
	assert_int_equal(end.granules, 2);
}

static void later_accesses_of_a_use_are_counted(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		access_at(first, CODE, TRACE_WRITES, &memory[i], 8);
	for (int i = 0; i < 3; i++)
		access_at(first, CODE, TRACE_WRITES, &memory[2], 8);
	access_at(second, CODE + 4, TRACE_READS, &memory[2], 8);
	finish();
	assert_int_equal(cells_count, 2);
	/* executed twice before it came there, then four times there */
	assert_int_equal(cells[0].ordinal, 2);
	assert_int_equal(cells[0].count, 4);
	assert_int_equal(cells[0].first, 3);
}

static void access_over_two_granules_is_in_both(void **state)
{
	(void)state;
	access_at(first, CODE, TRACE_WRITES, (char *)memory + 6, 4);
	access_at(second, CODE, TRACE_WRITES, memory, 16);
	finish();
	assert_int_equal(cells_count, 4);
	assert_int_equal(cells[0].mask, 0xc0);
	assert_int_equal(cells[1].mask, 0xff);
	assert_int_equal(cells[2].mask, 0x03);
	assert_int_equal(cells[3].mask, 0xff);
}

static void one_site_does_not_hide_another(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		recorder->current = first;
		recorder_call(recorder, 0x8000, CODE + 0x1000 + i);
		access_at(first, CODE, TRACE_READS, memory, 8);
	}
	access_at(first, CODE + 4, TRACE_WRITES, memory, 8);
	access_at(second, CODE + 8, TRACE_READS, memory, 8);
	finish();
	assert_int_equal(cells_count, SHADOW_SITE_MAX + 2);
	assert_int_equal(end.dropped_cells, 100 - SHADOW_SITE_MAX);
	assert_int_equal(end.starved_cells, 0);
	/* each instruction has a cell */
	assert_int_equal(cells[0].flags, 0);
}

static void one_thread_does_not_hide_another(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		access_at(first, CODE + i, TRACE_READS, memory, 8);
	for (uint32_t i = 0; i < 100; i++)
		access_at(first, CODE + i, TRACE_WRITES, memory, 8);
	access_at(second, CODE, TRACE_READS, memory, 8);
	finish();
	assert_int_equal(cells_count, SHADOW_OWN_MAX + 1);
	assert_int_equal(cells[SHADOW_OWN_READS_MAX].thread, first->id);
	assert_int_equal(cells[SHADOW_OWN_MAX].thread, second->id);
	assert_int_equal(end.dropped_cells, 200 - SHADOW_OWN_MAX);
	assert_int_equal(end.starved_cells, 0);
	for (size_t i = 0; i < cells_count; i++)
		assert_int_equal(cells[i].flags, TRACE_CROWDED);
}

/* A thread, a site and bytes make a cell; the stacks of a site do not. */
static void what_has_no_room_is_in_the_whole_fold(void **state)
{
	(void)state;
	recorder->options.whole = true;
	whole_init(&recorder->whole);
	for (uint32_t i = 0; i < 300; i++)
		access_at(first, CODE + i, TRACE_WRITES, memory, 8);
	for (uint32_t i = 0; i < 300; i++) {
		recorder_call(recorder, 0x8000, CODE + 0x1000 + i);
		access_at(first, CODE, TRACE_WRITES, memory, 8);
	}
	access_at(first, CODE, TRACE_WRITES, memory, 4);
	access_at(second, CODE, TRACE_WRITES, (char *)memory + 4, 8);
	/* one thread's, then another variable's */
	access_at(first, CODE, TRACE_WRITES, &memory[2], 8);
	recorder_forget(recorder, (uint64_t)(uintptr_t)&memory[2], 8);
	access_at(second, CODE, TRACE_WRITES, &memory[2], 8);
	finish();
	assert_int_equal(whole_count, 300 + 1 + 1);
	assert_int_equal(cells_count, SHADOW_OWN_MAX + 1);
}

static void what_is_shared_and_forgotten_is_whole_too(void **state)
{
	(void)state;
	recorder->options.whole = true;
	whole_init(&recorder->whole);
	access_at(first, CODE, TRACE_WRITES, memory, 8);
	access_at(second, CODE, TRACE_READS, memory, 8);
	recorder_forget(recorder, (uint64_t)(uintptr_t)memory, 8);
	access_at(first, CODE, TRACE_READS, memory, 8);
	access_at(second, CODE, TRACE_READS, memory, 8);
	finish();
	assert_int_equal(whole_count, 2);
	assert_int_equal(cells_count, 2);
}

static void shared_granule_keeps_every_site_of_a_thread(void **state)
{
	(void)state;
	access_at(first, CODE, TRACE_WRITES, memory, 8);
	for (uint32_t i = 1; i <= 200; i++)
		access_at(second, CODE + i, TRACE_READS, memory, 8);
	access_at(second, CODE + 200, TRACE_READS, memory, 8);
	finish();
	assert_int_equal(cells_count, 201);
	for (uint32_t i = 1; i <= 200; i++)
		assert_int_equal(cells[i].first, i + 1);
	assert_int_equal(cells[200].count, 2);
	assert_int_equal(cells[200].flags, 0);
	assert_int_equal(end.dropped_cells, 0);
}

/* The owner's loop has found no room; then another thread comes. */
static void what_was_dropped_is_kept_when_it_is_shared(void **state)
{
	(void)state;
	for (uint32_t i = 0; i <= SHADOW_OWN_MAX; i++)
		access_at(first, CODE + i, TRACE_WRITES, memory, 8);
	access_at(second, CODE, TRACE_READS, memory, 8);
	access_at(first, CODE + SHADOW_OWN_MAX, TRACE_WRITES, memory, 8);
	finish();
	assert_int_equal(cells_count, SHADOW_OWN_MAX + 2);
	assert_int_equal(end.dropped_cells, 1);
}

/*
 * Zeros at an address that is the same in every run: how many chunks they are in
 * depends on where in a chunk they begin.
 */
static void *map_large(uint64_t offset, size_t size)
{
	void *const wanted = (void *)(0x200000000000 + offset);
	void *large = mmap(wanted, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			   -1, 0);

	assert_ptr_equal(large, wanted);
	return large;
}

/*
 * Memory for two chunks, or one and rows. From an offset in the lower half of a
 * chunk on, rows are wanted before the second chunk.
 */
static void shared_comes_first(uint64_t offset)
{
	enum { MANY = 3 * RECORDS_CHUNK };
	uint64_t *large = map_large(offset, MANY * sizeof(*large));

	access_at(first, CODE, TRACE_WRITES, &large[0], 8);
	access_at(second, CODE, TRACE_WRITES, &large[0], 8);
	recorder->shadow.budget = shadow_bytes(&recorder->shadow) +
				  2 * sizeof(struct shadow_chunk);
	for (uint32_t i = 1; i < MANY; i++)
		access_at(first, CODE, TRACE_WRITES, &large[i], 8);
	access_at(second, CODE, TRACE_WRITES, &large[MANY - 1], 8);
	finish();
	assert_int_equal(munmap(large, MANY * sizeof(*large)), 0);
	assert_int_equal(cells_count, 4);
	assert_int_equal(end.shared, 2);
	assert_int_equal(end.dropped_cells, 0);
}

static void without_memory_what_is_shared_comes_first(void **state)
{
	(void)state;
	shared_comes_first(0x8000);
}

static void without_memory_there_is_a_chunk_for_what_comes_late(void **state)
{
	(void)state;
	shared_comes_first(0);
}

static void without_memory_other_chunks_are_forgotten(void **state)
{
	enum { SIZE = 4 << SHADOW_SHIFT, STEP = 1 << SHADOW_SHIFT };
	char *large = map_large(0, SIZE);

	(void)state;
	access_at(first, CODE, TRACE_WRITES, large, 8);
	recorder->shadow.budget = shadow_bytes(&recorder->shadow);
	for (uint32_t i = STEP; i < SIZE; i += STEP)
		access_at(first, CODE, TRACE_WRITES, large + i, 8);
	access_at(second, CODE, TRACE_WRITES, large + SIZE - STEP, 8);
	/* shared: it stays, and there is no room for another one */
	access_at(first, CODE, TRACE_WRITES, large, 8);
	finish();
	assert_int_equal(munmap(large, SIZE), 0);
	assert_int_equal(cells_count, 2);
	assert_int_equal(end.dropped_cells, 1);
	assert_int_equal(end.starved_cells, 1);
}

static void what_is_mapped_anew_is_another_variable(void **state)
{
	(void)state;
	access_at(first, CODE, TRACE_WRITES, memory, 8);
	recorder_forget(recorder, (uint64_t)(uintptr_t)memory, 8);
	access_at(second, CODE, TRACE_WRITES, memory, 8);
	finish();
	assert_int_equal(cells_count, 0);
}

static void without_memory_accesses_are_counted(void **state)
{
	(void)state;
	recorder->shadow.budget = 1;
	access_at(first, CODE, TRACE_WRITES, memory, 8);
	access_at(second, CODE, TRACE_WRITES, memory, 8);
	finish();
	assert_int_equal(cells_count, 0);
	assert_int_equal(end.dropped_cells, 2);
	assert_int_equal(end.starved_cells, 2);
}

static void own_stack_is_left_out(void **state)
{
	(void)state;
	first->stack_low = (uint64_t)(uintptr_t)memory;
	first->stack_size = 8;
	access_at(first, CODE, TRACE_WRITES, &memory[0], 8);
	access_at(second, CODE, TRACE_WRITES, &memory[0], 8);
	finish();
	assert_int_equal(end.sequence, 1);
}

/* An instruction that is given an address may have either. */
static void executions_on_the_own_stack_count(void **state)
{
	(void)state;
	first->stack_low = (uint64_t)(uintptr_t)memory;
	first->stack_size = 16;
	for (int i = 0; i < 5; i++)
		access_at(first, CODE, TRACE_WRITES, &memory[i % 2], 8);
	access_at(first, CODE, TRACE_WRITES, &memory[2], 8);
	access_at(second, CODE, TRACE_WRITES, &memory[2], 8);
	finish();
	assert_int_equal(cells_count, 2);
	assert_int_equal(cells[0].ordinal, 5);
	assert_int_equal(cells[0].count, 1);
	assert_int_equal(end.sequence, 2);
}

/* memcpy(3) of realloc(3) is not recorded, and that of others is. */
static void muted_executions_of_string_functions_count(void **state)
{
	struct site *site;

	(void)state;
	site = uses_site_in(&recorder->uses, CODE,
			    records_add(&recorder->modules.functions), 8,
			    TRACE_WRITES);
	assert_non_null(site);
	recorder->current = first;
	first->muted = 1;
	recorder_access(recorder, site, (uint64_t)(uintptr_t)&memory[0]);
	access_at(first, CODE + 4, TRACE_WRITES, &memory[2], 8);
	first->muted = 0;
	recorder_access(recorder, site, (uint64_t)(uintptr_t)&memory[2]);
	access_at(first, CODE + 4, TRACE_WRITES, &memory[2], 8);
	access_at(second, CODE + 8, TRACE_WRITES, &memory[2], 8);
	finish();
	assert_int_equal(cells_count, 3);
	assert_int_equal(cells[0].ordinal, 1);
	assert_int_equal(cells[1].ordinal, 0);
	assert_int_equal(end.sequence, 3);
}

static void own_stack_counts_where_others_were(void **state)
{
	(void)state;
	first->stack_low = (uint64_t)(uintptr_t)memory;
	first->stack_size = 16;
	access_at(first, CODE, TRACE_WRITES, &memory[0], 8);
	assert_int_equal(recorder->on_stack, 0);
	access_at(second, CODE, TRACE_WRITES, &memory[0], 8);
	access_at(first, CODE, TRACE_WRITES, &memory[0], 8);
	assert_int_not_equal(recorder->on_stack, 0);
	/* its own still */
	access_at(first, CODE, TRACE_WRITES, &memory[1], 8);
	finish();
	assert_int_equal(end.sequence, 2);
	assert_int_equal(cells_count, 2);
}

static void child_process_writes_a_trace_of_its_own(void **state)
{
	char path[WRITER_PATH];

	(void)state;
	access_at(first, CODE, TRACE_WRITES, memory, 8);
	emit_all(recorder);
	strcpy(path, recorder->writer.path);
	/* as in a child, but for its process id */
	assert_true(recorder_fork(recorder, second));
	assert_string_not_equal(path, recorder->writer.path);
	assert_int_equal(recorder->current->id, 1);
	access_at(recorder->current, CODE, TRACE_WRITES, memory, 8);
	finish();
	assert_int_equal(cells_count, 0);
}

/*
 * The same access at `memory' by the short way, and further on by the long one; a
 * site accesses the same bytes of each granule.
 */
static void access_both_ways(uint32_t random)
{
	static const uint32_t sizes[] = { 1, 2, 4, 8, 16 };
	static const uint32_t flags[] = { TRACE_READS, TRACE_WRITES };
	uint32_t site = random % 6, size = sizes[site % 5];
	uint32_t flag = flags[site / 2 % 2];
	struct thread *thread = random >> 4 & 1 ? first : second;
	uint64_t at = (uint64_t)(uintptr_t)memory + (random >> 8) % 8 * 8 +
		      (size < 8 ? site % (8 / size) * size : 0);
	uint32_t id;

	thread->lockset = random >> 16 & 1;
	access_at(thread, CODE + site, flag, (void *)(uintptr_t)at, size);
	id = uses_site(&recorder->uses, CODE + 0x100 + site, size, flag);
	recorder_range(recorder, site_at(&recorder->uses, id), at + 2048, size);
}

static void short_way_keeps_what_the_long_one_does(void **state)
{
	const struct trace_lock lock = { .address = 0x1000 };
	uint32_t random = 1;

	(void)state;
	assert_int_equal(locksets_add(&recorder->locksets, 0, &lock), 1);
	for (int i = 0; i < 20000; i++) {
		random = random * 1664525 + 1013904223;
		/* one thread for a while, then two */
		access_both_ways(i < 2000 ? random >> 8 & ~0x10u : random >> 8);
	}
	finish();
	assert_true(cells_count >= 64);
	assert_int_equal(cells_count % 2, 0);
	for (size_t i = 0, n = cells_count / 2; i < n; i++) {
		const struct trace_cell *a = &cells[i], *b = &cells[n + i];

		assert_int_equal(a->address + 2048, b->address);
		assert_int_equal(a->thread, b->thread);
		assert_int_equal(a->mask, b->mask);
		assert_int_equal(a->count, b->count);
		assert_int_equal(a->ordinal, b->ordinal);
		assert_int_equal(a->first + 1, b->first);
		assert_int_equal(a->lockset, b->lockset);
		assert_int_equal(a->common, b->common);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_threads_of_which_one_writes_make_cells),
		TEST(another_process_is_named_and_its_memory_copied),
		TEST(one_thread_or_readers_make_none),
		TEST(later_accesses_of_a_use_are_counted),
		TEST(access_over_two_granules_is_in_both),
		TEST(one_site_does_not_hide_another),
		TEST(one_thread_does_not_hide_another),
		TEST(what_has_no_room_is_in_the_whole_fold),
		TEST(what_is_shared_and_forgotten_is_whole_too),
		TEST(shared_granule_keeps_every_site_of_a_thread),
		TEST(what_was_dropped_is_kept_when_it_is_shared),
		TEST(without_memory_what_is_shared_comes_first),
		TEST(without_memory_there_is_a_chunk_for_what_comes_late),
		TEST(without_memory_other_chunks_are_forgotten),
		TEST(what_is_mapped_anew_is_another_variable),
		TEST(without_memory_accesses_are_counted),
		TEST(own_stack_is_left_out),
		TEST(executions_on_the_own_stack_count),
		TEST(muted_executions_of_string_functions_count),
		TEST(own_stack_counts_where_others_were),
		TEST(child_process_writes_a_trace_of_its_own),
		TEST(short_way_keeps_what_the_long_one_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
