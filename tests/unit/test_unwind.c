/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/unwind.c: stacks of sample programs stopped at known places. The
 * functions are told by the unstripped program's symbols.
 */
#include "image/unwind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "image/elftext.h"
#include "sample.h"
#include "stopped.h"

#include "both-stacks.h"

enum { FRAMES_MAX = BOTH_FRAMES };

struct walk {
	struct unwind_frame frames[FRAMES_MAX];
	size_t count;
};

/* By both libraries, which have to agree. */
static void unwind(const struct stopped *stopped, struct walk *walk)
{
	struct both_stacks both;

	both_compare(stopped, stopped->path, &both);
	memcpy(walk->frames, both.taken, sizeof(walk->frames));
	walk->count = both.taken_count;
}

/* Is frame i in that function? symbols is a sample that has them. */
static bool frame_is_in(const struct stopped *stopped, const struct walk *walk,
			size_t i, const char *symbols, const char *name)
{
	struct module *module =
		image_module_at(stopped->image, walk->frames[i].pc);
	char *path = sample_path(symbols);
	Elf64_Sym symbol = sample_symbol(path, name);

	free(path);
	return module && module->main &&
	       walk->frames[i].pc - module->bias - symbol.st_value <
		       symbol.st_size;
}

/* The frames from `first` on are middle, outer, main and end in _start. */
static void assert_rest(const struct stopped *stopped, const struct walk *walk,
			size_t first, const char *symbols)
{
	static const char *const names[] = { "middle", "outer", "main" };

	assert_true(walk->count > first + 3);
	for (size_t i = 0; i < 3; i++) {
		if (!frame_is_in(stopped, walk, first + i, symbols, names[i]))
			fail_msg("frame %zu is not in %s", first + i, names[i]);
		assert_int_equal(walk->frames[first + i].is_return,
				 first + i > 0);
	}
	assert_true(
		frame_is_in(stopped, walk, walk->count - 1, symbols, "_start"));
}

static void check_trap(const char *sample, const char *symbols)
{
	struct stopped stopped;
	struct walk walk;

	stopped_start(&stopped, sample, "trap");
	unwind(&stopped, &walk);
	assert_int_equal(walk.frames[0].pc, stopped.input.regs.rip);
	assert_rest(&stopped, &walk, 0, symbols);
	stopped_end(&stopped);
}

static void unoptimized(void **state)
{
	(void)state;
	check_trap("stack.O0", "stack.O0");
}

static void without_frame_pointers(void **state)
{
	(void)state;
	check_trap("stack.O2", "stack.O2");
}

static void stripped(void **state)
{
	(void)state;
	check_trap("stack.stripped", "stack.O2");
}

/* No CFI in the program: its frame pointers have to do. */
static void without_cfi(void **state)
{
	(void)state;
	check_trap("stack.nocfi", "stack.nocfi");
}

/* libunwind alone comes to the end, and so does libdwfl. */
static void check_each(const char *sample)
{
	struct stopped stopped;
	struct both_stacks both;

	stopped_start(&stopped, sample, "trap");
	both_compare(&stopped, sample, &both);
	assert_int_equal(both.unw_count, both.taken_count);
	assert_int_equal(both.dwfl_count, both.taken_count);
	stopped_end(&stopped);
}

static void without_a_search_table(void **state)
{
	(void)state;
	check_trap("stack.nohdr", "stack.nohdr");
	check_each("stack.nohdr");
	check_each("stack.O2");
}

/* What debuginfo.h keeps is there once libdwfl was asked. */
static void libdwfl_is_not_asked_in_vain(void **state)
{
	struct unwind_frame frames[FRAMES_MAX];
	struct stopped stopped;
	size_t count;

	(void)state;
	stopped_start(&stopped, "stack.O2", "trap");
	assert_null(unwind_frames(stopped.image, &stopped.input, frames,
				  FRAMES_MAX, &count));
	assert_true(count > 3);
	assert_null(image_debuginfo(stopped.image)->data);
	stopped_end(&stopped);
	stopped_start(&stopped, "stack.debugframe", "trap");
	assert_null(unwind_frames(stopped.image, &stopped.input, frames,
				  FRAMES_MAX, &count));
	assert_true(count > 3);
	assert_non_null(image_debuginfo(stopped.image)->data);
	stopped_end(&stopped);
}

/* libunwind stops at once, libdwfl does not. */
static void by_debug_frame_alone(void **state)
{
	struct stopped stopped;
	struct both_stacks both;

	(void)state;
	check_trap("stack.debugframe", "stack.debugframe");
	stopped_start(&stopped, "stack.debugframe", "trap");
	both_compare(&stopped, "stack.debugframe", &both);
	assert_int_equal(both.unw_count, 1);
	assert_true(both.dwfl_count > 3);
	stopped_end(&stopped);
}

static void check_plt(const char *sample, const char *symbols)
{
	struct stopped stopped;
	struct module *module;
	struct walk walk;
	int in_plt = 0;

	stopped_start(&stopped, sample, "call");
	for (int i = 0; i < 1000; i++) {
		uint64_t pc;

		stopped_step(&stopped);
		pc = stopped.input.regs.rip;
		module = image_module_at(stopped.image, pc);
		if (!module->main)
			break;
		if (!elftext_in_plt(module->text, pc - module->bias))
			continue;
		in_plt++;
		stopped_snapshot(&stopped);
		unwind(&stopped, &walk);
		assert_rest(&stopped, &walk, 1, symbols);
	}
	assert_true(in_plt > 0);
	stopped_end(&stopped);
}

