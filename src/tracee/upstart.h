/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a thread that was just created sets its signal mask up, where that must be
 * known before it does anything else: perf's trap does not stop a thread that
 * blocks SIGTRAP, so that what it executes first would be missed (watch.exact).
 *
 * pthread_create(3) creates threads with all signals blocked, and the thread sets
 * its own mask in its first call of rt_sigprocmask(2). Until that has returned,
 * the thread stops at its system calls (PTRACE_SYSCALL).
 */
#ifndef TRACEE_UPSTART_H
#define TRACEE_UPSTART_H

struct thread;
struct tracees;

/* A newborn is in its first stop. */
void upstart_begin(struct tracees *tracees, struct thread *thread);

/* A thread is stopped at a system call, before or behind it. */
void upstart_at_call(struct tracees *tracees, struct thread *thread);

#endif
