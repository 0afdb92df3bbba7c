/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which pages a thread is likely to use next, from its registers and from what
 * earlier instances of the race have missed. Pure code. Text is left out: it can
 * be read later.
 */
#ifndef REPLAY_LIKELY_H
#define REPLAY_LIKELY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct x86_registers;

enum { REPLAY_HINTS_MAX = 64 };

/* Pages that earlier instances of a race missed. Zeroed: none. */
struct replay_hints {
	/* replay_hint(), replay_trail_hint() */
	uint64_t pages[REPLAY_HINTS_MAX];
	/* of all that were remembered: later ones replace the first */
	size_t count;
};

/*
 * A page of an address space as a hint: number 0, or 1 of the second thread if that
 * is of another process. One number holds both, as addresses of pages end in
 * zeros.
 */
static inline uint64_t replay_hint(int space, uint64_t page)
{
	return page | (uint64_t)space;
}

static inline bool replay_hint_is_page(uint64_t hint)
{
	return hint >> 63 == 0;
}

/*
 * A trail as a hint: the page is where a pointer leads that is in memory; what was
 * missed lies `behind' its target. That memory is found by a register of a
 * thread, or is at the same address always.
 */
enum {
	TRAIL_BEHIND_MAX = 4096,
	/* bytes from a register, either way; a multiple of 8 */
	TRAIL_OFFSET_MAX = 32768,
};

struct replay_trail {
	bool by_register;
	int thread, reg; /* by_register: enum x86_reg of the thread */
	int offset; /* from what is in the register */
	int space; /* else: of the address, which is a multiple of 8 */
	uint64_t address;
	unsigned int behind;
};

uint64_t replay_trail_hint(const struct replay_trail *trail);
/* Of a hint that is no page. */
void replay_trail_of(uint64_t hint, struct replay_trail *ret);

/* Remember a hint, if it is not remembered. */
void replay_hints_add(struct replay_hints *hints, uint64_t hint);
bool replay_hints_have(const struct replay_hints *hints, uint64_t hint);

enum {
	/* the most pages that likely_add_thread() adds */
	LIKELY_OF_THREAD = 36,
	/* two accesses, each to two pages at most */
	LIKELY_RACED = 4,
	/* all that is ever asked for: every hint finds room */
	LIKELY_MAX = 2 * LIKELY_OF_THREAD + REPLAY_HINTS_MAX + LIKELY_RACED,
};

/* Addresses of pages, each once. */

struct likely {
	uint64_t pages[LIKELY_MAX];
	size_t count;
};

/* Add the page of an address, if there is room and it could be one. */
void likely_add(struct likely *likely, uint64_t address);

/*
 * Add the pages of the stack (around rsp, up to the frames of callers), of the
 * thread's control block (fs base), and of each register that could be an
 * address. What does not fit is left out.
 */
void likely_add_thread(struct likely *likely, const struct x86_registers *regs);

/* Those that are pages of that address space. */
void likely_add_hints(struct likely *likely, const struct replay_hints *hints,
		      int space);

#endif
