/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rights of processes: read from /proc, taken on and given back.
 */
#include "base/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

static void status_is_parsed(void **state)
{
	struct rights rights;

	(void)state;
	assert_null(
		rights_parse("Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n"
			     "Groups:\t10 20 30 \nCapEff:\t00000000000000ff\n",
			     &rights));
	assert_true(rights.foreign);
	assert_int_equal(rights.uid, 4);
	assert_int_equal(rights.gid, 8);
	assert_int_equal(rights.group_count, 3);
	assert_int_equal(rights.groups[2], 30);
	assert_int_equal(rights.capabilities, 0xff);
}

static void what_is_strange_is_refused(void **state)
{
	static const char *const strange[] = {
		"",
		"Uid:\t1\t2\t3\t4\n",
		"\nUid:\t1\t2\t3\nGid:\t5\t6\t7\t8\nCapEff:\t0\n",
		"\nUid:\tx\nGid:\t5\t6\t7\t8\nCapEff:\t0\n",
		"\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n",
	};
	struct rights rights;

	(void)state;
	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		struct error *err = rights_parse(strange[i], &rights);

		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_FORMAT);
		error_free(err);
	}
}

static void no_more_groups_than_fit(void **state)
{
	char text[4096] = "\nUid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\nCapEff:\t0\n"
			  "Groups:\t";
	struct rights rights;

	(void)state;
	for (int i = 0; i < 2 * RIGHTS_GROUPS_MAX; i++)
		sprintf(text + strlen(text), "%d ", i);
	strcat(text, "\n");
	assert_null(rights_parse(text, &rights));
	assert_int_equal(rights.group_count, RIGHTS_GROUPS_MAX);
}

static void ours_are_our_own(void **state)
{
	struct rights_saved saved;
	struct rights rights;

	(void)state;
	assert_null(rights_of(getpid(), &rights));
	assert_false(rights.foreign);
	assert_false(rights_differ(&rights));
	assert_null(rights_assume(&rights, &saved));
	assert_true(rights_restore(&saved));
}

static void a_process_that_has_gone_has_none(void **state)
{
	struct rights rights;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_ptr_equal(rights_of(pid, &rights), error_gone);
}

/* A child of another user, stopped; killed by the caller. */
static pid_t stranger(void)
{
	gid_t groups[] = { 65533 };
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		if (setgroups(1, groups) < 0 || setgid(65534) < 0 ||
		    setuid(65534) < 0)
			_exit(1);
		(void)!write(fds[1], "x", 1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static int open_code(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void those_of_others_are_taken_on_and_given_back(void **state)
{
	char path[] = "/tmp/racewatch-rights.XXXXXX", root[64];
	struct rights_saved saved;
	struct rights rights;
	pid_t pid;
	int fd;

	(void)state;
	if (geteuid() != 0)
		skip();
	fd = mkstemp(path);
	assert_true(fd >= 0);
	pid = stranger();
	assert_null(rights_of(pid, &rights));
	assert_true(rights.foreign);
	assert_true(rights_differ(&rights));
	assert_int_equal(rights.uid, 65534);
	assert_null(rights_assume(&rights, &saved));
	assert_int_equal(open_code(path), EACCES);
	/* CAP_SYS_PTRACE opens this, whatever the user is */
	snprintf(root, sizeof(root), "/proc/%d/root/proc", (int)getppid());
	assert_int_equal(open_code(root), EACCES);
	assert_true(rights_restore(&saved));
	assert_int_equal(open_code(path), 0);
	assert_int_equal(open_code(root), 0);
	/* by a group */
	assert_int_equal(fchown(fd, 0, 65533), 0);
	assert_int_equal(fchmod(fd, 0640), 0);
	assert_null(rights_assume(&rights, &saved));
	assert_int_equal(open_code(path), 0);
	assert_true(rights_restore(&saved));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_is_parsed),
		cmocka_unit_test(what_is_strange_is_refused),
		cmocka_unit_test(no_more_groups_than_fit),
		cmocka_unit_test(ours_are_our_own),
		cmocka_unit_test(a_process_that_has_gone_has_none),
		cmocka_unit_test(those_of_others_are_taken_on_and_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
