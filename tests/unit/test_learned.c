/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/report/learned.c and learned-*.c: what runs taught, added up, in a
 * database, by several at once, and after accidents; and files of earlier
 * versions.
 */
#include "report/learned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "report/learned-rows.h"
#include "store/query.h"
#include "store/store.h"

/* Allocations of this program that succeed before one fails; negative: all. */
static int allocations = -1;

void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *pointer, size_t count, size_t size);
char *__real_strdup(const char *text);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *pointer, size_t count, size_t size);
char *__wrap_strdup(const char *text);

/* One fails, and those after it do not. */
static bool allocation_fails(void)
{
	return allocations >= 0 && allocations-- == 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *pointer, size_t count, size_t size)
{
	return allocation_fails() ? NULL
				  : __real_reallocarray(pointer, count, size);
}

char *__wrap_strdup(const char *text)
{
	return allocation_fails() ? NULL : __real_strdup(text);
}

static char folder[] = "/tmp/racewatch-learned.XXXXXX";
static char path[64], aside[80], journal[80];

static void put_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* One run: two sites of a module, and their pair. */
static void one_run(struct learned *learned)
{
	uint32_t module, one, two, pair;

	learned_init(learned);
	learned->runs = 1;
	module = learned_module(learned, "/usr/bin/cache", "34962cdf");
	one = learned_site(learned, module, 0x1179);
	two = learned_site(learned, module, 0x1216);
	pair = learned_pair(learned, two, one);
	assert_int_equal(pair, 0);
	learned_site_at(learned, one)->hits = 3;
	learned_site_at(learned, one)->stalls = 2;
	learned_site_at(learned, two)->hits = 5;
	learned_site_at(learned, two)->shared = 4;
	learned_site_at(learned, two)->kind = 3;
	learned_pair_at(learned, pair)->seen = 4;
	learned_pair_at(learned, pair)->races = 1;
}

static void what_is_the_same_has_one_number(void **state)
{
	struct learned learned;
	uint32_t one, two;

	(void)state;
	one_run(&learned);
	one = learned_module(&learned, "/moved/cache", "34962cdf");
	assert_int_equal(one, 0);
	/* another build at the same path, and one without a build id */
	assert_int_equal(learned_module(&learned, "/usr/bin/cache", "aa"), 1);
	assert_int_equal(learned_module(&learned, "/usr/bin/cache", NULL), 2);
	assert_int_equal(learned_find_module(&learned, "/usr/bin/cache", NULL),
			 2);
	assert_int_equal(learned_find_module(&learned, "/none", NULL),
			 UINT32_MAX);
	one = learned_site(&learned, 0, 0x1179);
	two = learned_site(&learned, 1, 0x1179);
	assert_int_not_equal(one, two);
	assert_int_equal(learned_pair(&learned, one, two),
			 learned_pair(&learned, two, one));
	assert_int_equal(learned_site(&learned, 9, 0), UINT32_MAX);
	assert_int_equal(learned_site(&learned, 0, LEARNED_OFFSET_MAX),
			 UINT32_MAX);
	assert_int_equal(learned_pair(&learned, 0, 99), UINT32_MAX);
	learned_deinit(&learned);
}

static void a_file_gives_what_was_saved(void **state)
{
	struct learned learned, read;

	(void)state;
	one_run(&learned);
	learned_init(&read);
	assert_null(learned_read(&read, path));
	assert_int_equal(read.runs, 0);
	assert_null(learned_save(&learned, path));
	assert_null(learned_save(&learned, path));
	assert_null(learned_read(&read, path));
	assert_int_equal(read.runs, 2);
	assert_int_equal(read.modules.count, 1);
	assert_string_equal(learned_module_at(&read, 0)->path,
			    "/usr/bin/cache");
	assert_int_equal(read.sites.count, 2);
	/* the newest comes first */
	assert_int_equal(learned_site_at(&read, 0)->offset, 0x1216);
	assert_int_equal(learned_site_at(&read, 0)->hits, 10);
	assert_int_equal(learned_site_at(&read, 0)->kind, 3);
	assert_int_equal(learned_site_at(&read, 1)->stalls, 4);
	assert_int_equal(learned_pair_at(&read, 0)->seen, 8);
	assert_int_equal(learned_pair_at(&read, 0)->races, 2);
	assert_null(learned_subtract(&read, &learned));
	assert_int_equal(read.runs, 1);
	assert_int_equal(learned_site_at(&read, 0)->hits, 5);
	assert_int_equal(learned_pair_at(&read, 0)->races, 1);
	learned_deinit(&read);
	learned_deinit(&learned);
}

