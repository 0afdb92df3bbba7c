/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stops and ends of tracees; see wait.h.
 */
#include "sys/wait.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/error.h"
#include "sys/procfs.h"

enum { WAIT_FIRST_NS = 10 * 1000, WAIT_LAST_NS = 640 * 1000 };

static enum stop_kind stop_kind_of_event(int event, int signal)
{
	switch (event) {
	case PTRACE_EVENT_CLONE:
		return STOP_CLONE;
	case PTRACE_EVENT_FORK:
		return STOP_FORK;
	case PTRACE_EVENT_VFORK:
		return STOP_VFORK;
	case PTRACE_EVENT_VFORK_DONE:
		return STOP_VFORK_DONE;
	case PTRACE_EVENT_EXEC:
		return STOP_EXEC;
	case PTRACE_EVENT_STOP:
		return signal == SIGTRAP ? STOP_INTERRUPTED : STOP_GROUP;
	default:
		return STOP_OTHER_EVENT;
	}
}

static struct stop_reason stop_reason_of(pid_t tid, int status)
{
	struct stop_reason stop = { .tid = tid, .raw = status };

	if (WIFEXITED(status)) {
		stop.kind = STOP_EXITED;
		stop.status = WEXITSTATUS(status);
	} else if (WIFSIGNALED(status)) {
		stop.kind = STOP_KILLED;
		stop.signal = WTERMSIG(status);
	} else {
		stop.signal = WSTOPSIG(status);
		stop.kind = status >> 16 ? stop_kind_of_event(status >> 16,
							      stop.signal)
					 : STOP_SIGNAL;
	}
	return stop;
}

static struct error *wait_with(pid_t tid, int flags, struct stop_reason *ret,
			       bool *ret_found)
{
	int status;
	pid_t got;

	do
		got = waitpid(tid, &status, __WALL | flags);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == ECHILD)
		return error_gone;
	if (got < 0)
		return error_os(errno, "wait for tracees");
	*ret_found = got > 0;
	if (got > 0)
		*ret = stop_reason_of(got, status);
	return NULL;
}

struct error *wait_next(struct stop_reason *ret, bool *ret_found)
{
	return wait_with(-1, WNOHANG, ret, ret_found);
}

bool wait_came(struct stop_reason *ret)
{
	bool found = false;

	error_free(wait_next(ret, &found));
	return found;
}

struct error *wait_thread(pid_t tid, struct stop_reason *ret)
{
	bool found;

	return wait_with(tid, 0, ret, &found);
}

static bool wait_has_ended(pid_t tid)
{
	struct thread_status status;
	struct error *err = procfs_status(tid, &status);
	/* that it cannot be read is no sign: too many open files, say */
	bool ended = err ? err == error_gone
			 : status.state == 'Z' || status.state == 'X';

	error_free(err);
	return ended;
}

/*
 * A leader that ends before the others, in their exec or exit, is reported only
 * when they have been waited for, which would be never: so do not wait without
 * end.
 */
struct error *wait_thread_stop(pid_t tid, struct stop_reason *ret)
{
	struct timespec gap = { .tv_nsec = WAIT_FIRST_NS };
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)tid, &info,
			   WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL) < 0)
			return error_gone;
		if (info.si_pid != 0)
			break;
		if (gap.tv_nsec >= WAIT_LAST_NS && wait_has_ended(tid))
			return error_gone;
		nanosleep(&gap, NULL);
		if (gap.tv_nsec < WAIT_LAST_NS)
			gap.tv_nsec *= 2;
	}
	if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
		return error_gone;
	/* another thread has taken the id over */
	if (info.si_status >> 8 == PTRACE_EVENT_EXEC)
		return error_gone;
	return wait_thread(tid, ret);
}
