/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Getting hold of the target; see launch.h.
 */
#include "tracer/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "sys/layout.h"
#include "sys/pidref.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/sigstate.h"
#include "tracee/thread.h"
#include "tracer/birth.h"
#include "tracer/engine.h"
#include "tracer/forget.h"

/* exit-allowed: the forked child that could not become the command */
enum { LAUNCH_FAILED = 127 };

/* a millisecond apart */
enum { SEIZE_TRIES = 20 };

static void launch_silence(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

/* The child: wait to be seized, become the command, or tell why not. */
static void launch_child(const struct launch *launch, int go, int failed)
{
	char byte;

	sigaction(SIGCHLD, launch->child_action, NULL);
	sigprocmask(SIG_SETMASK, launch->mask, NULL);
	if (launch->no_aslr)
		personality(ADDR_NO_RANDOMIZE);
	if (launch->silent)
		launch_silence();
	/* end of file: the tracer died or gave up */
	if (read(go, &byte, 1) == 1) {
		execvp(launch->argv[0], launch->argv);
		if (write(failed, &errno, sizeof(errno)) < 0)
			_exit(LAUNCH_FAILED); /* exit-allowed: forked child */
	}
	_exit(LAUNCH_FAILED); /* exit-allowed: forked child */
}

static struct error *launch_failure(const char *command, int code)
{
	return error_create(code == ENOENT ? ERROR_NOT_FOUND : ERROR_CANNOT_RUN,
			    "%s: %s", command, strerror(code));
}

/*
 * A process that is watched and holds the same program at the same addresses,
 * or NULL: those of a server were forked from one.
 */
static struct process *launch_sibling(const struct engine *engine, pid_t pid)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->role == PROCESS_WATCHED &&
		    layout_same(process->pid, pid))
			return process;
	}
	return NULL;
}

/* Processes of one program share what is known of it, and its breakpoints. */
static struct error *launch_space(struct engine *engine, pid_t pid,
				  struct addrspace **ret)
{
	struct process *sibling = launch_sibling(engine, pid);

	return sibling ? tracees_share_space(&engine->core.tracees,
					     sibling->space, pid, ret)
		       : tracees_make_space(&engine->core.tracees, pid, ret);
}

static struct error *launch_record(struct engine *engine, pid_t pid,
				   struct process **ret)
{
	struct addrspace *space;
	struct error *err;

	err = launch_space(engine, pid, &space);
	if (err)
		return err;
	err = process_create(pid, PROCESS_WATCHED, space, ret);
	if (err) {
		addrspace_release(space);
		return err;
	}
	if (!vec_push(&engine->core.tracees.processes, ret)) {
		process_destroy(*ret);
		return error_nomem;
	}
	if (engine->pid == 0)
		engine->pid = pid;
	return NULL;
}

/*
 * Let the child go and follow it until it has become the command. Only the
 * calls before its execve(2) lie in between; they stop for nothing but
 * signals.
 */
static struct error *launch_follow(struct engine *engine, const char *command,
				   int failed)
{
	struct stop_reason stop;
	struct error *err;
	int code;

	while (engine->core.phase == PHASE_STARTING) {
		err = wait_thread(engine->pid, &stop);
		if (err)
			return err;
		if (stop.kind == STOP_EXITED || stop.kind == STOP_KILLED) {
			tracees_thread(&engine->core.tracees, engine->pid)
				->state = THREAD_GONE;
			if (read(failed, &code, sizeof(code)) == sizeof(code))
				return launch_failure(command, code);
			return error_create(ERROR_CANNOT_RUN,
					    "%s: died before it began",
					    command);
		}
		engine_event(engine, &stop);
		if (engine->core.tracees.stuck)
			return error_create(
				ERROR_REFUSED,
				"%s: it cannot be traced (a request of ptrace fails)",
				command);
	}
	return NULL;
}

struct error *launch_command(struct engine *engine, const struct launch *launch)
{
	cleanup_close int go_read = -1, go_write = -1;
	cleanup_close int failed_read = -1, failed_write = -1;
	int go[2], failed[2];
	struct process *process;
	struct thread *thread;
	struct error *err;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return error_os(errno, "make a pipe");
	go_read = go[0];
	go_write = go[1];
	if (pipe2(failed, O_CLOEXEC) < 0)
		return error_os(errno, "make a pipe");
	failed_read = failed[0];
	failed_write = failed[1];
	pid = fork();
	if (pid < 0)
		return error_os(errno, "fork");
	if (pid == 0) {
		close(go_write);
		launch_child(launch, go_read, failed_write);
	}
	engine->child = true;
	engine->exit_kill = true;
	engine->replays.seeding = true;
	err = trace_seize(pid, true);
	if (!err)
		err = launch_record(engine, pid, &process);
	if (!err)
		err = tracees_add_thread(&engine->core.tracees, process, pid,
					 &thread);
	if (!err && write(go_write, "", 1) != 1)
		err = error_os(errno, "start %s", launch->argv[0]);
	if (!err) {
		close(failed_write);
		failed_write = -1;
		err = launch_follow(engine, launch->argv[0], failed_read);
	}
	/* it has not begun: nothing is lost */
	if (err)
		kill(pid, SIGKILL);
	return err;
}

