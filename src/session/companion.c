/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A client and its program; see companion.h. The watching child blocks all
 * signals: it ends when it is asked to, which the end of its parent does too, and
 * when both have ended.
 */
#include "session/companion.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "base/signals.h"
#include "base/strbuf.h"

/* The child's descriptors: nothing else of its parent's is kept open. */
enum { CONTROL_FD = STDERR_FILENO + 1, PROGRAM_FD, CLIENT_FD, FDS_END };

/* How the two have ended. */
struct report {
	bool asked; /* the client ended first: the program was sent SIGTERM */
	bool killed; /* and later SIGKILL */
	bool cut; /* the client did not end by itself */
	int32_t status; /* of the client, as wait(2) has it */
	int32_t refused; /* errno: the program cannot be sent signals; or 0 */
};

/* In the watching child. */
struct watching {
	const struct companion_config *config;
	pid_t client; /* it leads a process group */
	bool client_ended, program_ended;
	struct report report;
};

/* In the client, before it is one. */
static void become_client(const struct companion_config *config, pid_t program)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int last = config->silent ? STDERR_FILENO : STDIN_FILENO;
	char pid[16];
	sigset_t none;

	setpgid(0, 0);
	for (int fd = STDIN_FILENO; fd <= last; fd++)
		dup2(null, fd);
	snprintf(pid, sizeof(pid), "%d", (int)program);
	setenv("RACEWATCH_PID", pid, 1);
	/* which sessions and hunts ignore */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl("/bin/sh", "sh", "-c", config->command, (char *)NULL);
	/* exit-allowed: the forked child that could not be it */
	_exit(EXIT_NOT_FOUND);
}

static void start_client(struct watching *watching, pid_t program)
{
	int fd;

	watching->client = fork();
	if (watching->client == 0)
		become_client(watching->config, program);
	/* as it does itself: whoever is first */
	if (watching->client > 0)
		setpgid(watching->client, watching->client);
	/* it exists until it is waited for, here */
	fd = watching->client > 0
		     ? (int)syscall(SYS_pidfd_open, watching->client, 0U)
		     : -1;
	if (fd >= 0 && fd != CLIENT_FD) {
		dup2(fd, CLIENT_FD);
		close(fd);
	}
	watching->client_ended = fd < 0;
	watching->report.status = EXIT_NOT_FOUND << 8; /* as of wait(2) */
}

/*
 * Wait until one of both has ended, or the time is over; without a limit (-1), or
 * until the parent asks for the end.
 */
static void watch(struct watching *watching, int timeout_ms)
{
	struct pollfd fds[] = {
		{ .fd = watching->client_ended ? -1 : CLIENT_FD,
		  .events = POLLIN },
		{ .fd = watching->program_ended ? -1 : PROGRAM_FD,
		  .events = POLLIN },
		/* who waits for an end is not disturbed */
		{ .fd = timeout_ms < 0 ? CONTROL_FD : -1, .events = POLLIN },
	};
	int count;

	do
		count = poll(fds, 3, timeout_ms);
	while (count < 0 && errno == EINTR);
	watching->client_ended |= fds[0].revents != 0;
	watching->program_ended |= fds[1].revents != 0;
}

static uint64_t client_ms(const struct watching *watching)
{
	uint64_t ms = watching->config->client_ms;

	return ms ? ms : COMPANION_CLIENT_MS;
}

