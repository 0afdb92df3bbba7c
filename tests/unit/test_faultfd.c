/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Serving the pages of another process by userfaultfd(2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/socket.h>

#include "tracee.h"

#include "base/passfd.h"
#include "sys/faultfd.h"

enum { PAGE = 4096 };

struct served {
	uint32_t go;
	int sockets[2];
	uint32_t seen;
	uint8_t *pages; /* of the child alone: the same address in both */
	pid_t pid;
	int fd;
};

/* Reads the first page, then writes to it. */
static void body(void *arg)
{
	struct served *served = arg;
	char byte = 0;

	passfd_send(served->sockets[1], &byte, 1, faultfd_open());
	tracee_await(&served->go, 1);
	served->seen = *(volatile uint8_t *)served->pages;
	*(volatile uint8_t *)served->pages = 1;
}

static int setup(void **state)
{
	struct served *served = tracee_share(sizeof(*served));
	char byte;

	served->pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
		       served->sockets) < 0)
		return -1;
	served->pid = tracee_fork(body, served);
	if (!passfd_receive(served->sockets[0], 0, &byte, 1, &served->fd))
		return -1;
	tracee_seize(served->pid);
	*state = served;
	return 0;
}

static int teardown(void **state)
{
	struct served *served = *state;

	if (served->fd >= 0)
		close(served->fd);
	close(served->sockets[0]);
	close(served->sockets[1]);
	tracee_kill(served->pid);
	munmap(served->pages, 2 * PAGE);
	munmap(served, sizeof(*served));
	return 0;
}

static void take(struct served *served)
{
	uint64_t start = (uintptr_t)served->pages;

	if (served->fd < 0)
		tracee_skip(
			error_create(ERROR_UNSUPPORTED, "no userfaultfd here"));
	assert_ok(faultfd_register(served->fd, start, start + 2 * PAGE));
}

/* The child runs until its next SIGBUS, which is where? */
static uint64_t next_fault(const struct served *served)
{
	struct stop_reason stop;
	uint64_t address = 0;
	bool fault = false;

	assert_ok(trace_continue(served->pid, 0));
	stop = tracee_wait(served->pid);
	assert_int_equal(stop.kind, STOP_SIGNAL);
	assert_int_equal(stop.signal, SIGBUS);
	assert_ok(trace_fault_address(served->pid, &fault, &address));
	assert_true(fault);
	return address;
}

static void pages_are_served(void **state)
{
	struct served *served = *state;
	uint64_t start;
	uint8_t bytes[PAGE];
	struct error *err;

	take(served);
	start = (uintptr_t)served->pages;
	memset(bytes, 0x5a, sizeof(bytes));
	tracee_tell(&served->go, 1);
	assert_int_equal(next_fault(served), start);
	assert_ok(faultfd_copy(served->fd, start, bytes, true));
	/* the read is done, and the write is refused */
	assert_int_equal(next_fault(served), start);
	assert_int_equal(served->seen, 0x5a);
	err = faultfd_copy(served->fd, start, bytes, false);
	assert_non_null(err);
	assert_int_equal(err->code, EEXIST);
	error_free(err);
	assert_ok(faultfd_protect(served->fd, start, false));
	assert_ok(faultfd_protect(served->fd, start, true));
	assert_int_equal(next_fault(served), start);
	assert_ok(faultfd_protect(served->fd, start, false));
	tracee_finish(served->pid, 0);
}

static void what_is_no_descriptor_is_refused(void **state)
{
	struct error *err;

	(void)state;
	err = faultfd_register(-1, 0, PAGE);
	assert_non_null(err);
	error_free(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pages_are_served, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			what_is_no_descriptor_is_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
