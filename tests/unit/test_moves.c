/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/recorder/moves.c and channels.c: what a trace says of system calls that are
 * told to the recorder. Descriptors are of this test: 10 and 11 are the ends of a
 * pipe, 20 is a queue of messages, 30 a file.
 */
#include "recorder/moves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hunt/trace-file.h"
#include "hunt/unpack.h"
#include "recorder/channels.h"
#include "recorder/emit.h"
#include "recorder/recorder.h"

enum { PIPE_IN = 10, PIPE_OUT, QUEUE = 20, PLAIN_FILE = 30, UNKNOWN = 40 };

static char folder[32];
static struct recorder *recorder;
static struct thread *thread;
static struct move move, other;
static uint64_t memory[64];
static const uint64_t unreadable = 0x1000;
static uint64_t file_position;

/* The trace's events, and its channels, which have ids from 1. */
static struct unpacked unpacked;
static struct trace_channel channels[8];

/* What another process does when this one is next asked for its memory. */
static void (*meanwhile)(void);

static bool is_readable(uint64_t address, uint64_t size)
{
	void (*act)(void) = meanwhile;

	(void)size;
	meanwhile = NULL;
	if (act)
		act();
	return address != unreadable;
}

static bool identify(struct channels *all, int fd, bool receives,
		     struct trace_channel *ret)
{
	(void)all, (void)receives;
	ret->kind = fd == PLAIN_FILE || fd == QUEUE ? TRACE_FILE : TRACE_PIPE;
	ret->where[0] = 1;
	ret->where[1] = (uint64_t)(fd / 10);
	return fd != UNKNOWN;
}

static bool position_of(int fd, uint64_t *ret)
{
	(void)fd;
	*ret = file_position;
	return true;
}

static const struct moves_host host = {
	.readable = is_readable,
	.identify = identify,
	.position = position_of,
};

static struct recorder *new_recorder(void)
{
	const struct recorder_options options = {
		.recorder = TRACE_BY_VALGRIND,
		.memory = 1 << 24,
		.events_max = 100,
		.file = "/bin/program",
		.folder = folder,
		.code = true,
	};
	struct recorder *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	recorder_init(made, &options);
	assert_true(recorder_begin(made, NULL, 0));
	return made;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(folder));
	recorder = new_recorder();
	thread = recorder_thread(recorder, NULL);
	recorder_thread_begins(recorder, thread);
	for (size_t i = 0; i < 64; i++)
		memory[i] = i;
	return 0;
}

static int tear_down(void **state)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	(void)state;
	move_deinit(&move);
	move_deinit(&other);
	unpacked_deinit(&unpacked);
	recorder_deinit(recorder);
	free(recorder);
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(folder);
	return 0;
}

static uint64_t address_of(const void *at)
{
	return (uint64_t)(uintptr_t)at;
}

static void begin(struct move *of, uint32_t number, uint64_t a, uint64_t b,
		  uint64_t c, uint64_t d)
{
	const uint64_t arguments[MOVE_ARGUMENTS] = { a, b, c, d };

	moves_begin(recorder, of, &host, number, arguments);
}

static void end(struct move *of, int64_t result)
{
	moves_end(recorder, thread, of, &host, result);
}

static void make(uint32_t number, uint64_t fd, const void *at, uint64_t size,
		 int64_t result)
{
	begin(&move, number, fd, address_of(at), size, 0);
	end(&move, result);
}

static int no_words(const void *codes, uint32_t superblock, uint32_t exit)
{
	(void)codes, (void)superblock, (void)exit;
	return -1;
}

static void take_item(const struct trace_item *item)
{
	static const struct unpack_codes codes = { no_words, NULL };
	const struct trace_channel *channel = item->payload;
	bool is_wrong;

	if (item->type == TRACE_STREAM)
		assert_true(
			unpack(item->payload, &codes, &unpacked, &is_wrong));
	if (item->type != TRACE_CHANNEL)
		return;
	assert_in_range(channel->id, 1, 7);
	channels[channel->id] = *channel;
}

