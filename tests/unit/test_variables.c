/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/variables.c: names of bytes of the samples' variables, and the
 * regions of our own memory.
 */
#include "image/variables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "image/image.h"
#include "sample.h"

/* Bytes of a symbol and what they are to be called. */
struct expected {
	const char *symbol;
	uint64_t offset;
	uint32_t size;
	const char *name;
	const char *type;
	const char *container;
	uint64_t inner;
};

static const struct expected c_names[] = {
	{ "counter", 0, 4, "counter", "uint32_t", NULL, 0 },
	{ "counter", 2, 1, "counter", "uint32_t", NULL, 2 },
	{ "shards", 56, 8, "shards[1].used", "long int", "struct shard", 0 },
	{ "shards", 3 * 48 + 12, 2, "shards[3].used", "long int",
	  "struct shard", 4 },
	{ "shards", 20, 4, "shards[0].high", "int", "struct shard", 0 },
	{ "shards", 24, 8, "shards[0].word", "uint64_t", "struct shard", 0 },
	{ "shards", 32, 1, "shards[0].tag.name[0]", "char", "struct shard", 0 },
	{ "shards", 40, 4, "shards[0].tag.name[8..11]", "char[16]",
	  "struct shard", 0 },
	{ "shards", 48, 48, "shards[1]", "struct shard", "struct shard", 0 },
	{ "shards", 0, 96, "shards[0..1]", "struct shard[8]", NULL, 0 },
	{ "shards", 0, 16, "shards[0].{capacity,used}", "struct shard",
	  "struct shard", 0 },
	{ "state", 0, 4, "state.{busy,level,rest}", "struct bits",
	  "struct bits", 0 },
	{ "state", 0, 1, "state.{busy,level}", "struct bits", "struct bits",
	  0 },
	{ "state", 2, 2, "state.rest", "unsigned int", "struct bits", 1 },
	{ "state", 4, 1, "state.plain", "unsigned char", "struct bits", 0 },
	{ "matrix", 0, 4, "matrix[0][0][0]", "int", NULL, 0 },
	{ "matrix", 140, 4, "matrix[1][3][0]", "int", NULL, 0 },
	{ "matrix", 236, 4, "matrix[2][3][4]", "int", NULL, 0 },
	{ "matrix", 20, 8, "matrix[0][1][0..1]", "int[3][4][5]", NULL, 0 },
	{ "origin", 4, 4, "origin.y", "int", "point", 0 },
	{ "origin", 0, 8, "origin", "point", "point", 0 },
	{ "tail", 8, 4, "tail.items[1]", "int", "struct tail", 0 },
	{ "flag", 0, 4, "flag", "volatile int", NULL, 0 },
	{ "private_name", 0, 8, "private_name", "const char *", NULL, 0 },
	{ "last_id.0", 0, 4, "next_id::last_id", "int", NULL, 0 },
};

/* DWARF 4 does not know of _Atomic. */
static const struct expected atomic_names[] = {
	{ "mixed", 8, 8, "mixed.ticks", "_Atomic long int", NULL, 0 },
};

static const struct expected cxx_names[] = {
	{ "_ZN5outer5inner6nestedE", 0, 4, "outer::inner::nested", "int", NULL,
	  0 },
	{ "_ZN5outer7Derived5totalE", 0, 8, "outer::Derived::total", "long int",
	  NULL, 0 },
	{ "_ZN5outer7Derived6modernE", 0, 4, "outer::Derived::modern", "int",
	  NULL, 0 },
	{ "_ZN5outer6objectE", 0, 8, "outer::object.base_field", "long int",
	  "Base", 0 },
	{ "_ZN5outer6objectE", 10, 2, "outer::object.own[1]", "short int",
	  "Derived", 0 },
	{ "_ZN12_GLOBAL__N_16hiddenE", 0, 4, "(anonymous namespace)::hidden",
	  "int", NULL, 0 },
	{ "_ZN4PoolIiE4usedE", 0, 8, "Pool<int>::used", "long int", NULL, 0 },
	{ "atomic_int", 0, 4, "atomic_int._M_i", "__int_type",
	  "__atomic_base<int>", 0 },
	{ "holder", 8, 8, "holder.ticks._M_i", "__int_type",
	  "__atomic_base<long int>", 0 },
	{ "numbers", 8, 8, "numbers.end()", "pointer", "_Vector_impl_data", 0 },
};

static void assert_text(const char *is, const char *wanted, const char *what)
{
	if (!wanted && !is)
		return;
	if (!wanted || !is || strcmp(is, wanted) != 0)
		fail_msg("%s: '%s' and not '%s'", what, is ? is : "(none)",
			 wanted ? wanted : "(none)");
}

static void check_names(const char *sample, const struct expected *expected,
			size_t count)
{
	char *path = sample_path(sample);
	struct image *image;

	assert_null(image_create_file(path, &image));
	for (size_t i = 0; i < count; i++) {
		uint64_t at = sample_symbol(path, expected[i].symbol).st_value;
		struct data_name name;

		assert_null(variables_name(image, 0, at + expected[i].offset,
					   expected[i].size, &name));
		assert_text(name.name, expected[i].name, expected[i].name);
		if (expected[i].type)
			assert_text(name.type, expected[i].type,
				    expected[i].name);
		if (expected[i].container)
			assert_text(name.container, expected[i].container,
				    expected[i].name);
		assert_int_equal(name.inner, expected[i].inner);
		assert_int_equal(name.offset, expected[i].offset);
		assert_int_equal(name.region, DATA_GLOBAL);
		assert_string_equal(name.module, path);
		assert_int_equal(name.module_offset, at + expected[i].offset);
		assert_true(name.line > 0);
		assert_non_null(strstr(name.file, "samples/data"));
		data_name_deinit(&name);
	}
	image_destroy(image);
	free(path);
}

