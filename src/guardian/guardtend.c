/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tending the threads that a dead tracer left; see guardtend.h.
 */
#include "guardian/guardtend.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "guardian/guardrestore.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "sys/wait.h"
#include "x86/dregs.h"

enum {
	DR_STATUS = 6,
	DR_CONTROL = 7,
	/* the kernel may detach the dead tracer's tracees late */
	TEND_SEIZE_MS = 3000,
	/* a thread may be deep in the kernel */
	TEND_STOP_MS = 2000,
	TEND_NAP_NS = 100 * 1000,
	MS_NS = 1000 * 1000,
};

struct tend {
	struct guardrestore *restore;
	uint32_t space;
	struct vec tids; /* of pid_t: seized */
	bool grew;
	bool busy; /* somebody else's tracee: most likely still the dead one's */
};

static void tend_nap(void)
{
	struct timespec nap = { .tv_nsec = TEND_NAP_NS };

	nanosleep(&nap, NULL);
}

static bool tend_knows(const struct tend *tend, pid_t tid)
{
	for (size_t i = 0; i < tend->tids.count; i++) {
		if (*(pid_t *)vec_at(&tend->tids, i) == tid)
			return true;
	}
	return false;
}

/* As a first thread that has left the others: nobody can seize it. */
static bool tend_has_ended(pid_t tid)
{
	struct thread_status status;
	struct error *err = procfs_status(tid, &status);
	bool ended = !err && (status.state == 'Z' || status.state == 'X');

	error_free(err);
	return ended;
}

static bool tend_seize(pid_t tid, void *data)
{
	struct tend *tend = data;
	struct error *err;

	if (tend_knows(tend, tid))
		return true;
	err = trace_seize_alone(tid);
	if (!err) {
		tend->grew = true;
		/* when out of memory, our exit detaches it */
		if (vec_push(&tend->tids, &tid))
			error_free(trace_interrupt(tid));
	} else if (err->code == EPERM && !tend_has_ended(tid)) {
		tend->busy = true;
	}
	error_free(err);
	return true;
}

static void tend_seize_all(struct tend *tend, pid_t pid)
{
	uint64_t end = clock_now_ns() + (uint64_t)TEND_SEIZE_MS * MS_NS;
	bool late;

	do {
		struct error *err;

		/* before it tries: it may be kept from the processor */
		late = clock_now_ns() >= end;
		tend->grew = tend->busy = false;
		err = procfs_threads(pid, tend_seize, tend);
		if (err) {
			error_free(err);
			return;
		}
		if (tend->busy)
			tend_nap();
	} while (tend->grew || (tend->busy && !late));
}

/* Was there ever an int3 of ours? Entries done with keep their address. */
static bool tend_ours(const struct tend *tend, uint64_t address)
{
	const struct guardtable *table = tend->restore->table;

	for (uint32_t i = 0; i < table->end; i++) {
		if (table->entries[i].address == address &&
		    table->entries[i].text == table->spaces[tend->space].text)
			return true;
	}
	return false;
}

/* A trap of ours is taken back; the signal to let the thread go with. */
static int tend_trap(const struct tend *tend, pid_t tid)
{
	struct x86_registers regs;
	struct trap_info info;
	struct error *err;

	err = trace_trap_info(tid, &info);
	if (!err && info.code == TRAP_CODE_BREAKPOINT)
		err = trace_registers(tid, &regs);
	if (err) {
		error_free(err);
		return SIGTRAP;
	}
	if (info.code == TRAP_CODE_WATCH || info.code == TRAP_CODE_PERF)
		return 0;
	if (info.code != TRAP_CODE_BREAKPOINT || !tend_ours(tend, regs.rip - 1))
		return SIGTRAP;
	error_free(trace_set_rip(tid, regs.rip - 1));
	return 0;
}

/* Writing to a slot that nobody has used would take it. */
static void tend_zero(pid_t tid, int number)
{
	uint64_t value = 0;

	error_free(trace_debug(tid, number, &value));
	if (value != 0)
		error_free(trace_set_debug(tid, number, 0));
}

/* The tracer's deputy has waited for its stop: the signal is gone. */
static void tend_taken(const struct tend *tend, pid_t tid)
{
	struct x86_registers regs;
	struct error *err = trace_registers(tid, &regs);

	if (!err && tend_ours(tend, regs.rip - 1))
		err = trace_set_rip(tid, regs.rip - 1);
	error_free(err);
}

static void tend_stopped(struct tend *tend, const struct stop_reason *stop)
{
	int signal = stop->kind == STOP_SIGNAL ? stop->signal : 0;

	if (deputy_has_trap(&tend->restore->table->deputy, stop->tid))
		tend_taken(tend, stop->tid);
	else if (signal == SIGTRAP)
		signal = tend_trap(tend, stop->tid);
	guardrestore_through(tend->restore, tend->space, stop->tid);
	error_free(trace_set_debug(stop->tid, DR_CONTROL, 0));
	for (int i = 0; i < DREGS_SLOTS; i++)
		tend_zero(stop->tid, i);
	error_free(trace_set_debug(stop->tid, DR_STATUS, 0));
	error_free(trace_detach(stop->tid, signal));
}

static void tend_drop(struct tend *tend, pid_t tid)
{
	for (size_t i = 0; i < tend->tids.count; i++) {
		if (*(pid_t *)vec_at(&tend->tids, i) == tid) {
			vec_remove_swap(&tend->tids, i);
			return;
		}
	}
}

static void tend_stops(struct tend *tend)
{
	uint64_t end = clock_now_ns() + (uint64_t)TEND_STOP_MS * MS_NS;

	while (tend->tids.count > 0) {
		/* what has come is taken, however late */
		bool late = clock_now_ns() >= end;
		struct stop_reason stop;
		struct error *err;
		bool found;

		err = wait_next(&stop, &found);
		if (err) {
			error_free(err);
			return;
		}
		if (!found) {
			if (late)
				return;
			tend_nap();
			continue;
		}
		if (stop.kind != STOP_EXITED && stop.kind != STOP_KILLED)
			tend_stopped(tend, &stop);
		tend_drop(tend, stop.tid);
	}
}

void guardtend_space(struct guardrestore *restore, uint32_t space)
{
	struct tend tend = { .restore = restore,
			     .space = space,
			     .tids = VEC_INIT(pid_t) };
	pid_t pid = restore->table->spaces[space].pid;

	if (pid > 0) {
		tend_seize_all(&tend, pid);
		tend_stops(&tend);
	}
	vec_deinit(&tend.tids);
}