static void every_step_of_a_plt_stub(void **state)
{
	(void)state;
	check_plt("stack.O2", "stack.O2");
	check_plt("stack.stripped", "stack.O2");
}

static void in_a_system_call(void **state)
{
	struct stopped stopped;
	struct walk walk;

	(void)state;
	stopped_start(&stopped, "stack.stripped", "kill");
	unwind(&stopped, &walk);
	assert_false(walk.frames[0].is_return);
	assert_rest(&stopped, &walk, 1, "stack.O2");
	stopped_end(&stopped);
}

/* clock_gettime(2) does not enter the kernel. */
static void every_step_of_the_vdso(void **state)
{
	struct stopped stopped;
	struct module *module;
	struct walk walk;
	size_t middle;
	int in_vdso = 0;

	(void)state;
	stopped_start(&stopped, "stack.O2", "clock");
	for (int i = 0; i < 10000; i++) {
		stopped_step(&stopped);
		module = image_module_at(stopped.image, stopped.input.regs.rip);
		if (in_vdso > 0 && !module->vdso)
			break;
		if (!module->vdso)
			continue;
		in_vdso++;
		stopped_snapshot(&stopped);
		unwind(&stopped, &walk);
		for (middle = 1; middle < walk.count; middle++) {
			if (frame_is_in(&stopped, &walk, middle, "stack.O2",
					"middle"))
				break;
		}
		assert_rest(&stopped, &walk, middle, "stack.O2");
	}
	assert_true(in_vdso > 0);
	stopped_end(&stopped);
}

static void through_a_signal_frame(void **state)
{
	struct stopped stopped;
	struct walk walk;
	size_t interrupted = 0;
	size_t middle = 0;

	(void)state;
	stopped_start(&stopped, "stack.O2", "signal");
	unwind(&stopped, &walk);
	assert_true(frame_is_in(&stopped, &walk, 0, "stack.O2", "trap"));
	assert_true(frame_is_in(&stopped, &walk, 1, "stack.O2", "handler"));
	for (size_t i = 1; i < walk.count; i++) {
		if (!walk.frames[i].is_return)
			interrupted = i;
		if (!middle &&
		    frame_is_in(&stopped, &walk, i, "stack.O2", "middle"))
			middle = i;
	}
	/* handler, the trampoline, then what raise was doing */
	assert_int_equal(interrupted, 3);
	assert_true(middle > interrupted);
	assert_rest(&stopped, &walk, middle, "stack.O2");
	stopped_end(&stopped);
}

/* Fewer bytes, fewer frames; never an error. */
static void ends_where_the_stack_bytes_end(void **state)
{
	struct stopped stopped;
	struct walk whole;
	struct walk part;
	size_t last = FRAMES_MAX;

	(void)state;
	stopped_start(&stopped, "stack.O2", "trap");
	unwind(&stopped, &whole);
	for (size_t size = 1024; size > 0; size -= 8) {
		stopped.input.stack_size = size;
		unwind(&stopped, &part);
		assert_in_range(part.count, 1, last);
		for (size_t i = 0; i < part.count; i++)
			assert_int_equal(part.frames[i].pc, whole.frames[i].pc);
		last = part.count;
	}
	assert_int_equal(last, 1);
	stopped_end(&stopped);
}

static void stops_at_max_and_at_nonsense(void **state)
{
	struct stopped stopped;
	struct unwind_frame frames[2];
	struct walk walk;
	size_t count;

	(void)state;
	stopped_start(&stopped, "stack.O2", "trap");
	assert_null(unwind_frames(stopped.image, &stopped.input, frames, 2,
				  &count));
	assert_int_equal(count, 2);
	assert_int_equal(frames[0].pc, stopped.input.regs.rip);
	/* a wild jump: one frame */
	stopped.input.regs.rip = 0x10;
	stopped.input.regs.gpr[X86_RBP] = 0;
	unwind(&stopped, &walk);
	assert_int_equal(walk.count, 1);
	assert_int_equal(walk.frames[0].pc, 0x10);
	/* return addresses that lead nowhere */
	stopped.input.regs.rip = frames[0].pc;
	memset(stopped.stack, 0x5a, sizeof(stopped.stack));
	unwind(&stopped, &walk);
	assert_int_equal(walk.count, 1);
	stopped_end(&stopped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unoptimized),
		cmocka_unit_test(without_frame_pointers),
		cmocka_unit_test(stripped),
		cmocka_unit_test(without_cfi),
		cmocka_unit_test(without_a_search_table),
		cmocka_unit_test(by_debug_frame_alone),
		cmocka_unit_test(libdwfl_is_not_asked_in_vain),
		cmocka_unit_test(every_step_of_a_plt_stub),
		cmocka_unit_test(every_step_of_the_vdso),
		cmocka_unit_test(in_a_system_call),
		cmocka_unit_test(through_a_signal_frame),
		cmocka_unit_test(ends_where_the_stack_bytes_end),
		cmocka_unit_test(stops_at_max_and_at_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
