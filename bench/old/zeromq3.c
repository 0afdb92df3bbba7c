/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zeromq3 ADDRESS: a publisher and a subscriber that keep the last message
 * only. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <zmq.h>

enum { MESSAGES = 200000 };

static void *context;
static const char *address;
static atomic_int done;

static void *publisher(void *unused)
{
	void *const s = zmq_socket(context, ZMQ_PUB);
	int one = 1;

	(void)unused;
	zmq_setsockopt(s, ZMQ_CONFLATE, &one, sizeof one);
	if (zmq_connect(s, address))
		return NULL;
	for (int i = 0; i < MESSAGES; i++)
		zmq_send(s, &i, sizeof i, 0);
	done = 1;
	zmq_close(s);
	return NULL;
}

int main(int argc, char **argv)
{
	void *s;
	pthread_t thread;
	int value, received = 0, one = 1, wait = 20, zero = 0;

	if (argc != 2)
		return 2;
	address = argv[1];
	context = zmq_ctx_new();
	s = zmq_socket(context, ZMQ_SUB);
	zmq_setsockopt(s, ZMQ_CONFLATE, &one, sizeof one);
	zmq_setsockopt(s, ZMQ_RCVTIMEO, &wait, sizeof wait);
	zmq_setsockopt(s, ZMQ_LINGER, &zero, sizeof zero);
	zmq_setsockopt(s, ZMQ_SUBSCRIBE, "", 0);
	if (zmq_bind(s, address))
		return 1;
	pthread_create(&thread, NULL, publisher, NULL);
	while (!done)
		received += zmq_recv(s, &value, sizeof value, 0) > 0;
	pthread_join(thread, NULL);
	zmq_close(s);
	zmq_ctx_term(context);
	printf("%d received\n", received);
	return 0;
}
