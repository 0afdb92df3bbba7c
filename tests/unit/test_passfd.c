/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages with a descriptor and without, and what is no such message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/passfd.h"

static int ends[2];

static int setup(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int teardown(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static void the_descriptor_is_of_the_same_file(void **state)
{
	char bytes[5], byte = 0;
	int fds[2], fd;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_true(passfd_send(ends[0], "hello", 5, fds[1]));
	close(fds[1]);
	assert_true(passfd_receive(ends[1], 0, bytes, 5, &fd));
	assert_memory_equal(bytes, "hello", 5);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	close(fd);
	close(fds[0]);
}

static void there_need_be_none(void **state)
{
	char byte = 0;
	int fd = 0;

	(void)state;
	assert_true(passfd_send(ends[0], "x", 1, -1));
	assert_true(passfd_receive(ends[1], 0, &byte, 1, &fd));
	assert_int_equal(byte, 'x');
	assert_int_equal(fd, -1);
}

/* Nor does its descriptor stay open. */
static void a_message_of_another_size_is_none(void **state)
{
	int fds[2], fd;
	char bytes[5];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_true(passfd_send(ends[0], "shor", 4, fds[1]));
	close(fds[1]);
	assert_false(passfd_receive(ends[1], 0, bytes, 5, &fd));
	assert_int_equal(fd, -1);
	assert_int_equal(read(fds[0], bytes, 1), 0);
	close(fds[0]);
}

static void nobody_and_nothing_are_told(void **state)
{
	char byte;
	int fd;

	(void)state;
	assert_false(passfd_receive(ends[1], MSG_DONTWAIT, &byte, 1, &fd));
	assert_int_equal(errno, EAGAIN);
	assert_false(passfd_send(ends[0], "x", 1, 1000));
	assert_int_equal(errno, EBADF);
	close(ends[1]);
	assert_false(passfd_send(ends[0], "x", 1, -1));
	assert_int_equal(errno, EPIPE);
	assert_false(passfd_receive(ends[0], 0, &byte, 1, &fd));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_descriptor_is_of_the_same_file, setup, teardown),
		cmocka_unit_test_setup_teardown(there_need_be_none, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			a_message_of_another_size_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_and_nothing_are_told,
						setup, teardown),
	};

	return cmocka_run_group_tests_name("passfd", tests, NULL, NULL);
}
