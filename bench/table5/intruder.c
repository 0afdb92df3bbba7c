/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A detector of intruders, as that of STAMP: packets come in any order, two workers
 * put the fragments of a flow together, and another thread looks for what is known
 * to be an attack. Packets and messages go through queues without locks, the flows
 * are in a dictionary whose buckets have a lock of the program's own.
 *
 * Races: a worker marks a fragment when others have it already; attacks and the
 * packets of a bucket are counted without the lock.
 */
#include "table5.h"

enum { FLOWS = 40, PARTS = 4, BYTES = 24, BUCKETS = 4, WORKERS = 2 };

struct packet {
	unsigned int flow, part, sum, seen;
	char bytes[BYTES];
};

struct flow {
	struct flow *next;
	unsigned int number, count;
	struct packet *parts[PARTS];
};

struct message {
	unsigned int flow;
	char bytes[PARTS * BYTES + 1];
};

struct bucket {
	atomic_flag held;
	struct flow *flows;
	unsigned long packets;
};

static struct queue captured, assembled;
static struct bucket buckets[BUCKETS];
static struct packet no_packet; /* what comes after the last one */
static struct message no_message;
static unsigned int attacks;
unsigned int suspects;

/* Some flows have an attack in the middle, in two parts. */
NOINLINE static struct packet *packet_new(unsigned int flow, unsigned int part)
{
	struct packet *packet = memory_new(sizeof(*packet));
	unsigned int state = flow * PARTS + part + 1;

	for (int i = 0; i < BYTES; i++)
		packet->bytes[i] = (char)('a' + number_next(&state) % 26);
	if (flow % 5 == 0 && part == 1)
		memcpy(packet->bytes + BYTES - 3, "ATT", 3);
	if (flow % 5 == 0 && part == 2)
		memcpy(packet->bytes, "ACK", 3);
	packet->flow = flow;
	packet->part = part;
	return packet;
}

static unsigned int bytes_sum(const char *bytes)
{
	unsigned int sum = 1;

	for (int i = 0; i < BYTES; i++)
		sum = sum * 33 + (unsigned char)bytes[i];
	return sum;
}

/* Of the worker that has the packet. */
NOINLINE static unsigned int packet_flow(const struct packet *packet)
{
	return packet->flow;
}

NOINLINE static void packet_sign(struct packet *packet)
{
	packet->sum = bytes_sum(packet->bytes);
}

NOINLINE static void packet_see(struct packet *packet)
{
	packet->seen++;
}

/* Of the worker that has the flow. */
NOINLINE static void packet_copy(const struct packet *packet, char *to)
{
	target_check(packet->sum == bytes_sum(packet->bytes), "a packet");
	memcpy(to, packet->bytes, BYTES);
}

NOINLINE static unsigned int packet_seen(const struct packet *packet)
{
	return packet->seen;
}

NOINLINE static struct flow *flow_new(unsigned int number, struct flow *next)
{
	struct flow *flow = memory_new(sizeof(*flow));

	flow->number = number;
	flow->next = next;
	return flow;
}

NOINLINE static struct flow **flow_find(struct flow **at, unsigned int number)
{
	while (*at && (*at)->number != number)
		at = &(*at)->next;
	return at;
}

NOINLINE static bool flow_add(struct flow *flow, struct packet *packet)
{
	flow->parts[packet->part] = packet;
	return ++flow->count == PARTS;
}

NOINLINE static void bucket_count(struct bucket *bucket)
{
	bucket->packets++;
}

/* Returns a flow that is complete, which the dictionary has no more. */
static struct flow *dictionary_add(struct packet *packet)
{
	unsigned int number = packet_flow(packet);
	struct bucket *bucket = &buckets[number % BUCKETS];
	struct flow *complete = NULL, **at;

	bucket_count(bucket);
	while (atomic_flag_test_and_set(&bucket->held))
		sched_yield();
	at = flow_find(&bucket->flows, number);
	if (!*at) {
		bucket->flows = flow_new(number, bucket->flows);
		at = &bucket->flows;
	}
	if (flow_add(*at, packet)) {
		complete = *at;
		*at = complete->next;
	}
	atomic_flag_clear(&bucket->held);
	return complete;
}

NOINLINE static struct message *message_new(const struct flow *flow)
{
	struct message *message = memory_new(sizeof(*message));
	unsigned int seen = 0;

	message->flow = flow->number;
	for (unsigned int i = 0; i < PARTS; i++) {
		packet_copy(flow->parts[i], message->bytes + i * BYTES);
		seen += packet_seen(flow->parts[i]);
	}
	target_check(seen <= PARTS, "seen");
	return message;
}

NOINLINE static bool message_scan(const struct message *message)
{
	return strstr(message->bytes, "ATTACK") != NULL;
}

NOINLINE static void suspect_count(void)
{
	suspects++;
}

static void *worker(void *unused)
{
	struct packet *packet;

	while ((packet = queue_take(&captured)) != &no_packet) {
		struct flow *flow;

		packet_sign(packet);
		if (packet_flow(packet) % 2)
			suspect_count();
		flow = dictionary_add(packet);
		packet_see(packet);
		if (flow)
			queue_put(&assembled, message_new(flow));
	}
	queue_put(&assembled, &no_message);
	return unused;
}

static void *detector(void *unused)
{
	for (int ends = 0; ends < WORKERS;) {
		struct message *message = queue_take(&assembled);

		if (message == &no_message)
			ends++;
		else
			attacks += message_scan(message);
	}
	return unused;
}

/* Packets of neighbouring flows, each at another place. */
static void capture(void)
{
	for (unsigned int i = 0; i < FLOWS * PARTS; i++) {
		unsigned int at = i * 7 % (FLOWS * PARTS);

		queue_put(&captured, packet_new(at / PARTS, at % PARTS));
	}
	for (int i = 0; i < WORKERS; i++)
		queue_put(&captured, &no_packet);
}

int main(void)
{
	pthread_t threads[WORKERS + 1];

	queue_open(&captured);
	queue_open(&assembled);
	for (int i = 0; i < WORKERS; i++)
		threads[i] = target_thread(worker, NULL);
	threads[WORKERS] = target_thread(detector, NULL);
	capture();
	for (int i = 0; i <= WORKERS; i++)
		pthread_join(threads[i], NULL);
	target_check(attacks == FLOWS / 5, "attacks");
	return target_done("intruder");
}
