/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/store/shared.c: a store keeps its command, word by word, and a piece of
 * work is locked by one descriptor at a time.
 */
#include "store/shared.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "store/store.h"

static const struct store_kind kind = {
	.name = "a test",
	.application = STORE_SWEEP,
	.version = 1,
	.schema = SHARED_COMMAND_TABLE,
};

static char path[] = "/tmp/test_shared.XXXXXX";
static struct store *store;

static int open_store(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	return store_open(path, &kind, &store) ? -1 : 0;
}

static int close_store(void **state)
{
	(void)state;
	store_close(store);
	unlink(path);
	strcpy(path + strlen(path) - 6, "XXXXXX");
	return 0;
}

static struct error *keep(const char *first, const char *second)
{
	char *command[] = { (char *)first, (char *)second, NULL };
	struct error *err = store_begin_write(store);

	return err ? err
		   : store_end(store,
			       shared_keep_command(store, command, "place"));
}

static void assert_other(struct error *err)
{
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_USAGE);
	assert_string_equal(err->message,
			    "is of another command; use another place");
	error_free(err);
}

static void test_command_is_kept(void **state)
{
	(void)state;
	assert_null(keep("make", "check"));
	assert_null(keep("make", "check"));
	assert_other(keep("make", "all"));
	assert_null(keep("make", "check"));
}

/* A command that begins like that of the store, or goes on, is another one. */
static void test_part_of_command(void **state)
{
	char *longer[] = { "make", "check", "all", NULL };
	struct error *err;

	(void)state;
	assert_null(keep("make", "check"));
	assert_other(keep("make", NULL));
	err = store_begin_write(store);
	assert_null(err);
	assert_other(
		store_end(store, shared_keep_command(store, longer, "place")));
}

static bool lock(int fd, uint64_t piece)
{
	bool locked = false;

	assert_null(shared_lock(fd, piece, &locked));
	return locked;
}

static void test_one_has_a_piece(void **state)
{
	int one = open(path, O_RDWR | O_CLOEXEC);
	int other = open(path, O_RDWR | O_CLOEXEC);

	(void)state;
	assert_true(one >= 0 && other >= 0);
	assert_true(lock(one, 1));
	assert_false(lock(other, 1));
	assert_true(lock(other, 2));
	assert_false(lock(one, 2));
	assert_null(shared_unlock(one, 1));
	assert_true(lock(other, 1));
	close(other);
	assert_true(lock(one, 2));
	close(one);
}

static void test_worker_has_a_number(void **state)
{
	struct shared_worker worker;
	const char *colon;

	(void)state;
	shared_worker_init(&worker);
	colon = strrchr(worker.name, ':');
	assert_non_null(colon);
	assert_int_equal(atoi(colon + 1), getpid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_command_is_kept,
						open_store, close_store),
		cmocka_unit_test_setup_teardown(test_part_of_command,
						open_store, close_store),
		cmocka_unit_test_setup_teardown(test_one_has_a_piece,
						open_store, close_store),
		cmocka_unit_test(test_worker_has_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
