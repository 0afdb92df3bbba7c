/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/tablecache.c: the tables of a file are the same whether they are read
 * or were kept, and what is kept is not used if anything is wrong with it. The
 * file is the C library, which is large enough to be kept.
 */
#include "image/tablecache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cachefile.h"
#include "base/error.h"
#include "image/elffile.h"
#include "image/elftables.h"
#include "image/elftext.h"
#include "image/ranges.h"

/* What a kept file begins with, in words, and a function of it. */
enum {
	FORMAT = 1,
	KEY_BYTES = 120,
	WORD_FUNCTIONS = 15,
	WORD_PLT = 16,
	WORD_RSEQ = 17,
	WORD_FIRST = 18,
	FUNCTION_WORDS = 2,
};

static char caches[32], folder[48];
static const char *library;
static struct elffile *reference_file;
static struct elftables *reference;
static char name[160];

static void open_file(const char *path, struct elffile **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_null(elffile_open(fd, path, ret));
}

static struct elftables *read_tables(struct elffile **ret_file)
{
	struct elftables *tables;

	open_file(library, ret_file);
	assert_null(elftables_create(*ret_file, library, NULL, &tables));
	assert_null(elftables_read(tables));
	return tables;
}

/* What was read is kept then. */
static void close_tables(struct elftables *tables, struct elffile *file)
{
	elftables_destroy(tables);
	elffile_close(file);
}

/* It is read without a cache, once for all. */
static int set_up_all(void **state)
{
	Dl_info info;

	(void)state;
	assert_int_not_equal(dladdr((void *)(uintptr_t)getpid, &info), 0);
	library = strdup(info.dli_fname);
	assert_non_null(library);
	setenv("RACEWATCH_CACHE", "off", 1);
	reference = read_tables(&reference_file);
	assert_false(reference->kept);
	assert_true(reference->functions.count > 1000);
	assert_non_null(reference->build_id);
	snprintf(name, sizeof(name), "%s.tables", reference->build_id);
	return 0;
}

static int tear_down_all(void **state)
{
	(void)state;
	setenv("RACEWATCH_CACHE", "off", 1);
	close_tables(reference, reference_file);
	free((char *)(uintptr_t)library);
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(caches, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(caches));
	snprintf(folder, sizeof(folder), "%s/racewatch", caches);
	setenv("XDG_CACHE_HOME", caches, 1);
	unsetenv("RACEWATCH_CACHE");
	return 0;
}

static void kept_path(char path[256])
{
	snprintf(path, 256, "%s/%s", folder, name);
}

static int tear_down(void **state)
{
	char path[256];

	(void)state;
	kept_path(path);
	unlink(path);
	rmdir(folder);
	rmdir(caches);
	return 0;
}

static bool same_names(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static bool same_functions(const struct vec *one, const struct vec *other)
{
	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++) {
		const struct elf_function *a = vec_at(one, i);
		const struct elf_function *b = vec_at(other, i);

		if (a->start != b->start || a->size != b->size ||
		    a->ifunc != b->ifunc || a->initial != b->initial ||
		    !same_names(a->name, b->name))
			return false;
	}
	return true;
}

static bool same_ranges(const struct vec *one, const struct vec *other)
{
	return one->count == other->count &&
	       (one->count == 0 ||
		memcmp(one->items, other->items, one->count * one->size) == 0);
}

/* Are they those that were read without a cache? */
static bool are_right(const struct elftables *tables)
{
	return same_functions(&tables->functions, &reference->functions) &&
	       same_ranges(&tables->plt, &reference->plt) &&
	       same_ranges(&tables->rseq, &reference->rseq);
}

/* Read and keep them; were they kept before? They are right anyhow. */
static bool were_kept(void)
{
	struct elffile *file;
	struct elftables *tables = read_tables(&file);
	bool kept = tables->kept;

	assert_true(are_right(tables));
	close_tables(tables, file);
	return kept;
}

static void kept_tables_are_those_that_were_read(void **state)
{
	(void)state;
	assert_false(were_kept());
	assert_true(were_kept());
	assert_true(were_kept());
}

static void data_symbols_are_read_of_the_file(void **state)
{
	struct elffile *file;
	struct elftables *tables;

	(void)state;
	assert_false(were_kept());
	tables = read_tables(&file);
	assert_true(tables->kept);
	assert_false(tables->has_data);
	assert_null(elftables_data(tables));
	assert_true(tables->data.count > 0);
	close_tables(tables, file);
}

/* The words of what is kept; to be given back. */
static uint64_t *read_kept(size_t *ret_size)
{
	void *bytes;

	were_kept();
	assert_true(cachefile_read(name, FORMAT, &bytes, ret_size));
	return bytes;
}

