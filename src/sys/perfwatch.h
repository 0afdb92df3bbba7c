/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hardware breakpoints by perf_event_open(2), PERF_TYPE_BREAKPOINT.
 *
 * A thread event (sigtrap=1, remove_on_exec=1; Linux 5.13) stops the thread
 * that touches the bytes in a signal-delivery-stop with TRAP_CODE_PERF and the
 * cookie; an execution breakpoint stops the thread before the instruction, with
 * the resume flag set, so that it does not trap again when it continues. A CPU
 * event writes a sample with the registers and stack of the accessing thread
 * into a ring buffer.
 */
#ifndef SYS_PERFWATCH_H
#define SYS_PERFWATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "x86/access.h"

struct error;

struct perfwatch_spec {
	uint64_t address; /* aligned to length */
	uint8_t length; /* 1, 2, 4, 8 */
	bool write_only; /* else reads and writes */
	bool execute; /* the instruction there instead; length is not used */
	bool kernel; /* accesses by the kernel too */
	bool disabled; /* it does nothing until it is moved */
	/*
	 * It fires at each access of this number, as counted from when it was
	 * opened; 0: at each. perfwatch_move() does not change it.
	 */
	uint64_t period;
	uint64_t cookie;
};

/* Open, enabled, on a thread. ERROR_REFUSED when policy forbids it. */
struct error *perfwatch_open(pid_t tid, const struct perfwatch_spec *spec,
			     int *ret_fd);

/*
 * Open an event without effect on this thread, to keep the kernel ready for
 * thread events. For the first event on a machine, the kernel enables the
 * scheduler's calls of perf and waits for every processor to notice
 * (account_event() in kernel/events/core.c, a static key and
 * synchronize_rcu()): ten milliseconds, in which the caller waits. It disables
 * them when the last event has been closed for a second.
 */
struct error *perfwatch_keep_ready(int *ret_fd);

/* Move an open event; it is enabled afterwards. */
struct error *perfwatch_move(int fd, const struct perfwatch_spec *spec);
struct error *perfwatch_disable(int fd);

/* How often it fired since it was opened. */
struct error *perfwatch_count(int fd, uint64_t *ret);

/* A CPU-wide event with its ring. */
struct perfring {
	int fd;
	void *pages;
	size_t size;
	uint32_t stack_size;
};

enum { PERFRING_RECORD = UINT16_MAX + 1 };

/* What the kernel recorded of one access. Large: not for the stack. */
struct perfring_sample {
	pid_t pid, tid;
	uint64_t address;
	struct x86_registers regs;
	bool from_kernel; /* the kernel made the access */
	size_t stack_size;
	const uint8_t *stack; /* in the record */
	_Alignas(8) uint8_t record[PERFRING_RECORD];
};

struct error *perfring_open(int cpu, const struct perfwatch_spec *spec,
			    uint32_t stack_size, struct perfring *ret);
void perfring_close(struct perfring *ring);
/* As perfwatch_move(); samples of the former address are discarded. */
struct error *perfring_move(struct perfring *ring,
			    const struct perfwatch_spec *spec);
/* The next sample, or false. */
bool perfring_next(struct perfring *ring, struct perfring_sample *ret);

#endif
