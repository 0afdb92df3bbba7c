/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The supervisor of a run; see supervisor.h. It is a fork of the sweep that
 * never returns, in a process group of its own: the sweep handles an interrupt
 * from the terminal.
 */
#include "sweep/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "sweep/capture.h"

enum { SUPERVISOR_READ = 64 << 10, SUPERVISOR_TURNS = 16 };

/* After being asked to end: asked again, and killed. */
static const uint64_t ASK_NS = 2 * CLOCK_NS_PER_S;
/* More than racewatch run takes to end a program that has timed out. */
static const uint64_t LATE_NS = 20 * CLOCK_NS_PER_S;
/* For processes that are about to end by themselves. */
static const uint64_t SETTLE_NS = 300 * CLOCK_NS_PER_MS;
static const uint64_t GRACE_NS = 500 * CLOCK_NS_PER_MS;

struct keeping {
	const struct supervisor_config *config;
	struct supervisor_result result;
	struct capture captures[2];
	int pipes[2]; /* of standard output and error; -1: ended */
	int life_fd, signal_fd;
	pid_t child;
	bool ended; /* the child */
	uint64_t start_ns, next_ns; /* next: of asking again */
	int asked;
};

/* Also where there is no /dev: a pipe that nobody writes to is as empty. */
static int open_nothing(void)
{
	int null = open("/dev/null", O_RDONLY);
	int ends[2];

	if (null >= 0)
		return null;
	if (pipe(ends) < 0)
		return -1;
	close(ends[1]);
	return ends[0];
}

