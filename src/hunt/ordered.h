/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What put a side in order with its partners, as far as the recording or the run
 * knows: while a thread was held at the side, no other thread could run.
 */
#ifndef HUNT_ORDERED_H
#define HUNT_ORDERED_H

#include <stdbool.h>
#include <stdint.h>

struct hunt_side;
struct vec;

/* Of accesses that met, and synchronize. */
#define ORDERED_BY_ITSELF "their own synchronization"

/* What ordered_by_waits() begins with. */
#define ORDERED_BY_THREAD "thread 0"

/*
 * A lock that the side's thread held, and that excludes a thread of another access
 * to the side's bytes, which held it too: "their common mutex `m`". NULL: the
 * recording has none, or out of memory. For the caller to free.
 */
char *ordered_by_lock(const struct hunt_side *side);

/*
 * What the threads of the partners of that side did in the run, from a list of
 * struct session_wait: "thread 0.2, which waited for the condition variable
 * `full` (take, queue.c:40)", "thread 0.2, which had ended", "thread 0.2, which was
 * not created yet", one after the other. NULL: nothing is known of them, or out of
 * memory. For the caller to free.
 */
char *ordered_by_waits(const struct vec *waits, uint32_t side);

/*
 * Does such a text, or that of a hand-over, tell why the accesses cannot meet in
 * another run? Not that of what threads did in one: those that waited, as at a
 * barrier, or had ended may have come earlier, by chance, and others with the same
 * instruction are not in it. False for NULL.
 */
bool ordered_is_proved(const char *by);

#endif