static void read_trace(void)
{
	struct trace_file trace;
	struct trace_item item;

	emit_all(recorder);
	emit_end(recorder, 0, 0);
	assert_null(trace_file_open(recorder->writer.path, &trace));
	do {
		assert_null(trace_file_next(&trace, &item));
		if (item.payload)
			take_item(&item);
	} while (item.payload);
	trace_file_close(&trace);
}

static const uint64_t *numbers_of(size_t i, enum trace_stream_event event)
{
	const struct unpacked_step *step;

	assert_true(i < unpacked.steps.count);
	step = vec_at(&unpacked.steps, i);
	assert_int_equal(step->superblock, 0);
	assert_int_equal(step->event, event);
	return (const uint64_t *)unpacked.words.items + step->words;
}

static void assert_part(size_t i, const void *address, uint64_t size,
			uint64_t value)
{
	const uint64_t expected[] = { address_of(address), size, value };

	assert_memory_equal(numbers_of(i, TRACE_MOVED_PART), expected,
			    sizeof(expected));
}

/* Returns its channel. */
static const struct trace_channel *assert_moved(size_t i, uint32_t number,
						uint64_t position,
						uint64_t bytes, uint64_t flags)
{
	const uint64_t *numbers = numbers_of(i, TRACE_MOVED);

	assert_int_equal(numbers[0], number);
	assert_int_equal(numbers[3], position);
	assert_int_equal(numbers[4], bytes);
	assert_int_equal(numbers[5], flags);
	assert_in_range(numbers[2], 1, 7);
	return &channels[numbers[2]];
}

static void bytes_are_counted_in_each_direction(void **state)
{
	const struct trace_channel *channel;

	(void)state;
	make(SYS_write, PIPE_OUT, &memory[1], 16, 16);
	memory[3] = 0x0807060504030201;
	make(SYS_write, PIPE_OUT, &memory[3], 16, 5);
	make(SYS_read, PIPE_IN, &memory[40], 64, 12);
	make(SYS_read, PIPE_IN, &memory[50], 64, -1);
	make(SYS_read, PIPE_IN, &memory[50], 64, 0);
	make(SYS_read, PIPE_IN, &memory[50], 2, 2);
	read_trace();
	assert_int_equal(unpacked.steps.count, 8);
	assert_part(0, &memory[1], 16, 1);
	channel = assert_moved(1, SYS_write, 0, 16, 0);
	assert_int_equal(channel->kind, TRACE_PIPE);
	assert_int_equal(channel->where[1], PIPE_OUT / 10);
	/* what was not moved is cut off */
	assert_part(2, &memory[3], 5, 0x0504030201);
	assert_ptr_equal(assert_moved(3, SYS_write, 16, 5, 0), channel);
	assert_part(4, &memory[40], 12, 40);
	assert_ptr_equal(assert_moved(5, SYS_read, 0, 12, TRACE_RECEIVED),
			 channel);
	/* a value has no more bytes than there were */
	assert_part(6, &memory[50], 2, 50);
	assert_moved(7, SYS_read, 12, 2, TRACE_RECEIVED);
}

static void vectors_are_parts_as_far_as_bytes_were_moved(void **state)
{
	struct iovec vectors[] = { { &memory[1], 8 },
				   { &memory[2], 0 },
				   { &memory[3], 24 },
				   { &memory[9], 8 } };
	const struct msghdr message = { .msg_iov = vectors, .msg_iovlen = 4 };

	(void)state;
	make(SYS_writev, PIPE_OUT, vectors, 4, 20);
	begin(&move, SYS_recvmsg, PIPE_IN, address_of(&message), 0, 0);
	memory[9] = 99;
	end(&move, 40);
	read_trace();
	assert_int_equal(unpacked.steps.count, 7);
	assert_part(0, &memory[1], 8, 1);
	assert_part(1, &memory[3], 12, 3);
	assert_moved(2, SYS_writev, 0, 20, 0);
	assert_part(5, &memory[9], 8, 99);
	assert_moved(6, SYS_recvmsg, 0, 40, TRACE_RECEIVED);
}