static void start_run(const struct keeping *keeping, int out, int err_fd)
{
	const struct supervisor_config *config = keeping->config;
	char number[24];
	int input = open_nothing();

	if (input < 0 || dup2(input, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(err_fd, 2) < 0)
		_exit(EXIT_FAILED); /* exit-allowed: a forked child */
	/* nothing else of ours is to live on in it */
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	snprintf(number, sizeof(number), "%" PRIu64, config->seed);
	setenv("RACEWATCH_SEED", number, 1);
	snprintf(number, sizeof(number), "%" PRIu64, config->run);
	setenv("RACEWATCH_RUN", number, 1);
	setrlimit(RLIMIT_NOFILE, &config->inherit->files);
	sigaction(SIGCHLD, &config->inherit->child_action, NULL);
	sigprocmask(SIG_SETMASK, &config->inherit->mask, NULL);
	execv(config->program, config->argv);
	log_error("%s: %s", config->program, strerror(errno));
	_exit(EXIT_FAILED); /* exit-allowed: a forked child */
}

static bool spawn_run(struct keeping *keeping)
{
	int out[2], err[2];

	if (pipe2(out, O_CLOEXEC) < 0)
		return false;
	if (pipe2(err, O_CLOEXEC) < 0) {
		close(out[0]);
		close(out[1]);
		return false;
	}
	keeping->start_ns = clock_now_ns();
	keeping->child = fork();
	if (keeping->child == 0)
		start_run(keeping, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	keeping->pipes[0] = out[0];
	keeping->pipes[1] = err[0];
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	return keeping->child > 0;
}

static void take_output(struct keeping *keeping, int which)
{
	int fd = keeping->pipes[which];

	/*
	 * not without end: much output must not keep us from reading the clock
	 */
	for (int turns = 0; fd >= 0 && turns < SUPERVISOR_TURNS; turns++) {
		char bytes[SUPERVISOR_READ];
		ssize_t n = read(fd, bytes, sizeof(bytes));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			close(fd);
			keeping->pipes[which] = -1;
			return;
		}
		capture_add(&keeping->captures[which], bytes, (size_t)n);
	}
}

static void reap_run(struct keeping *keeping)
{
	struct signalfd_siginfo info;

	while (read(keeping->signal_fd, &info, sizeof(info)) > 0)
		continue;
	descendants_reap(keeping->child);
	if (waitpid(keeping->child, &keeping->result.status, WNOHANG) ==
	    keeping->child) {
		keeping->ended = true;
		keeping->result.elapsed_ns = clock_now_ns() - keeping->start_ns;
	}
}

/* racewatch hands the first SIGTERM to the program and ends by the second. */
static void ask_to_end(struct keeping *keeping)
{
	keeping->asked++;
	keeping->next_ns = clock_now_ns() + ASK_NS;
	kill(keeping->child, keeping->asked > 2 ? SIGKILL : SIGTERM);
}

static void keep_time(struct keeping *keeping)
{
	const struct supervisor_config *config = keeping->config;
	uint64_t now = clock_now_ns();
	struct pollfd life = { .fd = keeping->life_fd, .events = POLLIN };

	if (!keeping->result.stopped && poll(&life, 1, 0) > 0) {
		keeping->result.stopped = true;
		ask_to_end(keeping);
	} else if (keeping->asked > 0 && now >= keeping->next_ns) {
		ask_to_end(keeping);
	} else if (config->timeout_ns && !keeping->asked &&
		   now - keeping->start_ns > config->timeout_ns + LATE_NS) {
		keeping->result.timed_out = true;
		ask_to_end(keeping);
	}
}

static void keep_run(struct keeping *keeping)
{
	while (!keeping->ended) {
		struct pollfd fds[4] = {
			{ .fd = keeping->signal_fd, .events = POLLIN },
			{ .fd = keeping->pipes[0], .events = POLLIN },
			{ .fd = keeping->pipes[1], .events = POLLIN },
			/* once it has ended it is always readable */
			{ .fd = keeping->result.stopped ? -1 : keeping->life_fd,
			  .events = POLLIN },
		};

		poll(fds, 4, 500);
		take_output(keeping, 0);
		take_output(keeping, 1);
		reap_run(keeping);
		if (!keeping->ended)
			keep_time(keeping);
	}
}

/* Wait a moment for what is about to end. */
static struct descendants settle(struct keeping *keeping)
{
	uint64_t until = clock_now_ns() + SETTLE_NS;
	struct descendants found = descendants_look();

	while (found.count > 0 && clock_now_ns() < until) {
		struct pollfd fds[2] = {
			{ .fd = keeping->pipes[0], .events = POLLIN },
			{ .fd = keeping->pipes[1], .events = POLLIN },
		};

		poll(fds, 2, 20);
		take_output(keeping, 0);
		take_output(keeping, 1);
		descendants_reap(0);
		found = descendants_look();
	}
	return found;
}

static void end_rest(struct keeping *keeping)
{
	struct supervisor_result *result = &keeping->result;
	struct descendants found = settle(keeping);

	/* of a run that was cut short it was not to be expected otherwise */
	if (!result->stopped && !result->timed_out) {
		result->left = found.count;
		result->away = found.away;
		memcpy(result->names, found.names, sizeof(result->names));
	}
	descendants_end(GRACE_NS, NULL);
	for (int i = 0; i < 2; i++) {
		take_output(keeping, i);
		result->cut_bytes += capture_close(&keeping->captures[i]);
		if (keeping->captures[i].error && !result->write_error)
			result->write_error = keeping->captures[i].error;
	}
}

static bool has_timed_out(const struct keeping *keeping)
{
	const struct supervisor_result *result = &keeping->result;

	return result->timed_out ||
	       (keeping->config->timeout_ns &&
		result->elapsed_ns >= keeping->config->timeout_ns &&
		WIFEXITED(result->status) &&
		WEXITSTATUS(result->status) == EXIT_TIMED_OUT);
}

/* All descriptors but those that are needed: `keep' is in ascending order. */
static void close_others(int keep[], size_t count)
{
	unsigned int from = 3;

	for (size_t i = 0; i < count; i++) {
		unsigned int next = (unsigned int)keep[i];

		if (keep[i] < 3)
			continue;
		if (next > from)
			close_range(from, next - 1, 0);
		from = next + 1;
	}
	close_range(from, ~0U, 0);
}

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void supervisor_main(const struct supervisor_config *config, int life_fd,
			    int result_fd)
{
	struct keeping keeping = { .config = config,
				   .pipes = { -1, -1 },
				   .life_fd = life_fd };
	int keep[] = { life_fd, result_fd, config->lock_fd };
	sigset_t signals;

	setpgid(0, 0);
	qsort(keep, 3, sizeof(keep[0]), compare_fds);
	close_others(keep, 3);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* only the sweep ends us, by the pipe; SIGKILL apart */
	sigfillset(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	keeping.signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	capture_open(&keeping.captures[0], config->out_path,
		     config->output_limit);
	capture_open(&keeping.captures[1], config->err_path,
		     config->output_limit);
	if (keeping.signal_fd < 0 || !spawn_run(&keeping))
		_exit(EXIT_FAILED); /* exit-allowed: a forked child */
	keep_run(&keeping);
	keeping.result.timed_out = has_timed_out(&keeping);
	end_rest(&keeping);
	/* nobody may be there to read it */
	if (write(result_fd, &keeping.result, sizeof(keeping.result)) < 0)
		_exit(EXIT_FAILED); /* exit-allowed: a forked child */
	_exit(0); /* exit-allowed: a forked child */
}

struct error *supervisor_start(const struct supervisor_config *config,
			       struct supervisor *ret)
{
	int life[2], result[2];
	struct error *err;
	pid_t pid;

	if (pipe2(life, O_CLOEXEC) < 0)
		return error_os(errno, "pipe2");
	if (pipe2(result, O_CLOEXEC) < 0) {
		err = error_os(errno, "pipe2");
		close(life[0]);
		close(life[1]);
		return err;
	}
	pid = fork();
	if (pid == 0)
		supervisor_main(config, life[0], result[1]);
	err = pid < 0 ? error_os(errno, "fork") : NULL;
	close(life[0]);
	close(result[1]);
	if (err) {
		close(life[1]);
		close(result[0]);
		return err;
	}
	*ret = (struct supervisor){ .pid = pid,
				    .result_fd = result[0],
				    .life_fd = life[1] };
	return NULL;
}

void supervisor_stop(struct supervisor *supervisor)
{
	if (supervisor->life_fd >= 0)
		close(supervisor->life_fd);
	supervisor->life_fd = -1;
}

struct error *supervisor_finish(struct supervisor *supervisor,
				struct supervisor_result *ret)
{
	struct supervisor_result result;
	ssize_t n;

	do {
		n = read(supervisor->result_fd, &result, sizeof(result));
	} while (n < 0 && errno == EINTR);
	supervisor_stop(supervisor);
	close(supervisor->result_fd);
	while (waitpid(supervisor->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (n != (ssize_t)sizeof(result))
		return error_create(ERROR_OTHER,
				    "the process that kept the run has died");
	*ret = result;
	return NULL;
}
