/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/base/truncated.c: what is lost of a mapped file is read as zeros, and
 * what is no private mapping of a file is left alone.
 */
#include "base/truncated.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, PAGES = 4 };

/* The handler is given nothing else. */
static sigjmp_buf refused;

static void bus_error(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (!truncated_fill(info))
		siglongjmp(refused, 1);
}

struct mapped {
	FILE *file;
	volatile uint8_t *bytes;
};

static void map(struct mapped *ret, int protection, int flags)
{
	/* cmocka has a handler of its own in each test */
	const struct sigaction ours = { .sa_sigaction = bus_error,
					.sa_flags = SA_NODEFER | SA_SIGINFO };
	uint8_t page[PAGE];

	sigaction(SIGBUS, &ours, NULL);
	memset(page, 7, sizeof(page));
	ret->file = tmpfile();
	assert_non_null(ret->file);
	for (int i = 0; i < PAGES; i++)
		assert_int_equal(fwrite(page, PAGE, 1, ret->file), 1);
	assert_int_equal(fflush(ret->file), 0);
	ret->bytes = mmap(NULL, (size_t)PAGES * PAGE, protection, flags,
			  fileno(ret->file), 0);
	assert_ptr_not_equal(ret->bytes, MAP_FAILED);
}

static void truncate_to(const struct mapped *mapped, int pages)
{
	assert_int_equal(ftruncate(fileno(mapped->file), (off_t)pages * PAGE),
			 0);
}

static void unmap(const struct mapped *mapped)
{
	munmap((void *)mapped->bytes, (size_t)PAGES * PAGE);
	fclose(mapped->file);
}

static void the_rest_is_zeros(void **state)
{
	unsigned int before = truncated_fills();
	struct mapped mapped;

	(void)state;
	map(&mapped, PROT_READ, MAP_PRIVATE);
	truncate_to(&mapped, 2);
	errno = ERANGE;
	assert_int_equal(mapped.bytes[2 * PAGE + 5], 0);
	assert_int_equal(errno, ERANGE);
	assert_int_equal(truncated_fills(), before + 1);
	/* all of it at once, and nothing before it */
	assert_int_equal(mapped.bytes[PAGES * PAGE - 1], 0);
	assert_int_equal(mapped.bytes[2 * PAGE - 1], 7);
	assert_int_equal(truncated_fills(), before + 1);
	/* more of it is lost: counted again */
	truncate_to(&mapped, 1);
	assert_int_equal(mapped.bytes[PAGE], 0);
	assert_int_equal(truncated_fills(), before + 2);
	assert_int_equal(mapped.bytes[0], 7);
	unmap(&mapped);
}

static void a_writable_mapping_stays_writable(void **state)
{
	struct mapped mapped;

	(void)state;
	map(&mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	mapped.bytes[0] = 1;
	truncate_to(&mapped, 1);
	assert_int_equal(mapped.bytes[PAGE], 0);
	mapped.bytes[PAGE] = 3;
	assert_int_equal(mapped.bytes[PAGE], 3);
	assert_int_equal(mapped.bytes[0], 1);
	unmap(&mapped);
}

/* Others see what is in it: it may not become ours. */
static void a_shared_mapping_is_refused(void **state)
{
	unsigned int before = truncated_fills();
	struct mapped mapped;

	(void)state;
	map(&mapped, PROT_READ, MAP_SHARED);
	truncate_to(&mapped, 1);
	if (sigsetjmp(refused, 1) == 0) {
		(void)mapped.bytes[PAGE];
		fail_msg("the read was answered");
	}
	assert_int_equal(truncated_fills(), before);
	unmap(&mapped);
}

/* What a handler is given that was called by other things. */
static bool fills(int code, const volatile void *address)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGBUS;
	info.si_code = code;
	info.si_addr = (void *)address;
	return truncated_fill(&info);
}

static void other_faults_are_refused(void **state)
{
	static const char own[] = "of the program";
	struct mapped mapped;
	char local = 1;

	(void)state;
	map(&mapped, PROT_READ, MAP_PRIVATE);
	assert_false(fills(SI_USER, mapped.bytes));
	assert_false(fills(BUS_ADRALN, mapped.bytes));
	assert_int_equal(mapped.bytes[0], 7);
	assert_false(fills(BUS_ADRERR, own));
	assert_int_equal(own[0], 'o');
	assert_false(fills(BUS_ADRERR, &local));
	assert_int_equal(local, 1);
	assert_false(fills(BUS_ADRERR, NULL));
	unmap(&mapped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rest_is_zeros),
		cmocka_unit_test(a_writable_mapping_stays_writable),
		cmocka_unit_test(a_shared_mapping_is_refused),
		cmocka_unit_test(other_faults_are_refused),
	};

	return cmocka_run_group_tests_name("truncated", tests, NULL, NULL);
}
