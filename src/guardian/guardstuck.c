/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stuck tracer; see guardstuck.h.
 */
#include "guardian/guardstuck.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "guardian/guardrestore.h"
#include "sys/procfs.h"

/* between looks at threads that have met a breakpoint and not stopped yet */
static const struct timespec GUARDSTUCK_NAP = { .tv_nsec = 5000000 };

enum { GUARDSTUCK_LOOKS = 200 };

static const uint64_t GUARDSTUCK_ASK_NS = CLOCK_NS_PER_S / 2;

/* What the deputy has waited for in a process. */
struct guardstuck_stops {
	bool stopping; /* SIGSTOP, or its effect */
	bool continuing; /* SIGCONT */
	/* the end of a group-stop looks so to those that were in it */
	bool interrupted;
	bool others; /* of threads that are not stopped for SIGSTOP */
};

static bool guardstuck_has_thread(pid_t pid, pid_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) == 0;
}

static bool guardstuck_is(const struct deputy_stop *stop, int signal)
{
	return stop->kind == STOP_SIGNAL && stop->signal == signal;
}

static struct guardstuck_stops guardstuck_stops(const struct deputy *deputy,
						pid_t pid)
{
	struct guardstuck_stops found = { .stopping = false };
	uint32_t count = deputy_count(deputy);

	for (uint32_t i = 0; i < count; i++) {
		const struct deputy_stop *stop = &deputy->stops[i];
		bool stopping = stop->kind == STOP_GROUP ||
				guardstuck_is(stop, SIGSTOP);

		if (!guardstuck_has_thread(pid, stop->tid))
			continue;
		found.stopping |= stopping;
		found.continuing |= guardstuck_is(stop, SIGCONT);
		found.interrupted |= stop->kind == STOP_INTERRUPTED;
		found.others |= !stopping;
	}
	return found;
}

static bool guardstuck_holds(uint64_t signals, int signal)
{
	return (signals >> (signal - 1)) & 1;
}

static bool guardstuck_add_pending(pid_t tid, void *data)
{
	struct thread_status status;
	uint64_t *pending = data;
	struct error *err;

	err = procfs_status(tid, &status);
	if (!err)
		*pending |= status.pending | status.process_pending;
	error_free(err);
	return true;
}

/* Signals that any thread of the process has not got yet. */
static uint64_t guardstuck_pending(pid_t pid)
{
	uint64_t pending = 0;

	error_free(procfs_threads(pid, guardstuck_add_pending, &pending));
	return pending;
}

/*
 * Has its user sent SIGCONT since it was stopped? A traced process always gets
 * it, and each of SIGSTOP and SIGCONT takes a pending one of the other away. If
 * both have reached threads, which one came first is not known; SIGCONT most
 * likely follows SIGSTOP.
 */
static bool guardstuck_is_continued(const struct guardstuck_stops *stops,
				    uint64_t pending)
{
	return guardstuck_holds(pending, SIGCONT) ||
	       (stops->continuing && !guardstuck_holds(pending, SIGSTOP));
}

/*
 * Is it to be left stopped? What the tracer has noted holds, unless a thread says
 * that the group-stop has ended; other threads may have stopped for what they met
 * just before it.
 */
static bool guardstuck_is_stopped(const struct guardtable_space *space,
				  const struct guardstuck_stops *stops,
				  uint64_t pending)
{
	if (space->continued)
		return false;
	return stops->stopping || guardstuck_holds(pending, SIGSTOP) ||
	       (space->stopped && !stops->interrupted);
}

/*
 * Stop the process. One that is in a group-stop is not sent SIGSTOP: if its user
 * continues it now, it shall go on.
 */
static void guardstuck_stop(const struct deputy *deputy,
			    struct guardtable_space *space)
{
	pid_t pid = __atomic_load_n(&space->pid, __ATOMIC_ACQUIRE);
	struct guardstuck_stops stops;
	uint64_t pending;

	if (pid <= 0)
		return;
	stops = guardstuck_stops(deputy, pid);
	/* before our SIGSTOP takes SIGCONT away */
	pending = guardstuck_pending(pid);
	space->continued = guardstuck_is_continued(&stops, pending);
	if (space->stopped && !stops.others && !space->continued)
		return;
	space->stopped = guardstuck_is_stopped(space, &stops, pending);
	kill(pid, SIGSTOP);
}

/* Those that stop by default are lost in a SIGCONT that comes later. */
static bool guardstuck_stops_by(int number)
{
	return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* Is it to be sent again? SIGSTOP and SIGCONT have had their effect. */
static bool guardstuck_is_lost(const struct deputy_stop *stop)
{
	if (stop->kind != STOP_SIGNAL || stop->signal > SIGRTMAX)
		return false;
	switch (stop->signal) {
	case SIGTRAP:
	case SIGSTOP:
	case SIGCONT:
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
		return false;
	default:
		return true;
	}
}

static void guardstuck_give_back(const struct deputy *deputy, pid_t pid,
				 bool stopping)
{
	uint32_t count = deputy_count(deputy);

	for (uint32_t i = 0; i < count; i++) {
		const struct deputy_stop *stop = &deputy->stops[i];

		if (guardstuck_is_lost(stop) &&
		    guardstuck_stops_by(stop->signal) == stopping)
			syscall(SYS_tgkill, pid, stop->tid, stop->signal);
	}
}

/* Has any thread a trap that it has not stopped for? */
static bool guardstuck_traps(const struct guardrestore *restore)
{
	bool traps = false;

	for (uint32_t i = 0; i < GUARDTABLE_SPACES; i++) {
		pid_t pid = restore->table->spaces[i].pid;

		traps |= pid > 0 &&
			 guardstuck_holds(guardstuck_pending(pid), SIGTRAP);
	}
	return traps;
}

/* Where the machine is loaded, a thread may take its time to stop. */
static void guardstuck_collect(const struct guardrestore *restore)
{
	struct deputy *deputy = &restore->table->deputy;

	for (int i = 0; i < GUARDSTUCK_LOOKS; i++) {
		uint32_t before = deputy_count(deputy);
		bool pending;

		nanosleep(&GUARDSTUCK_NAP, NULL);
		pending = guardstuck_traps(restore);
		if (!deputy_ask(deputy, GUARDSTUCK_ASK_NS))
			return;
		/* twice nothing new */
		if (i > 0 && !pending && deputy_count(deputy) == before)
			return;
	}
}

/*
 * SIGSTOP comes last: a stop for it must not be waited for, or it is lost. A
 * pending one takes effect before a detached thread executes anything.
 */
void guardstuck_kill(struct guardrestore *restore, int tracer)
{
	struct guardtable *table = restore->table;

	guardrestore_open(restore);
	guardrestore_text(restore);
	guardstuck_collect(restore);
	for (uint32_t i = 0; i < GUARDTABLE_SPACES; i++)
		guardstuck_stop(&table->deputy, &table->spaces[i]);
	syscall(SYS_pidfd_send_signal, tracer, SIGKILL, NULL, 0);
}

void guardstuck_continue(const struct guardrestore *restore)
{
	const struct guardtable *table = restore->table;

	for (uint32_t i = 0; i < GUARDTABLE_SPACES; i++) {
		const struct guardtable_space *space = &table->spaces[i];

		if (space->pid <= 0)
			continue;
		guardstuck_give_back(&table->deputy, space->pid, false);
		if (!space->stopped)
			kill(space->pid, SIGCONT);
		/* SIGCONT has taken them away */
		if (!space->continued)
			guardstuck_give_back(&table->deputy, space->pid, true);
	}
}
