/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which pages a thread is likely to use next, from its registers alone. Pure
 * code.
 */
#ifndef REPLAY_LIKELY_H
#define REPLAY_LIKELY_H

#include <stddef.h>
#include <stdint.h>

struct replay_hints;
struct x86_registers;

/* Addresses of pages, each once. */
enum { LIKELY_MAX = 128 };

struct likely {
	uint64_t pages[LIKELY_MAX];
	size_t count;
};

/*
 * Add the pages of rip, of the stack (around rsp, and of the return address), of
 * the thread's control block (fs base), and of each register that could be an
 * address. What does not fit is left out.
 */
void likely_add_thread(struct likely *likely, const struct x86_registers *regs,
		       uint64_t return_slot);

void likely_add_hints(struct likely *likely, const struct replay_hints *hints);

#endif
