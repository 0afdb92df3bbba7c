/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/store: databases that are new, foreign, newer, damaged, shared; and each
 * system call and allocation of a transaction that fails, or that SIGKILL ends.
 */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "store/query.h"

static const struct store_kind kind = {
	.name = "a test's database",
	.application = STORE_STATE,
	.version = 3,
	.schema = "CREATE TABLE total (n INTEGER NOT NULL) STRICT;"
		  "CREATE TABLE part (n INTEGER NOT NULL, text TEXT) STRICT;"
		  "INSERT INTO total VALUES (0)",
};

static char folder[] = "/tmp/racewatch-store.XXXXXX";
static char path[64], journal[80];

/*
 * Faults. Of the system calls that change files, the one after fault_after
 * others fails once, with fault_code; 0: it is the process's last.
 */
static int fault_after = -1, fault_code;

static bool faulty(void)
{
	if (fault_after < 0 || fault_after-- > 0)
		return false;
	if (fault_code == 0)
		raise(SIGKILL);
	errno = fault_code;
	return true;
}

static ssize_t faulty_write(int fd, const void *bytes, size_t size)
{
	return faulty() ? -1 : write(fd, bytes, size);
}

static ssize_t faulty_pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	return faulty() ? -1 : pwrite(fd, bytes, size, at);
}

static int faulty_ftruncate(int fd, off_t size)
{
	return faulty() ? -1 : ftruncate(fd, size);
}

static int faulty_unlink(const char *name)
{
	return faulty() ? -1 : unlink(name);
}

/* SQLite calls this one directly: ours comes before the C library's. */
int fdatasync(int fd)
{
	return faulty() ? -1 : (int)syscall(SYS_fdatasync, fd);
}

static void replace_calls(void)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr call;
	} calls[] = {
		{ "write", (sqlite3_syscall_ptr)(void *)faulty_write },
		{ "pwrite", (sqlite3_syscall_ptr)(void *)faulty_pwrite },
		{ "pwrite64", (sqlite3_syscall_ptr)(void *)faulty_pwrite },
		{ "ftruncate", (sqlite3_syscall_ptr)(void *)faulty_ftruncate },
		{ "unlink", (sqlite3_syscall_ptr)(void *)faulty_unlink },
	};
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	assert_non_null(vfs);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		assert_int_equal(vfs->xSetSystemCall(vfs, calls[i].name,
						     calls[i].call),
				 SQLITE_OK);
}

static struct store *open_store(void)
{
	struct store *store = NULL;
	struct error *err = store_open(path, &kind, &store);

	if (err)
		fail_msg("%s", error_message(err));
	return store;
}

static uint64_t ask_number(struct store *store, const char *sql)
{
	struct query *query;
	uint64_t value;
	bool row;

	assert_null(query_prepare(store, sql, &query));
	assert_null(query_next(query, &row));
	assert_true(row);
	value = query_number(query, 0, INT64_MAX);
	query_free(query);
	return value;
}

/* What a transaction adds: a number and its row, large enough for many pages. */
static struct error *add_row(struct store *store)
{
	struct error *err = store_execute(store, "UPDATE total SET n = n + 1");

	return err ? err
		   : store_execute(store, "INSERT INTO part SELECT n,"
					  " hex(zeroblob(8000)) FROM total");
}

static struct error *add_one(struct store *store)
{
	struct error *err = store_begin_write(store);

	return err ? err : store_end(store, add_row(store));
}

static struct error *open_and_add(void)
{
	struct store *store;
	struct error *err = store_open(path, &kind, &store);

	if (err)
		return err;
	err = add_one(store);
	store_close(store);
	return err;
}

/* How many were added: total and rows agree, and SQLite finds no fault. */
static uint64_t added(void)
{
	struct store *store = open_store();
	uint64_t total = ask_number(store, "SELECT n FROM total");

	assert_int_equal(ask_number(store, "SELECT count(*) FROM part"), total);
	assert_int_equal(ask_number(store, "SELECT coalesce(max(n), 0) FROM "
					   "part"),
			 total);
	assert_int_equal(ask_number(store, "SELECT integrity_check = 'ok' FROM"
					   " pragma_integrity_check"),
			 1);
	store_close(store);
	return total;
}