/* Whole, with a checksum that is right; is it used? */
static bool is_used(const void *bytes, size_t size)
{
	cachefile_write(name, FORMAT, bytes, size);
	return were_kept();
}

/* It is not copied, which takes as long as all that is done with it. */
static void the_library_is_mapped(void **state)
{
	(void)state;
	if (reference_file->size <= 1 << 20)
		skip();
	assert_true(reference_file->fd >= 0);
	assert_non_null(reference_file->bytes);
}

static void what_is_written_as_it_was_is_used(void **state)
{
	size_t size;
	uint64_t *words = read_kept(&size);

	(void)state;
	assert_true(is_used(words, size));
	free(words);
}

static void those_of_other_files_are_not_used(void **state)
{
	size_t size;
	uint8_t *bytes = (uint8_t *)read_kept(&size);

	(void)state;
	/* twice or more in each word */
	for (size_t i = 0; i < KEY_BYTES; i += 3) {
		bytes[i] ^= 1;
		assert_false(is_used(bytes, size));
		bytes[i] ^= 1;
	}
	assert_true(is_used(bytes, size));
	free(bytes);
}

static void other_lengths_are_not_used(void **state)
{
	size_t size;
	uint64_t *words = read_kept(&size);

	(void)state;
	for (size_t cut = 0; cut < size; cut += size / 31 + 1)
		assert_false(is_used(words, cut));
	for (size_t cut = 0; cut < 192; cut += 8)
		assert_false(is_used(words, cut));
	for (size_t cut = 1; cut < 40; cut++)
		assert_false(is_used(words, size - cut));
	free(words);
}

/* Is it used with another value in place of that word? */
static bool word_is_used(uint64_t *words, size_t size, size_t word,
			 uint64_t value)
{
	uint64_t before = words[word];
	bool used;

	words[word] = value;
	used = is_used(words, size);
	words[word] = before;
	return used;
}

static void other_counts_are_not_used(void **state)
{
	static const uint64_t values[] = { 0,	       1,
					   UINT32_MAX, UINT64_C(1) << 60,
					   UINT64_MAX, UINT64_MAX / 16 };
	size_t size;
	uint64_t *words = read_kept(&size);

	(void)state;
	for (size_t word = WORD_FUNCTIONS; word <= WORD_RSEQ; word++) {
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
			if (values[i] != words[word])
				assert_false(word_is_used(words, size, word,
							  values[i]));
		assert_false(word_is_used(words, size, word, words[word] + 1));
	}
	free(words);
}

/* Of a function: its start with some marks, its size and its name. */
static void functions_are_checked(void **state)
{
	size_t size;
	uint64_t *words = read_kept(&size);
	uint64_t count = words[WORD_FUNCTIONS];
	const uint64_t in_file = UINT64_C(1) << 54;

	(void)state;
	for (uint64_t i = 0; i < count; i += count / 7) {
		size_t start = WORD_FIRST + i * FUNCTION_WORDS;
		size_t rest = start + 1;
		uint64_t marks = words[start] & ~(in_file - 1);
		uint64_t next = i + 1 < count ? words[start + FUNCTION_WORDS]
					      : UINT64_MAX;

		/* no code is there */
		assert_false(word_is_used(words, size, start, 0));
		assert_false(word_is_used(words, size, start, marks));
		assert_false(word_is_used(words, size, start,
					  marks | (in_file - 1)));
		/* nothing, or more than there is */
		assert_false(word_is_used(words, size, rest,
					  words[rest] & ~(uint64_t)UINT32_MAX));
		assert_false(word_is_used(words, size, rest,
					  words[rest] | UINT32_MAX));
		/* a name that does not end in the file */
		assert_false(word_is_used(words, size, rest,
					  words[rest] | ~(uint64_t)UINT32_MAX));
		/* over the next, or behind it */
		if (next != UINT64_MAX)
			assert_false(word_is_used(words, size, start, next));
	}
	free(words);
}

static void functions_out_of_order_are_not_used(void **state)
{
	size_t size;
	uint64_t *words = read_kept(&size);
	uint64_t *first = words + WORD_FIRST;
	uint64_t one[FUNCTION_WORDS];

	(void)state;
	memcpy(one, first, sizeof(one));
	memcpy(first, first + FUNCTION_WORDS, sizeof(one));
	memcpy(first + FUNCTION_WORDS, one, sizeof(one));
	assert_false(is_used(words, size));
	free(words);
}

