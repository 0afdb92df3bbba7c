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

enum { FRAMES_MAX = 64 };

struct walk {
	struct unwind_frame frames[FRAMES_MAX];
	size_t count;
};

static void unwind(const struct stopped *stopped, struct walk *walk)
{
	assert_null(unwind_frames(stopped->image, &stopped->input, walk->frames,
				  FRAMES_MAX, &walk->count));
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
	uint64_t pcs[2] = { 0 };
	struct walk walk;
	size_t count;

	(void)state;
	stopped_start(&stopped, "stack.O2", "trap");
	assert_null(
		unwind_stack(stopped.image, &stopped.input, pcs, 2, &count));
	assert_int_equal(count, 2);
	assert_int_equal(pcs[0], stopped.input.regs.rip);
	/* a wild jump: one frame */
	stopped.input.regs.rip = 0x10;
	stopped.input.regs.gpr[X86_RBP] = 0;
	unwind(&stopped, &walk);
	assert_int_equal(walk.count, 1);
	assert_int_equal(walk.frames[0].pc, 0x10);
	/* return addresses that lead nowhere */
	stopped.input.regs.rip = pcs[0];
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
		cmocka_unit_test(every_step_of_a_plt_stub),
		cmocka_unit_test(in_a_system_call),
		cmocka_unit_test(through_a_signal_frame),
		cmocka_unit_test(ends_where_the_stack_bytes_end),
		cmocka_unit_test(stops_at_max_and_at_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
