/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traces of a recording by breakpoints, of stops that are made up: this process is
 * the recorded one, so that its maps are there.
 */
#include "hunt/stops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "hunt/trace-file.h"
#include "image/maps.h"
#include "session/recording.h"
#include "wire/record.h"

enum {
	MAIN = 100,
	FIRST, /* threads that it creates */
	SECOND,
	ITEMS_MAX = 64,
	SP = 0x1000, /* of each thread, in no mapping */
	POINTER = 0x5000, /* the first pthread_t */
};

static const uint64_t SHARED = UINT64_C(0x7e0000001000);

static char folder[32];
static struct stops *stops;
static struct maps maps;
static struct trace_cell cells[ITEMS_MAX];
static struct trace_thread threads[ITEMS_MAX];
static struct trace_descriptor descriptors[ITEMS_MAX];
static size_t cell_count, module_count;

static int set_up(void **state)
{
	const struct stops_options options = { .folder = folder };

	(void)state;
	strcpy(folder, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_null(stops_create(&options, &stops));
	maps_init(&maps);
	assert_null(maps_read(getpid(), &maps));
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
	maps_deinit(&maps);
	return 0;
}

static struct wire_recorded stop_of(int tid, enum wire_recorded_kind kind)
{
	static uint64_t ns = 1000;

	return (struct wire_recorded){
		.kind = kind,
		.program = 1,
		.pid = getpid(),
		.tid = tid,
		.ns = ns += 1000,
		.regs = { .gpr[X86_RSP] = SP,
			  .rip = (uint64_t)(uintptr_t)stop_of,
			  .fs_base = POINTER + (uint64_t)tid },
	};
}

static void take_with(const struct wire_recorded *wire, const uint64_t *returns,
		      size_t count)
{
	const struct session_recorded news = {
		.wire = wire,
		.returns = returns,
		.return_count = count,
		.path = "/bin/program",
		.maps = &maps,
	};

	assert_null(stops_take(stops, &news));
}

static void take(const struct wire_recorded *wire)
{
	const uint64_t returns[] = { (uint64_t)(uintptr_t)take };

	take_with(wire, returns, 1);
}

static void take_access(int tid, uint64_t address, uint8_t kind)
{
	struct wire_recorded wire = stop_of(tid, WIRE_RECORDED_ACCESS);

	wire.count = 1;
	wire.accesses[0] = (struct mem_access){ address, 4, kind };
	memset(wire.memory[0], 0x11, 8);
	take(&wire);
}

static void take_birth(int tid)
{
	struct wire_recorded wire = stop_of(tid, WIRE_RECORDED_BORN);

	wire.creator = MAIN;
	take(&wire);
	wire = stop_of(tid, WIRE_RECORDED_BEGUN);
	take(&wire);
}

static void take_kind(int tid, enum wire_recorded_kind kind)
{
	const struct wire_recorded wire = stop_of(tid, kind);

	take(&wire);
}

/* The main thread is at the entry of pthread_join(3). */
static void take_join(int tid)
{
	struct wire_recorded wire = stop_of(MAIN, WIRE_RECORDED_JOIN);

	wire.regs.gpr[X86_RDI] = POINTER + (uint64_t)tid;
	wire.regs.gpr[X86_RSP] = SP - 16;
	take(&wire);
}

static void read_item(const struct trace_item *item)
{
	const struct trace_thread *thread = item->payload;
	const struct trace_descriptor *descriptor = item->payload;

	if (item->type == TRACE_CELL && cell_count < ITEMS_MAX)
		memcpy(&cells[cell_count++], item->payload, sizeof(*cells));
	if (item->type == TRACE_THREAD && thread->id < ITEMS_MAX)
		threads[thread->id] = *thread;
	if (item->type == TRACE_DESCRIPTOR && descriptor->id < ITEMS_MAX)
		descriptors[descriptor->id] = *descriptor;
	module_count += item->type == TRACE_MODULE;
}

/* End the traces, and read that of this process. */
static void finish(int status)
{
	struct trace_file trace;
	struct trace_item item;
	char path[64];

	stops_end(stops, getpid(), status);
	cell_count = module_count = 0;
	memset(threads, 0, sizeof(threads));
	snprintf(path, sizeof(path), "%s/trace.%d", folder, (int)getpid());
	assert_null(trace_file_open(path, &trace));
	assert_int_equal(trace.header.recorder, TRACE_BY_BREAKPOINTS);
	assert_int_equal(trace.header.promises, 0);
	for (;;) {
		assert_null(trace_file_next(&trace, &item));
		if (!item.payload)
			break;
		read_item(&item);
	}
	assert_true(trace.ended);
	trace_file_close(&trace);
}

static void accesses_have_places_stacks_and_values(void **state)
{
	const struct trace_descriptor *descriptor;

	(void)state;
	take_access(MAIN, SHARED + 4, ACCESS_WRITE);
	take_birth(FIRST);
	take_access(FIRST, SHARED + 4, ACCESS_READ);
	take_kind(FIRST, WIRE_RECORDED_ENDED);
	finish(3);
	assert_int_equal(cell_count, 2);
	assert_int_equal(cells[0].address, SHARED);
	assert_int_equal(cells[0].mask, 0xf0);
	assert_int_equal(cells[0].value, UINT64_C(0x1111111111111111));
	descriptor = &descriptors[cells[0].descriptor];
	assert_int_equal(descriptor->flags, TRACE_WRITES);
	assert_int_equal(descriptor->depth, 1);
	assert_int_not_equal(descriptor->place.module, 0);
	assert_true(module_count > 1);
	assert_int_equal(threads[2].tid, FIRST);
	assert_int_equal(threads[2].parent, 1);
	assert_int_equal(threads[2].created, 1);
	assert_int_equal(threads[2].ended, 2);
}

static void atomic_ones_are_marked(void **state)
{
	struct wire_recorded wire;

	(void)state;
	take_birth(FIRST);
	take_access(MAIN, SHARED, ACCESS_WRITE);
	wire = stop_of(FIRST, WIRE_RECORDED_ACCESS);
	wire.count = 1;
	wire.synchronizes = 1;
	wire.accesses[0] = (struct mem_access){ SHARED, 4, ACCESS_RMW };
	take(&wire);
	finish(0);
	assert_int_equal(cell_count, 2);
	assert_int_equal(descriptors[cells[1].descriptor].flags,
			 TRACE_READS | TRACE_WRITES | TRACE_ATOMIC);
}

static void a_thread_that_was_waited_for_is_joined(void **state)
{
	(void)state;
	take_birth(FIRST);
	take_access(FIRST, SHARED, ACCESS_WRITE);
	take_join(FIRST);
	take_kind(FIRST, WIRE_RECORDED_ENDED);
	take_access(MAIN, SHARED, ACCESS_WRITE);
	finish(0);
	assert_int_equal(threads[2].joiner, 1);
	assert_int_equal(threads[2].joined, 1);
}

/* It is told to have ended when its end has been waited for, which may be late. */
static void its_end_may_be_told_later(void **state)
{
	(void)state;
	take_birth(FIRST);
	take_birth(SECOND);
	take_access(FIRST, SHARED, ACCESS_WRITE);
	take_join(FIRST);
	/* from the same frame: it has come back from the first call */
	take_join(SECOND);
	take_access(SECOND, SHARED, ACCESS_WRITE);
	take_kind(FIRST, WIRE_RECORDED_ENDED);
	take_kind(SECOND, WIRE_RECORDED_ENDED);
	finish(0);
	assert_int_equal(threads[2].joiner, 1);
	assert_int_equal(threads[2].joined, 1);
	/* from this one it has not */
	assert_int_equal(threads[3].joiner, 0);
	assert_int_equal(threads[3].joined, TRACE_NEVER);
}

/* An access of the main thread, below the call of pthread_join(3). */
static void take_deep(const uint64_t *returns, size_t count)
{
	struct wire_recorded wire = stop_of(MAIN, WIRE_RECORDED_ACCESS);

	wire.count = 1;
	wire.accesses[0] = (struct mem_access){ SHARED, 4, ACCESS_WRITE };
	wire.regs.gpr[X86_RSP] = SP - 64;
	take_with(&wire, returns, count);
}

/* In a function that is called after it, and in a handler that came within it. */
static void a_call_has_returned_if_its_address_is_not_on_the_stack(void **state)
{
	const uint64_t join = (uint64_t)(uintptr_t)take;
	uint64_t other[SESSION_RETURNS] = { join + 1, join + 2 };
	const uint64_t within[] = { join + 3, join };

	(void)state;
	take_birth(FIRST);
	take_birth(SECOND);
	take_access(FIRST, SHARED, ACCESS_WRITE);
	take_access(SECOND, SHARED, ACCESS_WRITE);
	take_join(FIRST);
	take_kind(FIRST, WIRE_RECORDED_ENDED);
	take_deep(other, 2);
	take_join(SECOND);
	take_deep(within, 2);
	take_deep(other, SESSION_RETURNS);
	take_kind(SECOND, WIRE_RECORDED_ENDED);
	finish(0);
	assert_int_equal(threads[2].joiner, 1);
	assert_int_equal(threads[2].joined, 2);
	assert_int_equal(threads[3].joiner, 0);
}

static void a_call_that_did_not_wait_is_no_join(void **state)
{
	(void)state;
	take_birth(FIRST);
	take_join(FIRST);
	take_access(MAIN, SHARED, ACCESS_WRITE);
	take_access(FIRST, SHARED, ACCESS_WRITE);
	take_kind(FIRST, WIRE_RECORDED_ENDED);
	finish(0);
	assert_int_equal(threads[2].joiner, 0);
}

static void what_is_on_its_own_stack_is_left_out(void **state)
{
	struct wire_recorded wire = stop_of(MAIN, WIRE_RECORDED_ACCESS);
	int local = 0;

	(void)state;
	wire.regs.gpr[X86_RSP] = (uint64_t)(uintptr_t)&local - 64;
	wire.count = 1;
	wire.accesses[0] =
		(struct mem_access){ (uint64_t)(uintptr_t)&local & ~UINT64_C(7),
				     4, ACCESS_WRITE };
	take(&wire);
	take_birth(FIRST);
	/* another thread may access it */
	wire.tid = FIRST;
	wire.regs.gpr[X86_RSP] = SP;
	take(&wire);
	wire.tid = SECOND;
	take(&wire);
	finish(0);
	assert_int_equal(cell_count, 2);
	assert_int_equal(cells[0].thread, 2);
	assert_int_equal(cells[1].thread, 3);
}

static void an_end_alone_makes_no_trace(void **state)
{
	(void)state;
	take_kind(MAIN, WIRE_RECORDED_ENDED);
	assert_int_equal(stops_count(stops), 0);
	stops_end(stops, 0, 0);
}

static void another_program_has_a_trace_of_its_own(void **state)
{
	struct wire_recorded wire = stop_of(MAIN, WIRE_RECORDED_ACCESS);
	char path[64];

	(void)state;
	take_access(MAIN, SHARED, ACCESS_WRITE);
	wire.program = 2;
	take(&wire);
	assert_int_equal(stops_count(stops), 2);
	finish(0);
	snprintf(path, sizeof(path), "%s/trace.%d.2", folder, (int)getpid());
	assert_int_equal(access(path, R_OK), 0);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
	const struct stops_options options = { .folder = "/none/there" };
	const struct wire_recorded wire = stop_of(MAIN, WIRE_RECORDED_ACCESS);
	const struct session_recorded news = { .wire = &wire };
	struct stops *other;
	struct error *err;

	(void)state;
	assert_null(stops_create(&options, &other));
	err = stops_take(other, &news);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), "/none/there/trace."));
	error_free(err);
	stops_end(other, 0, 0);
	stops_end(stops, 0, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(accesses_have_places_stacks_and_values),
		TEST(atomic_ones_are_marked),
		TEST(a_thread_that_was_waited_for_is_joined),
		TEST(a_call_has_returned_if_its_address_is_not_on_the_stack),
		TEST(its_end_may_be_told_later),
		TEST(a_call_that_did_not_wait_is_no_join),
		TEST(what_is_on_its_own_stack_is_left_out),
		TEST(an_end_alone_makes_no_trace),
		TEST(another_program_has_a_trace_of_its_own),
		TEST(a_folder_that_is_not_there_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
