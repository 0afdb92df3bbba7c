/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What put a side in order with its partners, as far as the recording knows: while
 * a thread was held at the side, no other thread could run.
 */
#ifndef HUNT_ORDERED_H
#define HUNT_ORDERED_H

struct hunt_side;

/*
 * A lock that the side's thread held, and that excludes a thread of another access
 * to the side's bytes, which held it too: "their common mutex `m`". NULL: the
 * recording has none, or out of memory. For the caller to free.
 */
char *ordered_by_lock(const struct hunt_side *side);

#endif
