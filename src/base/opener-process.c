/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process that opens files; see opener-process.h. It has none of our pipes
 * open: if it hangs, it does not delay processes, such as the tracer, that wait
 * for a pipe of ours to be closed.
 */
#include "base/opener-process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/passfd.h"
#include "base/regular.h"

enum {
	SOCKET_FD = STDERR_FILENO + 1,
	MESSAGE_SIZE = sizeof(struct opener_message) + 8192,
	COPY_PART = 1 << 20,
	COPY_MAX = 512 << 20, /* of one file */
};

/* A process that ends is what an opener knows how to bear. */
static _Noreturn void leave(void)
{
	_exit(0); /* exit-allowed: a child of our own */
}

static void answer(int code, const struct stat *status, int fd)
{
	struct opener_answer answer = { .code = code };

	if (status)
		answer.status = *status;
	if (!passfd_send(SOCKET_FD, &answer, sizeof(answer), fd) &&
	    errno == EPIPE)
		leave();
}

/* Is it served by a process, which need not answer? */
static bool is_served(int fd)
{
	struct statfs system;

	return fstatfs(fd, &system) == 0 && system.f_type == FUSE_SUPER_MAGIC;
}

static int copy_bytes(int from, int to, off_t size)
{
	char *buffer = malloc(COPY_PART);
	int code = buffer ? 0 : ENOMEM;
	off_t done = 0;

	while (!code && done < size) {
		ssize_t n = read(from, buffer, COPY_PART);

		if (n == 0)
			break;
		if (n < 0 || write(to, buffer, (size_t)n) != n)
			code = errno ? errno : EIO;
		else
			done += n;
		answer(OPENER_GOES_ON, NULL, -1);
	}
	free(buffer);
	return code;
}

/* *fd becomes that of a copy; the file's is closed. 0, or why not. */
static int copy_file(int *fd, off_t size)
{
	int copy, code;

	if (size > COPY_MAX)
		return EFBIG;
	copy = memfd_create("racewatch-file", MFD_CLOEXEC);
	if (copy < 0)
		return errno;
	code = copy_bytes(*fd, copy, size);
	if (!code && lseek(copy, 0, SEEK_SET) < 0)
		code = errno;
	if (code) {
		close(copy);
		return code;
	}
	close(*fd);
	*fd = copy;
	return 0;
}

static int code_of(struct error *err)
{
	int code = err->code;

	if (err == error_nomem)
		code = ENOMEM;
	else if (err == error_gone)
		code = ESRCH;
	else if (err->kind == ERROR_FORMAT)
		code = OPENER_IRREGULAR;
	error_free(err);
	return code ? code : EIO;
}

static void serve_open(const char *path)
{
	struct stat status;
	struct error *err;
	int fd, code = 0;

	err = regular_open(path, path, &fd, &status);
	if (err) {
		answer(code_of(err), NULL, -1);
		return;
	}
	if (is_served(fd))
		code = copy_file(&fd, status.st_size);
	answer(code, &status, code ? -1 : fd);
	close(fd);
}

static void serve_stat(const char *path)
{
	struct stat status;
	struct error *err = regular_stat(path, path, &status);

	if (err)
		answer(code_of(err), NULL, -1);
	else
		answer(0, &status, -1);
}

static void serve(const struct opener_message *message, const char *path)
{
	struct rights_saved saved;
	struct error *err = rights_assume(&message->rights, &saved);

	if (err) {
		error_free(err);
		answer(EACCES, NULL, -1);
		return;
	}
	if (message->what == OPENER_OPEN)
		serve_open(path);
	else
		serve_stat(path);
	if (!rights_restore(&saved))
		leave();
}

/* What the terminal sends to our group is not for us: the socket's end is. */
static void ignore_signals(void)
{
	static const int numbers[] = { SIGINT,	SIGTERM, SIGHUP,  SIGQUIT,
				       SIGPIPE, SIGXFSZ, SIGALRM, SIGCHLD };
	sigset_t none;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Standard files too: who reads what we print waits for the last to close it.
 * What takes their numbers can be neither read nor written, and is there in a
 * chroot that has no /dev/null.
 */
static bool keep_only(int fd)
{
	int nothing;

	/* out of the way of the standard files, should they be closed */
	if (fd < SOCKET_FD)
		fd = fcntl(fd, F_DUPFD, SOCKET_FD);
	if (fd < 0 || dup2(fd, SOCKET_FD) != SOCKET_FD)
		return false;
	close_range(SOCKET_FD + 1, ~0U, 0);
	nothing = open("/", O_PATH | O_CLOEXEC);
	if (nothing < 0)
		return false;
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		dup2(nothing, i);
	close(nothing);
	return true;
}

_Noreturn void opener_process(int fd, pid_t parent)
{
	char *bytes;

	ignore_signals();
	bytes = malloc(MESSAGE_SIZE);
	if (!bytes || !keep_only(fd))
		leave();
	prctl(PR_SET_NAME, "racewatch-files");
	for (;;) {
		ssize_t n;

		/* other rights taken on have undone it */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			leave();
		n = recv(SOCKET_FD, bytes, MESSAGE_SIZE - 1, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < (ssize_t)sizeof(struct opener_message))
			leave();
		bytes[n] = '\0';
		serve((const struct opener_message *)(void *)bytes,
		      bytes + sizeof(struct opener_message));
	}
}