static void put_file(const char *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static size_t get_file(char *bytes, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t n;

	assert_non_null(file);
	n = fread(bytes, 1, size, file);
	fclose(file);
	return n;
}

static void a_new_file_says_whose_it_is(void **state)
{
	struct store *store, *again = NULL;
	struct stat status;
	unsigned char bytes[100];
	mode_t mask = umask(002);

	(void)state;
	store = open_store();
	umask(mask);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0664);
	store_close(store);
	assert_int_equal(get_file((char *)bytes, sizeof(bytes)), 100);
	assert_memory_equal(bytes, "SQLite format 3", 16);
	assert_int_equal(bytes[63], 3);
	assert_memory_equal(bytes + 68, "RWst", 4);
	/* it is there once, and has what was put there */
	assert_null(open_and_add());
	assert_null(store_open_existing(path, &kind, &again));
	assert_non_null(again);
	assert_int_equal(ask_number(again, "SELECT n FROM total"), 1);
	store_close(again);
}

static void nothing_is_there_to_be_read(void **state)
{
	struct store *store = (struct store *)1;

	(void)state;
	assert_null(store_open_existing(path, &kind, &store));
	assert_null(store);
	assert_int_equal(access(path, F_OK), -1);
	put_file("", 0);
	store = (struct store *)1;
	assert_null(store_open_existing(path, &kind, &store));
	assert_null(store);
}

/* Both ways of opening say so, and the file's bytes stay. */
static void refused(const char *why)
{
	static char before[1 << 18], after[1 << 18];
	size_t size = get_file(before, sizeof(before));

	for (int i = 0; i < 2; i++) {
		struct store *store;
		struct error *err =
			i == 0 ? store_open(path, &kind, &store)
			       : store_open_existing(path, &kind, &store);

		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_FORMAT);
		assert_non_null(strstr(error_message(err), path));
		if (!strstr(error_message(err), why))
			fail_msg("%s", error_message(err));
		error_free(err);
		assert_int_equal(get_file(after, sizeof(after)), size);
		assert_memory_equal(before, after, size);
		assert_int_equal(access(journal, F_OK), -1);
	}
}

static void with_database(const char *sql)
{
	sqlite3 *database;

	unlink(path);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(database);
}

static void what_is_not_ours_is_left_alone(void **state)
{
	char bytes[1 << 16];
	size_t size;

	(void)state;
	put_file("#!/bin/sh\n", 10);
	refused("is not a test's database");
	put_file("SQLite format 3", 15);
	refused("is not a test's database");
	with_database("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)");
	refused("this database is not a test's database");
	with_database("PRAGMA application_id=0x52577377; PRAGMA user_version=3;"
		      "CREATE TABLE mine (x)");
	refused("this database is not a test's database");
	with_database("PRAGMA application_id=0x52577374; PRAGMA user_version=4;"
		      "CREATE TABLE mine (x)");
	refused("version 4");
	/* of a database, the start */
	unlink(path);
	assert_null(open_and_add());
	size = get_file(bytes, sizeof(bytes));
	assert_true(size > 8192);
	put_file(bytes, 600);
	refused("");
	/* its first page is no longer one */
	memset(bytes + 16, 0xff, 64);
	put_file(bytes, size);
	refused("");
}

static void what_is_no_regular_file_is_refused(void **state)
{
	static const char *const names[] = { "/dev/full", "/dev/null", "/tmp" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct store *store;
		struct error *err = store_open(names[i], &kind, &store);

		assert_non_null(err);
		assert_non_null(strstr(error_message(err), names[i]));
		error_free(err);
	}
}

/* Names that mean something else to SQLite. */
static void a_name_is_only_a_name(void **state)
{
	static const char *const names[] = { ":memory:", "file:x?mode=memory" };
	char before[4096];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct stat status;
		struct store *store;

		assert_null(store_open(names[i], &kind, &store));
		store_close(store);
		assert_int_equal(stat(names[i], &status), 0);
		assert_true(status.st_size > 0);
		assert_int_equal(unlink(names[i]), 0);
	}
	assert_int_equal(chdir(before), 0);
}

