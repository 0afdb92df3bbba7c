/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first program of racewatch-tutorial(7), tallyd SOCKET: it counts the open
 * sessions of each account. Each client has a thread of its own, a worker. To
 * close a session takes longer, in a server that is worth its name, so that is
 * left to another thread, the closer. When there is no client the counts
 * should be zero, and they are not always.
 *
 * A request is a line: "open NAME" ends the client's session and begins another
 * one, "close" only ends it; both are answered with "ok". "list" is answered
 * with the counts. Compiled with -DTWIN the closer locks the account.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ACCOUNTS = 4, QUEUE = 256 };

struct account {
	const char *name;
	pthread_mutex_t lock;
	long open;
};

static struct account accounts[ACCOUNTS] = {
	{ "ann", PTHREAD_MUTEX_INITIALIZER, 0 },
	{ "bob", PTHREAD_MUTEX_INITIALIZER, 0 },
	{ "eve", PTHREAD_MUTEX_INITIALIZER, 0 },
	{ "joe", PTHREAD_MUTEX_INITIALIZER, 0 },
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	struct account *items[QUEUE];
	unsigned in, out;
} closing = { PTHREAD_MUTEX_INITIALIZER,
	      PTHREAD_COND_INITIALIZER,
	      PTHREAD_COND_INITIALIZER,
	      { NULL },
	      0,
	      0 };

static __attribute__((noinline)) void account_open(struct account *account)
{
	pthread_mutex_lock(&account->lock);
	account->open++;
	pthread_mutex_unlock(&account->lock);
}

static __attribute__((noinline)) void account_close(struct account *account)
{
#ifdef TWIN
	pthread_mutex_lock(&account->lock);
#endif
	account->open--;
#ifdef TWIN
	pthread_mutex_unlock(&account->lock);
#endif
}

static void close_later(struct account *account)
{
	pthread_mutex_lock(&closing.lock);
	while (closing.in - closing.out == QUEUE)
		pthread_cond_wait(&closing.less, &closing.lock);
	closing.items[closing.in++ % QUEUE] = account;
	pthread_cond_signal(&closing.more);
	pthread_mutex_unlock(&closing.lock);
}

static void *closer(void *arg)
{
	for (;;) {
		struct account *account;

		pthread_mutex_lock(&closing.lock);
		while (closing.in == closing.out)
			pthread_cond_wait(&closing.more, &closing.lock);
		account = closing.items[closing.out++ % QUEUE];
		pthread_cond_signal(&closing.less);
		pthread_mutex_unlock(&closing.lock);
		account_close(account);
	}
	return arg;
}

static void list(int out)
{
	for (int i = 0; i < ACCOUNTS; i++) {
		pthread_mutex_lock(&accounts[i].lock);
		dprintf(out, "%s: %ld open\n", accounts[i].name,
			accounts[i].open);
		pthread_mutex_unlock(&accounts[i].lock);
	}
}

static struct account *account_find(const char *name)
{
	for (int i = 0; i < ACCOUNTS; i++) {
		if (strcmp(accounts[i].name, name) == 0)
			return &accounts[i];
	}
	return NULL;
}

static void end_session(struct account **session)
{
	if (*session)
		close_later(*session);
	*session = NULL;
}

static void serve_line(const char *line, int out, struct account **session)
{
	char verb[8] = "", name[16] = "";

	sscanf(line, "%7s %15s", verb, name);
	if (strcmp(verb, "list") == 0) {
		list(out);
		return;
	}
	end_session(session);
	if (strcmp(verb, "open") == 0)
		*session = account_find(name);
	if (*session)
		account_open(*session);
	dprintf(out, "ok\n");
}

static void *worker(void *arg)
{
	FILE *client = arg;
	struct account *session = NULL;
	char line[64];

	while (fgets(line, sizeof(line), client))
		serve_line(line, fileno(client), &session);
	end_session(&session);
	fclose(client);
	return NULL;
}

static void check(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static void start(void *(*body)(void *), void *arg, const char *name)
{
	pthread_t thread;

	check(pthread_create(&thread, NULL, body, arg) == 0, "pthread_create");
	pthread_setname_np(thread, name);
	pthread_detach(thread);
}

static void serve(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	check(fd >= 0, "socket");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	unlink(path);
	check(bind(fd, (void *)&address, sizeof(address)) == 0, path);
	check(listen(fd, 16) == 0, path);
	signal(SIGPIPE, SIG_IGN); /* clients go as they like */
	start(closer, NULL, "closer");
	for (;;) {
		int client = accept(fd, NULL, NULL);

		check(client >= 0, "accept");
		start(worker, fdopen(client, "r"), "worker");
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: tallyd SOCKET\n");
		return 2;
	}
	serve(argv[1]);
}