/* The text of the error names the line. */
static void refused(const char *text, const char *where)
{
	struct learned learned;
	struct error *err;

	put_file(text);
	learned_init(&learned);
	err = learned_read(&learned, path);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_FORMAT);
	assert_non_null(strstr(error_message(err), path));
	if (!strstr(error_message(err), where))
		fail_msg("%s", error_message(err));
	assert_int_equal(learned.sites.count, 0);
	error_free(err);
	learned_deinit(&learned);
}

#define HEAD "{\"type\":\"state\",\"version\":1,\"runs\":1}\n"
#define MODULE \
	"{\"type\":\"module\",\"id\":0,\"path\":\"/x\",\"build_id\":null}\n"
#define SITE "{\"type\":\"site\",\"id\":0,\"module\":0,\"offset\":\"0x10\"}\n"

static void what_is_wrong_is_named_with_its_line(void **state)
{
	(void)state;
	refused("int main(void)\n", ":1: column");
	refused("[1]\n", ":1: this is no JSON object");
	refused("null\n", ":1: this is no JSON object");
	refused("{\"type\":\"run\"}\n", ":1: this is no state");
	refused("{\"type\":\"state\",\"version\":2}\n", ":1: version 2");
	refused(HEAD "{\"type\":\"site\",\"id\":0,\"module\":0,"
		     "\"offset\":\"0x10\"}\n",
		":2: 'module'");
	refused(HEAD MODULE MODULE, ":3: 'id'");
	refused(HEAD MODULE "{\"type\":\"site\",\"id\":0,\"module\":0,"
			    "\"offset\":\"x\"}\n",
		":3: 'offset'");
	refused(HEAD MODULE SITE "{\"type\":\"pair\",\"sites\":[0,1]}\n",
		":4: 'sites'");
	refused(HEAD MODULE SITE "{\"type\":\"pair\",\"sites\":[0]}\n",
		":4: 'sites'");
	refused(HEAD MODULE "{\"type\":\"site\",\"id\":0,\"module\":0,"
			    "\"offset\":\"0x10\",\"hits\":-1}\n",
		":3: 'hits'");
	/* cut short in the middle of a line */
	refused(HEAD MODULE "{\"type\":\"si", ":3: column");
}

/* As long as may be, and a byte more, at the end of the file or not. */
static void a_line_is_bounded(void **state)
{
	enum { MOST = 1 << 16 };
	char *line = malloc(MOST + 3);

	(void)state;
	assert_non_null(line);
	memset(line, ' ', MOST + 1);
	strcpy(line + MOST, "\n");
	refused(line, ":1: column");
	strcpy(line + MOST, " ");
	refused(line, ":1: this line is longer");
	strcpy(line + MOST, " \n");
	refused(line, ":1: this line is longer");
	free(line);
}

static void empty_and_unknown_lines_are_fine(void **state)
{
	struct learned learned;

	(void)state;
	learned_init(&learned);
	put_file("");
	assert_null(learned_read(&learned, path));
	assert_int_equal(learned.runs, 0);
	put_file(HEAD MODULE
		 "{\"type\":\"later\",\"x\":1}\n" SITE
		 "{\"type\":\"pair\",\"sites\":[0,0],\"new\":[]}\n");
	assert_null(learned_read(&learned, path));
	assert_int_equal(learned.pairs.count, 1);
	learned_deinit(&learned);
}

