/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server at a Unix socket, with a thread for each connection. The thread answers,
 * counts that without a lock, and closes. The client connects for the second time
 * when it has the first answer, and ends when both are closed. The server runs until
 * it is ended. The number of RACEWATCH_JOB follows on the path. Called as
 *
 *	hunted_server serve PATH	as that
 *	hunted_server ask PATH		the client
 *	hunted_server gone PATH		a server that ends with 7 after an answer
 */
#include "target.h"
#include <sys/socket.h>
#include <sys/un.h>

static long answered;
static int goes;

NOINLINE static void count_answer(void)
{
	answered++;
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char byte;

	if (read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1)
		count_answer();
	if (goes)
		_exit(7);
	close(fd);
	return NULL;
}

static void serve_all(const struct sockaddr_un *address)
{
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd;
	pthread_t thread;

	unlink(address->sun_path);
	target_check(bind(listener, (const void *)address, sizeof(*address)) ==
				     0 &&
			     listen(listener, 5) == 0,
		     "listen");
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		target_check(!pthread_create(&thread, NULL, serve,
					     (void *)(intptr_t)fd),
			     "thread");
		pthread_detach(thread);
	}
}

static int ask(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte = 'a';

	/* until it listens; the run has a time limit */
	while (connect(fd, (const void *)address, sizeof(*address)) != 0)
		usleep(1000);
	target_check(write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1,
		     "ask");
	return fd;
}

static void await_close(int fd)
{
	char byte;

	target_check(read(fd, &byte, 1) == 0, "close");
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *how = argc > 1 ? argv[1] : "";

	snprintf(address.sun_path, sizeof(address.sun_path), "%s%s",
		 argc > 2 ? argv[2] : "", getenv("RACEWATCH_JOB"));
	goes = !strcmp(how, "gone");
	if (strcmp(how, "ask") != 0) {
		serve_all(&address);
	} else {
		int first = ask(&address), second = ask(&address);

		await_close(first);
		await_close(second);
	}
	return target_done("hunted_server");
}
