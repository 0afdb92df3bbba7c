/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/atomicline.c: which names are atomic loads and stores, and that
 * atomics_code() marks the code of such lines and no other.
 */
#include "image/atomicline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "image/atomics.h"
#include "image/image.h"
#include "sample.h"

static unsigned int names_at(const char *line, size_t size, size_t column)
{
	struct ctoken word;

	return atomic_line_word(line, size, column, &word)
		       ? atomic_line_names(&word)
		       : ATOMIC_LINE_NONE;
}

static unsigned int names(const char *line)
{
	return names_at(line, strlen(line), 1);
}

static void names_are_whole_words(void **state)
{
	(void)state;
	assert_int_equal(names("atomic_load(&x)"), ATOMIC_LINE_LOAD);
	assert_int_equal(names("atomic_store_explicit (&x, 1, o)"),
			 ATOMIC_LINE_STORE);
	assert_int_equal(names("__atomic_load_n"), ATOMIC_LINE_LOAD);
	assert_int_equal(names("READ_ONCE(x)"), ATOMIC_LINE_LOAD);
	assert_int_equal(names("atomic_loaded(&x)"), ATOMIC_LINE_NONE);
	assert_int_equal(names("my_atomic_load(&x)"), ATOMIC_LINE_NONE);
	assert_int_equal(names(" atomic_load(&x)"), ATOMIC_LINE_NONE);
	assert_int_equal(names("atomic_"), ATOMIC_LINE_NONE);
	assert_int_equal(names(""), ATOMIC_LINE_NONE);
	assert_int_equal(names_at("atomic_load", 10, 1), ATOMIC_LINE_NONE);
}

static void the_column_says_which_word(void **state)
{
	const char line[] = "x = f(y) + atomic_load (&z)";
	size_t size = strlen(line);

	(void)state;
	for (size_t column = 0; column <= size + 1; column++) {
		bool here = column == 12 || column == 24;

		assert_int_equal(names_at(line, size, column),
				 here ? ATOMIC_LINE_LOAD : ATOMIC_LINE_NONE);
	}
	assert_int_equal(names("(&x)"), ATOMIC_LINE_NONE);
}

static void operations_that_read_and_write_are_not_meant(void **state)
{
	(void)state;
	assert_int_equal(names("atomic_fetch_add(&x, 1)"), ATOMIC_LINE_NONE);
	assert_int_equal(names("atomic_compare_exchange_strong(&x, &y, 1)"),
			 ATOMIC_LINE_NONE);
}

/* How many of the function's bytes have the mark. */
static unsigned int marked(const char *path, const char *function,
			   enum atomics_mark mark)
{
	Elf64_Sym symbol = sample_symbol(path, function);
	struct module *module;
	struct image *image;
	unsigned int count = 0;

	assert_null(image_create_file(path, &image));
	module = *(struct module **)vec_at(image_modules(image), 0);
	for (uint64_t i = 0; i < symbol.st_size; i++)
		count += atomics_code(image, module, symbol.st_value + i,
				      true) == mark;
	image_destroy(image);
	return count;
}

static bool all_marked(const char *path, const char *function,
		       enum atomics_mark mark)
{
	return marked(path, function, mark) ==
	       sample_symbol(path, function).st_size;
}

static void check_sample(const char *name)
{
	char *path = sample_path(name);

	assert_true(marked(path, "c_load", ATOMICS_LOAD) > 0);
	assert_true(marked(path, "c_store", ATOMICS_STORE) > 0);
	assert_true(marked(path, "builtin_load", ATOMICS_LOAD) > 0);
	assert_true(marked(path, "builtin_store", ATOMICS_STORE) > 0);
	assert_true(all_marked(path, "plain_load", ATOMICS_NONE));
	assert_true(all_marked(path, "expected_store", ATOMICS_NONE));
	free(path);
}

static void lines_name_operations(void **state)
{
	(void)state;
	check_sample("atomics_c.O0");
	check_sample("atomics_c.O2");
}

static void columns_of_brackets_count_too(void **state)
{
	char *path = sample_path("atomics_cxx.O2");

	(void)state;
	assert_true(marked(path, "_Z12builtin_loadPi", ATOMICS_LOAD) > 0);
	assert_true(all_marked(path, "_Z10plain_loadv", ATOMICS_NONE));
	free(path);
}

/* Older than its source, the program may come from other lines. */
static void newer_sources_are_no_evidence(void **state)
{
	char *path = sample_path("atomics_c.O2");
	size_t size;
	uint8_t *bytes = sample_read(path, &size);
	const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	char copy[] = "/tmp/racewatch-test.XXXXXX";
	int fd = mkstemp(copy);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_true(marked(copy, "c_load", ATOMICS_LOAD) > 0);
	assert_int_equal(futimens(fd, old), 0);
	assert_int_equal(marked(copy, "c_load", ATOMICS_LOAD), 0);
	close(fd);
	unlink(copy);
	free(bytes);
	free(path);
}

