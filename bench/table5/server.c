/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server of keys and values, with its clients. A listener accepts connections and
 * writes the address of each to the pipe of a worker, in turn; workers answer the
 * requests, and push the connection on a list of those to use again, by
 * compare-and-swap. The table has a lock of the program's own.
 *
 * Races: the listener writes to a connection that a worker has already; requests are
 * counted without a lock, and the listener changes a setting that workers read.
 */
#include "table5.h"

#include <sys/socket.h>
#include <sys/un.h>

enum { WORKERS = 2, CLIENTS = 2, TIMES = 30, REQUESTS = 4, KEYS = 16 };

struct request {
	unsigned int key, value; /* a value of 0 asks for it */
};

struct connection {
	struct connection *next;
	int fd;
	unsigned int number, answered;
	unsigned long accepted;
	struct request request;
};

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static int listening, ends[WORKERS][2];
static _Atomic(struct connection *) closed;
static atomic_flag held = ATOMIC_FLAG_INIT;
static unsigned int table[KEYS];
unsigned long requests;
unsigned int longest = REQUESTS;

NOINLINE static void connection_open(struct connection *connection, int fd,
				     unsigned int number)
{
	connection->fd = fd;
	connection->number = number;
	connection->answered = 0;
}

NOINLINE static void connection_accepted(struct connection *connection,
					 unsigned long time)
{
	connection->accepted = time;
}

NOINLINE static unsigned long
connection_age(const struct connection *connection)
{
	return connection->accepted;
}

NOINLINE static void connection_link(struct connection *connection,
				     struct connection *next)
{
	connection->next = next;
}

NOINLINE static struct connection *
connection_next(const struct connection *connection)
{
	return connection->next;
}

NOINLINE static unsigned int
connection_answered(const struct connection *connection)
{
	return connection->answered;
}

/* False: the client has closed it. */
NOINLINE static bool connection_read(struct connection *connection)
{
	return recv(connection->fd, &connection->request,
		    sizeof(connection->request),
		    MSG_WAITALL) == sizeof(connection->request);
}

NOINLINE static void connection_answer(struct connection *connection,
				       unsigned int value)
{
	target_check(send(connection->fd, &value, sizeof(value),
			  MSG_NOSIGNAL) == sizeof(value),
		     "send");
	connection->answered++;
}

NOINLINE static void connection_close(struct connection *connection)
{
	close(connection->fd);
	connection->fd = -1;
}

NOINLINE static unsigned int table_use(const struct request *request)
{
	unsigned int value;

	while (atomic_flag_test_and_set(&held))
		sched_yield();
	if (request->value)
		table[request->key] = request->value;
	value = table[request->key];
	atomic_flag_clear(&held);
	return value;
}

NOINLINE static void request_count(void)
{
	requests++;
}

NOINLINE static void longest_set(unsigned int count)
{
	longest = count;
}

NOINLINE static unsigned int longest_get(void)
{
	return longest;
}

static void connection_serve(struct connection *connection)
{
	unsigned long age = connection_age(connection);

	while (connection_read(connection)) {
		connection_answer(connection, table_use(&connection->request));
		request_count();
		target_check(longest_get() >= REQUESTS, "longest");
	}
	connection_close(connection);
	target_work((unsigned int)age, 1);
}

static void *worker(void *end)
{
	struct connection *connection;

	while (read(*(int *)end, &connection, sizeof(connection)) ==
	       sizeof(connection)) {
		struct connection *first;

		connection_serve(connection);
		first = atomic_load(&closed);
		do {
			connection_link(connection, first);
		} while (!atomic_compare_exchange_weak(&closed, &first,
						       connection));
	}
	return NULL;
}

/* One that is closed, or a new one; *kept: others that are closed. */
static struct connection *connection_get(struct connection **kept)
{
	struct connection *connection = *kept;

	if (!connection)
		connection = atomic_exchange(&closed, NULL);
	if (!connection)
		return memory_new(sizeof(*connection));
	*kept = connection_next(connection);
	target_check(connection_answered(connection) == REQUESTS, "answers");
	return connection;
}

static void *listener(void *unused)
{
	struct connection *kept = NULL;

	for (unsigned int i = 0; i < CLIENTS * TIMES; i++) {
		int fd = accept(listening, NULL, NULL);
		struct connection *connection = connection_get(&kept);

		target_check(fd >= 0, "accept");
		connection_open(connection, fd, i);
		target_check(write(ends[i % WORKERS][1], &connection,
				   sizeof(connection)) == sizeof(connection),
			     "write");
		connection_accepted(connection, i);
		longest_set(REQUESTS + i);
	}
	for (int i = 0; i < WORKERS; i++)
		close(ends[i][1]);
	return unused;
}

static void *client(void *unused)
{
	unsigned int state = 1;

	for (int i = 0; i < TIMES; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		target_check(connect(fd, (struct sockaddr *)&address,
				     sizeof(address)) == 0,
			     "connect");
		for (int k = 0; k < REQUESTS; k++) {
			unsigned int x = number_next(&state), value;
			struct request request = { x % KEYS, x % 3 };

			target_check(send(fd, &request, sizeof(request), 0) ==
					     sizeof(request),
				     "send");
			target_check(recv(fd, &value, sizeof(value), 0) ==
					     sizeof(value),
				     "recv");
		}
		close(fd);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[1 + WORKERS + CLIENTS];

	/* a name that no file has */
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
		 "racewatch-table5-%d", (int)getpid());
	listening = socket(AF_UNIX, SOCK_STREAM, 0);
	target_check(bind(listening, (struct sockaddr *)&address,
			  sizeof(address)) == 0 &&
			     listen(listening, CLIENTS) == 0,
		     "listen");
	for (int i = 0; i < WORKERS; i++)
		target_check(pipe(ends[i]) == 0, "pipe");
	threads[0] = target_thread(listener, NULL);
	for (int i = 0; i < WORKERS; i++)
		threads[1 + i] = target_thread(worker, &ends[i][0]);
	for (int i = 0; i < CLIENTS; i++)
		threads[1 + WORKERS + i] = target_thread(client, NULL);
	for (int i = 0; i < 1 + WORKERS + CLIENTS; i++)
		pthread_join(threads[i], NULL);
	return target_done("server");
}
