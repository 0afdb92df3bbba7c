/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/image/maps.c: good lines, strange lines, our own maps. */
#include "image/maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "headless.h"

static struct error *parse(const char *text, struct maps *maps)
{
	maps_init(maps);
	return maps_parse("text", text, strlen(text), maps);
}

static const struct map_entry *entry(const struct maps *maps, size_t i)
{
	assert_true(i < maps->entries.count);
	return vec_at(&maps->entries, i);
}

static void parse_reads_every_field(void **state)
{
	struct maps maps;

	(void)state;
	assert_null(parse("00400000-0040b000 r-xp 00001000 fd:1a 48 "
			  "                 /bin/a b\n"
			  "0040b000-0040c000 rw-s 00000000 00:00 0 \n"
			  "ffffffffff600000-ffffffffff601000 --xp 00000000 "
			  "00:00 0                  [vsyscall]",
			  &maps));
	assert_int_equal(maps.entries.count, 3);
	assert_int_equal(entry(&maps, 0)->start, 0x400000);
	assert_int_equal(entry(&maps, 0)->end, 0x40b000);
	assert_int_equal(entry(&maps, 0)->offset, 0x1000);
	assert_int_equal(entry(&maps, 0)->dev_major, 0xfd);
	assert_int_equal(entry(&maps, 0)->dev_minor, 0x1a);
	assert_int_equal(entry(&maps, 0)->inode, 48);
	assert_string_equal(entry(&maps, 0)->path, "/bin/a b");
	assert_true(entry(&maps, 0)->read && entry(&maps, 0)->exec);
	assert_false(entry(&maps, 0)->write || entry(&maps, 0)->shared);
	assert_true(entry(&maps, 1)->write && entry(&maps, 1)->shared);
	assert_string_equal(entry(&maps, 1)->path, "");
	assert_false(entry(&maps, 2)->read);
	assert_string_equal(entry(&maps, 2)->path, "[vsyscall]");
	maps_deinit(&maps);
}

static void parse_cuts_off_deleted_and_unescapes_newlines(void **state)
{
	struct maps maps;

	(void)state;
	assert_null(parse("1000-2000 r--p 00000000 08:01 7 /a\\012b (deleted)\n"
			  "2000-3000 r--p 00000000 08:01 7 /a (deleted) c\n",
			  &maps));
	assert_string_equal(entry(&maps, 0)->path, "/a\nb");
	assert_true(entry(&maps, 0)->deleted);
	assert_string_equal(entry(&maps, 1)->path, "/a (deleted) c");
	assert_false(entry(&maps, 1)->deleted);
	maps_deinit(&maps);
}

static void parse_names_a_strange_line(void **state)
{
	static const char *const lines[] = {
		"",
		"hello",
		"1000-2000 r--p 00000000 08:01",
		"1000-2000 r--p 00000000 08:01 7x",
		"1000-2000 r--p 00000000 08:01 x7",
		"1000 -2000 r--p 00000000 08:01 7",
		"2000-1000 r--p 00000000 08:01 7",
		"1000-1000 r--p 00000000 08:01 7",
		"1000-2000 r--q 00000000 08:01 7",
		"1000-2000 r-- 00000000 08:01 7",
		"1000-2000 r--p -1 08:01 7",
		"1000-20000000000000000 r--p 00000000 08:01 7",
		"1000-2000 r--p 00000000 100000000:01 7",
		"0-1 r--p 00000000 08:01 7", /* before the one above it */
	};
	static const char good[] = "10-20 r--p 00000000 00:00 0 \n";

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct maps maps;
		struct error *err;
		char text[256];

		snprintf(text, sizeof(text), "%s%s\n", good, lines[i]);
		err = parse(text, &maps);
		if (!err)
			fail_msg("accepted: %s", lines[i]);
		assert_int_equal(err->kind, ERROR_FORMAT);
		assert_non_null(strstr(error_message(err), lines[i]));
		assert_int_equal(maps.entries.count, 0);
		error_free(err);
	}
}

static void find_respects_the_ends(void **state)
{
	struct maps maps;

	(void)state;
	assert_null(parse("1000-2000 r--p 00000000 00:00 0 \n"
			  "2000-3000 rw-p 00000000 00:00 0 \n"
			  "5000-6000 rw-p 00000000 00:00 0 \n",
			  &maps));
	assert_null(maps_find(&maps, 0xfff));
	assert_ptr_equal(maps_find(&maps, 0x1000), entry(&maps, 0));
	assert_ptr_equal(maps_find(&maps, 0x1fff), entry(&maps, 0));
	assert_ptr_equal(maps_find(&maps, 0x2000), entry(&maps, 1));
	assert_null(maps_find(&maps, 0x3000));
	assert_null(maps_find(&maps, 0x4fff));
	assert_ptr_equal(maps_find(&maps, 0x5fff), entry(&maps, 2));
	assert_null(maps_find(&maps, UINT64_MAX));
	maps_deinit(&maps);
}

static void read_finds_our_own_code_and_stack(void **state)
{
	struct maps maps;
	const struct map_entry *code;
	const struct map_entry *stack;

	(void)state;
	maps_init(&maps);
	assert_null(maps_read(getpid(), &maps));
	/* again, over the old contents */
	assert_null(maps_read(getpid(), &maps));
	code = maps_find(&maps, (uintptr_t)read_finds_our_own_code_and_stack);
	stack = maps_find(&maps, (uintptr_t)&maps);
	assert_true(code && code->exec && !code->write && code->inode);
	assert_true(stack && stack->write && !stack->exec);
	assert_string_equal(stack->path, "[stack]");
	maps_deinit(&maps);
}

static void read_of_an_exited_process_is_gone(void **state)
{
	struct maps maps;
	siginfo_t info;
	int pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	maps_init(&maps);
	/* a zombie, and then nothing at all */
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_ptr_equal(maps_read(pid, &maps), error_gone);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_ptr_equal(maps_read(pid, &maps), error_gone);
}

static void read_finds_the_maps_behind_a_dead_first_thread(void **state)
{
	struct headless it = headless_start();
	struct maps maps;

	(void)state;
	maps_init(&maps);
	assert_ok(maps_read(it.pid, &maps));
	assert_int_equal(maps.tid, it.tid);
	assert_non_null(maps_find(&maps, (uintptr_t)&headless_thread));
	maps_deinit(&maps);
	headless_end(&it);
	assert_ptr_equal(maps_read(it.pid, &maps), error_gone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse_reads_every_field),
		cmocka_unit_test(parse_cuts_off_deleted_and_unescapes_newlines),
		cmocka_unit_test(parse_names_a_strange_line),
		cmocka_unit_test(find_respects_the_ends),
		cmocka_unit_test(read_finds_our_own_code_and_stack),
		cmocka_unit_test(read_of_an_exited_process_is_gone),
		cmocka_unit_test(
			read_finds_the_maps_behind_a_dead_first_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