static void what_failed_is_undone(void **state)
{
	struct store *store = open_store();
	struct error *err;

	(void)state;
	assert_null(store_begin_write(store));
	assert_null(add_row(store));
	err = store_end(store, error_create(ERROR_OTHER, "x"));
	assert_string_equal(error_message(err), "x");
	error_free(err);
	assert_null(store_begin_write(store));
	assert_null(add_row(store));
	/* not ended */
	store_close(store);
	assert_int_equal(added(), 0);
}

static void numbers_and_texts_come_back(void **state)
{
	struct store *store = open_store();
	struct query *query;
	struct error *err;
	bool row;

	(void)state;
	assert_null(
		query_prepare(store, "SELECT ?, ?, ?, NULL, 'x', -1", &query));
	query_bind(query, 1, UINT64_MAX);
	query_bind(query, 2, 7);
	query_bind_text(query, 3, "caf\xe9");
	assert_null(query_next(query, &row));
	assert_true(row);
	assert_true(query_bits(query, 0) == UINT64_MAX);
	assert_int_equal(query_number(query, 1, 7), 7);
	assert_string_equal(query_text(query, 2), "caf\xe9");
	assert_null(query_text(query, 3));
	assert_int_equal(query_number(query, 3, 7), 0);
	assert_null(query_next(query, &row));
	assert_false(row);
	for (int column = 1; column <= 5; column += column == 1 ? 3 : 1) {
		assert_null(query_next(query, &row));
		assert_int_equal(query_number(query, column, 6), 0);
		err = query_next(query, &row);
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_FORMAT);
		assert_non_null(strstr(error_message(err), path));
		error_free(err);
	}
	query_bind(query, 9, 1);
	err = query_run(query);
	assert_non_null(err);
	error_free(err);
	query_free(query);
	err = query_prepare(store, "SELECT none", &query);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), "none"));
	error_free(err);
	store_close(store);
}

static void a_copy_is_of_one_moment(void **state)
{
	char copy[80];
	struct store *store = open_store(), *other = NULL;

	(void)state;
	snprintf(copy, sizeof(copy), "%s.copy", path);
	assert_null(add_one(store));
	assert_null(store_copy(store, copy));
	assert_null(add_one(store));
	store_close(store);
	assert_null(store_open_existing(copy, &kind, &other));
	assert_non_null(other);
	assert_int_equal(ask_number(other, "SELECT n FROM total"), 1);
	store_close(other);
	assert_int_equal(unlink(copy), 0);
}

/* The error names the file; all or nothing of the transaction is there. */
static void each_call_may_fail(void **state)
{
	static const int codes[] = { ENOSPC, EIO, EDQUOT };
	uint64_t before = 0, after;

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		bool left = true;
		int n;

		for (n = 0; left; n++) {
			struct error *err;

			assert_in_range(n, 0, 200);
			fault_code = codes[i];
			fault_after = n;
			err = open_and_add();
			left = fault_after < 0;
			fault_after = -1;
			after = added();
			assert_in_range(after, before, before + 1);
			if (!err)
				assert_int_equal(after, before + 1);
			else
				assert_non_null(
					strstr(error_message(err), path));
			error_free(err);
			before = after;
		}
		/* the journal and its header, the pages, and syncs */
		assert_true(n > 8);
	}
}

/* The first use, too: the file is one of ours, or as good as none. */
static void each_call_may_fail_in_a_new_file(void **state)
{
	bool left = true;

	(void)state;
	for (int n = 0; left; n++) {
		assert_in_range(n, 0, 200);
		unlink(path);
		unlink(journal);
		fault_code = ENOSPC;
		fault_after = n;
		error_free(open_and_add());
		left = fault_after < 0;
		fault_after = -1;
		assert_in_range(added(), 0, 1);
	}
}

/* Adds until it is killed, and says so after each commit. */
static void add_until_killed(int n, int told)
{
	fault_code = 0;
	fault_after = n;
	for (;;) {
		struct error *err = open_and_add();

		if (err || write(told, "x", 1) != 1)
			_exit(1);
	}
}

static uint64_t count_bytes(int fd)
{
	uint64_t count = 0;
	char byte;

	while (read(fd, &byte, 1) == 1)
		count++;
	return count;
}

