/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Making a process of ours, on which the life of the watched program depends,
 * last: out of reach of swapping and of the OOM killer, and quick to run. As
 * far as is permitted; what is refused is left, silently.
 */
#ifndef GUARDIAN_FORTIFY_H
#define GUARDIAN_FORTIFY_H

#include <stdbool.h>

/*
 * Memory is locked as it is touched, but where that could make a later
 * allocation fail (RLIMIT_MEMLOCK). The OOM score is lowered. A child forked
 * later inherits the score: fork what is not ours before.
 */
void fortify_memory(void);

/*
 * The tracer's and the guardian's alike: the guardian, woken by the dying
 * tracer, is then put on another CPU than that one, and need not wait for it.
 */
enum { FORTIFY_PRIORITY = 1 };

/*
 * Run before others: SCHED_FIFO with this priority, else the least nice value.
 * Children do not inherit SCHED_FIFO; they do inherit the nice value.
 */
void fortify_priority(int priority);

/*
 * Run as others do, with that nice value, after fortify_priority(). False: the
 * kernel refuses that, and the priority stays.
 */
bool fortify_yield(int nice);

#endif
