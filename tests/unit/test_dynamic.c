/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/sampling/dynamic.c on a library with many relocations: Capstone, which this
 * program is linked with. How often the file is asked for its size, which is a
 * system call each time, is counted (--wrap=fstat).
 */
#include "sampling/dynamic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <dlfcn.h>

#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/names.h"

/* Of Capstone, whose header is for src/x86 alone; not called. */
bool cs_support(int query);

int __wrap_fstat(int fd, struct stat *st);
int __real_fstat(int fd, struct stat *st);

static struct module module;
static unsigned int asked;

int __wrap_fstat(int fd, struct stat *st)
{
	asked++;
	return __real_fstat(fd, st);
}

static int begin(void **state)
{
	Dl_info info;

	(void)state;
	assert_int_not_equal(dladdr((void *)(uintptr_t)cs_support, &info), 0);
	assert_null(elftext_open(info.dli_fname, "capstone", &module.text));
	module.bias = 0x1000;
	module.start = module.bias;
	return 0;
}

static int end(void **state)
{
	(void)state;
	elftext_close(module.text);
	return 0;
}

static void slots_of_string_functions_are_found(void **state)
{
	struct vec slots = VEC_INIT(uint64_t);

	(void)state;
	assert_true(dynamic_string_slots(&module, &slots));
	assert_int_not_equal(slots.count, 0);
	for (size_t i = 0; i < slots.count; i++) {
		uint64_t slot = *(uint64_t *)vec_at(&slots, i) - module.bias;

		assert_true(
			rules_string_name(dynamic_slot_name(&module, slot)));
	}
	assert_null(dynamic_slot_name(&module, 1));
	vec_deinit(&slots);
}

/* It has some 77000 relocations, few of which have a symbol. */
static void the_file_is_not_asked_for_each_relocation(void **state)
{
	struct vec slots = VEC_INIT(uint64_t);

	(void)state;
	asked = 0;
	assert_true(dynamic_string_slots(&module, &slots));
	assert_int_not_equal(slots.count, 0);
	assert_true(asked < 100);
	vec_deinit(&slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_of_string_functions_are_found),
		cmocka_unit_test(the_file_is_not_asked_for_each_relocation),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
