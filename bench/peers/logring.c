/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A ring of the last log messages, which both workers format and write. What
 * is forgotten: the lock, where a place is reserved and where it is filled.
 */
#include "peers.h"

enum { PLACES = 32, LENGTH = 48, PERIOD = 16 };

struct message {
	unsigned long serial;
	char text[LENGTH];
};

UNUSED static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct message ring[PLACES];
unsigned long ring_head;

NOINLINE static unsigned long ring_reserve(void)
{
	return ring_head++; /* RACE: head */
}

NOINLINE static void ring_fill(unsigned long serial, const char *text)
{
	struct message *message = &ring[serial % PLACES];

	message->serial = serial; /* RACE: message */
	memcpy(message->text, text, LENGTH); /* RACE: message */
}

static void ring_log(const char *text)
{
	WITH_LOCK(&lock);
	ring_fill(ring_reserve(), text);
	WITHOUT_LOCK(&lock);
}

static void round_of(const struct worker *worker, unsigned long i)
{
	char text[LENGTH] = "";
	unsigned x = target_work((unsigned)i | 1, 400);

	if (i % PERIOD)
		return;
	snprintf(text, sizeof(text), "worker %u: result %u", worker->number, x);
	ring_log(text);
}

int main(int argc, char **argv)
{
	return workers_run(argc, argv, "logring", round_of, round_of);
}
