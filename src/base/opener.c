/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening files in a separate process; see opener.h. A request is a message
 * with a path, its answer a message with a descriptor. opener-process.c is the
 * other side.
 */
#include "base/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/opener-process.h"
#include "base/passfd.h"
#include "base/regular.h"
#include "base/rights.h"

static const uint64_t USUAL_LIMIT_NS = 4 * CLOCK_NS_PER_S;

struct opener {
	int fd; /* -1: there is no process at work */
	pid_t pid;
	uint64_t limit_ns;
	/* those given up that have not ended; SIGKILL was sent */
	pid_t lost[OPENER_LOST_MAX];
	size_t lost_count;
	bool told; /* that nothing is opened any more */
};

static struct error *start(struct opener *opener)
{
	int fds[2];
	pid_t parent = getpid();
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return error_os(errno, "socketpair");
	pid = fork();
	if (pid == 0)
		opener_process(fds[1], parent);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return error_os(errno, "fork");
	}
	opener->fd = fds[0];
	opener->pid = pid;
	return NULL;
}

struct error *opener_create(uint64_t limit_ns, struct opener **ret)
{
	struct opener *opener = calloc(1, sizeof(*opener));
	struct error *err;

	if (!opener)
		return error_nomem;
	opener->limit_ns = limit_ns ? limit_ns : USUAL_LIMIT_NS;
	err = start(opener);
	if (err) {
		free(opener);
		return err;
	}
	*ret = opener;
	return NULL;
}

pid_t opener_pid(const struct opener *opener)
{
	return opener->pid;
}

static void reap_lost(const struct opener *opener)
{
	for (size_t i = 0; i < opener->lost_count; i++)
		waitpid(opener->lost[i], NULL, WNOHANG);
}

void opener_destroy(struct opener *opener)
{
	if (!opener)
		return;
	if (opener->fd >= 0) {
		close(opener->fd);
		/* it waits for nothing but the socket */
		while (waitpid(opener->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	reap_lost(opener);
	free(opener);
}

/*
 * It hangs, or somebody has killed it. In a sandbox (sys/sandbox.h) only the first
 * can be killed: others wait until we end, which is told to them by a signal.
 */
static void give_up(struct opener *opener)
{
	close(opener->fd);
	opener->fd = -1;
	kill(opener->pid, SIGKILL);
	opener->lost[opener->lost_count++] = opener->pid;
	opener->limit_ns /= 2;
	reap_lost(opener);
}

static bool send_request(const struct opener *opener, enum opener_what what,
			 const struct open_request *request)
{
	static const struct rights own = { .foreign = false };
	struct opener_message message = {
		.what = what,
		.rights = request->rights ? *request->rights : own,
	};
	struct iovec parts[2] = {
		{ &message, sizeof(message) },
		{ (void *)(uintptr_t)request->path, strlen(request->path) + 1 },
	};
	struct msghdr header = { .msg_iov = parts, .msg_iovlen = 2 };

	return sendmsg(opener->fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

/* Is there an answer before the time is up? */
static bool await(const struct opener *opener)
{
	uint64_t end = clock_now_ns() + opener->limit_ns;

	for (;;) {
		struct pollfd wait = { .fd = opener->fd, .events = POLLIN };
		uint64_t now = clock_now_ns();
		int ready = poll(
			&wait, 1,
			now < end ? (int)((end - now) / CLOCK_NS_PER_MS) + 1
				  : 0);

		if (ready > 0)
			return true;
		if (ready < 0 && errno != EINTR)
			return false;
		if (now >= end)
			return false;
	}
}

/* False: there is none, the process has gone. */
static bool receive(const struct opener *opener, struct opener_answer *ret,
		    int *ret_fd)
{
	return passfd_receive(opener->fd, MSG_DONTWAIT, ret, sizeof(*ret),
			      ret_fd);
}

static struct error *hangs(struct opener *opener, const char *name)
{
	double limit = (double)opener->limit_ns / CLOCK_NS_PER_S;

	give_up(opener);
	log_warn("%s: not opened: no answer within %.3g s", name, limit);
	return error_create(ERROR_OTHER, "%s: no answer within %.3g s", name,
			    limit);
}

static struct error *ask(struct opener *opener, enum opener_what what,
			 const struct open_request *request,
			 struct opener_answer *answer, int *ret_fd)
{
	const char *name = request->name ? request->name : request->path;

	if (!send_request(opener, what, request)) {
		int code = errno;

		if (code != EMSGSIZE)
			give_up(opener);
		return error_create(ERROR_OTHER, "%s: %s", name,
				    strerror(code));
	}
	do {
		if (!await(opener))
			return hangs(opener, name);
		if (!receive(opener, answer, ret_fd)) {
			give_up(opener);
			return error_create(ERROR_OTHER,
					    "%s: the process that opens files "
					    "has ended",
					    name);
		}
	} while (answer->code == OPENER_GOES_ON);
	if (answer->code == OPENER_IRREGULAR)
		return regular_refuse(name);
	return answer->code ? error_os(answer->code, "%s", name) : NULL;
}

/* Ready to be asked? */
static struct error *prepare(struct opener *opener, const char *name)
{
	if (opener->fd >= 0)
		return NULL;
	if (opener->lost_count < OPENER_LOST_MAX)
		return start(opener);
	if (!opener->told)
		log_warn("no more files are opened: file systems did not "
			 "answer %d times",
			 OPENER_LOST_MAX);
	opener->told = true;
	return error_create(ERROR_OTHER,
			    "%s: no more files are opened: others hung", name);
}

static struct error *ask_process(struct opener *opener, enum opener_what what,
				 const struct open_request *request, int *ret,
				 struct stat *ret_status)
{
	struct opener_answer answer;
	struct error *err =
		prepare(opener, request->name ? request->name : request->path);
	int fd = -1;

	if (!err)
		err = ask(opener, what, request, &answer, &fd);
	if (!err && what == OPENER_OPEN && fd < 0)
		err = error_os(EMFILE, "%s", request->path);
	if (err) {
		if (fd >= 0)
			close(fd);
		return err;
	}
	if (what == OPENER_OPEN)
		*ret = fd;
	*ret_status = answer.status;
	return NULL;
}

/* Ours must be had back: without them, nothing is as it should be. */
static struct error *restored(const struct rights_saved *saved,
			      struct error *err)
{
	if (rights_restore(saved))
		return err;
	error_free(err);
	return error_create(ERROR_OTHER, "our own rights are lost");
}

static struct error *open_here(const struct open_request *request, int *ret,
			       struct stat *ret_status)
{
	struct rights_saved saved;
	struct error *err = rights_assume(request->rights, &saved);

	if (err)
		return err;
	err = regular_open(request->path,
			   request->name ? request->name : request->path, ret,
			   ret_status);
	return restored(&saved, err);
}

static struct error *stat_here(const struct open_request *request,
			       struct stat *ret_status)
{
	struct rights_saved saved;
	struct error *err = rights_assume(request->rights, &saved);

	if (err)
		return err;
	err = regular_stat(request->path,
			   request->name ? request->name : request->path,
			   ret_status);
	return restored(&saved, err);
}

struct error *opener_open(struct opener *opener,
			  const struct open_request *request, int *ret,
			  struct stat *ret_status)
{
	if (!opener)
		return open_here(request, ret, ret_status);
	return ask_process(opener, OPENER_OPEN, request, ret, ret_status);
}

struct error *opener_stat(struct opener *opener,
			  const struct open_request *request,
			  struct stat *ret_status)
{
	if (!opener)
		return stat_here(request, ret_status);
	return ask_process(opener, OPENER_STAT, request, NULL, ret_status);
}
