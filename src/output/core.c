/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Core files; see core.h. gdb's writer is used rather than one of our own: it
 * knows what debuggers expect of registers, threads and mappings. It needs
 * the process for itself, so the tracer has let it go, stopped.
 */
#include "output/core.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "sys/pidref.h"

#define CORE_PREFIX "racewatch-core"

/* exit-allowed: statuses of the child that writes */
enum {
	CORE_WRITTEN = 0,
	CORE_FAILED = 1,
	CORE_LATE = 2,
	CORE_NO_FOLDER = 3,
	CORE_IN_FOLDER = 4, /* its name is taken */
	CORE_NO_GCORE = 127,
};

static const uint64_t CORE_TIME_NS = 60 * CLOCK_NS_PER_S;

/*
 * gcore writes into a folder of its own, which nobody else may enter: in the
 * working directory, others may have put a link where it would write.
 */
struct core_names {
	char folder[48];
	char prefix[56]; /* gcore adds ".PID" */
	char written[72];
	char final[32];
};

static bool core_make_folder(int pid, struct core_names *ret)
{
	snprintf(ret->final, sizeof(ret->final), CORE_PREFIX ".%d", pid);
	snprintf(ret->folder, sizeof(ret->folder), "%s.XXXXXX", ret->final);
	if (!mkdtemp(ret->folder))
		return false;
	snprintf(ret->prefix, sizeof(ret->prefix), "%s/core", ret->folder);
	snprintf(ret->written, sizeof(ret->written), "%s.%d", ret->prefix, pid);
	return true;
}

/* Without replacing what is there. Some file systems lack RENAME_NOREPLACE. */
static int core_move(const struct core_names *names)
{
	if (renameat2(AT_FDCWD, names->written, AT_FDCWD, names->final,
		      RENAME_NOREPLACE) == 0)
		return CORE_WRITTEN;
	if (errno != EINVAL || link(names->written, names->final) < 0)
		return errno == ENOENT ? CORE_FAILED : CORE_IN_FOLDER;
	unlink(names->written);
	return CORE_WRITTEN;
}

static int core_settle(const struct core_names *names, int status)
{
	if (status == CORE_WRITTEN)
		status = core_move(names);
	if (status == CORE_IN_FOLDER)
		return status;
	unlink(names->written);
	rmdir(names->folder);
	return status;
}

/* More rights than those who could have set PATH, maybe. */
static bool core_is_privileged(void)
{
	return geteuid() == 0 || getauxval(AT_SECURE) != 0;
}

/* What gcore(1) says is for nobody; whether it succeeded, its status tells. */
static void core_become_gcore(int pid, const struct core_names *names)
{
	char number[16];
	int null = open("/dev/null", O_RDWR);

	setpgid(0, 0);
	snprintf(number, sizeof(number), "%d", pid);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	/* it is a script, and looks for programs there */
	if (core_is_privileged())
		setenv("PATH", "/usr/bin:/bin", 1);
	execlp("gcore", "gcore", "-o", names->prefix, number, (char *)NULL);
	_exit(CORE_NO_GCORE); /* exit-allowed: forked child */
}

static int core_wait(pid_t gcore)
{
	static const struct timespec step = { .tv_nsec = 10 * 1000 * 1000 };
	uint64_t end = clock_now_ns() + CORE_TIME_NS;
	int status;

	while (waitpid(gcore, &status, WNOHANG) != gcore) {
		if (clock_now_ns() >= end) {
			kill(-gcore, SIGKILL);
			waitpid(gcore, &status, 0);
			return CORE_LATE;
		}
		nanosleep(&step, NULL);
	}
	if (!WIFEXITED(status))
		return CORE_FAILED;
	return WEXITSTATUS(status);
}

static void core_continue(int pid)
{
	struct pidref process;

	if (pidref_open(pid, &process))
		return;
	error_free(pidref_signal(&process, SIGCONT));
	pidref_close(&process);
}

/* What the terminal sends to our group is not for it. */
static void core_keep(int pid)
{
	struct core_names names;
	int status = CORE_FAILED;
	pid_t gcore = -1;
	sigset_t none;

	setpgid(0, 0);
	/* all that the program knows is in it: gcore would let others read */
	umask(0077);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (core_make_folder(pid, &names))
		gcore = fork();
	else
		status = CORE_NO_FOLDER;
	if (gcore == 0)
		core_become_gcore(pid, &names);
	if (gcore > 0)
		status = core_wait(gcore);
	core_continue(pid);
	if (status != CORE_NO_FOLDER)
		status = core_settle(&names, status);
	_exit(status); /* exit-allowed: forked child */
}

bool core_begin(int pid, pid_t *ret)
{
	pid_t waiter = fork();

	if (waiter == 0)
		core_keep(pid);
	if (waiter > 0)
		*ret = waiter;
	return waiter > 0;
}

void core_ended(int pid, int status)
{
	core_continue(pid);
	if (!WIFEXITED(status))
		log_warn("--on-race: writing the core file took too long "
			 "and was stopped");
	else if (WEXITSTATUS(status) == CORE_WRITTEN)
		log_note("the core of the race is " CORE_PREFIX
			 ".%d; the program continues and is no longer "
			 "watched",
			 pid);
	else if (WEXITSTATUS(status) == CORE_IN_FOLDER)
		log_note(
			"the core of the race is core.%d in the folder " CORE_PREFIX
			".%d.*, since " CORE_PREFIX
			".%d exists; the program continues and is no longer "
			"watched",
			pid, pid, pid);
	else if (WEXITSTATUS(status) == CORE_NO_FOLDER)
		log_warn("--on-race: no core was written: no folder can be "
			 "made in the working directory");
	else if (WEXITSTATUS(status) == CORE_NO_GCORE)
		log_warn("--on-race: no core was written: there is no gcore "
			 "(it comes with gdb)");
	else
		log_warn("--on-race: no core was written: gcore failed "
			 "(status %d)",
			 WEXITSTATUS(status));
}
