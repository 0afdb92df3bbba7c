/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages that are likely to be used; see likely.h.
 */
#include "replay/likely.h"

#include "replay/pagecache.h"
#include "replay/scratch.h"
#include "x86/access.h"

enum {
	/* the next call and its registers are pushed here */
	LIKELY_BELOW_RSP = 256,
	/* the return address is here, or above in a large frame */
	LIKELY_ABOVE_RSP = 1024,
	/* two words: an access to a structure near its page's end */
	LIKELY_BEHIND = 16,
};

void likely_add(struct likely *likely, uint64_t address)
{
	uint64_t page = replay_page_of(address);

	if (!scratch_has_room(page) || likely->count == LIKELY_MAX)
		return;
	for (size_t i = 0; i < likely->count; i++) {
		if (likely->pages[i] == page)
			return;
	}
	likely->pages[likely->count++] = page;
}

/* Places of what a trail's hint holds. */
enum {
	TRAIL = 63,
	TRAIL_BY_REGISTER = 62,
	TRAIL_WHOSE = 61, /* thread, or space */
	TRAIL_REG = 57,
	TRAIL_OFFSET = 41,
	TRAIL_ADDRESS = 12,
	TRAIL_BEHIND_MASK = 0xfff,
	TRAIL_WORD = 8,
};

uint64_t replay_trail_hint(const struct replay_trail *trail)
{
	int offset = (trail->offset + TRAIL_OFFSET_MAX) / TRAIL_WORD;
	uint64_t hint = UINT64_C(1) << TRAIL | trail->behind;

	if (trail->by_register)
		return hint | UINT64_C(1) << TRAIL_BY_REGISTER |
		       (uint64_t)trail->thread << TRAIL_WHOSE |
		       (uint64_t)trail->reg << TRAIL_REG |
		       (uint64_t)offset << TRAIL_OFFSET;
	return hint | (uint64_t)trail->space << TRAIL_WHOSE |
	       trail->address / TRAIL_WORD << TRAIL_ADDRESS;
}

void replay_trail_of(uint64_t hint, struct replay_trail *ret)
{
	int whose = hint >> TRAIL_WHOSE & 1;

	*ret = (struct replay_trail){
		.by_register = hint >> TRAIL_BY_REGISTER & 1,
		.behind = hint & TRAIL_BEHIND_MASK,
	};
	if (ret->by_register) {
		ret->thread = whose;
		ret->reg = hint >> TRAIL_REG & 0xf;
		ret->offset =
			(int)(hint >> TRAIL_OFFSET & 0xffff) * TRAIL_WORD -
			TRAIL_OFFSET_MAX;
		return;
	}
	ret->space = whose;
	ret->address = (hint >> TRAIL_ADDRESS & ((UINT64_C(1) << 44) - 1)) *
		       TRAIL_WORD;
}

bool replay_hints_have(const struct replay_hints *hints, uint64_t hint)
{
	for (size_t i = 0; i < hints->count && i < REPLAY_HINTS_MAX; i++) {
		if (hints->pages[i] == hint)
			return true;
	}
	return false;
}

void replay_hints_add(struct replay_hints *hints, uint64_t hint)
{
	if (!replay_hints_have(hints, hint))
		hints->pages[hints->count++ % REPLAY_HINTS_MAX] = hint;
}

void likely_add_thread(struct likely *likely, const struct x86_registers *regs)
{
	uint64_t rsp = regs->gpr[X86_RSP];

	likely_add(likely, rsp);
	likely_add(likely, rsp - LIKELY_BELOW_RSP);
	likely_add(likely, rsp + LIKELY_ABOVE_RSP);
	likely_add(likely, regs->fs_base);
	for (int i = 0; i < 16; i++) {
		likely_add(likely, regs->gpr[i]);
		likely_add(likely, regs->gpr[i] + LIKELY_BEHIND);
	}
}

void likely_add_hints(struct likely *likely, const struct replay_hints *hints,
		      int space)
{
	size_t count = hints->count < REPLAY_HINTS_MAX ? hints->count
						       : REPLAY_HINTS_MAX;

	for (size_t i = 0; i < count; i++) {
		uint64_t page = replay_page_of(hints->pages[i]);

		if (replay_hint_is_page(hints->pages[i]) &&
		    hints->pages[i] == replay_hint(space, page))
			likely_add(likely, page);
	}
}
