/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process that opens files: what it opens, with whose rights, and that it
 * is not waited for without a limit.
 */
#include "base/opener.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/rights.h"
#include "fuse-file.h"

static const uint64_t SHORT_NS = 200 * CLOCK_NS_PER_MS;
/* no waiting is as long as this, on however busy a machine */
static const uint64_t LONG_NS = 60 * CLOCK_NS_PER_S;

struct place {
	char folder[64];
	char path[96];
	struct opener *opener;
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));
	FILE *file;

	strcpy(place->folder, "/tmp/racewatch-opener.XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	assert_int_equal(chmod(place->folder, 0755), 0);
	snprintf(place->path, sizeof(place->path), "%s/file", place->folder);
	file = fopen(place->path, "w");
	assert_non_null(file);
	fputs("text", file);
	fclose(file);
	assert_null(opener_create(LONG_NS, &place->opener));
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	opener_destroy(place->opener);
	unlink(place->path);
	rmdir(place->folder);
	free(place);
	return 0;
}

/* 0, or the code; -1 for an error without one. */
static int try_open(struct opener *opener, const char *path,
		    const struct rights *rights, char *text, size_t size)
{
	const struct open_request request = { .path = path, .rights = rights };
	struct stat status;
	struct error *err;
	ssize_t n;
	int code, fd;

	err = opener_open(opener, &request, &fd, &status);
	if (err) {
		code = err->code ? err->code : -1;
		error_free(err);
		return code;
	}
	n = read(fd, text, size - 1);
	assert_true(n >= 0 && n == status.st_size);
	text[n] = '\0';
	close(fd);
	return 0;
}

static void a_file_is_opened(void **state)
{
	struct place *place = *state;
	char text[32];

	for (int i = 0; i < 3; i++) {
		assert_int_equal(try_open(place->opener, place->path, NULL,
					  text, sizeof(text)),
				 0);
		assert_string_equal(text, "text");
	}
	/* here, without a process */
	assert_int_equal(try_open(NULL, place->path, NULL, text, sizeof(text)),
			 0);
	assert_string_equal(text, "text");
}

static void what_is_not_there_is_an_error(void **state)
{
	struct place *place = *state;
	struct stat status;
	struct open_request request = { .path = "/nonexistent",
					.name = "a name" };
	struct error *err;
	int fd;

	err = opener_open(place->opener, &request, &fd, &status);
	assert_non_null(err);
	assert_int_equal(err->code, ENOENT);
	assert_string_equal(error_message(err),
			    "a name: No such file or directory");
	error_free(err);
	err = opener_stat(place->opener, &request, &status);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
	request.path = place->path;
	assert_null(opener_stat(place->opener, &request, &status));
	assert_int_equal(status.st_size, 4);
}

static void only_regular_files_are_opened(void **state)
{
	struct place *place = *state;
	struct open_request request = { .path = place->path };
	struct stat status;
	int fd;

	unlink(place->path);
	assert_int_equal(mkfifo(place->path, 0644), 0);
	for (int i = 0; i < 2; i++) {
		struct error *err = opener_open(i ? place->opener : NULL,
						&request, &fd, &status);

		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_FORMAT);
		assert_non_null(
			strstr(error_message(err), "not a regular file"));
		error_free(err);
	}
}

/* Of user 65534; nothing is in his group's name. */
static const struct rights stranger = { .foreign = true,
					.uid = 65534,
					.gid = 65534 };

static void rights_are_those_asked_for(void **state)
{
	struct place *place = *state;
	char text[32];

	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(place->path, 0600), 0);
	for (int i = 0; i < 2; i++) {
		struct opener *opener = i ? place->opener : NULL;

		assert_int_equal(try_open(opener, place->path, &stranger, text,
					  sizeof(text)),
				 EACCES);
		/* ours are there again */
		assert_int_equal(try_open(opener, place->path, NULL, text,
					  sizeof(text)),
				 0);
	}
	assert_int_equal(chown(place->path, stranger.uid, stranger.gid), 0);
	assert_int_equal(try_open(place->opener, place->path, &stranger, text,
				  sizeof(text)),
			 0);
}

static void a_file_system_that_hangs_is_given_up(void **state)
{
	static const uint32_t where[] = { FUSE_LOOKUP, FUSE_OPEN, FUSE_READ };
	uint64_t start = clock_now_ns();

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct fuse_file file;
		struct opener *opener;
		char path[96], text[32];

		if (!fuse_file_mount(&file, where[i]))
			skip();
		snprintf(path, sizeof(path), "%s/file", file.folder);
		assert_null(opener_create(SHORT_NS, &opener));
		assert_int_equal(try_open(opener, path, NULL, text, 32), -1);
		opener_destroy(opener);
		fuse_file_unmount(&file);
	}
	assert_true(clock_now_ns() - start < LONG_NS);
}

