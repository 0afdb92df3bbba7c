/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/atomics.c: which code and which data of the samples is marked, at
 * -O0, where the bodies of atomic operations are functions, and at -O2, where
 * they are inlined.
 */
#include "image/atomics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "image/image.h"
#include "sample.h"

struct sample {
	char *path;
	struct image *image;
	struct module *module;
};

static void sample_open(struct sample *sample, const char *name)
{
	sample->path = sample_path(name);
	assert_null(image_create_file(sample->path, &sample->image));
	sample->module =
		*(struct module **)vec_at(image_modules(sample->image), 0);
}

static void sample_close(struct sample *sample)
{
	image_destroy(sample->image);
	free(sample->path);
}

/* How many bytes of the function are marked. */
static uint64_t marked(const struct sample *sample, const char *function)
{
	Elf64_Sym symbol = sample_symbol(sample->path, function);
	uint64_t count = 0;

	for (uint64_t i = 0; i < symbol.st_size; i++)
		count += atomics_code(sample->image, sample->module,
				      symbol.st_value + i,
				      true) == ATOMICS_CODE;
	return count;
}

static void assert_whole(const struct sample *sample, const char *function)
{
	assert_int_equal(marked(sample, function),
			 sample_symbol(sample->path, function).st_size);
}

static enum atomics_mark data_mark(const struct sample *sample,
				   const char *symbol, uint64_t offset)
{
	return atomics_data(sample->image, sample->module,
			    sample_symbol(sample->path, symbol).st_value +
				    offset);
}

static void check_code(const char *name)
{
	struct sample sample;

	sample_open(&sample, name);
	assert_true(marked(&sample, "_Z11atomic_loadv") > 0);
	assert_true(marked(&sample, "_Z12atomic_storei") > 0);
	assert_true(marked(&sample, "_Z12atomic_clearv") > 0);
	assert_int_equal(marked(&sample, "_Z10plain_loadv"), 0);
	assert_int_equal(marked(&sample, "_Z11plain_storei"), 0);
	sample_close(&sample);
}

static void inlined_bodies(void **state)
{
	(void)state;
	check_code("atomics_cxx.O0");
	check_code("atomics_cxx.O2");
}

static void real_bodies(void **state)
{
	struct sample sample;

	(void)state;
	sample_open(&sample, "atomics_cxx.O0");
	assert_whole(&sample, "_ZNKSt6atomicIbEcvbEv");
	assert_whole(&sample,
		     "_ZStanSt12memory_orderSt23__memory_order_modifier");
	sample_close(&sample);
}

static void real_bodies_by_symbol_alone(void **state)
{
	struct sample sample;

	(void)state;
	sample_open(&sample, "atomics_cxx.nodebug");
	assert_whole(&sample, "_ZNKSt6atomicIbEcvbEv");
	assert_int_equal(marked(&sample, "_Z10plain_loadv"), 0);
	sample_close(&sample);
}

static void c_data(void **state)
{
	struct sample sample;

	(void)state;
	sample_open(&sample, "data.O0");
	assert_int_equal(data_mark(&sample, "counter", 0), ATOMICS_NONE);
	assert_int_equal(data_mark(&sample, "flag", 0), ATOMICS_NONE);
	assert_int_equal(data_mark(&sample, "atomic_counter", 0), ATOMICS_TYPE);
	assert_int_equal(data_mark(&sample, "mixed", 0), ATOMICS_NONE);
	assert_int_equal(data_mark(&sample, "mixed", 4), ATOMICS_NONE);
	assert_int_equal(data_mark(&sample, "mixed", 8), ATOMICS_TYPE);
	assert_int_equal(data_mark(&sample, "pointer_to_volatile", 0),
			 ATOMICS_NONE);
	sample_close(&sample);
}

static void cxx_data(void **state)
{
	struct sample sample;

	(void)state;
	sample_open(&sample, "data_cxx.O0");
	assert_int_equal(data_mark(&sample, "atomic_int", 0), ATOMICS_TYPE);
	assert_int_equal(data_mark(&sample, "holder", 0), ATOMICS_NONE);
	assert_int_equal(data_mark(&sample, "holder", 8), ATOMICS_TYPE);
	assert_int_equal(data_mark(&sample, "_ZN5outer5inner6nestedE", 0),
			 ATOMICS_NONE);
	assert_int_equal(data_mark(&sample, "_ZGVZ7guardedB5cxx11vE5value", 0),
			 ATOMICS_GUARD);
	sample_close(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_bodies),
		cmocka_unit_test(real_bodies),
		cmocka_unit_test(real_bodies_by_symbol_alone),
		cmocka_unit_test(c_data),
		cmocka_unit_test(cxx_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
