/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actions at a race; see onrace.h.
 */
#include "output/onrace.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "output/core.h"
#include "report/race.h"
#include "report/render.h"

enum { ONRACE_PARALLEL = 4, ONRACE_WAITING = 64 };

static const uint64_t ONRACE_TIME_NS = 60 * CLOCK_NS_PER_S;

struct onrace_child {
	pid_t pid; /* of its group too */
	int core_of; /* it writes a core of this process; 0: a command */
	uint64_t deadline_ns;
	bool overdue; /* it was killed */
};

static const char *const onrace_words[] = { "report", "stop", "core" };

struct error *onrace_init(struct onrace *onrace, const char *text)
{
	static const char exec[] = "exec:";

	memset(onrace, 0, sizeof(*onrace));
	onrace->running = (struct vec)VEC_INIT(struct onrace_child);
	onrace->waiting = (struct vec)VEC_INIT(int);
	if (!text)
		return NULL;
	if (strncmp(text, exec, strlen(exec)) == 0 && text[strlen(exec)]) {
		onrace->action = ONRACE_EXEC;
		onrace->command = text + strlen(exec);
		return NULL;
	}
	for (unsigned int i = 0; i < 3; i++) {
		if (strcmp(text, onrace_words[i]) == 0) {
			onrace->action = (enum onrace_action)i;
			return NULL;
		}
	}
	return error_create(ERROR_USAGE,
			    "must be report, stop, core or exec:COMMAND");
}

struct error *onrace_check(const char *text)
{
	struct onrace onrace;

	return onrace_init(&onrace, text);
}

void onrace_deinit(struct onrace *onrace)
{
	for (size_t i = 0; i < onrace->waiting.count; i++)
		close(*(int *)vec_at(&onrace->waiting, i));
	vec_deinit(&onrace->waiting);
	vec_deinit(&onrace->running);
}

bool onrace_stops(const struct onrace *onrace)
{
	return onrace->action == ONRACE_STOP || onrace->action == ONRACE_CORE;
}