static void others_are_opened_after_that(void **state)
{
	struct place *place = *state;
	struct fuse_file file;
	struct opener *opener;
	char path[96], text[32];

	if (!fuse_file_mount(&file, FUSE_LOOKUP))
		skip();
	snprintf(path, sizeof(path), "%s/file", file.folder);
	assert_null(opener_create(LONG_NS / 15, &opener));
	assert_int_equal(try_open(opener, path, NULL, text, 32), -1);
	assert_int_equal(try_open(opener, place->path, NULL, text, 32), 0);
	/* but not for ever */
	for (int i = 1; i < OPENER_LOST_MAX; i++)
		assert_int_equal(try_open(opener, path, NULL, text, 32), -1);
	assert_int_equal(try_open(opener, place->path, NULL, text, 32), -1);
	opener_destroy(opener);
	fuse_file_unmount(&file);
}

static void a_served_file_is_a_copy(void **state)
{
	struct place *place = *state;
	struct open_request request;
	struct fuse_file file;
	struct stat status;
	char path[96], text[32] = "";
	int fd;

	if (!fuse_file_mount(&file, 0))
		skip();
	snprintf(path, sizeof(path), "%s/file", file.folder);
	request = (struct open_request){ .path = path };
	assert_null(opener_open(place->opener, &request, &fd, &status));
	/* the file's own number, which tells a mapped file */
	assert_int_equal(status.st_ino, 2);
	fuse_file_unmount(&file);
	assert_int_equal(read(fd, text, sizeof(text)),
			 (int)strlen(fuse_file_text));
	assert_string_equal(text, fuse_file_text);
	close(fd);
}

/* The process, by its name, among our children. */
static pid_t find_process(void)
{
	cleanup_closedir DIR *proc = opendir("/proc");
	struct dirent *entry;

	while ((entry = readdir(proc))) {
		int pid = atoi(entry->d_name), parent = 0;
		char path[64], name[64] = "", state;
		FILE *file;

		if (pid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%*d (%63[^)]) %c %d", name, &state,
			   &parent) == 3 &&
		    parent == getpid() && state != 'Z' &&
		    strcmp(name, "racewatch-files") == 0) {
			fclose(file);
			return pid;
		}
		fclose(file);
	}
	return 0;
}

static void one_that_was_killed_is_replaced(void **state)
{
	struct place *place = *state;
	char text[32];
	pid_t before, after;
	siginfo_t info;

	assert_int_equal(try_open(place->opener, place->path, NULL, text, 32),
			 0);
	before = find_process();
	assert_true(before > 0);
	kill(before, SIGKILL);
	/* it may answer until it has ended */
	assert_int_equal(waitid(P_PID, (id_t)before, &info, WEXITED | WNOWAIT),
			 0);
	try_open(place->opener, place->path, NULL, text, 32);
	assert_int_equal(try_open(place->opener, place->path, NULL, text, 32),
			 0);
	after = find_process();
	assert_true(after > 0 && after != before);
}

static void it_holds_nothing_of_ours(void **state)
{
	struct place *place = *state;
	struct opener *opener;
	char byte, text[32];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_null(opener_create(LONG_NS, &opener));
	close(fds[1]);
	/* the other one keeps no end either: it was made before */
	assert_int_equal(try_open(opener, place->path, NULL, text, 32), 0);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	opener_destroy(opener);
}

static void a_long_path_is_refused(void **state)
{
	struct place *place = *state;
	char text[32];
	char *path = malloc(1 << 20);

	memset(path, 'x', (1 << 20) - 1);
	path[(1 << 20) - 1] = '\0';
	assert_int_not_equal(try_open(place->opener, path, NULL, text, 32), 0);
	path[20000] = '\0';
	assert_int_not_equal(try_open(place->opener, path, NULL, text, 32), 0);
	free(path);
	assert_int_equal(try_open(place->opener, place->path, NULL, text, 32),
			 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_opened),
		TEST(what_is_not_there_is_an_error),
		TEST(only_regular_files_are_opened),
		TEST(rights_are_those_asked_for),
		TEST(a_file_system_that_hangs_is_given_up),
		TEST(others_are_opened_after_that),
		TEST(a_served_file_is_a_copy),
		TEST(one_that_was_killed_is_replaced),
		TEST(it_holds_nothing_of_ours),
		TEST(a_long_path_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
