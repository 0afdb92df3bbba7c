/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a thread computes, looked at by the clock of its CPU time: a software
 * event of perf on one thread, which is never stopped for it.
 */
#ifndef SYS_CPUCLOCK_H
#define SYS_CPUCLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

struct cpuclock {
	int fd;
	void *pages;
	size_t size;
	pid_t tid;
};

/*
 * Note the thread's address each time it has computed for so long. Room is for
 * some 200 addresses that nobody has asked for; more are lost. The thread runs
 * on; it pays for an interrupt each time, and for each time that it is put on a
 * processor and taken off it. Nothing of this is inherited by its children.
 * ERROR_REFUSED when policy forbids it, error_gone when there is no such thread.
 */
struct error *cpuclock_open(pid_t tid, uint64_t period_ns,
			    struct cpuclock *ret);
void cpuclock_close(struct cpuclock *clock);

/* The next address in user space, also of a thread that has ended; or false. */
bool cpuclock_next(struct cpuclock *clock, uint64_t *ret_address);

/*
 * How often the thread was put on a processor since then, modulo 2^31; no system
 * call is made for it.
 */
uint32_t cpuclock_switches(const struct cpuclock *clock);

#endif
