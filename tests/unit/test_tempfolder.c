/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/hunt/tempfolder.c: where the folder is, and that it goes in any case. */
#include "hunt/tempfolder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

static char base[] = "/tmp/racewatch-test.XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(base) && setenv("TMPDIR", base, 1) == 0 ? 0 : -1;
}

/* It fails unless everything in it is gone. */
static int tear_down(void **state)
{
	(void)state;
	return rmdir(base);
}

static void put_file(const char *folder)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/trace.1", folder);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void it_is_in_tmpdir_and_goes(void **state)
{
	struct tempfolder tempfolder;
	char path[256];

	(void)state;
	assert_null(tempfolder_make("hunt", &tempfolder));
	snprintf(path, sizeof(path), "%s", tempfolder.path);
	assert_int_equal(strncmp(path, base, strlen(base)), 0);
	assert_non_null(strstr(path, "/racewatch-hunt."));
	put_file(path);
	tempfolder_remove(&tempfolder);
	assert_int_equal(access(path, F_OK), -1);
	tempfolder_remove(&tempfolder);
}

static void it_goes_when_its_process_is_killed(void **state)
{
	int ends[2];
	char path[256], byte;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		struct tempfolder tempfolder;

		if (tempfolder_make("trace", &tempfolder))
			_exit(1);
		put_file(tempfolder.path);
		memset(path, 0, sizeof(path));
		snprintf(path, sizeof(path), "%s", tempfolder.path);
		if (write(ends[1], path, sizeof(path)) != sizeof(path))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	close(ends[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(read(ends[0], path, sizeof(path)), sizeof(path));
	/* the end of the pipe: the remover, which has it too, has ended */
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
	struct tempfolder tempfolder = { 0 };
	struct error *err;

	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	err = tempfolder_make("hunt", &tempfolder);
	setenv("TMPDIR", base, 1);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), "/nonexistent/"));
	error_free(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_in_tmpdir_and_goes),
		cmocka_unit_test(it_goes_when_its_process_is_killed),
		cmocka_unit_test(a_folder_that_cannot_be_made_is_named),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