/* What is sent is what was there before the call, not after it. */
static void values_are_read_when_they_are_sent(void **state)
{
	(void)state;
	begin(&move, SYS_write, PIPE_OUT, address_of(&memory[1]), 8, 0);
	memory[1] = 77;
	end(&move, 8);
	begin(&move, SYS_read, PIPE_IN, address_of(&memory[2]), 8, 0);
	memory[2] = 88;
	end(&move, 8);
	begin(&move, SYS_write, PIPE_OUT, unreadable, 8, 0);
	end(&move, 8);
	read_trace();
	assert_part(0, &memory[1], 8, 1);
	assert_part(2, &memory[2], 8, 88);
	assert_int_equal(numbers_of(4, TRACE_MOVED_PART)[2], 0);
}

/* A system call of another thread, while `move' and `other' are in use. */
static void make_other_way(void)
{
	struct move third = { 0 };

	begin(&third, SYS_read, PIPE_IN, address_of(&memory[40]), 8, 0);
	end(&third, 8);
	move_deinit(&third);
}

static void overlapping_calls_are_unsure(void **state)
{
	(void)state;
	begin(&move, SYS_write, PIPE_OUT, address_of(&memory[1]), 8, 0);
	begin(&other, SYS_write, PIPE_OUT, address_of(&memory[2]), 8, 0);
	end(&move, 8);
	/* the other direction does not matter */
	make_other_way();
	end(&other, 8);
	make(SYS_write, PIPE_OUT, &memory[3], 8, 8);
	read_trace();
	assert_moved(1, SYS_write, 0, 8, TRACE_MOVED_UNSURE);
	assert_moved(3, SYS_read, 0, 8, TRACE_RECEIVED);
	assert_moved(5, SYS_write, 8, 8, TRACE_MOVED_UNSURE);
	assert_moved(7, SYS_write, 16, 8, 0);
}

static void a_queue_has_a_channel_for_each_type(void **state)
{
	const struct trace_channel *one, *two;

	(void)state;
	memory[0] = 1;
	memory[10] = 2;
	begin(&move, SYS_msgsnd, QUEUE, address_of(&memory[0]), 16, 0);
	end(&move, 0);
	begin(&move, SYS_msgsnd, QUEUE, address_of(&memory[10]), 0, 0);
	end(&move, 0);
	begin(&move, SYS_msgsnd, QUEUE, address_of(&memory[10]), 8, 0);
	end(&move, 0);
	/* any message: the type is there when it has returned */
	begin(&move, SYS_msgrcv, QUEUE, address_of(&memory[20]), 64, 0);
	memory[20] = 2;
	end(&move, 8);
	read_trace();
	assert_part(0, &memory[1], 16, 1);
	one = assert_moved(1, SYS_msgsnd, 0, 16, 0);
	two = assert_moved(2, SYS_msgsnd, 0, 0, 0);
	assert_int_equal(one->kind, TRACE_QUEUE_SYSV);
	assert_int_equal(one->where[0], QUEUE);
	assert_int_equal(one->detail, 1);
	assert_int_equal(two->detail, 2);
	assert_ptr_equal(assert_moved(4, SYS_msgsnd, 1, 8, 0), two);
	assert_part(5, &memory[21], 8, 21);
	assert_ptr_equal(assert_moved(6, SYS_msgrcv, 0, 8, TRACE_RECEIVED),
			 two);
}

static void send_with(uint64_t priority)
{
	begin(&move, SYS_mq_timedsend, QUEUE, address_of(&memory[1]), 8,
	      priority);
	end(&move, 0);
}

static void receive_with(const uint32_t *priority)
{
	begin(&move, SYS_mq_timedreceive, QUEUE, address_of(&memory[2]), 8,
	      address_of(priority));
	end(&move, 8);
}

