/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests tracing and watchpoints on a child of ours, which writes to a watched
 * variable. On some virtual machines debug registers can be written and never
 * trap, and policies may refuse perf.
 */
#ifndef TRACEE_SELFTEST_H
#define TRACEE_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>

struct error;

/*
 * Where others have all debug registers (perf, a debugger), the tests of
 * watchpoints wait for two seconds; then their error is one of these.
 */
bool selftest_is_busy(const struct error *err);

/* NULL if debug registers set by ptrace stop a tracee. */
struct error *selftest_registers(void);

/*
 * NULL if a perf breakpoint with sigtrap stops a tracee. *ret_kernel: does it
 * see accesses by the kernel too?
 */
struct error *selftest_perf(bool *ret_kernel);

/*
 * NULL if a perf execution breakpoint stops a tracee before the instruction,
 * and can then be made a watchpoint.
 */
struct error *selftest_execution(void);

/* NULL if a CPU-wide perf breakpoint records an access. */
struct error *selftest_cpu(void);

/* NULL if a child can be seized and stopped. */
struct error *selftest_trace(void);

/*
 * The ways to the memory of a traced child that work. NULL if it can be read
 * at all, and its text be written at all.
 */
struct selftest_memory {
	bool reads_directly; /* process_vm_readv(2); else by /proc/PID/mem */
	bool writes_file; /* text by /proc/PID/mem; else by ptrace(2) */
};
struct error *selftest_memory(struct selftest_memory *ret);

/* How many of the four debug registers nobody else uses. */
struct error *selftest_free_registers(int *ret);

/* The same, once there is one, or after that time; selftest_is_busy(): none is. */
struct error *selftest_await_registers(uint64_t wait_ns, int *ret);

#endif
