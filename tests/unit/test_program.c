/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is said of a command before it is run: made-up files of every kind in a
 * directory of their own.
 */
#include <elf.h>
#include <limits.h>
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

#include "base/error.h"
#include "doctor/program.h"

struct fixture {
	char directory[32];
	char path[64];
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	strcpy(fixture->directory, "/tmp/racewatch-test.XXXXXX");
	if (!mkdtemp(fixture->directory))
		return -1;
	snprintf(fixture->path, sizeof(fixture->path), "%s/cmd",
		 fixture->directory);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	unlink(fixture->path);
	rmdir(fixture->path);
	rmdir(fixture->directory);
	free(fixture);
	return 0;
}

static void make_file(struct fixture *fixture, const void *bytes, size_t size,
		      mode_t mode)
{
	FILE *file = fopen(fixture->path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
	assert_int_equal(chmod(fixture->path, mode), 0);
}

static void make_elf(struct fixture *fixture, uint16_t machine,
		     unsigned char class, uint16_t type, uint32_t segment)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr phdr;
	} elf = { .header = { .e_type = type,
			      .e_machine = machine,
			      .e_phoff = sizeof(Elf64_Ehdr),
			      .e_phnum = 1,
			      .e_phentsize = sizeof(Elf64_Phdr) },
		  .phdr = { .p_type = segment } };

	memcpy(elf.header.e_ident, ELFMAG, SELFMAG);
	elf.header.e_ident[EI_CLASS] = class;
	make_file(fixture, &elf, sizeof(elf), 0755);
}

static void refused(const char *command, enum error_kind kind, const char *says)
{
	struct program program;
	struct error *err = program_inspect(command, &program);

	assert_non_null(err);
	assert_int_equal(err->kind, kind);
	if (!strstr(error_message(err), says))
		fail_msg("'%s' does not say '%s'", error_message(err), says);
	error_free(err);
}

static void what_is_not_there_is_not_found(void **state)
{
	struct fixture *fixture = *state;

	refused(fixture->path, ERROR_NOT_FOUND, fixture->path);
	refused("no-such-command-anywhere", ERROR_NOT_FOUND,
		"no-such-command-anywhere");
	refused("", ERROR_NOT_FOUND, "''");
}

static void directories_cannot_be_run(void **state)
{
	struct fixture *fixture = *state;

	refused(fixture->directory, ERROR_CANNOT_RUN, "directory");
}

static void a_file_without_permission_cannot_be_run(void **state)
{
	struct fixture *fixture = *state;

	make_file(fixture, "#!/bin/sh\n", 10, 0644);
	refused(fixture->path, ERROR_CANNOT_RUN, "ermission");
}

static void foreign_programs_are_named(void **state)
{
	struct fixture *fixture = *state;

	make_elf(fixture, EM_AARCH64, ELFCLASS64, ET_DYN, PT_INTERP);
	refused(fixture->path, ERROR_CANNOT_RUN, "AArch64");
	make_elf(fixture, EM_386, ELFCLASS32, ET_EXEC, PT_INTERP);
	refused(fixture->path, ERROR_CANNOT_RUN,
		"32-bit programs are not supported");
	make_elf(fixture, EM_X86_64, ELFCLASS64, ET_REL, PT_NULL);
	refused(fixture->path, ERROR_CANNOT_RUN, "object file");
}

static void files_cut_short_or_unknown_are_refused(void **state)
{
	struct fixture *fixture = *state;

	make_file(fixture, ELFMAG "xxxx", 8, 0755);
	refused(fixture->path, ERROR_CANNOT_RUN, "cut short");
	make_file(fixture, "echo hello\n", 11, 0755);
	refused(fixture->path, ERROR_CANNOT_RUN, "neither");
	make_file(fixture, "", 0, 0755);
	refused(fixture->path, ERROR_CANNOT_RUN, "neither");
}

static void scripts_name_their_interpreter(void **state)
{
	struct fixture *fixture = *state;
	struct program program;

	make_file(fixture, "#! \t/bin/sh -e\ntrue\n", 20, 0755);
	assert_null(program_inspect(fixture->path, &program));
	assert_string_equal(program.interpreter, "/bin/sh");
	program_deinit(&program);
	make_file(fixture, "#!/no/such/interpreter\n", 23, 0755);
	refused(fixture->path, ERROR_CANNOT_RUN, "/no/such/interpreter");
}

static void static_and_privileged_programs_are_known(void **state)
{
	struct fixture *fixture = *state;
	struct program program;

	make_elf(fixture, EM_X86_64, ELFCLASS64, ET_EXEC, PT_LOAD);
	assert_null(program_inspect(fixture->path, &program));
	assert_true(program.is_static);
	assert_false(program.privileged);
	program_deinit(&program);
	make_elf(fixture, EM_X86_64, ELFCLASS64, ET_DYN, PT_INTERP);
	assert_int_equal(chmod(fixture->path, 04755), 0);
	assert_null(program_inspect(fixture->path, &program));
	assert_false(program.is_static);
	assert_true(program.privileged);
	program_deinit(&program);
}

static void path_is_searched_in_order(void **state)
{
	struct fixture *fixture = *state;
	const char *before = getenv("PATH");
	char *saved = before ? strdup(before) : NULL;
	char path[128];
	struct program program;

	make_elf(fixture, EM_X86_64, ELFCLASS64, ET_DYN, PT_INTERP);
	snprintf(path, sizeof(path), "/no/such/place:%s:/bin",
		 fixture->directory);
	setenv("PATH", path, 1);
	assert_null(program_inspect("cmd", &program));
	assert_string_equal(program.path, fixture->path);
	program_deinit(&program);
	/* found, but unfit, and no other: that is what is said */
	assert_int_equal(chmod(fixture->path, 0644), 0);
	refused("cmd", ERROR_CANNOT_RUN, "ermission");
	if (saved)
		setenv("PATH", saved, 1);
	free(saved);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_not_there_is_not_found),
		TEST(directories_cannot_be_run),
		TEST(a_file_without_permission_cannot_be_run),
		TEST(foreign_programs_are_named),
		TEST(files_cut_short_or_unknown_are_refused),
		TEST(scripts_name_their_interpreter),
		TEST(static_and_privileged_programs_are_known),
		TEST(path_is_searched_in_order),
	};

	return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