/* The receiver is woken by the message, and its call is the first one to return. */
static void a_priority_is_known_before_the_sender_returns(void **state)
{
	const struct trace_channel *five;

	(void)state;
	begin(&other, SYS_mq_timedreceive, QUEUE, address_of(&memory[2]), 8, 0);
	begin(&move, SYS_mq_timedsend, QUEUE, address_of(&memory[1]), 8, 5);
	end(&other, 8);
	end(&move, 0);
	read_trace();
	five = assert_moved(1, SYS_mq_timedreceive, 0, 8, TRACE_RECEIVED);
	assert_int_equal(five->detail, 5);
	assert_ptr_equal(assert_moved(3, SYS_mq_timedsend, 0, 8, 0), five);
}

/* A program need not ask for it. It is known if all messages have the same. */
static void a_priority_that_was_not_asked_for_may_be_known(void **state)
{
	const uint32_t priority = 6;
	const struct trace_channel *five;

	(void)state;
	send_with(5);
	receive_with(NULL);
	send_with(6);
	receive_with(&priority);
	send_with(5);
	receive_with(NULL);
	read_trace();
	five = assert_moved(1, SYS_mq_timedsend, 0, 8, 0);
	assert_int_equal(five->kind, TRACE_QUEUE_POSIX);
	assert_int_equal(five->detail, 5);
	assert_ptr_equal(assert_moved(3, SYS_mq_timedreceive, 0, 8,
				      TRACE_RECEIVED),
			 five);
	assert_int_equal(assert_moved(7, SYS_mq_timedreceive, 0, 8,
				      TRACE_RECEIVED)
				 ->detail,
			 6);
	assert_moved(9, SYS_mq_timedsend, 1, 8, 0);
	/* 5 or 6: its channel is not known */
	assert_int_equal(numbers_of(11, TRACE_MOVED)[2], 0);
}

static void a_file_has_positions(void **state)
{
	(void)state;
	begin(&move, SYS_pwrite64, PLAIN_FILE, address_of(&memory[1]), 8, 4096);
	end(&move, 8);
	file_position = 108;
	make(SYS_read, PLAIN_FILE, &memory[2], 8, 8);
	begin(&move, SYS_splice, PLAIN_FILE, 0, PIPE_OUT, 0);
	file_position = 208;
	end(&move, 100);
	read_trace();
	assert_int_equal(assert_moved(1, SYS_pwrite64, 4096, 8, 0)->kind,
			 TRACE_FILE);
	assert_moved(3, SYS_read, 100, 8, TRACE_RECEIVED);
	/* no memory: from one channel to another */
	assert_moved(4, SYS_splice, 108, 100, TRACE_RECEIVED);
	assert_int_equal(assert_moved(5, SYS_splice, 0, 100, 0)->kind,
			 TRACE_PIPE);
}

static void what_is_peeked_at_stays(void **state)
{
	(void)state;
	begin(&move, SYS_recvfrom, PIPE_IN, address_of(&memory[1]), 8,
	      MSG_PEEK);
	end(&move, 8);
	begin(&move, SYS_recvfrom, PIPE_IN, address_of(&memory[1]), 8, 0);
	end(&move, 8);
	make(SYS_read, PIPE_IN, &memory[1], 8, 8);
	read_trace();
	assert_moved(1, SYS_recvfrom, 0, 8,
		     TRACE_RECEIVED | TRACE_MOVED_PEEKED);
	assert_moved(3, SYS_recvfrom, 0, 8, TRACE_RECEIVED);
	assert_moved(5, SYS_read, 8, 8, TRACE_RECEIVED);
}

static void other_calls_write_memory_too(void **state)
{
	const uint64_t unknown[] = { SYS_uname, 0, 0, 0, 24, TRACE_RECEIVED };

	(void)state;
	moves_wrote(recorder, thread, &move, &host, SYS_uname,
		    address_of(&memory[3]), 24);
	make(SYS_read, UNKNOWN, &memory[1], 8, 8);
	read_trace();
	assert_part(0, &memory[3], 24, 3);
	assert_memory_equal(numbers_of(1, TRACE_MOVED), unknown,
			    sizeof(unknown));
	assert_part(2, &memory[1], 8, 1);
	assert_int_equal(numbers_of(3, TRACE_MOVED)[2], 0);
}

