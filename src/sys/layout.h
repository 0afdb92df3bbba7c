/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which processes hold the same program at the same addresses, as those that a
 * server has forked do. Told from /proc/PID/exe and /proc/PID/maps.
 */
#ifndef SYS_LAYOUT_H
#define SYS_LAYOUT_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Do both execute the same file, and is each part of a file that both have
 * mapped executable at the same address in both? One may have libraries that the
 * other has not. False where that cannot be read, as without the right to trace
 * them.
 */
bool layout_same(pid_t a, pid_t b);

#endif