struct attach {
	struct engine *engine;
	struct process *process;
	struct error *err;
	bool grew;
};

/*
 * A thread that cannot be seized, in a process that can: one born of a seized
 * thread is traced already, and one that has exited needs not be. NULL then.
 */
static struct error *attach_refused(const struct attach *attach, pid_t tid,
				    struct error *refusal)
{
	struct thread_status status;
	struct error *err = procfs_status(tid, &status);

	if (err == error_gone ||
	    (!err && (status.state == 'Z' || status.state == 'X'))) {
		error_free(refusal);
		return NULL;
	}
	if (err || attach->process->threads.count == 0) {
		error_free(err);
		return refusal;
	}
	error_free(refusal);
	if (status.tracer == getpid())
		return NULL;
	return error_create(ERROR_REFUSED, "thread %d is traced by process %d",
			    (int)tid, (int)status.tracer);
}

/*
 * In the middle of an exec by another thread, the leader is as if dead: the
 * first thread to be seized gets a little time.
 */
static struct error *attach_seize(const struct attach *attach, pid_t tid)
{
	static const struct timespec ms = { .tv_nsec = 1000 * 1000 };
	struct error *err = trace_seize(tid, false);

	for (int i = 0; i < SEIZE_TRIES && err && err->code == EPERM &&
			attach->process->threads.count == 0;
	     i++) {
		error_free(err);
		nanosleep(&ms, NULL);
		err = trace_seize(tid, false);
	}
	return err;
}

static bool attach_thread(pid_t tid, void *data)
{
	struct attach *attach = data;
	struct thread *thread =
		tracees_thread(&attach->engine->core.tracees, tid);
	struct error *err;

	if (thread)
		return true;
	err = attach_seize(attach, tid);
	if (err == error_gone)
		return true;
	if (err && err->code == EPERM) {
		attach->err = attach_refused(attach, tid, err);
		return !attach->err;
	}
	if (!err)
		err = tracees_add_thread(&attach->engine->core.tracees,
					 attach->process, tid, &thread);
	if (err) {
		attach->err = err;
		return false;
	}
	attach->grew = true;
	sigstate_refresh(&attach->engine->core.tracees, thread);
	return true;
}

/* It ended before any of its threads was seized: as if it had never been. */
static void attach_forget(struct engine *engine, struct process *process)
{
	if (engine->pid == process->pid) {
		engine->pid = 0;
		engine->attached = NULL;
	}
	forget_process(engine, process);
}

struct error *launch_seize_new(struct engine *engine, struct process *process,
			       bool *ret_grew)
{
	struct attach attach = { .engine = engine, .process = process };
	struct error *err;

	*ret_grew = false;
	do {
		attach.grew = false;
		err = procfs_threads(process->pid, attach_thread, &attach);
		if (!err)
			err = attach.err;
		*ret_grew |= attach.grew;
	} while (!err && attach.grew);
	return err;
}

struct error *launch_guest(struct engine *engine, const struct process *parent,
			   pid_t pid)
{
	struct process *process;
	struct error *err;
	bool grew;

	err = birth_guest(engine, parent, pid, &process);
	if (err)
		return err;
	err = launch_seize_new(engine, process, &grew);
	if (!err && process->threads.count == 0)
		err = error_gone;
	if (err && process->threads.count == 0)
		forget_process(engine, process);
	return error_wrap(err, "attach to %d, which shares the memory of %d",
			  (int)pid, (int)parent->pid);
}

struct error *launch_attach(struct engine *engine, pid_t pid,
			    const struct pidref *meant)
{
	struct process *process;
	struct error *err;
	bool grew;

	if (!engine->attached)
		engine->attached = meant;
	err = launch_record(engine, pid, &process);
	if (err)
		return err;
	err = launch_seize_new(engine, process, &grew);
	/* seized, the process keeps its id: it is asked only now */
	if (!err &&
	    (process->threads.count == 0 || (meant && !pidref_valid(meant))))
		err = error_gone;
	if (err == error_gone && process->threads.count == 0)
		attach_forget(engine, process);
	if (err)
		return error_wrap(err, "attach to %d", (int)pid);
	engine->core.phase = PHASE_WATCHING;
	return NULL;
}