/* At each of the calls of three transactions, the first of a new file. */
static void killed_at_each_call(void **state)
{
	uint64_t committed = 0, found;

	(void)state;
	for (int n = 0; committed < 3; n++) {
		int told[2], status;
		pid_t pid;

		assert_in_range(n, 0, 500);
		unlink(path);
		unlink(journal);
		assert_int_equal(pipe(told), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			add_until_killed(n, told[1]);
		close(told[1]);
		committed = count_bytes(told[0]);
		close(told[0]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		found = added();
		assert_in_range(found, committed, committed + 1);
	}
}

/* SQLite's own allocations: the n-th fails. */
static int allocations = -1;
static sqlite3_mem_methods usual;

static bool allocation_fails(void)
{
	return allocations >= 0 && allocations-- == 0;
}

static void *faulty_malloc(int size)
{
	return allocation_fails() ? NULL : usual.xMalloc(size);
}

static void *faulty_realloc(void *pointer, int size)
{
	return allocation_fails() ? NULL : usual.xRealloc(pointer, size);
}

static void each_allocation_may_fail(void **state)
{
	struct error *err;
	bool left = true;
	int n;

	(void)state;
	for (n = 0; left; n++) {
		uint64_t before = added();

		assert_in_range(n, 0, 5000);
		allocations = n;
		err = open_and_add();
		left = allocations < 0;
		allocations = -1;
		/* some of them SQLite does without */
		assert_true(!err || err == error_nomem);
		assert_int_equal(added(), before + !err);
	}
	assert_true(n > 50);
}

enum { ADDERS = 8, ADDS = 25 };

static void many_add_up(void **state)
{
	int status;

	(void)state;
	for (int i = 0; i < ADDERS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		for (int k = 0; pid == 0 && k < ADDS; k++) {
			if (open_and_add())
				_exit(1);
		}
		if (pid == 0)
			_exit(0);
	}
	for (int i = 0; i < ADDERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(added(), ADDERS * ADDS);
}

static void what_may_not_be_written_is_read(void **state)
{
	struct store *store = NULL;
	uid_t user = geteuid();
	struct error *err;

	(void)state;
	assert_null(open_and_add());
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	/* root may write to all files */
	if (user == 0)
		assert_int_equal(seteuid(65534), 0);
	assert_null(store_open_existing(path, &kind, &store));
	assert_int_equal(ask_number(store, "SELECT n FROM total"), 1);
	err = add_one(store);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), path));
	error_free(err);
	store_close(store);
	assert_int_equal(seteuid(user), 0);
}

static int make_folder(void **state)
{
	sqlite3_mem_methods faulty_methods;

	(void)state;
	if (!mkdtemp(folder) ||
	    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual) != SQLITE_OK)
		return -1;
	faulty_methods = usual;
	faulty_methods.xMalloc = faulty_malloc;
	faulty_methods.xRealloc = faulty_realloc;
	/* no pools that would keep allocations from being made */
	if (sqlite3_config(SQLITE_CONFIG_MALLOC, &faulty_methods) !=
		    SQLITE_OK ||
	    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) != SQLITE_OK)
		return -1;
	snprintf(path, sizeof(path), "%s/database", folder);
	snprintf(journal, sizeof(journal), "%s-journal", path);
	replace_calls();
	return 0;
}

static int empty_folder(void **state)
{
	(void)state;
	unlink(path);
	unlink(journal);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

#define CASE(name) cmocka_unit_test_teardown(name, empty_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_new_file_says_whose_it_is),
		CASE(nothing_is_there_to_be_read),
		CASE(what_is_not_ours_is_left_alone),
		CASE(what_is_no_regular_file_is_refused),
		CASE(a_name_is_only_a_name),
		CASE(what_failed_is_undone),
		CASE(numbers_and_texts_come_back),
		CASE(a_copy_is_of_one_moment),
		CASE(each_call_may_fail),
		CASE(each_call_may_fail_in_a_new_file),
		CASE(killed_at_each_call),
		CASE(each_allocation_may_fail),
		CASE(many_add_up),
		CASE(what_may_not_be_written_is_read),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
