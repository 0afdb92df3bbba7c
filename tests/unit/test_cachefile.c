/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/base/cachefile.c: what is written is read again, whole and ours or not at
 * all, whatever is in the folder and whoever else writes there.
 */
#include "base/cachefile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char caches[32], folder[48], path[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(caches, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(caches));
	snprintf(folder, sizeof(folder), "%s/racewatch", caches);
	snprintf(path, sizeof(path), "%s/file", folder);
	setenv("XDG_CACHE_HOME", caches, 1);
	unsetenv("RACEWATCH_CACHE");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	rmdir(folder);
	unlink(folder);
	rmdir(caches);
	return 0;
}

static bool reads(const char *wanted)
{
	void *bytes;
	size_t size;
	bool same;

	if (!cachefile_read("file", 1, &bytes, &size))
		return false;
	same = size == strlen(wanted) && memcmp(bytes, wanted, size) == 0;
	free(bytes);
	assert_true(same);
	return true;
}

static void put(const char *text)
{
	cachefile_write("file", 1, text, strlen(text));
}

static void what_was_written_is_read(void **state)
{
	(void)state;
	assert_false(reads(""));
	put("one");
	assert_true(reads("one"));
	put("another");
	assert_true(reads("another"));
	put("");
	assert_true(reads(""));
}

static void another_format_is_not_read(void **state)
{
	void *bytes;
	size_t size;

	(void)state;
	put("one");
	assert_false(cachefile_read("file", 2, &bytes, &size));
}

/* As the file is; another one may take its name. */
static void what_was_written_is_mapped(void **state)
{
	struct cachefile_map map;

	(void)state;
	assert_false(cachefile_map("file", 1, &map));
	put("one");
	assert_false(cachefile_map("file", 2, &map));
	assert_true(cachefile_map("file", 1, &map));
	put("another");
	assert_int_equal(map.size, 3);
	assert_int_equal((uintptr_t)map.bytes % 8, 0);
	assert_memory_equal(map.bytes, "one", 3);
	cachefile_unmap(&map);
	put("");
	assert_true(cachefile_map("file", 1, &map));
	assert_int_equal(map.size, 0);
	cachefile_unmap(&map);
}

static void what_is_damaged_is_not_mapped(void **state)
{
	struct cachefile_map map;
	int fd;

	(void)state;
	put("some text");
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "S", 1, lseek(fd, 0, SEEK_END) - 9), 1);
	close(fd);
	assert_false(cachefile_map("file", 1, &map));
}

static void damaged_files_are_replaced(void **state)
{
	struct stat status;

	(void)state;
	put("some text");
	assert_int_equal(stat(path, &status), 0);
	for (off_t at = 0; at < status.st_size; at++) {
		int fd = open(path, O_RDWR | O_CLOEXEC);
		char byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x20;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		close(fd);
		assert_false(reads("some text"));
		put("some text");
		assert_true(reads("some text"));
	}
	for (off_t size = 0; size < status.st_size; size++) {
		assert_int_equal(truncate(path, size), 0);
		assert_false(reads("some text"));
		put("some text");
	}
	assert_int_equal(truncate(path, status.st_size + 1), 0);
	assert_false(reads("some text"));
}

static void what_others_may_write_is_not_read(void **state)
{
	(void)state;
	put("text");
	chmod(path, 0620);
	assert_false(reads("text"));
	chmod(path, 0602);
	assert_false(reads("text"));
	chmod(path, 0600);
	assert_true(reads("text"));
	chmod(folder, 0770);
	assert_false(reads("text"));
	chmod(folder, 0707);
	assert_false(reads("text"));
	chmod(folder, 0700);
	assert_true(reads("text"));
}

/* Of the file, of its folder, of the folder of caches. */
static void what_others_own_is_not_read(void **state)
{
	const char *const owned[] = { path, folder, caches };

	(void)state;
	if (geteuid() != 0)
		skip();
	put("text");
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
		assert_int_equal(chown(owned[i], 65534, 65534), 0);
		assert_false(reads("text"));
		assert_int_equal(chown(owned[i], 0, 0), 0);
		assert_true(reads("text"));
	}
}

/* Root with somebody else's HOME. */
static void nothing_is_made_below_what_others_own(void **state)
{
	char made[64];

	(void)state;
	if (geteuid() != 0)
		skip();
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", caches, 1);
	assert_int_equal(chown(caches, 65534, 65534), 0);
	put("text");
	snprintf(made, sizeof(made), "%s/.cache", caches);
	assert_int_equal(access(made, F_OK), -1);
	assert_int_equal(chown(caches, 0, 0), 0);
}

static void links_are_not_followed(void **state)
{
	char other[64];

	(void)state;
	put("text");
	snprintf(other, sizeof(other), "%s/other", caches);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_false(reads("text"));
	put("new");
	assert_true(reads("new"));
	assert_int_equal(unlink(other), 0);
}

