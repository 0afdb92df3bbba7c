/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/hunt/executed-moves.c: who sent what was received, in streams of system
 * calls as a recorder would write them.
 */
#include "hunt/executed-moves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/error.h"
#include "hunt/recording.h"
#include "recorder/packer.h"
#include "trace-writer.h"

enum { STREAM = 1, QUEUE, PLAIN_FILE, SPLICED };
enum { OUT = 0x10000, IN = 0x20000, OTHER = 0x30000 };
enum { SENDER = 1, RECEIVER, THIRD };

static struct writer writer;
static struct packer packer;
static struct recording recording;
static struct executed *executed;

struct call {
	uint32_t number, channel;
	uint64_t position, flags;
	uint64_t parts[2][3]; /* address, bytes (0: none), value */
};

static void write_call(const struct call *call)
{
	uint64_t numbers[] = { call->number,   4, call->channel,
			       call->position, 0, call->flags };

	for (int i = 0; i < 2; i++) {
		numbers[4] += call->parts[i][1];
		if (call->parts[i][0])
			packer_event(&packer, TRACE_MOVED_PART, call->parts[i]);
	}
	packer_event(&packer, TRACE_MOVED, numbers);
}

/* A thread's step of that number, and the system calls that it made there. */
static void begin(uint32_t thread, uint64_t step)
{
	packer_begin(&packer, thread, step, step);
	packer_step(&packer, &(struct packer_step){
				     .id = 1, .count = 1, .instructions = 1 });
}

static void end(void)
{
	packer_end(&packer);
	writer_chunk(&writer, TRACE_STREAM, &packer.head, sizeof(packer.head),
		     packer.bytes, packer.head.size);
}

static void made(uint32_t thread, uint64_t step, const struct call *call)
{
	begin(thread, step);
	write_call(call);
	end();
}

static void write_channel(uint32_t id, uint32_t kind)
{
	const struct trace_channel channel = { .id = id, .kind = kind };

	writer_chunk(&writer, TRACE_CHANNEL, &channel, sizeof(channel), NULL,
		     0);
}

static int set_up(void **state)
{
	const struct trace_superblock head = {
		.id = 1, .size = 2, .instructions = 1, .exits = 1
	};
	static const struct {
		struct trace_exit exit;
		unsigned char length, code[2];
	} __attribute__((packed))
	behind = { { .instructions = 1 }, 2, { 0x0f, 0x05 } };

	(void)state;
	writer_begin(&writer);
	for (uint32_t id = 1; id <= THIRD; id++)
		writer_thread(&writer, id, id > 1, id - 1, 0, 0, 0, 0);
	writer_chunk(&writer, TRACE_SUPERBLOCK, &head, sizeof(head), &behind,
		     sizeof(behind));
	write_channel(STREAM, TRACE_PIPE);
	write_channel(QUEUE, TRACE_QUEUE_SYSV);
	write_channel(PLAIN_FILE, TRACE_FILE);
	write_channel(SPLICED, TRACE_PIPE);
	return 0;
}

static void read_back(void)
{
	writer_end(&writer, 10);
	assert_null(recording_open(writer.path, &recording));
	assert_null(executed_create(&recording, &executed));
}

static int tear_down(void **state)
{
	(void)state;
	executed_destroy(executed);
	recording_close(&recording);
	writer_remove(&writer);
	return 0;
}

/* Who sent the 8 bytes there, which were written last by a system call. */
static struct executed_sent sender_of(uint64_t address)
{
	struct executed_write write;
	struct executed_sent sent;

	assert_null(executed_last_write(executed, address, 8, 1000, &write));
	assert_int_equal(write.kind, EXECUTED_MOVED);
	assert_null(executed_sender(executed, &write, address, 8, &sent));
	return sent;
}

static void assert_sent(uint64_t address, uint32_t thread, uint64_t number,
			uint64_t from)
{
	struct executed_sent sent = sender_of(address);

	assert_int_equal(sent.by, EXECUTED_SENT_BY_POSITION);
	assert_int_equal(sent.thread, thread);
	assert_int_equal(sent.number, number);
	assert_int_equal(sent.address, from);
}

