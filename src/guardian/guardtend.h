/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What cannot be undone without stopping threads, after the tracer's death:
 * debug registers that it set by ptrace(2), and text where /proc/PID/mem may
 * not be written. Each thread is seized as soon as the kernel has let it go,
 * stopped once, and let go.
 */
#ifndef GUARDIAN_GUARDTEND_H
#define GUARDIAN_GUARDTEND_H

#include <stdint.h>

struct guardrestore;

/*
 * Tend all threads of the process of this space, which must be open. Returns
 * when that is done, or after some seconds; what is seized then is let go by
 * the caller's end.
 */
void guardtend_space(struct guardrestore *restore, uint32_t space);

#endif