/* A child, and a program that is executed, count on. */
static void processes_count_together(void **state)
{
	struct recorder *parent = recorder;

	(void)state;
	make(SYS_write, PIPE_OUT, &memory[1], 8, 8);
	recorder = new_recorder();
	thread = recorder_thread(recorder, NULL);
	recorder_thread_begins(recorder, thread);
	make(SYS_write, PIPE_OUT, &memory[1], 8, 8);
	read_trace();
	assert_moved(1, SYS_write, 8, 8, 0);
	channels_connect(&recorder->stream.channels, 100, 200);
	assert_int_equal(channels_connected(&parent->stream.channels, 200),
			 100);
	assert_int_equal(channels_connected(&parent->stream.channels, 300), 0);
	recorder_deinit(parent);
	free(parent);
}

static struct recorder *peer;
static struct thread *peer_thread;

static void peer_reads(void)
{
	const uint64_t arguments[MOVE_ARGUMENTS] = { PIPE_IN,
						     address_of(&memory[40]),
						     8 };
	struct move its = { 0 };

	moves_begin(peer, &its, &host, SYS_read, arguments);
	moves_end(peer, peer_thread, &its, &host, 8);
	move_deinit(&its);
}

/*
 * The first process has its bytes, and notes what they are. A process that reads
 * only then has got later ones.
 */
static void a_call_that_begins_later_counts_later(void **state)
{
	(void)state;
	peer = new_recorder();
	peer_thread = recorder_thread(peer, NULL);
	recorder_thread_begins(peer, peer_thread);
	begin(&move, SYS_read, PIPE_IN, address_of(&memory[1]), 8, 0);
	meanwhile = peer_reads;
	end(&move, 8);
	assert_null(meanwhile);
	make(SYS_read, PIPE_IN, &memory[1], 8, 8);
	read_trace();
	assert_moved(1, SYS_read, 0, 8, TRACE_RECEIVED);
	assert_moved(3, SYS_read, 16, 8, TRACE_RECEIVED);
	recorder_deinit(peer);
	free(peer);
}

static void messages_of_one_call_are_one_behind_the_other(void **state)
{
	struct iovec first = { &memory[1], 16 }, second = { &memory[5], 8 };
	struct mmsghdr messages[] = {
		{ { .msg_iov = &first, .msg_iovlen = 1 }, 16 },
		{ { .msg_iov = &second, .msg_iovlen = 1 }, 8 },
		{ { .msg_iov = &second, .msg_iovlen = 1 }, 0 },
	};

	(void)state;
	make(SYS_sendmmsg, PIPE_OUT, messages, 3, 2);
	make(SYS_write, PIPE_OUT, &memory[1], 8, 8);
	read_trace();
	assert_int_equal(unpacked.steps.count, 6);
	assert_part(0, &memory[1], 16, 1);
	assert_moved(1, SYS_sendmmsg, 0, 16, 0);
	assert_part(2, &memory[5], 8, 5);
	assert_moved(3, SYS_sendmmsg, 16, 8, 0);
	assert_moved(5, SYS_write, 24, 8, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bytes_are_counted_in_each_direction),
		TEST(vectors_are_parts_as_far_as_bytes_were_moved),
		TEST(values_are_read_when_they_are_sent),
		TEST(overlapping_calls_are_unsure),
		TEST(a_queue_has_a_channel_for_each_type),
		TEST(a_priority_is_known_before_the_sender_returns),
		TEST(a_priority_that_was_not_asked_for_may_be_known),
		TEST(a_file_has_positions),
		TEST(what_is_peeked_at_stays),
		TEST(other_calls_write_memory_too),
		TEST(processes_count_together),
		TEST(a_call_that_begins_later_counts_later),
		TEST(messages_of_one_call_are_one_behind_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