static void send_stream(uint64_t step, uint64_t position, uint64_t address,
			uint64_t bytes, uint64_t value, uint64_t flags)
{
	made(SENDER, step,
	     &(struct call){ SYS_write,
			     STREAM,
			     position,
			     flags,
			     { { address, bytes, value } } });
}

/* Bytes are in order, whatever the calls moved at a time. */
static void a_stream_is_matched_by_its_bytes(void **state)
{
	(void)state;
	send_stream(10, 0, OUT, 16, 1, 0);
	send_stream(11, 16, OUT + 100, 12, 2, 0);
	made(RECEIVER, 12,
	     &(struct call){ SYS_readv,
			     STREAM,
			     0,
			     TRACE_RECEIVED,
			     { { IN, 8, 1 }, { IN + 50, 16, 0x1234 } } });
	read_back();
	assert_sent(IN, SENDER, 10, OUT);
	/* values are known of the first bytes only: 0x1234 is not compared */
	assert_sent(IN + 50, SENDER, 10, OUT + 8);
	assert_sent(IN + 50 + 8, SENDER, 11, OUT + 100);
	assert_int_equal(sender_of(IN + 50 + 8).system_call, SYS_write);
	assert_int_equal(sender_of(IN + 50 + 8).descriptor, 3);
	assert_int_equal(sender_of(IN + 50 + 8).size, 8);
	/* of the bytes from there on, as many as that call sent */
	assert_int_equal(sender_of(IN + 50 + 4).size, 4);
	assert_int_equal(sender_of(IN).channel->kind, TRACE_PIPE);
}

static void receive_8(uint64_t step, uint32_t channel, uint64_t position,
		      uint64_t value, uint64_t flags)
{
	made(RECEIVER, step,
	     &(struct call){ SYS_read,
			     channel,
			     position,
			     TRACE_RECEIVED | flags,
			     { { IN + position, 8, value } } });
}

static void values_that_differ_are_no_hand_over(void **state)
{
	(void)state;
	send_stream(10, 0, OUT, 8, 5, 0);
	receive_8(11, STREAM, 0, 6, 0);
	read_back();
	assert_int_equal(sender_of(IN).by, EXECUTED_SENT_UNKNOWN);
	assert_non_null(sender_of(IN).channel);
}

static void what_was_sent_later_is_not_what_was_received(void **state)
{
	(void)state;
	receive_8(10, STREAM, 0, 5, 0);
	send_stream(11, 0, OUT, 8, 5, 0);
	read_back();
	assert_int_equal(sender_of(IN).by, EXECUTED_SENT_UNKNOWN);
}

/* The sender is seen to return later than the receiver, but it called before. */
static void a_sender_may_return_after_the_receiver(void **state)
{
	const struct call call = { SYS_write, STREAM, 0, 0, { { OUT, 8, 5 } } };

	(void)state;
	begin(SENDER, 10);
	packer_event(&packer, TRACE_RESUMED, (const uint64_t[]){ 5, 0 });
	write_call(&call);
	end();
	receive_8(11, STREAM, 0, 5, 0);
	read_back();
	assert_sent(IN, SENDER, 10, OUT);
}

static void what_another_process_sent_has_no_sender(void **state)
{
	(void)state;
	send_stream(10, 8, OUT, 8, 5, 0);
	receive_8(11, STREAM, 0, 5, 0);
	receive_8(12, STREAM, 16, 5, 0);
	receive_8(13, STREAM, 8, 5, 0);
	read_back();
	assert_sent(IN + 8, SENDER, 10, OUT);
	/* it has the same value by chance */
	assert_int_equal(sender_of(IN).by, EXECUTED_SENT_UNKNOWN);
	assert_int_equal(sender_of(IN + 16).by, EXECUTED_SENT_UNKNOWN);
}