/* Whether it has ended until then. */
static bool await(struct watching *watching, const bool *ended, uint64_t ms)
{
	uint64_t now = clock_now_ns(), end = now + ms * CLOCK_NS_PER_MS;

	while (!*ended && now < end) {
		uint64_t left =
			(end - now + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS;

		watch(watching, (int)left);
		now = clock_now_ns();
	}
	return *ended;
}

static void signal_program(struct watching *watching, int number)
{
	if (syscall(SYS_pidfd_send_signal, PROGRAM_FD, number, NULL, 0U) < 0 &&
	    errno != ESRCH)
		watching->report.refused = errno;
}

static void end_program(struct watching *watching)
{
	uint64_t grace = watching->config->grace_ms;

	signal_program(watching, SIGTERM);
	if (watching->report.refused ||
	    await(watching, &watching->program_ended,
		  grace ? grace : COMPANION_GRACE_MS))
		return;
	watching->report.killed = true;
	signal_program(watching, SIGKILL);
	await(watching, &watching->program_ended, COMPANION_CLIENT_MS);
}

/* With all that it has started and left in its process group. */
static void end_client(struct watching *watching)
{
	int status = 0;

	if (watching->client <= 0)
		return;
	watching->report.cut = !watching->client_ended;
	if (watching->report.cut) {
		kill(-watching->client, SIGTERM);
		await(watching, &watching->client_ended, client_ms(watching));
	}
	/* not waited for yet, it keeps its number from others */
	kill(-watching->client, SIGKILL);
	while (waitpid(watching->client, &status, 0) < 0 && errno == EINTR)
		;
	watching->report.status = status;
}

static void answer(const struct report *report)
{
	send(CONTROL_FD, report, sizeof(*report), MSG_NOSIGNAL);
}

/* Nothing that was open is, but the three of the child. */
static void keep_descriptors(int control, int program)
{
	int above_control = fcntl(control, F_DUPFD_CLOEXEC, FDS_END);
	int above_program = fcntl(program, F_DUPFD_CLOEXEC, FDS_END);

	dup3(above_control, CONTROL_FD, O_CLOEXEC);
	dup3(above_program, PROGRAM_FD, O_CLOEXEC);
	syscall(SYS_close_range, PROGRAM_FD + 1, ~0U, 0);
}

/* The forked child: it does not return. */
static void become_watcher(const struct companion_config *config, pid_t program,
			   int control, int program_fd)
{
	struct watching watching = { .config = config };
	bool wanted;

	keep_descriptors(control, program_fd);
	start_client(&watching, program);
	watch(&watching, watching.client_ended ? 0 : -1);
	wanted = !watching.client_ended && !watching.program_ended;
	watching.report.asked = !wanted && !watching.program_ended;
	if (!watching.program_ended)
		end_program(&watching);
	/* one that has stopped the program itself ends now */
	if (!wanted)
		await(&watching, &watching.client_ended, client_ms(&watching));
	end_client(&watching);
	answer(&watching.report);
	/* exit-allowed: the forked child ends here */
	_exit(0);
}

static struct error *spawn(const struct companion_config *config, pid_t program,
			   int program_fd, struct companion *ret)
{
	sigset_t before;
	int ends[2], code;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_os(errno, "make a pair of sockets");
	fflush(NULL);
	/* no handler of ours runs there */
	signals_block_all(&before);
	ret->pid = fork();
	code = errno;
	if (ret->pid == 0)
		become_watcher(config, program, ends[1], program_fd);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	ret->fd = ends[0];
	if (ret->pid > 0)
		return NULL;
	close(ends[0]);
	*ret = (struct companion){ 0 };
	return error_os(code, "start a process");
}

struct error *companion_start(const struct companion_config *config,
			      pid_t program, struct companion *ret)
{
	int fd = (int)syscall(SYS_pidfd_open, program, 0U);
	struct companion companion = { 0 };
	struct error *err;

	if (fd < 0 && errno == ESRCH) {
		*ret = companion;
		return NULL;
	}
	if (fd < 0)
		return error_os(errno, "wait for process %d (pidfd_open)",
				(int)program);
	err = spawn(config, program, fd, &companion);
	close(fd);
	if (!err)
		*ret = companion;
	return err;
}

/* Is the status of the run the client's? The program's is `status'. */
static bool client_decides(const struct report *report, int status)
{
	bool by_itself = status == 0 ||
			 (report->asked && status == 128 + SIGTERM) ||
			 (report->killed && status == 128 + SIGKILL);

	return by_itself && !report->cut;
}

static void say(struct strbuf *text, const struct report *report)
{
	if (report->refused)
		strbuf_addf(text, "the program cannot be ended: %s",
			    strerror(report->refused));
	else if (report->killed)
		strbuf_addf(text,
			    "the program was killed: it had not ended %d s "
			    "after SIGTERM",
			    COMPANION_GRACE_MS / 1000);
	else if (report->cut)
		strbuf_add(text, "the program ended before the client, which "
				 "was ended");
	else if (WIFSIGNALED(report->status))
		strbuf_addf(text, "the client was killed by signal %d",
			    WTERMSIG(report->status));
	else
		strbuf_addf(text, "the client ended with exit status %d",
			    WEXITSTATUS(report->status));
}

static void tell(const struct report *report,
		 void (*note)(void *context, const char *text), void *context)
{
	struct strbuf text = { 0 };

	if (!report->refused && !report->killed && !report->cut &&
	    report->status == 0)
		return;
	strbuf_add(&text, "--until-exit-of: ");
	say(&text, report);
	note(context, strbuf_text(&text));
	strbuf_deinit(&text);
}

/* Ask for it: it comes when both have ended. False: the child was killed. */
static bool receive(const struct companion *companion, struct report *ret)
{
	ssize_t size;

	shutdown(companion->fd, SHUT_WR);
	do
		size = recv(companion->fd, ret, sizeof(*ret), 0);
	while (size < 0 && errno == EINTR);
	return size == sizeof(*ret);
}

int companion_end(struct companion *companion, int status,
		  void (*note)(void *context, const char *text), void *context)
{
	struct report report = { 0 };
	bool decided = false;

	if (companion->pid <= 0)
		return status;
	if (receive(companion, &report)) {
		if (note)
			tell(&report, note, context);
		decided = client_decides(&report, status);
	}
	close(companion->fd);
	while (waitpid(companion->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*companion = (struct companion){ .decided = decided };
	return decided ? exit_status_of(report.status) : status;
}
