/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug files from servers; see debugserver.h.
 */
#include "image/debugserver.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

enum { PATH_SIZE = 4096 };

/* The two functions of <elfutils/debuginfod.h> that are used. */
typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *build_id,
			  int build_id_size, char **path);

/* In the child: the path goes to the pipe, nothing if there is none. */
static void ask_servers(const char *build_id, int pipe_fd)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);
	begin_function *begin;
	find_function *find;
	void *client;
	char *path;

	if (!library)
		return;
	*(void **)&begin = dlsym(library, "debuginfod_begin");
	*(void **)&find = dlsym(library, "debuginfod_find_debuginfo");
	client = begin && find ? begin() : NULL;
	/* a size of 0: the build id is in hexadecimal */
	if (client &&
	    find(client, (const unsigned char *)build_id, 0, &path) >= 0)
		(void)!write(pipe_fd, path, strlen(path));
}

/*
 * Nothing of ours may stay open there: the tracer knows by the end of its
 * channel that we have died.
 */
static void child_main(const char *build_id, int pipe_fd)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(pipe_fd, STDIN_FILENO) != STDIN_FILENO)
		_exit(1); /* exit-allowed: a child of our own */
	close_range(STDERR_FILENO + 1, ~0U, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	ask_servers(build_id, STDIN_FILENO);
	_exit(0); /* exit-allowed: a child of our own */
}

/* Read until the child closes its end; false when time is up. */
static bool read_path(int fd, uint64_t deadline, char *path, size_t size)
{
	size_t length = 0;

	for (;;) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		uint64_t now = clock_now_ns();
		ssize_t n;

		if (now >= deadline)
			return false;
		if (poll(&wait, 1,
			 (int)((deadline - now) / CLOCK_NS_PER_MS) + 1) <= 0)
			continue;
		n = read(fd, path + length, size - 1 - length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || length + (size_t)n == size - 1)
			break;
		length += (size_t)n;
	}
	path[length] = '\0';
	return true;
}

struct error *debugserver_fetch(const char *build_id, uint64_t limit_ns,
				char **ret_path)
{
	uint64_t deadline = clock_now_ns() + limit_ns;
	char path[PATH_SIZE] = "";
	struct error *err = NULL;
	bool in_time;
	pid_t child;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_os(errno, "pipe");
	child = fork();
	if (child == 0)
		child_main(build_id, fds[1]);
	close(fds[1]);
	if (child < 0) {
		err = error_os(errno, "fork");
		close(fds[0]);
		return err;
	}
	in_time = read_path(fds[0], deadline, path, sizeof(path));
	close(fds[0]);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (!in_time)
		log_warn("no debug file for build id %s from debuginfod within "
			 "%.0f s",
			 build_id, (double)limit_ns / CLOCK_NS_PER_S);
	*ret_path = path[0] && in_time ? strdup(path) : NULL;
	return path[0] && in_time && !*ret_path ? error_nomem : NULL;
}