static void messages_are_matched_by_their_number(void **state)
{
	const struct call first = {
		SYS_msgsnd, QUEUE, 0, 0, { { OUT, 100, 1 } }
	};
	const struct call second = {
		SYS_msgsnd, QUEUE, 1, 0, { { OUT + 200, 100, 2 } }
	};
	const struct call received = {
		SYS_msgrcv, QUEUE, 1, TRACE_RECEIVED, { { IN, 100, 2 } }
	};

	(void)state;
	made(SENDER, 10, &first);
	made(THIRD, 11, &second);
	made(RECEIVER, 12, &received);
	read_back();
	assert_sent(IN, THIRD, 11, OUT + 200);
	assert_sent(IN + 64, THIRD, 11, OUT + 264);
}

static void calls_that_overlapped_are_told_apart_by_value(void **state)
{
	(void)state;
	send_stream(10, 0, OUT, 8, 5, 0);
	send_stream(11, 8, OUT + 8, 8, 6, 0);
	/* in the other order */
	receive_8(12, STREAM, 0, 6, TRACE_MOVED_UNSURE);
	receive_8(13, STREAM, 8, 5, TRACE_MOVED_UNSURE);
	read_back();
	assert_int_equal(sender_of(IN).by, EXECUTED_SENT_BY_VALUE);
	assert_int_equal(sender_of(IN).number, 11);
	assert_int_equal(sender_of(IN).address, OUT + 8);
	assert_int_equal(sender_of(IN + 8).number, 10);
}

static void one_value_sent_twice_does_not_tell(void **state)
{
	(void)state;
	send_stream(10, 0, OUT, 8, 5, TRACE_MOVED_UNSURE);
	send_stream(11, 8, OUT + 8, 8, 5, TRACE_MOVED_UNSURE);
	receive_8(12, STREAM, 0, 5, 0);
	read_back();
	assert_int_equal(sender_of(IN).by, EXECUTED_SENT_UNKNOWN);
}

/* Of a file, the last write to that place; it may be read again. */
static void a_file_has_what_was_written_there_last(void **state)
{
	struct call call = {
		SYS_pwrite64, PLAIN_FILE, 64, 0, { { OUT, 32, 1 } }
	};

	(void)state;
	made(SENDER, 10, &call);
	call.position = 72;
	call.parts[0][0] = OUT + 100;
	made(THIRD, 11, &call);
	receive_8(12, PLAIN_FILE, 64, 1, 0);
	receive_8(13, PLAIN_FILE, 72, 1, 0);
	call.parts[0][0] = OUT + 200;
	made(SENDER, 14, &call);
	read_back();
	assert_sent(IN + 64, SENDER, 10, OUT);
	assert_sent(IN + 72, THIRD, 11, OUT + 100);
}

static void splice_is_followed_to_memory(void **state)
{
	struct call call = { SYS_splice, STREAM, 0, TRACE_RECEIVED, { { 0 } } };

	(void)state;
	send_stream(10, 0, OUT, 24, 5, 0);
	call.parts[0][1] = 24;
	begin(THIRD, 11);
	write_call(&call);
	call.channel = SPLICED;
	call.flags = 0;
	write_call(&call);
	end();
	receive_8(12, SPLICED, 0, 5, 0);
	receive_8(13, SPLICED, 8, 7, 0);
	read_back();
	assert_sent(IN, SENDER, 10, OUT);
	assert_sent(IN + 8, SENDER, 10, OUT + 8);
}

static void of_no_channel_there_is_no_sender(void **state)
{
	(void)state;
	receive_8(11, 0, 0, 5, 0);
	read_back();
	assert_int_equal(sender_of(IN).by, EXECUTED_SENT_UNKNOWN);
	assert_null(sender_of(IN).channel);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stream_is_matched_by_its_bytes),
		TEST(values_that_differ_are_no_hand_over),
		TEST(what_was_sent_later_is_not_what_was_received),
		TEST(a_sender_may_return_after_the_receiver),
		TEST(what_another_process_sent_has_no_sender),
		TEST(messages_are_matched_by_their_number),
		TEST(calls_that_overlapped_are_told_apart_by_value),
		TEST(one_value_sent_twice_does_not_tell),
		TEST(a_file_has_what_was_written_there_last),
		TEST(splice_is_followed_to_memory),
		TEST(of_no_channel_there_is_no_sender),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
