/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/symbols.c: names, lines and inlined frames of a program stopped at
 * a known place, with and without debug information.
 */
#include "image/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample.h"
#include "stopped.h"

/* All frames of the stopped program, inlined ones among them. */
static void all_frames(struct stopped *stopped, struct vec *frames)
{
	struct unwind_frame stack[64];
	size_t count;

	*frames = (struct vec)VEC_INIT(struct code_frame);
	assert_null(unwind_frames(stopped->image, &stopped->input, stack, 64,
				  &count));
	for (size_t i = 0; i < count; i++)
		assert_null(symbols_frames(stopped->image, stack[i].pc,
					   stack[i].is_return, frames));
}

static const struct code_frame *frame_of(const struct vec *frames,
					 const char *function)
{
	for (size_t i = 0; i < frames->count; i++) {
		const struct code_frame *frame = vec_at(frames, i);

		if (frame->function && strcmp(frame->function, function) == 0)
			return frame;
	}
	fail_msg("no frame of %s", function);
	return NULL;
}

static void assert_place(const struct vec *frames, const char *function,
			 const char *mark, bool inlined)
{
	const struct code_frame *frame = frame_of(frames, function);
	static const char tail[] = "samples/stack.c";

	assert_non_null(frame->file);
	assert_true(strlen(frame->file) > strlen(tail));
	assert_string_equal(frame->file + strlen(frame->file) - strlen(tail),
			    tail);
	/* samples are compiled in the build directory */
	assert_true(frame->file[0] == '/' ||
		    (frame->folder && frame->folder[0] == '/'));
	assert_int_equal(frame->line, sample_line("stack.c", mark));
	assert_true(frame->column > 0);
	assert_int_equal(frame->inlined, inlined);
	assert_true(frame->module->main);
}

static void free_frames(struct vec *frames)
{
	code_frames_clear(frames);
	assert_int_equal(frames->count, 0);
	vec_deinit(frames);
}

/* "kill": middle calls kill(2), in what was inlined into it. */
static void check_lines(const char *sample)
{
	struct stopped stopped;
	struct vec frames;

	stopped_start(&stopped, sample, "kill");
	all_frames(&stopped, &frames);
	assert_true(symbols_have_debuginfo(stopped.image,
					   frame_of(&frames, "inner")->module));
	assert_place(&frames, "inner", "kill", true);
	assert_place(&frames, "middle", "middle", false);
	assert_place(&frames, "outer", "outer", false);
	assert_place(&frames, "main", "main", false);
	/* the inlined frame comes right before what it is inlined into */
	assert_ptr_equal(frame_of(&frames, "inner") + 1,
			 frame_of(&frames, "middle"));
	assert_int_equal(frame_of(&frames, "inner")->offset,
			 frame_of(&frames, "middle")->offset);
	free_frames(&frames);
	stopped_end(&stopped);
}

static void lines_and_inlined_frames(void **state)
{
	(void)state;
	check_lines("stack.O0");
	check_lines("stack.O2");
}

static void frames_of_a_signal_handler(void **state)
{
	struct stopped stopped;
	struct vec frames;

	(void)state;
	stopped_start(&stopped, "stack.O2", "signal");
	all_frames(&stopped, &frames);
	assert_place(&frames, "handler", "handler", false);
	assert_place(&frames, "inner", "raise", true);
	free_frames(&frames);
	stopped_end(&stopped);
}

static void elf_symbols_without_debug_information(void **state)
{
	struct stopped stopped;
	struct vec frames;
	const struct code_frame *frame;

	(void)state;
	stopped_start(&stopped, "stack.nodebug", "trap");
	all_frames(&stopped, &frames);
	frame = vec_at(&frames, 0);
	assert_string_equal(frame->function, "middle");
	assert_false(symbols_have_debuginfo(stopped.image, frame->module));
	assert_null(frame->file);
	assert_int_equal(frame->line, 0);
	assert_string_equal(frame_of(&frames, "outer")->function, "outer");
	free_frames(&frames);
	stopped_end(&stopped);
}

static void module_and_offset_when_stripped(void **state)
{
	struct stopped stopped;
	struct vec frames;
	const struct code_frame *frame;
	char *path = sample_path("stack.O2");
	Elf64_Sym outer = sample_symbol(path, "outer");

	(void)state;
	stopped_start(&stopped, "stack.stripped", "trap");
	all_frames(&stopped, &frames);
	frame = vec_at(&frames, 1);
	assert_null(frame->function);
	assert_true(frame->module->main);
	assert_in_range(frame->offset, outer.st_value,
			outer.st_value + outer.st_size - 1);
	free_frames(&frames);
	stopped_end(&stopped);
	free(path);
}

static void separate_debug_file_by_link_and_by_folder(void **state)
{
	(void)state;
	check_lines("stack.linked");
}

static void address_outside_of_modules(void **state)
{
	struct vec frames = VEC_INIT(struct code_frame);
	struct stopped stopped;
	const struct code_frame *frame;

	(void)state;
	stopped_start(&stopped, "stack.O0", "trap");
	assert_null(symbols_frames(stopped.image, 0x123, false, &frames));
	assert_int_equal(frames.count, 1);
	frame = vec_at(&frames, 0);
	assert_null(frame->function);
	assert_null(frame->module);
	assert_int_equal(frame->offset, 0x123);
	free_frames(&frames);
	stopped_end(&stopped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_and_inlined_frames),
		cmocka_unit_test(frames_of_a_signal_handler),
		cmocka_unit_test(elf_symbols_without_debug_information),
		cmocka_unit_test(module_and_offset_when_stripped),
		cmocka_unit_test(separate_debug_file_by_link_and_by_folder),
		cmocka_unit_test(address_outside_of_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
