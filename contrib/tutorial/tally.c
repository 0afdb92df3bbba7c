/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The clients of tallyd, for racewatch-tutorial(7).
 *
 *	tally SOCKET            print the counts of the server
 *	tally --load SOCKET     be four clients that open sessions, until killed
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 4, ATTEMPTS = 500 };

/* The server may have been started only now. */
static FILE *server_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	for (int i = 0; i < ATTEMPTS; i++) {
		if (connect(fd, (void *)&address, sizeof(address)) == 0)
			return fdopen(fd, "r");
		usleep(10000);
	}
	perror(path);
	exit(1);
}

static void *client(void *path)
{
	static const char *const names[] = { "ann", "bob", "eve", "joe" };
	FILE *server = server_at(path);
	char answer[16];

	for (unsigned i = 0;; i++) {
		dprintf(fileno(server), "open %s\n", names[i % 4]);
		if (!fgets(answer, sizeof(answer), server))
			return NULL;
	}
}

static void load(char *path)
{
	pthread_t threads[CLIENTS];

	for (int i = 0; i < CLIENTS; i++) {
		if (pthread_create(&threads[i], NULL, client, path))
			exit(1);
	}
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
}

static void list(const char *path)
{
	FILE *server = server_at(path);
	char line[64];

	dprintf(fileno(server), "list\n");
	shutdown(fileno(server), SHUT_WR);
	while (fgets(line, sizeof(line), server))
		fputs(line, stdout);
	fclose(server);
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		list(argv[1]);
	} else if (argc == 3 && strcmp(argv[1], "--load") == 0) {
		load(argv[2]);
	} else {
		fprintf(stderr, "usage: tally [--load] SOCKET\n");
		return 2;
	}
	return 0;
}
