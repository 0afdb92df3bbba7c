/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sent KIND [RECEIVERS]: a thread sends each item of `outbox' or of `letters', which
 * is its own address, through a pipe, sockets or a queue; others receive them. Of `fork', a
 * child process sends the first ten. Prints how many arrived.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 40, FORKED = 10 };

static const char *kind;
static int in, out, again, middle[2]; /* again: out, once more */
static long receivers = 1, arrived;
static void *outbox[ITEMS];
static struct letter {
	long type;
	void *item;
} letters[ITEMS];

static int is(const char *name)
{
	return strcmp(kind, name) == 0;
}

static int check(long result)
{
	if (result < 0) {
		perror(kind);
		exit(1);
	}
	return (int)result;
}

static void open_sockets(int family, struct sockaddr *address, socklen_t size)
{
	int listener = check(socket(family, SOCK_STREAM, 0));

	check(bind(listener, address, size));
	check(listen(listener, 1));
	check(getsockname(listener, address, &size));
	out = check(socket(family, SOCK_STREAM, 0));
	check(connect(out, address, size));
	in = check(accept(listener, NULL, NULL));
}

static void open_queue(void)
{
	struct mq_attr attr = { .mq_maxmsg = 10, .mq_msgsize = sizeof(void *) };
	char name[32];

	snprintf(name, sizeof(name), "/sent.%d", getpid());
	in = out = check(mq_open(name, O_RDWR | O_CREAT, 0600, &attr));
	mq_unlink(name);
}

static void open_channel(void)
{
	struct sockaddr_in tcp = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	int fds[2];

	if (is("tcp")) {
		open_sockets(AF_INET, (void *)&tcp, sizeof(tcp));
	} else if (is("unix")) {
		/* an abstract name */
		snprintf(local.sun_path + 1, 32, "sent.%d", getpid());
		open_sockets(AF_UNIX, (void *)&local, sizeof(local));
	} else if (is("sysv")) {
		in = out = check(msgget(IPC_PRIVATE, 0600));
	} else if (is("posix")) {
		open_queue();
	} else {
		if (is("pair") || is("packet") || is("mmsg"))
			check(socketpair(AF_UNIX,
					 is("pair") ? SOCK_STREAM
						    : SOCK_SEQPACKET,
					 0, fds));
		else
			check(pipe(fds));
		if (is("splice"))
			check(pipe(middle));
		in = fds[0];
		out = fds[1];
	}
	again = is("sysv") ? out : check(dup(out));
}

/* Items i and i + 1. */
static void send_two(long i)
{
	struct iovec two[] = { { &outbox[i], sizeof(void *) },
			       { &outbox[i + 1], sizeof(void *) } };
	struct msghdr message = { .msg_iov = two, .msg_iovlen = 2 };
	struct mmsghdr both[] = {
		{ .msg_hdr = { .msg_iov = &two[0], .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &two[1], .msg_iovlen = 1 } }
	};

	if (is("vectors"))
		check(writev(out, two, 2));
	else if (is("pair"))
		check(sendmsg(out, &message, 0));
	else
		check(sendmmsg(out, both, 2, 0));
}

static void send_one(long i)
{
	int to = i % 2 ? again : is("splice") ? middle[1] : out;

	if (is("splice"))
		to = middle[1];
	if (is("sysv"))
		check(msgsnd(out, &letters[i], sizeof(void *), 0));
	else if (is("posix"))
		check(mq_send(to, (char *)&outbox[i], sizeof(void *),
			      (unsigned)i % 3));
	else if (is("packet") || is("tcp"))
		check(send(to, &outbox[i], sizeof(void *), 0));
	else
		check(write(to, &outbox[i], sizeof(void *)));
}

static int is_of_two(void)
{
	return is("vectors") || is("pair") || is("mmsg");
}

static void *send_all(void *unused)
{
	for (long i = is("fork") ? FORKED : 0; i < ITEMS;
	     i += is_of_two() ? 2 : 1) {
		if (is_of_two())
			send_two(i);
		else
			send_one(i);
	}
	return unused;
}

static void receive_two(void *items[2])
{
	struct iovec two[] = { { &items[0], sizeof(void *) },
			       { &items[1], sizeof(void *) } };
	struct msghdr message = { .msg_iov = two, .msg_iovlen = 2 };
	struct mmsghdr both[] = {
		{ .msg_hdr = { .msg_iov = &two[0], .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &two[1], .msg_iovlen = 1 } }
	};

	if (is("vectors"))
		check(readv(in, two, 2));
	else if (is("pair"))
		check(recvmsg(in, &message, MSG_WAITALL));
	else if (recvmmsg(in, both, 2, 0, NULL) != 2)
		exit(1);
}

static void receive_one(void *items[2], long i)
{
	struct letter letter;
	unsigned priority;

	if (is("sysv")) {
		/* all of type 2 first */
		check(msgrcv(in, &letter, sizeof(void *), i < ITEMS / 2 ? 2 : 1,
			     0));
		items[0] = letter.item;
	} else if (is("posix")) {
		check(mq_receive(in, (char *)items, sizeof(void *), &priority));
	} else if (is("packet")) {
		/* the next ones are cut off there, too */
		check(recv(in, items, sizeof(void *), 0));
	} else if (is("tcp")) {
		check(recv(in, items, sizeof(void *), MSG_PEEK));
		check(recv(in, items, sizeof(void *), MSG_WAITALL));
	} else {
		check(read(in, items, sizeof(void *)));
	}
}

static void *receive_all(void *unused)
{
	void *items[2] = { 0 };

	for (long i = 0; i < ITEMS / receivers; i += is_of_two() ? 2 : 1) {
		if (is_of_two())
			receive_two(items);
		else
			receive_one(items, i);
		__atomic_fetch_add(&arrived, is_of_two() ? 2 : 1,
				   __ATOMIC_RELAXED);
	}
	return unused;
}

static void *splice_all(void *unused)
{
	for (long i = 0; i < ITEMS; i++)
		check(splice(middle[0], NULL, out, NULL, sizeof(void *), 0));
	return unused;
}

static void send_from_child(void)
{
	pid_t child = fork();

	if (check(child) == 0) {
		for (long i = 0; i < FORKED; i++)
			send_one(i);
		_exit(0);
	}
	check(waitpid(child, NULL, 0));
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	long count = 0;

	if (argc < 2)
		return 2;
	kind = argv[1];
	if (argc > 2)
		receivers = atol(argv[2]);
	for (long i = 0; i < ITEMS; i++) {
		outbox[i] = &outbox[i];
		letters[i] = (struct letter){ 1 + i % 2, &letters[i].item };
	}
	open_channel();
	if (is("fork"))
		send_from_child();
	for (; count < receivers && count < 2; count++)
		pthread_create(&threads[count], NULL, receive_all, NULL);
	if (is("splice"))
		pthread_create(&threads[count++], NULL, splice_all, NULL);
	pthread_create(&threads[count++], NULL, send_all, NULL);
	while (count > 0)
		pthread_join(threads[--count], NULL);
	if (is("sysv"))
		msgctl(in, IPC_RMID, NULL);
	printf("%ld\n", arrived);
	return arrived == ITEMS ? 0 : 1;
}
