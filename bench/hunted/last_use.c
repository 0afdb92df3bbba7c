/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A connection is closed and freed after a time in which its last user has always
 * been done. Correct: the user is joined first.
 */
#include "hunted.h"

struct connection {
	int open;
	long bytes;
};

static void *user(void *arg)
{
	struct connection *connection = arg;

	if (connection->open) /* RACE a */
		connection->bytes += 100; /* RACE b */
	return NULL;
}

static void connection_close(struct connection *connection)
{
	connection->open = 0; /* RACE a */
	printf("%ld\n", connection->bytes); /* RACE b */
	free(connection);
}

int main(void)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	pthread_t thread;

	connection->open = 1;
	thread = start(user, connection);
	ONLY_RACY(pause_ms(25));
	ONLY_TWIN(pthread_join(thread, NULL));
	connection_close(connection);
	ONLY_RACY(pthread_join(thread, NULL));
	return 0;
}
