/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A snapshot's stack by both libraries, which must not contradict each other:
 * the shorter one is the beginning of the longer one, and that is taken. Include
 * after stopped.h.
 */
#ifndef TESTS_UNIT_BOTH_STACKS_H
#define TESTS_UNIT_BOTH_STACKS_H

#include <inttypes.h>

enum { BOTH_FRAMES = 64 };

struct both_stacks {
	struct unwind_frame unw[BOTH_FRAMES], dwfl[BOTH_FRAMES];
	struct unwind_frame taken[BOTH_FRAMES];
	size_t unw_count, dwfl_count, taken_count;
};

static inline void both_print(const struct stopped *stopped, const char *name,
			      const struct unwind_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct module *module =
			image_module_at(stopped->image, frames[i].pc);

		print_message("# %s %zu: 0x%" PRIx64 " %s+0x%" PRIx64 "%s\n",
			      name, i, frames[i].pc,
			      module ? module->name : "?",
			      frames[i].pc - (module ? module->bias : 0),
			      frames[i].is_return ? "" : " interrupted");
	}
}

/* What both know of the registers is the same. */
static inline bool both_registers_agree(const struct frame_registers *a,
					const struct frame_registers *b)
{
	uint32_t known = a->known & b->known;

	for (int i = 0; i < 16; i++) {
		if (known & UINT32_C(1) << i && a->gpr[i] != b->gpr[i])
			return false;
	}
	return a->cfa == 0 || b->cfa == 0 || a->cfa == b->cfa;
}

static inline bool both_frames_agree(const struct unwind_frame *a,
				     const struct unwind_frame *b)
{
	return a->pc == b->pc && a->is_return == b->is_return &&
	       both_registers_agree(&a->registers, &b->registers);
}

static inline bool both_agree(const struct unwind_frame *a, size_t a_count,
			      const struct unwind_frame *b, size_t b_count)
{
	for (size_t i = 0; i < a_count && i < b_count; i++) {
		if (!both_frames_agree(&a[i], &b[i]))
			return false;
	}
	return true;
}

static inline void both_unwind(const struct stopped *stopped,
			       struct both_stacks *ret)
{
	const struct unwind_input *input = &stopped->input;

	assert_null(unwind_frames_by(UNWIND_UNW, stopped->image, input,
				     ret->unw, BOTH_FRAMES, &ret->unw_count));
	assert_null(unwind_frames_by(UNWIND_DWFL, stopped->image, input,
				     ret->dwfl, BOTH_FRAMES, &ret->dwfl_count));
	assert_null(unwind_frames(stopped->image, input, ret->taken,
				  BOTH_FRAMES, &ret->taken_count));
}

static inline void both_compare(const struct stopped *stopped, const char *what,
				struct both_stacks *ret)
{
	size_t longer;

	both_unwind(stopped, ret);
	longer = ret->unw_count > ret->dwfl_count ? ret->unw_count
						  : ret->dwfl_count;
	if (ret->taken_count == longer &&
	    both_agree(ret->unw, ret->unw_count, ret->dwfl, ret->dwfl_count) &&
	    both_agree(ret->taken, longer,
		       ret->unw_count == longer ? ret->unw : ret->dwfl, longer))
		return;
	both_print(stopped, "libunwind", ret->unw, ret->unw_count);
	both_print(stopped, "libdwfl", ret->dwfl, ret->dwfl_count);
	both_print(stopped, "taken", ret->taken, ret->taken_count);
	fail_msg("%s: different stacks", what);
}

#endif
