/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Objects whose address is handed over by one way of the ATDetector paper (MICRO
 * 2011, section 2.3), for each of the uses of its section 2.2, to another thread
 * and by way of a third one.
 *
 *	handed_ways swap|lock|pipe|socket|packet|queue|transaction
 *
 * swap is a slot and a compare-and-swap, lock a slot and a lock of one's own, packet
 * a socket of messages, queue a message queue. transaction is a slot that
 * transactions of libitm access; without -fgnu-tm the exit status is 77. Elided
 * locks are not here: they take a processor with TSX.
 *
 * The uses are tasks, memory that is recycled between the two, and objects that are
 * shared. 2 and 3 are how many threads there are. Of each, USE_before() is what the
 * sender does with the object before it hands it over, USE_after() what the receiver
 * does: these never race. USE_late() is what the sender still does: that and
 * USE_after() race. failed_early() comes before a sending that fails, since the
 * slot or the pipe is full of what was sent before: that and failed_after() race.
 */
#include "target.h"

#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>

enum { ROUNDS = 3, ARENA = 4, YIELDS = 1000, PATH = 40 };

struct object {
	long value;
	struct object *next;
};

struct task {
	struct object *object;
};

struct channel {
	_Atomic(void *) slot;
	void *plain;
	atomic_flag held;
	int in, out;
};

/* How an address is handed over; put: false if it is not. */
struct way {
	const char *name;
	void (*open)(struct channel *channel);
	bool (*put)(struct channel *channel, void *address);
	void *(*take)(struct channel *channel); /* NULL: nothing is there yet */
};

struct use {
	void (*before)(struct object *object);
	void (*after)(struct object *object);
	void (*late)(struct object *object);
	void *(*sender)(void *use), *(*receiver)(void *use);
	bool relayed;
};

static struct channel there, relayed, back;
static const struct way *way;
static atomic_int failed;

static bool swap_put(struct channel *channel, void *address)
{
	void *empty = NULL;

	return atomic_compare_exchange_strong(&channel->slot, &empty, address);
}

static void *swap_take(struct channel *channel)
{
	void *address = atomic_load(&channel->slot);

	return address && atomic_compare_exchange_strong(&channel->slot,
							 &address, NULL)
		       ? address
		       : NULL;
}

static void enter(struct channel *channel)
{
	while (atomic_flag_test_and_set(&channel->held))
		sched_yield();
}

static bool lock_put(struct channel *channel, void *address)
{
	bool done;

	enter(channel);
	done = !channel->plain;
	if (done)
		channel->plain = address;
	atomic_flag_clear(&channel->held);
	return done;
}

static void *lock_take(struct channel *channel)
{
	void *address;

	enter(channel);
	address = channel->plain;
	channel->plain = NULL;
	atomic_flag_clear(&channel->held);
	return address;
}

#ifdef TRANSACTIONS
static bool transaction_put(struct channel *channel, void *address)
{
	bool done = false;

	__transaction_atomic
	{
		if (!channel->plain) {
			channel->plain = address;
			done = true;
		}
	}
	return done;
}

static void *transaction_take(struct channel *channel)
{
	void *address;

	__transaction_atomic
	{
		address = channel->plain;
		channel->plain = NULL;
	}
	return address;
}
#else
static bool transaction_put(struct channel *channel UNUSED,
			    void *address UNUSED)
{
	_exit(77);
}

static void *transaction_take(struct channel *channel UNUSED)
{
	return NULL;
}
#endif

static void slot_open(struct channel *channel)
{
	atomic_flag_clear(&channel->held);
}

static void ends_are(struct channel *channel, const int ends[2])
{
	channel->out = ends[0];
	channel->in = ends[1];
	fcntl(channel->in, F_SETFL, O_NONBLOCK);
}

static void pipe_open(struct channel *channel)
{
	int ends[2];

	target_check(pipe(ends) == 0, "pipe");
	ends_are(channel, ends);
}

static bool pipe_put(struct channel *channel, void *address)
{
	return write(channel->in, &address, sizeof(address)) == sizeof(address);
}

static void *pipe_take(struct channel *channel)
{
	void *address;

	target_check(read(channel->out, &address, sizeof(address)) ==
			     sizeof(address),
		     "read");
	return address;
}

static void sockets_open(struct channel *channel, int type)
{
	int ends[2];

	target_check(socketpair(AF_UNIX, type, 0, ends) == 0, "socketpair");
	ends_are(channel, ends);
}

static void socket_open(struct channel *channel)
{
	sockets_open(channel, SOCK_STREAM);
}

static void packet_open(struct channel *channel)
{
	sockets_open(channel, SOCK_SEQPACKET);
}

static bool socket_put(struct channel *channel, void *address)
{
	return send(channel->in, &address, sizeof(address), 0) ==
	       sizeof(address);
}

static void *socket_take(struct channel *channel)
{
	void *address;

	target_check(recv(channel->out, &address, sizeof(address), 0) ==
			     sizeof(address),
		     "recv");
	return address;
}

static void queue_open(struct channel *channel)
{
	struct mq_attr attr = { .mq_maxmsg = 4, .mq_msgsize = sizeof(void *) };
	char name[PATH];

	snprintf(name, sizeof(name), "/handed-%d-%p", (int)getpid(),
		 (void *)channel);
	channel->out = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	channel->in = mq_open(name, O_WRONLY | O_NONBLOCK);
	mq_unlink(name);
	target_check(channel->out >= 0 && channel->in >= 0, "mq_open");
}

