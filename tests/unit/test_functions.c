/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/functions.c: symbols that overlap, nest, have several names or no
 * size, or lie outside of code. What .eh_frame adds is tested with whole
 * files, in test_elftext.c.
 */
#include "image/functions.h"
#include "image/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "image/elffile.h"
#include "image/elfsyms.h"
#include "image/elftext.h"

/* Code at 0x1000..0x2000, data after it. */
static uint8_t contents[8192];
static Elf64_Phdr segments[] = {
	{ .p_type = PT_LOAD,
	  .p_flags = PF_R | PF_X,
	  .p_vaddr = 0x1000,
	  .p_filesz = 0x1000,
	  .p_memsz = 0x1000 },
	{ .p_type = PT_LOAD,
	  .p_flags = PF_R | PF_W,
	  .p_offset = 0x1000,
	  .p_vaddr = 0x3000,
	  .p_filesz = 0x1000,
	  .p_memsz = 0x1000 },
};
static const struct elffile file = {
	.bytes = contents,
	.size = sizeof(contents),
	.fd = -1,
	.segments = segments,
	.segment_count = 2,
};

struct table {
	struct function_sources sources;
	struct vec plt;
	struct vec functions;
};

static void merge(struct table *table, const struct elf_symbol *symbols,
		  size_t count)
{
	table->sources.code = (struct vec)VEC_INIT(struct elf_symbol);
	table->sources.plt = &table->plt;
	table->functions = (struct vec)VEC_INIT(struct elf_function);
	for (size_t i = 0; i < count; i++)
		assert_true(vec_push(&table->sources.code, &symbols[i]));
	assert_true(functions_merge(&file, &table->sources, &table->functions));
}

static void table_init(struct table *table)
{
	memset(table, 0, sizeof(*table));
	table->plt = (struct vec)VEC_INIT(struct code_range);
}

static void table_deinit(struct table *table)
{
	vec_deinit(&table->sources.code);
	vec_deinit(&table->plt);
	vec_deinit(&table->functions);
}

static void assert_function(const struct table *table, size_t i, uint64_t start,
			    uint64_t size, const char *name)
{
	const struct elf_function *function;

	assert_true(i < table->functions.count);
	function = vec_at(&table->functions, i);
	assert_int_equal(function->start, start);
	assert_int_equal(function->size, size);
	assert_string_equal(function->name, name);
	assert_int_equal(function->initial, name[0]);
}

static void sorts_and_keeps_gaps(void **state)
{
	const struct elf_symbol symbols[] = {
		{ 0x1100, 0x10, "b", STT_FUNC, 0, 'b' },
		{ 0x1000, 0x10, "a", STT_FUNC, 0, 'a' },
		{ 0x1110, 0x10, "c", STT_FUNC, 0, 'c' },
	};
	struct table table;

	(void)state;
	table_init(&table);
	merge(&table, symbols, 3);
	assert_int_equal(table.functions.count, 3);
	assert_function(&table, 0, 0x1000, 0x10, "a");
	assert_function(&table, 1, 0x1100, 0x10, "b");
	assert_function(&table, 2, 0x1110, 0x10, "c");
	table_deinit(&table);
}

static void takes_the_best_name_and_the_largest_size(void **state)
{
	const struct elf_symbol symbols[] = {
		{ 0x1000, 0x10, "_poor", STT_FUNC, 1, '_' },
		{ 0x1000, 0x20, "_longer", STT_GNU_IFUNC, 2, '_' },
		{ 0x1000, 0, "good", STT_FUNC, 6, 'g' },
	};
	struct table table;

	(void)state;
	table_init(&table);
	merge(&table, symbols, 3);
	assert_int_equal(table.functions.count, 1);
	assert_function(&table, 0, 0x1000, 0x20, "good");
	assert_true(((struct elf_function *)table.functions.items)->ifunc);
	table_deinit(&table);
}