static void ranges_are_checked(void **state)
{
	size_t size;
	uint64_t *words = read_kept(&size);
	size_t plt = WORD_FIRST + words[WORD_FUNCTIONS] * FUNCTION_WORDS;

	(void)state;
	/* the C library has a PLT */
	assert_true(words[WORD_PLT] > 0);
	assert_false(word_is_used(words, size, plt, UINT64_MAX));
	assert_false(word_is_used(words, size, plt + 1, 0));
	assert_false(word_is_used(words, size, plt + 1, words[plt]));
	if (words[WORD_PLT] > 1)
		assert_false(word_is_used(words, size, plt + 1, UINT64_MAX));
	free(words);
}

static void damage_is_not_used(void **state)
{
	struct stat status;
	char path[256];

	(void)state;
	were_kept();
	kept_path(path);
	assert_int_equal(stat(path, &status), 0);
	for (off_t at = 0; at < status.st_size; at += status.st_size / 31) {
		int fd = open(path, O_RDWR | O_CLOEXEC);
		char byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		close(fd);
		assert_false(were_kept());
		assert_true(were_kept());
	}
	assert_int_equal(truncate(path, status.st_size / 2), 0);
	assert_false(were_kept());
	assert_int_equal(chmod(path, 0620), 0);
	assert_false(were_kept());
	assert_true(were_kept());
}

static void one_that_was_just_written_is_not_kept(void **state)
{
	struct elffile *file;
	struct elftables *tables;
	char path[256];

	(void)state;
	tables = read_tables(&file);
	file->settled = false;
	close_tables(tables, file);
	kept_path(path);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_new_file_is_not_settled(void **state)
{
	char path[64];
	struct elffile *file = NULL;
	struct error *err;
	struct stat status;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/new", caches);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, reference_file->bytes, 4096), 4096);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	err = elffile_open(fd, path, &file);
	assert_int_equal(unlink(path), 0);
	assert_null(err);
	/* unless this took seconds */
	if (time(NULL) - status.st_ctim.tv_sec < 3)
		assert_false(file->settled);
	elffile_close(file);
}

/* Files of that size, of the same build id, which say nothing. */
static bool keeps_files_of(size_t size)
{
	struct vec functions = VEC_INIT(struct elf_function),
		   plt = VEC_INIT(struct code_range),
		   rseq = VEC_INIT(struct code_range);
	const struct elffile file = {
		.bytes = reference_file->bytes,
		.size = size,
		.stamp = { .inode = 1 },
		.settled = true,
	};
	const struct table_source source = {
		.build_id = reference->build_id,
		.file = &file,
		.functions = &functions,
		.plt = &plt,
		.rseq = &rseq,
	};
	char path[256];

	kept_path(path);
	table_cache_save(&source);
	return access(path, F_OK) == 0;
}

static void small_files_are_not_kept(void **state)
{
	(void)state;
	assert_false(keeps_files_of(1000));
	assert_true(keeps_files_of(1 << 20));
}

/* Those that read, write and delete it at the same time all get the same. */
static void read_often(bool deletes)
{
	char path[256];

	kept_path(path);
	for (int i = 0; i < 25; i++) {
		struct elffile *file;
		struct elftables *tables = read_tables(&file);
		bool right = are_right(tables);

		close_tables(tables, file);
		if (!right)
			_exit(1); /* exit-allowed: a child of the test */
		if (deletes)
			unlink(path);
	}
	_exit(0); /* exit-allowed: a child of the test */
}

static void runs_share_it(void **state)
{
	enum { RUNS = 4 };
	pid_t runs[RUNS];

	(void)state;
	for (int i = 0; i < RUNS; i++) {
		runs[i] = fork();
		assert_true(runs[i] >= 0);
		if (runs[i] == 0)
			read_often(i % 2 == 0);
	}
	for (int i = 0; i < RUNS; i++) {
		int status;

		assert_int_equal(waitpid(runs[i], &status, 0), runs[i]);
		assert_int_equal(status, 0);
	}
	were_kept();
	assert_true(were_kept());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kept_tables_are_those_that_were_read),
		TEST(data_symbols_are_read_of_the_file),
		TEST(the_library_is_mapped),
		TEST(what_is_written_as_it_was_is_used),
		TEST(those_of_other_files_are_not_used),
		TEST(other_lengths_are_not_used),
		TEST(other_counts_are_not_used),
		TEST(functions_are_checked),
		TEST(functions_out_of_order_are_not_used),
		TEST(ranges_are_checked),
		TEST(damage_is_not_used),
		TEST(one_that_was_just_written_is_not_kept),
		TEST(a_new_file_is_not_settled),
		TEST(small_files_are_not_kept),
		TEST(runs_share_it),
	};

	umask(022);
	return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