static void c_variables_by_dwarf(void **state)
{
	(void)state;
	check_names("data.O0", c_names, sizeof(c_names) / sizeof(c_names[0]));
	check_names("data.O0", atomic_names, 1);
}

/* However and wherever the compiler and other tools have put the DWARF. */
static void debug_information_in_all_forms(void **state)
{
	static const char *const samples[] = {
		"data.dwarf4", "data.compressed", "data.split",
		"data.split4", "data.altered",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		check_names(samples[i], c_names,
			    sizeof(c_names) / sizeof(c_names[0]));
}

/* libdw reads .dwp files since 0.192; without them there are symbols. */
static void debug_information_in_a_package(void **state)
{
	char *path = sample_path("data.packaged");
	uint64_t at = sample_symbol(path, "shards").st_value;
	struct data_name name;
	struct image *image;

	(void)state;
	assert_null(image_create_file(path, &image));
	assert_null(variables_name(image, 0, at + 56, 8, &name));
	if (!name.type)
		assert_string_equal(name.name, "shards+56");
	else
		assert_string_equal(name.name, "shards[1].used");
	data_name_deinit(&name);
	image_destroy(image);
	free(path);
}

/* Some variables may be gone, or in parts; those that are there have names. */
static void optimized_programs(void **state)
{
	static const char *const samples[] = { "data.lto", "data.clang5" };
	static const struct expected some[] = {
		{ "shards", 56, 8, "shards[1].used", NULL, "struct shard", 0 },
		{ "state", 0, 1, "state.{busy,level}", "struct bits",
		  "struct bits", 0 },
		{ "matrix", 140, 4, "matrix[1][3][0]", "int", NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		check_names(samples[i], some, sizeof(some) / sizeof(some[0]));
}

static void cxx_variables_by_dwarf(void **state)
{
	(void)state;
	check_names("data_cxx.O0", cxx_names,
		    sizeof(cxx_names) / sizeof(cxx_names[0]));
}

static void symbol_and_offset_without_dwarf(void **state)
{
	char *path = sample_path("data.nodebug");
	uint64_t at = sample_symbol(path, "shards").st_value;
	struct data_name name;
	struct image *image;

	(void)state;
	assert_null(image_create_file(path, &image));
	assert_null(variables_name(image, 0, at + 56, 8, &name));
	assert_string_equal(name.name, "shards+56");
	assert_string_equal(name.symbol, "shards");
	assert_int_equal(name.offset, 56);
	assert_null(name.type);
	data_name_deinit(&name);
	assert_null(variables_name(image, 0, at, 8, &name));
	assert_string_equal(name.name, "shards");
	data_name_deinit(&name);
	image_destroy(image);
	free(path);
}

static void module_and_offset_when_stripped(void **state)
{
	char *path = sample_path("data.O0");
	char *stripped = sample_path("data.stripped");
	uint64_t at = sample_symbol(path, "shards").st_value;
	struct data_name name;
	struct image *image;

	(void)state;
	assert_null(image_create_file(stripped, &image));
	assert_null(variables_name(image, 0, at, 8, &name));
	assert_null(name.name);
	assert_int_equal(name.region, DATA_GLOBAL);
	assert_int_equal(name.module_offset, at);
	assert_string_equal(name.module, stripped);
	data_name_deinit(&name);
	image_destroy(image);
	free(stripped);
	free(path);
}

static enum data_region region_of(struct image *image, const void *at)
{
	struct data_name name;
	enum data_region region;

	assert_null(variables_name(image, 0, (uintptr_t)at, 4, &name));
	region = name.region;
	data_name_deinit(&name);
	return region;
}

static int own_variable;

static void regions_of_a_live_process(void **state)
{
	size_t small = 65536;
	size_t large = 4 << 20;
	int local = 0;
	void *shared = mmap(NULL, small, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* a hole on either side keeps the kernel from joining mappings */
	char *hole = mmap(NULL, large + 2 * small, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct image *image;
	bool changed;

	(void)state;
	assert_true(shared != MAP_FAILED && (void *)hole != MAP_FAILED);
	munmap(hole, small);
	munmap(hole + small + large, small);
	mprotect(hole + small, large, PROT_READ | PROT_WRITE);
	assert_null(image_create(getpid(), &image));
	assert_null(image_refresh(image, &changed));
	assert_int_equal(region_of(image, &own_variable), DATA_GLOBAL);
	assert_int_equal(region_of(image, &local), DATA_STACK);
	assert_int_equal(region_of(image, shared), DATA_MAPPING);
	assert_int_equal(region_of(image, hole + small), DATA_HEAP);
	assert_int_equal(region_of(image, (void *)16), DATA_UNKNOWN);
	image_destroy(image);
	munmap(shared, small);
	munmap(hole + small, large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c_variables_by_dwarf),
		cmocka_unit_test(debug_information_in_all_forms),
		cmocka_unit_test(debug_information_in_a_package),
		cmocka_unit_test(optimized_programs),
		cmocka_unit_test(cxx_variables_by_dwarf),
		cmocka_unit_test(symbol_and_offset_without_dwarf),
		cmocka_unit_test(module_and_offset_when_stripped),
		cmocka_unit_test(regions_of_a_live_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