/* The same with 4000 symbols, which radix_sort() sorts. */
static void sorts_thousands_with_two_names_each(void **state)
{
	enum { FUNCTIONS = 2000 };
	static struct elf_symbol symbols[2 * FUNCTIONS];
	struct table table;

	(void)state;
	for (uint64_t i = 0; i < FUNCTIONS; i++) {
		/* 7 and FUNCTIONS have no common factor: each comes once */
		uint64_t start = 0x1000 + 2 * (7 * i % FUNCTIONS);

		symbols[i] = (struct elf_symbol){ start,    1, "poor",
						  STT_FUNC, 1, 'p' };
		symbols[2 * FUNCTIONS - 1 - i] = (struct elf_symbol){
			start, 2, "good", STT_FUNC, 2, 'g'
		};
	}
	table_init(&table);
	merge(&table, symbols, 2 * FUNCTIONS);
	assert_int_equal(table.functions.count, FUNCTIONS);
	for (size_t i = 0; i < FUNCTIONS; i++)
		assert_function(&table, i, 0x1000 + 2 * i, 2, "good");
	table_deinit(&table);
}

/* Nothing says that an instruction starts where an inner function ends. */
static void cuts_an_outer_function_at_an_inner_one(void **state)
{
	const struct elf_symbol symbols[] = {
		{ 0x1000, 0x100, "outer", STT_FUNC, 0, 'o' },
		{ 0x1040, 0x20, "inner", STT_FUNC, 0, 'i' },
		{ 0x1050, 0x80, "overlapping", STT_FUNC, 0, 'o' },
	};
	struct table table;

	(void)state;
	table_init(&table);
	merge(&table, symbols, 3);
	assert_int_equal(table.functions.count, 3);
	assert_function(&table, 0, 0x1000, 0x40, "outer");
	assert_function(&table, 1, 0x1040, 0x10, "inner");
	assert_function(&table, 2, 0x1050, 0x80, "overlapping");
	table_deinit(&table);
}

static void leaves_out_what_has_no_end_or_no_code(void **state)
{
	const struct elf_symbol symbols[] = {
		{ 0x1000, 0, "endless", STT_FUNC, 0, 'e' },
		{ 0x1ff0, 0x100, "last", STT_FUNC, 0, 'l' },
		{ 0x2000, 0x10, "after", STT_FUNC, 0, 'a' },
		{ 0x3000, 0x10, "data", STT_FUNC, 0, 'd' },
		{ 0x1f00, UINT64_MAX - 0x1f00, "huge", STT_FUNC, 0, 'h' },
	};
	struct table table;

	(void)state;
	table_init(&table);
	merge(&table, symbols, 5);
	assert_int_equal(table.functions.count, 2);
	assert_function(&table, 0, 0x1f00, 0xf0, "huge");
	assert_function(&table, 1, 0x1ff0, 0x10, "last");
	table_deinit(&table);
}

static void leaves_out_the_plt(void **state)
{
	const struct elf_symbol symbols[] = {
		{ 0x1000, 0x10, "before", STT_FUNC, 0, 'b' },
		{ 0x1010, 0x10, "stub", STT_FUNC, 0, 's' },
		{ 0x1030, 0x10, "after", STT_FUNC, 0, 'a' },
	};
	const struct code_range plt = { 0x1010, 0x1030 };
	struct table table;

	(void)state;
	table_init(&table);
	assert_true(vec_push(&table.plt, &plt));
	merge(&table, symbols, 3);
	assert_int_equal(table.functions.count, 2);
	assert_function(&table, 0, 0x1000, 0x10, "before");
	assert_function(&table, 1, 0x1030, 0x10, "after");
	table_deinit(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_and_keeps_gaps),
		cmocka_unit_test(takes_the_best_name_and_the_largest_size),
		cmocka_unit_test(sorts_thousands_with_two_names_each),
		cmocka_unit_test(cuts_an_outer_function_at_an_inner_one),
		cmocka_unit_test(leaves_out_what_has_no_end_or_no_code),
		cmocka_unit_test(leaves_out_the_plt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
