/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes with the same program at the same addresses: a fork child is one,
 * what has become another program is not.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/layout.h"

/* A child that does `begin`, says so, and waits to be killed. */
static pid_t child_start(void (*begin)(void))
{
	int said[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(said), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (begin)
			begin();
		if (write(said[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(said[1]);
	assert_int_equal(read(said[0], &byte, 1), 1);
	close(said[0]);
	return pid;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_fork_child_is_the_same(void **state)
{
	pid_t pid = child_start(NULL);

	(void)state;
	assert_true(layout_same(getpid(), pid));
	assert_true(layout_same(pid, getpid()));
	child_end(pid);
}

/* Our own text, which is the first that is executable, at another place too. */
static void map_elsewhere(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned long start, end, offset;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx r-xp %lx", &start, &end, &offset) !=
		    3)
			continue;
		if (mmap(NULL, end - start, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			 file, (off_t)offset) == MAP_FAILED)
			_exit(1);
		return;
	}
	_exit(1);
}

static void the_same_file_elsewhere_is_not(void **state)
{
	pid_t pid = child_start(map_elsewhere);

	(void)state;
	assert_false(layout_same(getpid(), pid));
	child_end(pid);
}

/* An anonymous page that is executable is of no file. */
static void map_anonymous(void)
{
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0) == MAP_FAILED)
		_exit(1);
}

static void memory_of_no_file_does_not_matter(void **state)
{
	pid_t pid = child_start(map_anonymous);

	(void)state;
	assert_true(layout_same(getpid(), pid));
	child_end(pid);
}

static void another_program_is_not(void **state)
{
	int in[2], out[2];
	pid_t pid;
	char byte;

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl("/bin/cat", "cat", (char *)NULL);
		_exit(127);
	}
	/* what comes back says that the program runs */
	assert_int_equal(write(in[1], "x", 1), 1);
	assert_int_equal(read(out[0], &byte, 1), 1);
	assert_false(layout_same(getpid(), pid));
	child_end(pid);
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
}

static void who_is_gone_is_nobodys_like(void **state)
{
	pid_t pid = child_start(NULL);

	(void)state;
	child_end(pid);
	assert_false(layout_same(getpid(), pid));
	assert_false(layout_same(pid, getpid()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fork_child_is_the_same),
		cmocka_unit_test(the_same_file_elsewhere_is_not),
		cmocka_unit_test(memory_of_no_file_does_not_matter),
		cmocka_unit_test(another_program_is_not),
		cmocka_unit_test(who_is_gone_is_nobodys_like),
	};

	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
