/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trying the watchpoints for real: a child of our own writes to a watched
 * variable. There are machines where debug registers can be written and never
 * fire (some virtual ones), and policies that refuse perf.
 */
#ifndef TARGET_SELFTEST_H
#define TARGET_SELFTEST_H

#include <stdbool.h>

struct error;

/* NULL if debug registers set by ptrace stop a tracee. */
struct error *selftest_registers(void);

/*
 * NULL if a perf breakpoint with sigtrap stops a tracee. *ret_kernel: does it
 * see accesses by the kernel too?
 */
struct error *selftest_perf(bool *ret_kernel);

/* NULL if CPU-wide perf breakpoints may be opened. */
struct error *selftest_cpu(void);

#endif