static bool queue_put(struct channel *channel, void *address)
{
	return mq_send(channel->in, (char *)&address, sizeof(address), 1) == 0;
}

static void *queue_take(struct channel *channel)
{
	void *address;

	target_check(mq_receive(channel->out, (char *)&address, sizeof(address),
				NULL) == sizeof(address),
		     "mq_receive");
	return address;
}

static const struct way ways[] = {
	{ "swap", slot_open, swap_put, swap_take },
	{ "lock", slot_open, lock_put, lock_take },
	{ "pipe", pipe_open, pipe_put, pipe_take },
	{ "socket", socket_open, socket_put, socket_take },
	{ "packet", packet_open, socket_put, socket_take },
	{ "queue", queue_open, queue_put, queue_take },
	{ "transaction", slot_open, transaction_put, transaction_take },
};

static void hand_over(struct channel *channel, void *address)
{
	while (!way->put(channel, address))
		sched_yield();
}

static void *receive(struct channel *channel)
{
	void *address;

	while (!(address = way->take(channel)))
		sched_yield();
	return address;
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	target_check(memory != NULL, "calloc");
	return memory;
}

static struct channel *from(const struct use *use)
{
	return use->relayed ? &relayed : &there;
}

static void *task_sender(void *arg)
{
	const struct use *use = arg;
	struct object *object = allocate(1, sizeof(*object));
	struct task *task = allocate(1, sizeof(*task));

	task->object = object;
	use->before(object);
	hand_over(&there, task);
	use->late(object);
	return NULL;
}

static void *task_receiver(void *arg)
{
	const struct use *use = arg;
	struct task *task = receive(from(use));

	use->after(task->object);
	return NULL;
}

static void *share_sender(void *arg)
{
	const struct use *use = arg;
	struct object *object = allocate(1, sizeof(*object));

	use->before(object);
	hand_over(&there, object);
	use->late(object);
	return NULL;
}

static void *share_receiver(void *arg)
{
	const struct use *use = arg;

	use->after(receive(from(use)));
	return NULL;
}

/* Of memory of its own, an object goes there and back. */
static void *recycle_sender(void *arg)
{
	const struct use *use = arg;
	struct object *arena = allocate(ARENA, sizeof(*arena));
	struct object *object = &arena[1];

	for (int i = 0; i < ROUNDS; i++) {
		use->before(object);
		hand_over(&there, object);
		use->late(object);
		object = receive(&back);
	}
	return NULL;
}

static void *recycle_receiver(void *arg)
{
	const struct use *use = arg;

	for (int i = 0; i < ROUNDS; i++) {
		struct object *object = receive(from(use));

		use->after(object);
		hand_over(&back, object);
	}
	return NULL;
}

static void *relay(void *arg)
{
	const struct use *use = arg;
	int rounds = use->sender == recycle_sender ? ROUNDS : 1;

	for (int i = 0; i < rounds; i++)
		hand_over(&relayed, receive(&there));
	return NULL;
}

#define ACCESS(name)                                     \
	NOINLINE static void name(struct object *object) \
	{                                                \
		object->value++;                         \
	}

#define ACCESSES(name)        \
	ACCESS(name##_before) \
	ACCESS(name##_after)  \
	ACCESS(name##_late)

#define USE(name, threads)                                                    \
	{                                                                     \
		name##threads##_before, name##threads##_after,                \
			name##threads##_late, name##_sender, name##_receiver, \
			(threads) == 3                                        \
	}

ACCESSES(task2)
ACCESSES(task3)
ACCESSES(recycle2)
ACCESSES(recycle3)
ACCESSES(share2)
ACCESSES(share3)
ACCESS(failed_early)
ACCESS(failed_after)

static struct use uses[] = {
	USE(task, 2),	 USE(task, 3),	USE(recycle, 2),
	USE(recycle, 3), USE(share, 2), USE(share, 3),
};

static void run(struct use *use)
{
	pthread_t sender, receiver, third = 0;

	if (use->relayed)
		third = target_thread(relay, use);
	sender = target_thread(use->sender, use);
	receiver = target_thread(use->receiver, use);
	pthread_join(sender, NULL);
	pthread_join(receiver, NULL);
	if (use->relayed)
		pthread_join(third, NULL);
}

static void *failed_sender(void *object)
{
	failed_early(object);
	/* while a thread is held, the other one may have made room */
	(void)way->put(&there, object);
	atomic_store_explicit(&failed, 1, memory_order_relaxed);
	return NULL;
}

/* It lets the other one go first, but not for ever. */
static void *failed_receiver(void *unused)
{
	for (int i = 0;
	     i < YIELDS && !atomic_load_explicit(&failed, memory_order_relaxed);
	     i++)
		sched_yield();
	failed_after(receive(&there));
	return unused;
}

static void fail(void)
{
	struct object *object = allocate(1, sizeof(*object));
	pthread_t receiver;

	while (way->put(&there, object))
		;
	receiver = target_thread(failed_receiver, NULL);
	pthread_join(target_thread(failed_sender, object), NULL);
	pthread_join(receiver, NULL);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (argc > 1 && strcmp(argv[1], ways[i].name) == 0)
			way = &ways[i];
	}
	target_check(way != NULL, "which way?");
	way->open(&there);
	way->open(&relayed);
	way->open(&back);
	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++)
		run(&uses[i]);
	fail();
	return target_done("handed_ways");
}
