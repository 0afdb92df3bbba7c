/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/base/outputfile.c: what is opened, how, and what is refused untouched.
 */
#include "base/outputfile.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

static char folder[64];

/* A reader opens the FIFO at the wait that has this number; 0: no reader does. */
static int waits, reader_at, reader = -1;

int __wrap_poll(struct pollfd *files, nfds_t count, int ms);

/* Nobody really waits. */
int __wrap_poll(struct pollfd *files, nfds_t count, int ms)
{
	(void)files;
	assert_int_equal(count, 0);
	assert_in_range(ms, 1, 100);
	if (++waits == reader_at)
		reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/racewatch-outputfile.XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = { "file", "link", "fifo" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
	return chdir("/") || rmdir(folder);
}

static void write_text(const char *path, enum outputfile_mode mode,
		       const char *text)
{
	struct error *err;
	FILE *file;

	err = outputfile_open(path, mode, &file);
	if (err)
		fail_msg("%s", error_message(err));
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void refused(const char *path, const char *words)
{
	struct error *err;
	FILE *file;

	err = outputfile_open(path, OUTPUTFILE_NEW, &file);
	assert_non_null(err);
	assert_int_equal(strncmp(error_message(err), path, strlen(path)), 0);
	if (!strstr(error_message(err), words))
		fail_msg("'%s' lacks '%s'", error_message(err), words);
	error_free(err);
}

static void file_has(const char *text)
{
	FILE *file = fopen("file", "r");
	char found[64] = "";

	assert_non_null(file);
	assert_int_equal(fread(found, 1, sizeof(found) - 1, file),
			 strlen(text));
	assert_string_equal(found, text);
	fclose(file);
}

static void a_file_is_emptied_or_appended_to(void **state)
{
	mode_t mask = umask(027);
	struct stat status;

	(void)state;
	write_text("file", OUTPUTFILE_NEW, "long before");
	umask(mask);
	assert_int_equal(stat("file", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	write_text("file", OUTPUTFILE_NEW, "a");
	file_has("a");
	write_text("file", OUTPUTFILE_APPEND, "b");
	file_has("ab");
	write_text("/dev/null", OUTPUTFILE_NEW, "c");
}

static void a_link_is_followed_where_only_we_write(void **state)
{
	(void)state;
	write_text("file", OUTPUTFILE_NEW, "before");
	assert_int_equal(symlink("file", "link"), 0);
	write_text("link", OUTPUTFILE_NEW, "a");
	file_has("a");
	assert_int_equal(chmod(folder, 01777), 0);
	refused("link", "a symbolic link in a folder that others");
	file_has("a");
	/* what no name leads out of is fine there */
	write_text("file", OUTPUTFILE_NEW, "b");
	file_has("b");
}

static void a_file_of_another_user_is_refused_in_tmp(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return;
	write_text("file", OUTPUTFILE_NEW, "before");
	assert_int_equal(chown("file", 65534, 65534), 0);
	write_text("file", OUTPUTFILE_NEW, "a");
	/* fs.protected_regular refuses it in a folder with the sticky bit */
	assert_int_equal(chmod(folder, 0777), 0);
	refused("file", "a file of another user");
	file_has("a");
	/* that of the folder's owner is not refused */
	assert_int_equal(chown(folder, 65534, 65534), 0);
	write_text("file", OUTPUTFILE_NEW, "b");
	file_has("b");
}

/* Its reader may be starting; it is not waited for for ever. */
static void a_fifo_needs_a_reader(void **state)
{
	char found[8] = "";
	FILE *file;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	waits = reader_at = 0;
	refused("fifo", "nobody reads this FIFO");
	assert_in_range(waits, 2, 1000);
	reader_at = waits;
	waits = 0;
	assert_null(outputfile_open("fifo", OUTPUTFILE_NEW, &file));
	assert_int_equal(waits, reader_at);
	/* a reader who is slow is waited for, in the middle of a report */
	assert_int_equal(fcntl(fileno(file), F_GETFL) & O_NONBLOCK, 0);
	fputs("a", file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(read(reader, found, sizeof(found)), 1);
	close(reader);
}

static void what_is_not_there_is_named(void **state)
{
	(void)state;
	refused("none/file", "No such file");
	refused(folder, "directory");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_emptied_or_appended_to),
		TEST(a_link_is_followed_where_only_we_write),
		TEST(a_file_of_another_user_is_refused_in_tmp),
		TEST(a_fifo_needs_a_reader),
		TEST(what_is_not_there_is_named),
	};

	return cmocka_run_group_tests_name("outputfile", tests, NULL, NULL);
}
