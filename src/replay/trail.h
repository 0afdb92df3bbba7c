/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the code came to a page that was not captured: by a pointer in memory that the
 * thread's registers lead to, or that is at the same address always. The next
 * instance of the race may use another object, by the same pointer. Private to
 * src/replay.
 */
#ifndef REPLAY_TRAIL_H
#define REPLAY_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

struct processor;

/*
 * Remember in the hints of the instance the likeliest trails to an address of the
 * space, of those that what was captured allows; false: there is none.
 */
bool trail_learn(struct processor *processor, int space, uint64_t address);

#endif
