/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tracer that cannot write to the text any more when it is to let go: it says so,
 * and the guardian restores the program. The system calls of the tracer alone are
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../unit/tracee.h"

#include <errno.h>
#include <sys/ptrace.h>

#include "../unit/frontend.h"

/* Shared with the tracer. */
struct refusals {
	pid_t tracer; /* 0: nothing is refused */
	uint32_t count;
};

static struct refusals *refusals;

static bool refused(void)
{
	pid_t tracer =
		refusals ? __atomic_load_n(&refusals->tracer, __ATOMIC_ACQUIRE)
			 : 0;

	if (tracer == 0 || getpid() != tracer)
		return false;
	__atomic_add_fetch(&refusals->count, 1, __ATOMIC_RELAXED);
	errno = EACCES;
	return true;
}

ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	return refused() ? -1 : __real_pwrite(fd, bytes, size, offset);
}

long __real_ptrace(enum __ptrace_request request, ...);
long __wrap_ptrace(enum __ptrace_request request, pid_t pid, void *address,
		   void *data);
long __wrap_ptrace(enum __ptrace_request request, pid_t pid, void *address,
		   void *data)
{
	if (request == PTRACE_POKETEXT && refused())
		return -1;
	return __real_ptrace(request, pid, address, data);
}

struct program {
	uint64_t data;
	uint32_t ready, over;
};

static struct program *program;

static void *program_reads(void *arg)
{
	while (!__atomic_load_n(&program->over, __ATOMIC_RELAXED))
		do_read(&program->data);
	return arg;
}

/* Of a single thread nothing would be armed. */
static void program_main(void *arg)
{
	pthread_t thread;

	(void)arg;
	pthread_create(&thread, NULL, program_reads, NULL);
	tracee_tell(&program->ready, 1);
	program_reads(NULL);
	pthread_join(thread, NULL);
	_exit(STATUS);
}

static bool program_has_int3(pid_t pid)
{
	char path[32];
	uint8_t byte;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, (off_t)(uintptr_t)site_write), 1);
	close(fd);
	return byte == 0xcc;
}

/* The program never executes site_write: what is armed there stays. */
static void what_cannot_be_removed_is_left_to_the_guardian(void **state)
{
	struct wire_site site = site_at(site_write, WIRE_AIMED | 1);
	struct frontend *frontend;
	int status;
	pid_t pid;

	(void)state;
	refusals = tracee_share(sizeof(*refusals));
	program = tracee_share(sizeof(*program));
	pid = tracee_fork(program_main, NULL);
	tracee_await(&program->ready, 1);
	frontend = frontend_attach(&pid, 1);
	assert_true(frontend->started);
	channel_send(&frontend->channel, WIRE_SITES, &site, sizeof(site));
	frontend_until(frontend, program_has_int3(pid));
	__atomic_store_n(&refusals->tracer, frontend->tracer.pid,
			 __ATOMIC_RELEASE);
	channel_send(&frontend->channel, WIRE_STOP, NULL, 0);
	frontend_until(frontend, frontend->detached);
	assert_non_null(
		strstr(frontend->note, "1 breakpoint could not be removed"));
	assert_true(refusals->count > 0);
	frontend_end(frontend);
	while (program_has_int3(pid))
		usleep(1000);
	tracee_tell(&program->over, 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), STATUS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_cannot_be_removed_is_left_to_the_guardian),
	};

	if (argc > 3 && strcmp(argv[1], "--child") == 0)
		return child_main(atoi(argv[2]), atoi(argv[3]));
	tracee_lock_registers();
	return cmocka_run_group_tests_name("unrestored", tests, NULL, NULL);
}
