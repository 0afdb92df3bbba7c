/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Protects a process of racewatch on which the watched program's life depends:
 * from swapping, from the OOM killer, and from waiting for a processor. As far
 * as is permitted; a refusal is ignored, without a message.
 */
#ifndef GUARDIAN_FORTIFY_H
#define GUARDIAN_FORTIFY_H

#include <stdbool.h>

/*
 * Memory is locked when it is first used, unless that could make a later
 * allocation fail (RLIMIT_MEMLOCK). The OOM score is lowered. A child inherits
 * the score: fork the watched program before.
 */
void fortify_memory(void);

/*
 * The same for the tracer and the guardian: the kernel then runs the guardian,
 * which the dying tracer wakes up, on another CPU, without waiting for the
 * tracer's.
 */
enum { FORTIFY_PRIORITY = 1 };

/*
 * Run before other processes: SCHED_FIFO with this priority, else the least
 * nice value. Children do not inherit SCHED_FIFO; they do inherit the nice
 * value.
 */
void fortify_priority(int priority);

/*
 * Run like other processes again, with that nice value, after
 * fortify_priority(). False: the kernel refuses, and the priority stays.
 */
bool fortify_yield(int nice);

#endif