/* The race's line in a file without a name, rewound; -1: it could not be. */
static int onrace_file(const struct race *race)
{
	struct renderer renderer = { .ops = &render_json };
	struct error *err;
	int fd = memfd_create("race", MFD_CLOEXEC), copy;

	if (fd < 0)
		return -1;
	copy = dup(fd);
	renderer.out = copy < 0 ? NULL : fdopen(copy, "we");
	if (!renderer.out) {
		close(fd);
		return -1;
	}
	err = render_json.race(&renderer, race);
	fclose(renderer.out);
	if (!err && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	error_free(err);
	close(fd);
	return -1;
}

/* A child gets no signal blocked or ignored by us, and a group of its own. */
static int onrace_spawn(const char *command, int input, pid_t *ret)
{
	char shell[] = "/bin/sh", option[] = "-c";
	char *const argv[] = { shell, option, (char *)(uintptr_t)command,
			       NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int code;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
						      POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	/* standard output is the program's own, of `racewatch run' */
	code = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	if (code == 0)
		code = posix_spawn_file_actions_adddup2(&files, STDERR_FILENO,
							STDOUT_FILENO);
	if (code == 0)
		code = posix_spawn(ret, shell, &files, &attributes, argv,
				   environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return code;
}

static bool onrace_add(struct onrace *onrace, pid_t pid, int core_of)
{
	struct onrace_child child = {
		.pid = pid,
		.core_of = core_of,
		.deadline_ns = clock_now_ns() + ONRACE_TIME_NS,
	};

	return vec_push(&onrace->running, &child);
}

/* Room for it was made before. */
static void onrace_start(struct onrace *onrace, int input)
{
	pid_t pid;
	int code = onrace_spawn(onrace->command, input, &pid);

	close(input);
	if (code != 0)
		log_warn("--on-race: /bin/sh: %s", strerror(code));
	else
		onrace_add(onrace, pid, 0);
}

void onrace_race(struct onrace *onrace, const struct race *race)
{
	int input;

	if (onrace->action != ONRACE_EXEC)
		return;
	input = onrace->waiting.count < ONRACE_WAITING &&
				vec_reserve(&onrace->running, ONRACE_PARALLEL)
			? onrace_file(race)
			: -1;
	if (input < 0 || !vec_push(&onrace->waiting, &input)) {
		onrace->refused++;
		if (input >= 0)
			close(input);
	}
	onrace_poll(onrace);
}

static void onrace_say_stopped(int pid)
{
	log_note("process %d is stopped at the race: gdb -p %d looks at it, "
		 "kill -CONT %d continues it",
		 pid, pid, pid);
}

void onrace_stopped(struct onrace *onrace, const int pids[2])
{
	for (int i = 0; i < 2; i++) {
		pid_t waiter;

		if (pids[i] == 0)
			continue;
		if (onrace->action == ONRACE_STOP) {
			onrace_say_stopped(pids[i]);
			continue;
		}
		if (!vec_reserve(&onrace->running, ONRACE_PARALLEL) ||
		    !core_begin(pids[i], &waiter)) {
			kill(pids[i], SIGCONT);
			log_warn("--on-race: no core was written of %d",
				 pids[i]);
			continue;
		}
		onrace_add(onrace, waiter, pids[i]);
	}
}

static void onrace_say_end(const struct onrace_child *child, int status)
{
	if (child->core_of != 0) {
		core_ended(child->core_of, status);
		return;
	}
	if (child->overdue)
		log_warn("--on-race: the command took too long and was ended");
	else if (WIFSIGNALED(status))
		log_warn("--on-race: the command was killed by signal %d",
			 WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		log_warn("--on-race: the command exited with status %d",
			 WEXITSTATUS(status));
}

/* False: it runs still. */
static bool onrace_look(struct onrace_child *child, uint64_t now)
{
	int status;

	if (waitpid(child->pid, &status, WNOHANG) == child->pid) {
		onrace_say_end(child, status);
		return true;
	}
	/* one that writes a core watches over its own time */
	if (now >= child->deadline_ns && child->core_of == 0) {
		child->overdue = true;
		kill(-child->pid, SIGKILL);
	}
	return false;
}

void onrace_poll(struct onrace *onrace)
{
	uint64_t now = clock_now_ns();

	for (size_t i = onrace->running.count; i-- > 0;) {
		if (onrace_look(vec_at(&onrace->running, i), now))
			vec_remove_swap(&onrace->running, i);
	}
	while (onrace->waiting.count > 0 &&
	       onrace->running.count < ONRACE_PARALLEL) {
		int input = *(int *)vec_at(&onrace->waiting, 0);

		vec_remove(&onrace->waiting, 0);
		onrace_start(onrace, input);
	}
}

/* No more time for commands; what writes a core has its own limit. */
static void onrace_give_up(struct onrace *onrace)
{
	onrace->refused += onrace->waiting.count;
	for (size_t i = 0; i < onrace->waiting.count; i++)
		close(*(int *)vec_at(&onrace->waiting, i));
	vec_clear(&onrace->waiting);
	for (size_t i = 0; i < onrace->running.count; i++) {
		struct onrace_child *child = vec_at(&onrace->running, i);

		child->deadline_ns = 0;
	}
}

void onrace_finish(struct onrace *onrace)
{
	static const struct timespec step = { .tv_nsec = 10 * 1000 * 1000 };
	uint64_t end = clock_now_ns() + ONRACE_TIME_NS;

	onrace_poll(onrace);
	while (onrace->running.count > 0) {
		nanosleep(&step, NULL);
		if (clock_now_ns() >= end)
			onrace_give_up(onrace);
		onrace_poll(onrace);
	}
	if (onrace->refused > 0)
		log_warn("--on-race: the command was not run for %llu races: "
			 "too many at once",
			 (unsigned long long)onrace->refused);
	onrace->refused = 0;
}