static void what_is_no_file_is_refused(void **state)
{
	struct learned learned;
	struct error *err;

	(void)state;
	learned_init(&learned);
	err = learned_read(&learned, "/dev/zero");
	assert_non_null(err);
	error_free(err);
	err = learned_save(&learned, folder);
	assert_non_null(err);
	error_free(err);
	learned_deinit(&learned);
}

static uint64_t ask_number(const char *sql)
{
	struct store *store = NULL;
	struct query *query;
	uint64_t value;
	bool row;

	assert_null(store_open_existing(path, &learned_kind, &store));
	assert_non_null(store);
	assert_null(query_prepare(store, sql, &query));
	assert_null(query_next(query, &row));
	assert_true(row);
	value = query_number(query, 0, INT64_MAX);
	query_free(query);
	store_close(store);
	return value;
}

static void is_text(const char *name, const char *text)
{
	char bytes[1024] = "";
	FILE *file = fopen(name, "r");

	assert_non_null(file);
	bytes[fread(bytes, 1, sizeof(bytes) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(bytes, text);
}

#define OLD                                                                     \
	HEAD MODULE                                                             \
		"{\"type\":\"site\",\"id\":0,\"module\":0,\"offset\":\"0x10\"," \
		"\"access\":\"write\",\"hits\":3,\"stalls\":2,\"shared\":1}\n"  \
		"{\"type\":\"pair\",\"sites\":[0,0],\"seen\":1,\"races\":1}\n"

/* A state of an earlier version: read as it is, and kept when it is replaced. */
static void lines_are_imported(void **state)
{
	struct learned learned, read;
	struct stat status;

	(void)state;
	put_file(OLD);
	chmod(path, 0640);
	learned_init(&read);
	assert_null(learned_read(&read, path));
	assert_int_equal(learned_site_at(&read, 0)->hits, 3);
	is_text(path, OLD);
	one_run(&learned);
	assert_null(learned_save(&learned, path));
	is_text(aside, OLD);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	assert_int_equal(ask_number("SELECT runs FROM state"), 2);
	assert_int_equal(ask_number("SELECT count(*) FROM site"), 3);
	assert_int_equal(ask_number("SELECT hits FROM site WHERE offset = 16"
				    " AND writes AND NOT reads"),
			 3);
	assert_int_equal(ask_number("SELECT sum(races) FROM pair"), 2);
	learned_deinit(&read);
	learned_deinit(&learned);
}

/* Killed between the two names that an import gives. */
static void an_import_is_gone_on_with(void **state)
{
	struct learned learned;

	(void)state;
	put_file(OLD);
	assert_int_equal(link(path, aside), 0);
	one_run(&learned);
	assert_null(learned_save(&learned, path));
	assert_int_equal(ask_number("SELECT runs FROM state"), 2);
	is_text(aside, OLD);
	learned_deinit(&learned);
}

/* Said before anything is run; nothing is replaced. */
static void what_is_in_the_way_of_an_import_stays(void **state)
{
	struct learned learned;
	struct error *err;

	(void)state;
	put_file("mine");
	assert_int_equal(rename(path, aside), 0);
	put_file(OLD);
	one_run(&learned);
	for (int i = 0; i < 2; i++) {
		err = i == 0 ? learned_save(&learned, path)
			     : learned_read(&learned, path);
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_FORMAT);
		assert_non_null(strstr(error_message(err), aside));
		error_free(err);
		is_text(path, OLD);
		is_text(aside, "mine");
	}
	learned_deinit(&learned);
}

/* It is not ours, and stays. */
static void a_corrupt_file_is_an_error(void **state)
{
	struct learned learned;
	struct error *err;

	(void)state;
	one_run(&learned);
	put_file("torn");
	err = learned_save(&learned, path);
	assert_non_null(err);
	assert_non_null(strstr(error_message(err), path));
	error_free(err);
	is_text(path, "torn");
	assert_int_equal(access(aside, F_OK), -1);
	learned_deinit(&learned);
}

static void a_copy_has_all(void **state)
{
	struct learned learned, read;

	(void)state;
	/* there is nothing to be copied, and what was there is gone */
	put_file("");
	assert_int_equal(rename(path, aside), 0);
	assert_null(learned_copy(path, aside));
	assert_int_equal(access(aside, F_OK), -1);
	one_run(&learned);
	assert_null(learned_save(&learned, path));
	assert_null(learned_copy(path, aside));
	learned_init(&read);
	assert_null(learned_read(&read, aside));
	assert_int_equal(read.sites.count, 2);
	assert_int_equal(learned_pair_at(&read, 0)->races, 1);
	learned_deinit(&read);
	put_file(OLD);
	assert_null(learned_copy(path, aside));
	is_text(aside, OLD);
	learned_deinit(&learned);
}

enum { SAVERS = 8, SAVES = 20 };

static void saver(int number)
{
	for (int i = 0; i < SAVES; i++) {
		struct learned learned;
		struct error *err;
		uint32_t site;

		one_run(&learned);
		/* one of its own, and the common ones */
		site = learned_site(&learned, 0,
				    (uint64_t)(number * SAVES + i));
		learned_site_at(&learned, site)->hits = 1;
		err = learned_save(&learned, path);
		learned_deinit(&learned);
		if (err)
			_exit(1);
	}
	_exit(0);
}

static void nothing_is_lost_where_many_save(void **state)
{
	struct learned read;
	int status;

	(void)state;
	for (int i = 0; i < SAVERS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			saver(i);
	}
	for (int i = 0; i < SAVERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	learned_init(&read);
	assert_null(learned_read(&read, path));
	assert_int_equal(read.runs, SAVERS * SAVES);
	assert_int_equal(read.sites.count, SAVERS * SAVES + 2);
	assert_int_equal(learned_pair_at(&read, 0)->races, SAVERS * SAVES);
	learned_deinit(&read);
}

/* As many sites as there may be: the first are a pair, the third shares. */
static void fill(struct learned *learned)
{
	one_run(learned);
	learned_site_at(learned, 1)->shared = 0;
	for (uint64_t i = 2; i < LEARNED_SITES_MAX; i++) {
		assert_int_equal(learned_site(learned, 0, 0x10000 + i), i);
		learned_site_at(learned, i)->hits = 1;
	}
	learned_site_at(learned, 2)->shared = 7;
	assert_int_equal(learned_site(learned, 0, 1), UINT32_MAX);
}

static bool is_known(uint64_t offset)
{
	char sql[80];

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM site WHERE offset = %llu",
		 (unsigned long long)offset);
	return ask_number(sql) == 1;
}

/* The pair, and what shares, stay; the oldest of the others go. */
static void sites_that_share_nothing_make_room(void **state)
{
	struct learned learned, more, read;

	(void)state;
	fill(&learned);
	one_run(&more);
	for (uint32_t i = 2; i < 4; i++) {
		assert_int_equal(learned_site(&more, 0, 0x5000 + i), i);
		learned_site_at(&more, i)->hits = 1;
	}
	assert_null(learned_save(&learned, path));
	assert_null(learned_save(&more, path));
	assert_int_equal(ask_number("SELECT count(*) FROM site"),
			 LEARNED_SITES_MAX);
	assert_true(is_known(0x5002));
	assert_true(is_known(0x5003));
	assert_true(is_known(0x10000 + 2));
	assert_false(is_known(0x10000 + 3));
	assert_false(is_known(0x10000 + 4));
	assert_true(is_known(0x10000 + 5));
	assert_int_equal(ask_number("SELECT seen FROM pair"), 8);
	/* a run has room for others */
	learned_init(&read);
	assert_null(learned_read(&read, path));
	assert_int_equal(read.sites.count, LEARNED_SITES_MAX - LEARNED_ROOM);
	assert_int_equal(read.pairs.count, 1);
	assert_int_not_equal(learned_site(&read, 0, 0xfffff), UINT32_MAX);
	learned_deinit(&read);
	learned_deinit(&learned);
	learned_deinit(&more);
}

/* Where all share, what came last finds no room, nor do its pairs. */
static void what_shares_is_not_forgotten(void **state)
{
	struct learned learned, more;
	uint32_t site;

	(void)state;
	fill(&learned);
	for (size_t i = 2; i < LEARNED_SITES_MAX; i++)
		learned_site_at(&learned, i)->shared = 1;
	one_run(&more);
	site = learned_site(&more, 0, 0x5000);
	learned_site_at(&more, site)->shared = 1;
	learned_pair_at(&more, learned_pair(&more, 0, site))->seen = 1;
	assert_null(learned_save(&learned, path));
	assert_null(learned_save(&more, path));
	assert_int_equal(ask_number("SELECT count(*) FROM site"),
			 LEARNED_SITES_MAX);
	assert_false(is_known(0x5000));
	assert_true(is_known(0x10000 + 3));
	assert_int_equal(ask_number("SELECT count(*) FROM pair"), 1);
	learned_deinit(&learned);
	learned_deinit(&more);
}

static void no_memory_is_an_error(void **state)
{
	struct learned from, to;
	struct error *err = error_nomem;
	int n;

	(void)state;
	one_run(&from);
	for (n = 0; err; n++) {
		assert_in_range(n, 0, 20);
		learned_init(&to);
		allocations = n;
		err = learned_add(&to, &from);
		allocations = -1;
		assert_true(!err || err == error_nomem);
		if (!err)
			assert_int_equal(learned_pair_at(&to, 0)->seen, 4);
		learned_deinit(&to);
	}
	/* a module, two sites, a pair, and where they are found */
	assert_true(n > 5);
	learned_deinit(&from);
}

/* The file is as it was. */
static void no_memory_loses_nothing(void **state)
{
	struct learned learned, read;
	struct error *err = error_nomem;
	int n;

	(void)state;
	one_run(&learned);
	assert_null(learned_save(&learned, path));
	for (n = 0; err; n++) {
		assert_in_range(n, 0, 200);
		allocations = n;
		err = learned_save(&learned, path);
		allocations = -1;
		assert_true(!err || err == error_nomem);
		learned_init(&read);
		assert_null(learned_read(&read, path));
		assert_int_equal(read.runs, err ? 1 : 2);
		assert_int_equal(learned_pair_at(&read, 0)->seen, err ? 4 : 8);
		learned_deinit(&read);
	}
	learned_deinit(&learned);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/state", folder);
	snprintf(aside, sizeof(aside), "%s.jsonl", path);
	snprintf(journal, sizeof(journal), "%s-journal", path);
	return 0;
}

static int empty_folder(void **state)
{
	(void)state;
	unlink(path);
	unlink(aside);
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
		CASE(what_is_the_same_has_one_number),
		CASE(a_file_gives_what_was_saved),
		CASE(what_is_wrong_is_named_with_its_line),
		CASE(a_line_is_bounded),
		CASE(empty_and_unknown_lines_are_fine),
		CASE(what_is_no_file_is_refused),
		CASE(lines_are_imported),
		CASE(an_import_is_gone_on_with),
		CASE(what_is_in_the_way_of_an_import_stays),
		CASE(a_corrupt_file_is_an_error),
		CASE(a_copy_has_all),
		CASE(sites_that_share_nothing_make_room),
		CASE(what_shares_is_not_forgotten),
		CASE(no_memory_is_an_error),
		CASE(no_memory_loses_nothing),
		CASE(nothing_is_lost_where_many_save),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
