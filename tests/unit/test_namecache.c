/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/image/namecache.c: names last as long as the files they are of. */
#include "image/namecache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cachefile.h"
#include "image/elffile.h"

static const char id[] = "0123456789abcdef";
static char caches[32];

static const struct elffile library = { .stamp = { 1, 2, 3, 4, 5, 6, 7 } };
static const struct elffile debug_file = { .stamp = { 1, 8, 3, 4, 5, 6, 7 } };

static const struct name_frame frames[] = {
	{ "inner", "a.c", 7, 3, true },
	{ "outer", NULL, 0, 0, false },
};

static int set_up(void **state)
{
	(void)state;
	strcpy(caches, "/tmp/racewatch-test.XXXXXX");
	assert_non_null(mkdtemp(caches));
	setenv("XDG_CACHE_HOME", caches, 1);
	unsetenv("RACEWATCH_CACHE");
	return 0;
}

static int tear_down(void **state)
{
	char path[96];

	(void)state;
	snprintf(path, sizeof(path), "%s/racewatch/%s.names", caches, id);
	unlink(path);
	snprintf(path, sizeof(path), "%s/racewatch", caches);
	rmdir(path);
	rmdir(caches);
	return 0;
}

static struct name_cache *open_cache(const struct elffile *file,
				     const struct elffile *debug)
{
	struct name_cache *cache;

	assert_null(name_cache_open(id, file, debug, &cache));
	assert_non_null(cache);
	return cache;
}

static void fill(void)
{
	struct name_cache *cache = open_cache(&library, &debug_file);

	assert_null(name_cache_add(cache, 0x1000, frames, 2));
	assert_null(name_cache_add(cache, 0x2000, frames + 1, 1));
	name_cache_close(cache);
}

/* Are there names for 0x1000, for these files? */
static bool knows(const struct elffile *file, const struct elffile *debug)
{
	struct name_cache *cache = open_cache(file, debug);
	size_t count;
	bool known = name_cache_find(cache, 0x1000, &count);

	name_cache_close(cache);
	return known;
}

static void names_come_back(void **state)
{
	const struct name_frame *found;
	struct name_cache *cache;
	size_t count;

	(void)state;
	fill();
	cache = open_cache(&library, &debug_file);
	found = name_cache_find(cache, 0x1000, &count);
	assert_non_null(found);
	assert_int_equal(count, 2);
	assert_string_equal(found[0].function, "inner");
	assert_string_equal(found[0].file, "a.c");
	assert_int_equal(found[0].line, 7);
	assert_int_equal(found[0].column, 3);
	assert_true(found[0].inlined);
	assert_string_equal(found[1].function, "outer");
	assert_null(found[1].file);
	assert_false(found[1].inlined);
	assert_non_null(name_cache_find(cache, 0x2000, &count));
	assert_int_equal(count, 1);
	assert_null(name_cache_find(cache, 0x1001, &count));
	name_cache_close(cache);
}

static void names_are_added_to_those_that_are_there(void **state)
{
	struct name_cache *cache;
	size_t count;

	(void)state;
	fill();
	cache = open_cache(&library, &debug_file);
	assert_null(name_cache_add(cache, 0x3000, frames, 2));
	name_cache_close(cache);
	cache = open_cache(&library, &debug_file);
	assert_non_null(name_cache_find(cache, 0x1000, &count));
	assert_non_null(name_cache_find(cache, 0x3000, &count));
	name_cache_close(cache);
}

static void other_files_have_other_names(void **state)
{
	struct elffile other = library;

	(void)state;
	fill();
	assert_true(knows(&library, &debug_file));
	assert_false(knows(&library, NULL));
	assert_false(knows(&library, &library));
	other.stamp.changed_ns++;
	assert_false(knows(&other, &debug_file));
	assert_false(knows(&debug_file, &library));
}

static void without_a_build_id_nothing_is_kept(void **state)
{
	const struct elffile memory = { .size = 1 };
	char longer[100];
	struct name_cache *cache;

	(void)state;
	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_null(name_cache_open(NULL, &library, NULL, &cache));
	assert_null(cache);
	assert_null(name_cache_open(longer, &library, NULL, &cache));
	assert_null(cache);
	assert_null(name_cache_open(id, &memory, NULL, &cache));
	assert_null(cache);
}

/* Each prefix of a file, with a checksum that fits. */
static void cut_contents_are_nothing(void **state)
{
	const char *name = "0123456789abcdef.names";
	uint8_t *whole;
	size_t size;

	(void)state;
	fill();
	assert_true(cachefile_read(name, 1, (void **)&whole, &size));
	for (size_t cut = 0; cut < size; cut++) {
		cachefile_write(name, 1, whole, cut);
		/* behind an entry that is whole, it may end */
		if (knows(&library, &debug_file))
			assert_true(cut == size - 1 - 5 - 16 - 16);
	}
	/* no number of frames is believed */
	memset(whole + 2 * sizeof(struct file_stamp) + 8, 0xff, 8);
	cachefile_write(name, 1, whole, size);
	assert_false(knows(&library, &debug_file));
	free(whole);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_come_back),
		TEST(names_are_added_to_those_that_are_there),
		TEST(other_files_have_other_names),
		TEST(without_a_build_id_nothing_is_kept),
		TEST(cut_contents_are_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
