/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Restores what needs stopped threads after the tracer's death: debug registers
 * that it set by ptrace(2), and text where /proc/PID/mem may not be written.
 * Each thread is seized as soon as the kernel has detached it, stopped once,
 * and detached.
 */
#ifndef GUARDIAN_GUARDTEND_H
#define GUARDIAN_GUARDTEND_H

#include <stdint.h>

struct guardrestore;

/*
 * Restore all threads of the process of this space, which must be open. Returns
 * when that is done, or after some seconds; threads that are seized then are
 * detached when the caller ends.
 */
void guardtend_space(struct guardrestore *restore, uint32_t space);

#endif
