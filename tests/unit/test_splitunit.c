/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that debug information names and libdw opens by itself: a FIFO in their
 * place is not waited for, wherever it is met.
 */
#include "image/splitunit.h"

#include <dwarf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/opener.h"
#include "fuse-file.h"
#include "image/altfile.h"
#include "image/fileaccess.h"

static const uint64_t SHORT_NS = 100 * CLOCK_NS_PER_MS;

/* A program with a split unit, of a copy of its own. */
struct program {
	char folder[64], path[96], dwo[96];
	int fd;
	Dwarf *dwarf;
	Dwarf_Die skeleton;
};

static void shell(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void shell(const char *format, ...)
{
	char command[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

static void open_program(struct program *program, const char *flags)
{
	Dwarf_CU *cu = NULL;
	uint8_t type = 0;

	shell("cd %s && echo 'int main(void) { return 0; }' >x.c && "
	      "gcc -g %s -o program x.c",
	      program->folder, flags);
	program->fd = open(program->path, O_RDONLY | O_CLOEXEC);
	assert_true(program->fd >= 0);
	program->dwarf = dwarf_begin(program->fd, DWARF_C_READ);
	assert_non_null(program->dwarf);
	while (type != DW_UT_skeleton &&
	       dwarf_get_units(program->dwarf, cu, &cu, NULL, &type,
			       &program->skeleton, NULL) == 0)
		;
}

static int set_up(void **state)
{
	struct program *program = calloc(1, sizeof(*program));

	/* a failure must not wait for ever; split_unit_link() undoes it */
	alarm(60);
	strcpy(program->folder, "/tmp/racewatch-split.XXXXXX");
	assert_non_null(mkdtemp(program->folder));
	snprintf(program->path, sizeof(program->path), "%s/program",
		 program->folder);
	snprintf(program->dwo, sizeof(program->dwo), "%s/program-x.dwo",
		 program->folder);
	open_program(program, "-gdwarf-5 -gsplit-dwarf");
	assert_int_equal(access(program->dwo, F_OK), 0);
	*state = program;
	return 0;
}

static int tear_down(void **state)
{
	struct program *program = *state;

	dwarf_end(program->dwarf);
	close(program->fd);
	shell("rm -rf %s", program->folder);
	free(program);
	return 0;
}

static struct split_home home_of(const struct program *program)
{
	return (struct split_home){ .module_path = program->path };
}

static void put_fifo(const char *path)
{
	unlink(path);
	assert_int_equal(mkfifo(path, 0644), 0);
}

static void put_back(const struct program *program)
{
	unlink(program->dwo);
	shell("cd %s && gcc -g -gdwarf-5 -gsplit-dwarf -o program2 x.c && "
	      "mv program2-x.dwo program-x.dwo",
	      program->folder);
}

static void a_unit_is_found(void **state)
{
	struct program *program = *state;
	struct split_home home = home_of(program);
	Dwarf_Die split;

	split_unit_find(&home, &program->skeleton, &split);
	assert_non_null(split.addr);
	assert_int_equal(dwarf_tag(&split), DW_TAG_compile_unit);
}

static void a_fifo_is_not_opened(void **state)
{
	struct program *program = *state;
	struct split_home home = home_of(program);
	Dwarf_Die split;

	put_fifo(program->dwo);
	split_unit_find(&home, &program->skeleton, &split);
	assert_null(split.addr);
	/* nor looked for again, even where it would be found */
	put_back(program);
	assert_int_equal(dwarf_cu_info(program->skeleton.cu, NULL, NULL, NULL,
				       &split, NULL, NULL, NULL),
			 0);
	assert_null(split.addr);
}

static void a_package_that_is_a_fifo_is_not_opened(void **state)
{
	struct program *program = *state;
	struct split_home home = home_of(program);
	char path[112];
	Dwarf_Die split;

	snprintf(path, sizeof(path), "%s.dwp", program->path);
	put_fifo(path);
	split_unit_find(&home, &program->skeleton, &split);
	assert_null(split.addr);
}

/* As it is where a FIFO took the place of a file that was looked at. */
static void libdw_is_interrupted(void **state)
{
	struct program *program = *state;
	Dwarf_Die split;

	put_fifo(program->dwo);
	split_unit_link(&program->skeleton, NULL, SHORT_NS, &split);
	assert_null(split.addr);
}

static void try_served(struct program *program, uint32_t unanswered)
{
	struct file_access access = { .pid = 0 };
	struct split_home home = home_of(program);
	struct fuse_file file;
	Dwarf_Die split;

	home.access = &access;
	if (!fuse_file_mount(&file, unanswered))
		skip();
	assert_null(opener_create(SHORT_NS, &access.opener));
	shell("ln -sf %s/file %s", file.folder, program->dwo);
	split_unit_find(&home, &program->skeleton, &split);
	assert_null(split.addr);
	opener_destroy(access.opener);
	fuse_file_unmount(&file);
}

static void a_served_file_is_not_opened(void **state)
{
	try_served(*state, 0);
}

/* No signal but SIGKILL ends the wait for that. */
static void one_that_does_not_answer_is_not_waited_for(void **state)
{
	try_served(*state, FUSE_OPEN);
}

static void all_units_are_forbidden(void **state)
{
	struct program *program = *state;
	struct split_home home = home_of(program);
	Dwarf_Die split;

	split_units_forbid(program->dwarf);
	split_unit_find(&home, &program->skeleton, &split);
	assert_null(split.addr);
}

/* gcc's program, with a .gnu_debugaltlink that leads to a FIFO. */
static void a_supplementary_fifo_is_not_opened(void **state)
{
	struct program *program = *state;

	dwarf_end(program->dwarf);
	close(program->fd);
	shell("cd %s && mkfifo fifo && printf '%s/fifo\\000%%020d' 0 >link && "
	      "gcc -g -c x.c && objcopy --add-section .gnu_debugaltlink=link "
	      "x.o y.o && rm x.o",
	      program->folder, program->folder);
	snprintf(program->path, sizeof(program->path), "%s/y.o",
		 program->folder);
	program->fd = open(program->path, O_RDONLY | O_CLOEXEC);
	program->dwarf = dwarf_begin(program->fd, DWARF_C_READ);
	assert_non_null(program->dwarf);
	altfile_settle(program->dwarf);
	assert_null(dwarf_getalt(program->dwarf));
	assert_int_equal(altfile_open(NULL, program->path, "fifo"), -1);
	assert_int_equal(altfile_open(NULL, program->path, "/dev/null"), -1);
	close(altfile_open(NULL, program->path, "x.c"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_unit_is_found),
		TEST(a_fifo_is_not_opened),
		TEST(a_package_that_is_a_fifo_is_not_opened),
		TEST(libdw_is_interrupted),
		TEST(a_served_file_is_not_opened),
		TEST(one_that_does_not_answer_is_not_waited_for),
		TEST(all_units_are_forbidden),
		TEST(a_supplementary_fifo_is_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