static void a_file_in_the_way_is_no_folder(void **state)
{
	int fd = open(folder, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	(void)state;
	close(fd);
	put("text");
	assert_false(reads("text"));
}

static void nowhere_without_a_folder(void **state)
{
	(void)state;
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	put("text");
	assert_false(reads("text"));
	setenv("XDG_CACHE_HOME", "relative", 1);
	put("text");
	assert_false(reads("text"));
	assert_int_equal(access("relative", F_OK), -1);
	setenv("XDG_CACHE_HOME", "/nowhere/at/all", 1);
	put("text");
	assert_false(reads("text"));
}

static void home_serves_without_xdg(void **state)
{
	char made[64];

	(void)state;
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", caches, 1);
	put("text");
	assert_true(reads("text"));
	snprintf(made, sizeof(made), "%s/.cache/racewatch/file", caches);
	assert_int_equal(unlink(made), 0);
	*strrchr(made, '/') = '\0';
	assert_int_equal(rmdir(made), 0);
	*strrchr(made, '/') = '\0';
	assert_int_equal(rmdir(made), 0);
}

static void off_is_off(void **state)
{
	(void)state;
	setenv("RACEWATCH_CACHE", "off", 1);
	put("text");
	assert_int_equal(access(folder, F_OK), -1);
	unsetenv("RACEWATCH_CACHE");
	put("text");
	setenv("RACEWATCH_CACHE", "off", 1);
	assert_false(reads("text"));
}

static void much_is_not_written(void **state)
{
	char *bytes = calloc(1, CACHEFILE_MAX + 1);

	(void)state;
	put("text");
	cachefile_write("file", 1, bytes, CACHEFILE_MAX + 1);
	assert_true(reads("text"));
	cachefile_write("file", 1, bytes, CACHEFILE_MAX);
	free(bytes);
	assert_false(
		!cachefile_read("file", 1, (void **)&bytes, &(size_t){ 0 }));
	free(bytes);
}

/* Different lengths of different letters, again and again. */
static void write_often(int letter)
{
	char bytes[4096];

	memset(bytes, letter, sizeof(bytes));
	for (int i = 0; i < 100; i++)
		cachefile_write("file", 1, bytes, (size_t)(letter - 'a') * 999);
}

static void readers_see_one_of_the_writers(void **state)
{
	pid_t writers[3];
	int ended = 0;

	(void)state;
	cachefile_write("file", 1, "", 0);
	for (int i = 0; i < 3; i++) {
		writers[i] = fork();
		if (writers[i] == 0) {
			write_often('b' + i);
			_exit(0); /* exit-allowed: a child of the test */
		}
	}
	while (ended < 3) {
		void *bytes;
		size_t size;

		assert_true(cachefile_read("file", 1, &bytes, &size));
		for (size_t i = 0; i < size; i++)
			assert_int_equal(((char *)bytes)[i],
					 'a' + (int)(size / 999));
		free(bytes);
		ended += waitpid(writers[ended], NULL, WNOHANG) > 0;
	}
}

static void the_oldest_go_first(void **state)
{
	static const char *const names[] = { "old", "older", "file" };
	static const time_t ages[] = { 200, 100, 300 };
	int fd;

	(void)state;
	for (int i = 0; i < 3; i++) {
		const struct timespec times[2] = { { ages[i], 0 },
						   { ages[i], 0 } };

		cachefile_write(names[i], 1, "12345678", 8);
		fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_int_equal(utimensat(fd, names[i], times, 0), 0);
		close(fd);
	}
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cachefile_prune(fd, 1000);
	assert_int_equal(faccessat(fd, "older", F_OK, 0), 0);
	cachefile_prune(fd, 200);
	assert_int_equal(faccessat(fd, "older", F_OK, 0), -1);
	assert_int_equal(faccessat(fd, "old", F_OK, 0), 0);
	cachefile_prune(fd, 100);
	assert_int_equal(faccessat(fd, "old", F_OK, 0), -1);
	assert_true(reads("12345678"));
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_written_is_read),
		TEST(another_format_is_not_read),
		TEST(what_was_written_is_mapped),
		TEST(what_is_damaged_is_not_mapped),
		TEST(damaged_files_are_replaced),
		TEST(what_others_may_write_is_not_read),
		TEST(what_others_own_is_not_read),
		TEST(nothing_is_made_below_what_others_own),
		TEST(links_are_not_followed),
		TEST(a_file_in_the_way_is_no_folder),
		TEST(nowhere_without_a_folder),
		TEST(home_serves_without_xdg),
		TEST(off_is_off),
		TEST(much_is_not_written),
		TEST(readers_see_one_of_the_writers),
		TEST(the_oldest_go_first),
	};

	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