static enum atomics_missing missing(const char *path, const char *function,
				    bool writes)
{
	Elf64_Sym symbol = sample_symbol(path, function);
	enum atomics_missing found;
	struct image *image;

	assert_null(image_create_file(path, &image));
	found = atomics_missing(
		image, *(struct module **)vec_at(image_modules(image), 0),
		symbol.st_value, writes);
	image_destroy(image);
	return found;
}

/* The same of a copy that is older than its source. */
static enum atomics_missing missing_of_old(const char *name,
					   const char *function)
{
	const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	char copy[] = "/tmp/racewatch-test.XXXXXX";
	char *path = sample_path(name);
	enum atomics_missing found;
	size_t size;
	uint8_t *bytes = sample_read(path, &size);
	int fd = mkstemp(copy);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(futimens(fd, old), 0);
	found = missing(copy, function, false);
	close(fd);
	unlink(copy);
	free(bytes);
	free(path);
	return found;
}

static void says_what_is_missing(void **state)
{
	char *c = sample_path("atomics_c.O2");
	char *none = sample_path("atomics_cxx.nodebug");

	(void)state;
	assert_int_equal(missing(c, "plain_load", false), ATOMICS_MISS_NOTHING);
	assert_int_equal(missing_of_old("atomics_c.O2", "plain_load"),
			 ATOMICS_MISS_SOURCE);
	/* its atomic operations are functions */
	assert_int_equal(missing_of_old("atomics_cxx.O2", "_Z10plain_loadv"),
			 ATOMICS_MISS_NOTHING);
	assert_int_equal(missing(none, "_Z10plain_loadv", false),
			 ATOMICS_MISS_DEBUG);
	free(c);
	free(none);
}

/* A doubt about a load, or a store, somewhere in the function. */
static bool is_doubted(const char *path, const char *function, bool writes)
{
	Elf64_Sym symbol = sample_symbol(path, function);
	struct image *image;
	struct module *module;
	bool found = false;

	assert_null(image_create_file(path, &image));
	module = *(struct module **)vec_at(image_modules(image), 0);
	for (uint64_t i = 0; i < symbol.st_size; i++)
		found |= atomics_missing(image, module, symbol.st_value + i,
					 writes) == ATOMICS_MISS_MACRO;
	image_destroy(image);
	return found;
}

static void check_macros(const char *name)
{
	char *path = sample_path(name);

	assert_true(marked(path, "macro_load", ATOMICS_LOAD) > 0);
	assert_true(marked(path, "macro_store", ATOMICS_STORE) > 0);
	assert_true(marked(path, "checked_load", ATOMICS_LOAD) > 0);
	assert_true(all_marked(path, "plain_macro", ATOMICS_NONE));
	assert_true(all_marked(path, "mixed_macro", ATOMICS_NONE));
	assert_true(all_marked(path, "function_call", ATOMICS_NONE));
	assert_true(is_doubted(path, "mixed_macro", false));
	assert_false(is_doubted(path, "mixed_macro", true));
	assert_false(is_doubted(path, "plain_macro", false));
	assert_false(is_doubted(path, "macro_load", false));
	assert_false(is_doubted(path, "function_call", false));
	free(path);
}

/* By the sources, and by what -g3 says. */
static void macros_are_looked_into(void **state)
{
	(void)state;
	check_macros("atomics_macro.O0");
	check_macros("atomics_macro.O2");
	check_macros("atomics_macro.macros");
}

/* Its header is nowhere. */
static void macros_that_are_not_found_are_doubted(void **state)
{
	char *path = sample_path("atomics_macro.lost");

	(void)state;
	assert_true(all_marked(path, "macro_load", ATOMICS_NONE));
	assert_true(is_doubted(path, "macro_load", false));
	assert_true(is_doubted(path, "macro_store", true));
	assert_false(is_doubted(path, "function_call", false));
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_whole_words),
		cmocka_unit_test(the_column_says_which_word),
		cmocka_unit_test(operations_that_read_and_write_are_not_meant),
		cmocka_unit_test(lines_name_operations),
		cmocka_unit_test(columns_of_brackets_count_too),
		cmocka_unit_test(newer_sources_are_no_evidence),
		cmocka_unit_test(says_what_is_missing),
		cmocka_unit_test(macros_are_looked_into),
		cmocka_unit_test(macros_that_are_not_found_are_doubted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
