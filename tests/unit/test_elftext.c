/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/elftext.c: functions and data of the samples, with all that tells
 * of them and with less and less of it; damaged files.
 */
#include "image/elftext.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/truncated.h"
#include "sample.h"

static const char *const stack_functions[] = { "middle", "outer", "main" };

static struct elftext *open_path(const char *path)
{
	struct elftext *text = NULL;
	struct error *err = elftext_open(path, path, &text);

	if (err)
		fail_msg("%s", error_message(err));
	return text;
}

static struct elftext *open_sample(const char *name)
{
	char *path = sample_path(name);
	struct elftext *text = open_path(path);

	free(path);
	return text;
}

/* What holds for every file, however damaged. */
static void assert_invariants(const struct elftext *text)
{
	const struct elf_function *functions;
	uint64_t end = 0;
	size_t count;
	size_t size;

	functions = elftext_functions(text, &count);
	for (size_t i = 0; i < count; i++) {
		assert_true(functions[i].size > 0);
		assert_true(functions[i].start >= end);
		end = functions[i].start + functions[i].size;
		assert_true(end > functions[i].start);
		assert_non_null(elftext_bytes(text, functions[i].start, &size));
		assert_true(size >= functions[i].size);
		assert_ptr_equal(elftext_function_at(text, end - 1),
				 &functions[i]);
		assert_false(elftext_in_plt(text, functions[i].start));
		if (functions[i].name)
			assert_true(strlen(functions[i].name) > 0);
	}
}

/* The functions have the bounds of the symbols in the unstripped sample. */
static void assert_functions(const struct elftext *text, const char *symbols,
			     const char *const *names, size_t count, bool named)
{
	char *path = sample_path(symbols);

	for (size_t i = 0; i < count; i++) {
		Elf64_Sym symbol = sample_symbol(path, names[i]);
		const struct elf_function *function =
			elftext_function_at(text, symbol.st_value);

		if (!function)
			fail_msg("%s is not there", names[i]);
		assert_int_equal(function->start, symbol.st_value);
		assert_int_equal(function->size, symbol.st_size);
		if (named)
			assert_string_equal(function->name, names[i]);
		else
			assert_null(function->name);
	}
	free(path);
}

static void functions_by_symbols(void **state)
{
	struct elftext *text = open_sample("stack.O2");

	(void)state;
	assert_functions(text, "stack.O2", stack_functions, 3, true);
	assert_invariants(text);
	elftext_close(text);
}

static void functions_by_cfi_when_stripped(void **state)
{
	struct elftext *text = open_sample("stack.stripped");

	(void)state;
	assert_functions(text, "stack.O2", stack_functions, 3, false);
	assert_invariants(text);
	elftext_close(text);
}

static void functions_by_debug_link(void **state)
{
	struct elftext *text = open_sample("stack.linked");

	(void)state;
	assert_non_null(elftext_debug_path(text));
	assert_functions(text, "stack.O2", stack_functions, 3, true);
	elftext_close(text);
}

/* The bytes of a sample with no section table. */
static uint8_t *without_sections(const char *name, size_t *ret_size)
{
	char *path = sample_path(name);
	uint8_t *bytes = sample_read(path, ret_size);
	Elf64_Ehdr *header = (void *)bytes;

	header->e_shoff = 0;
	header->e_shnum = 0;
	header->e_shstrndx = 0;
	free(path);
	return bytes;
}

static struct elftext *open_without_sections(const char *name)
{
	struct elftext *text;
	size_t size;
	uint8_t *bytes = without_sections(name, &size);

	assert_null(elftext_create_copy(bytes, size, "copy", &text));
	free(bytes);
	return text;
}

static void functions_without_sections(void **state)
{
	static const char *const exported[] = { "next_id" };
	struct elftext *text = open_without_sections("stack.stripped");

	(void)state;
	assert_functions(text, "stack.O2", stack_functions, 3, false);
	assert_invariants(text);
	elftext_close(text);
	/* the length of .dynsym by DT_GNU_HASH and by DT_HASH */
	text = open_without_sections("data.so");
	assert_functions(text, "data.so", exported, 1, true);
	elftext_close(text);
	text = open_without_sections("data.sysv.so");
	assert_functions(text, "data.sysv.so", exported, 1, true);
	elftext_close(text);
}

/* Every address in .plt.sec, or .plt where that is all there is. */
static void plt_without_sections(void **state)
{
	struct elftext *with = open_sample("stack.O2");
	struct elftext *without = open_without_sections("stack.O2");
	unsigned int in_plt = 0;
	uint64_t start;
	uint64_t end;

	(void)state;
	elftext_extent(with, &start, &end);
	for (uint64_t at = start; at < end; at++) {
		if (elftext_in_plt(without, at)) {
			assert_true(elftext_in_plt(with, at));
			in_plt++;
		}
		if (elftext_in_plt(with, at))
			assert_null(elftext_function_at(without, at));
	}
	assert_true(in_plt > 0);
	elftext_close(with);
	elftext_close(without);
}

static void what_stays_read_only(void **state)
{
	char *path = sample_path("stack.O2");
	struct elftext *text = open_path(path);
	uint64_t code = sample_symbol(path, "main").st_value;
	uint64_t constant = sample_symbol(path, "_IO_stdin_used").st_value;
	uint64_t relro = sample_symbol(path, "_DYNAMIC").st_value;
	uint64_t data = sample_symbol(path, "sink").st_value;

	(void)state;
	assert_true(elftext_readonly(text, code, 4));
	assert_true(elftext_readonly(text, constant, 4));
	assert_true(elftext_readonly(text, relro, 16));
	assert_false(elftext_readonly(text, data, 4));
	assert_false(elftext_readonly(text, relro, data + 4 - relro));
	assert_false(elftext_readonly(text, code, UINT64_MAX));
	assert_false(elftext_readonly(text, UINT64_MAX / 4, 1));
	elftext_close(text);
	free(path);
}

static void data_symbols(void **state)
{
	char *path = sample_path("data.O0");
	struct elftext *text = open_path(path);
	Elf64_Sym shards = sample_symbol(path, "shards");
	uint64_t start;
	uint64_t size;

	(void)state;
	assert_string_equal(elftext_data_symbol(text, shards.st_value + 56,
						&start, &size),
			    "shards");
	assert_int_equal(start, shards.st_value);
	assert_int_equal(size, shards.st_size);
	assert_string_equal(
		elftext_data_symbol(text, shards.st_value + shards.st_size - 1,
				    &start, &size),
		"shards");
	assert_null(elftext_data_symbol(text, 0, &start, &size));
	elftext_close(text);
	free(path);
}

static void build_id_and_soname(void **state)
{
	struct elftext *full = open_sample("stack.O2");
	struct elftext *stripped = open_sample("stack.stripped");
	struct elftext *library = open_sample("data.so");

	(void)state;
	assert_int_equal(strlen(elftext_build_id(full)), 40);
	assert_int_equal(strspn(elftext_build_id(full), "0123456789abcdef"),
			 40);
	assert_string_equal(elftext_build_id(full), elftext_build_id(stripped));
	assert_string_equal(elftext_soname(library), "libdata.so.1");
	assert_null(elftext_soname(full));
	elftext_close(full);
	elftext_close(stripped);
	elftext_close(library);
}

/* Sections, none of which is a note: the segment of notes has it too. */
static void build_id_without_a_section(void **state)
{
	struct elftext *full = open_sample("stack.O2"), *text;
	char *path = sample_path("stack.O2");
	int sections = 0;
	size_t size;
	uint8_t *bytes = sample_read(path, &size);
	const Elf64_Ehdr *header = (const void *)bytes;
	Elf64_Shdr *section = (void *)(bytes + header->e_shoff);

	(void)state;
	for (int i = 0; i < header->e_shnum; i++) {
		sections += section[i].sh_type == SHT_NOTE;
		if (section[i].sh_type == SHT_NOTE)
			section[i].sh_type = SHT_PROGBITS;
	}
	assert_true(sections > 0);
	assert_null(elftext_create_copy(bytes, size, "copy", &text));
	assert_string_equal(elftext_build_id(text), elftext_build_id(full));
	elftext_close(text);
	elftext_close(full);
	free(bytes);
	free(path);
}

/* A sample of that type, whose segment with the interpreter may be gone. */
static struct elftext *open_as(const char *name, uint16_t type,
			       bool interpreter)
{
	size_t size;
	uint8_t *bytes = without_sections(name, &size);
	Elf64_Ehdr *header = (void *)bytes;
	Elf64_Phdr *segments = (void *)(bytes + header->e_phoff);
	struct elftext *text;

	header->e_type = type;
	for (size_t i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_INTERP && !interpreter)
			segments[i].p_type = PT_NULL;
	}
	assert_null(elftext_create_copy(bytes, size, "copy", &text));
	free(bytes);
	return text;
}

static void what_is_static_and_fixed(void **state)
{
	static const struct {
		const char *name;
		uint16_t type;
		bool interpreter, is_static;
	} cases[] = {
		{ "stack.O2", ET_DYN, true, false },
		{ "stack.O2", ET_DYN, false, true }, /* by DF_1_PIE */
		{ "stack.O2", ET_EXEC, true, false },
		{ "stack.O2", ET_EXEC, false, true },
		{ "data.so", ET_DYN, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct elftext *text = open_as(cases[i].name, cases[i].type,
					       cases[i].interpreter);

		assert_int_equal(elftext_is_static(text), cases[i].is_static);
		assert_int_equal(elftext_is_fixed(text),
				 cases[i].type == ET_EXEC);
		elftext_close(text);
	}
}

static void bias_by_the_executable_mapping(void **state)
{
	struct elftext *text = open_sample("stack.O2");
	const uint64_t wanted = 0x7f1200000000;
	const struct elf_function *functions;
	uint64_t bias;
	size_t count;

	(void)state;
	/* GNU ld gives code its own pages, at the same place in the file */
	functions = elftext_functions(text, &count);
	assert_true(count > 0);
	for (size_t i = 0; i < count; i++) {
		uint64_t page = functions[i].start & ~UINT64_C(0xfff);

		assert_true(elftext_bias(text, wanted + page, page, &bias));
		assert_int_equal(bias, wanted);
	}
	assert_false(elftext_bias(text, wanted, 0x10000000, &bias));
	elftext_close(text);
}

/* lld maps one page of the file several times, at different addresses. */
static void bias_where_segments_share_a_page(void **state)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[3];
		uint8_t contents[4096];
	} file = {
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 3,
		},
		.segments = {
			{ .p_type = PT_LOAD, .p_flags = PF_R,
			  .p_filesz = 0x680, .p_memsz = 0x680 },
			{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			  .p_offset = 0x680, .p_vaddr = 0x1680,
			  .p_filesz = 0x80, .p_memsz = 0x80 },
			{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W,
			  .p_offset = 0x700, .p_vaddr = 0x2700,
			  .p_filesz = 0x80, .p_memsz = 0x80 },
		},
	};
	struct elftext *text;
	uint64_t bias;

	(void)state;
	assert_null(elftext_create_copy(&file, sizeof(file), "file", &text));
	assert_true(elftext_bias(text, 0x555500001000, 0, &bias));
	assert_int_equal(bias, 0x555500000000);
	elftext_close(text);
}

static void restartable_sequences(void **state)
{
	char *path = sample_path("rseq.O2");
	struct elftext *text = open_path(path);
	uint64_t start = sample_symbol(path, "rseq_start").st_value;
	uint64_t end = sample_symbol(path, "rseq_end").st_value;

	(void)state;
	assert_false(elftext_in_rseq(text, start - 1));
	assert_true(elftext_in_rseq(text, start));
	assert_true(elftext_in_rseq(text, end - 1));
	assert_false(elftext_in_rseq(text, end));
	elftext_close(text);
	free(path);
}

static void assert_refused(const char *path, const char *what)
{
	struct elftext *text;
	struct error *err = elftext_open(path, "the name", &text);

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_FORMAT);
	assert_non_null(strstr(error_message(err), "the name"));
	assert_non_null(strstr(error_message(err), what));
	error_free(err);
}

static void refuses_what_is_not_elf(void **state)
{
	char path[] = "/tmp/racewatch-test-XXXXXX";
	int fd = mkstemp(path);
	char *object = sample_path("data.o");
	struct elftext *text;
	struct error *err;

	(void)state;
	assert_true(fd >= 0);
	assert_refused(path, "not an ELF file"); /* empty */
	assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
	assert_refused(path, "not an ELF file");
	assert_refused("/", "not a regular file");
	assert_refused(object, "neither an executable nor a shared object");
	close(fd);
	unlink(path);
	err = elftext_open(path, "the name", &text);
	assert_non_null(err);
	assert_true(err->kind == ERROR_OTHER && err->code != 0);
	error_free(err);
	free(object);
}

/* What a damaged file gives: an error that names it, or a sound table. */
static size_t assert_sound(struct error *err, struct elftext *text)
{
	size_t count;

	if (err) {
		assert_int_equal(err->kind, ERROR_FORMAT);
		assert_non_null(strstr(error_message(err), "copy"));
		error_free(err);
		return SIZE_MAX;
	}
	assert_invariants(text);
	elftext_functions(text, &count);
	elftext_close(text);
	return count;
}

/* In memory and as a file, which is read bit by bit, it is the same. */
static void try_copy(const uint8_t *bytes, size_t size)
{
	struct elftext *text = NULL;
	struct error *err = elftext_create_copy(bytes, size, "copy", &text);
	size_t count = assert_sound(err, text);
	int fd = memfd_create("copy", MFD_CLOEXEC);
	char path[64];

	assert_int_equal(write(fd, bytes, size), size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	text = NULL;
	err = elftext_open(path, "copy", &text);
	assert_int_equal(assert_sound(err, text), count);
	close(fd);
}

static void truncated_anywhere(void **state)
{
	char *path = sample_path("stack.O2");
	size_t size;
	uint8_t *bytes = sample_read(path, &size);

	(void)state;
	for (size_t part = 0; part < size; part += part < 1024 ? 1 : 37)
		try_copy(bytes, part);
	free(bytes);
	free(path);
}

/* Random bytes over headers, and over the whole file. */
static void corrupted_anywhere(void **state)
{
	char *path = sample_path("stack.O2");
	size_t size;
	uint8_t *bytes = sample_read(path, &size);
	uint8_t *copy = malloc(size);
	const Elf64_Ehdr *header = (const void *)bytes;
	struct rng rng;

	(void)state;
	assert_non_null(copy);
	rng_init(&rng, 1);
	for (int round = 0; round < 3000; round++) {
		uint64_t edits = 1 + rng_below(&rng, 8);

		memcpy(copy, bytes, size);
		for (uint64_t i = 0; i < edits; i++) {
			uint64_t at = rng_below(&rng, size);

			if (round % 3 == 1)
				at = 16 + rng_below(&rng, 1000);
			else if (round % 3 == 2)
				at = header->e_shoff +
				     rng_below(&rng, size - header->e_shoff);
			copy[at] = (uint8_t)rng_below(&rng, 256);
		}
		try_copy(copy, size);
	}
	free(copy);
	free(bytes);
	free(path);
}

/* A copy of a sample at a path that is made up; its descriptor. */
static int copy_sample(const char *name, char *path)
{
	int fd = mkstemp(path);
	char *sample = sample_path(name);
	size_t size;
	uint8_t *bytes = sample_read(sample, &size);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	free(bytes);
	free(sample);
	return fd;
}

/* A mapped file that shrinks: no bytes, no crash. */
static void shrunk_after_opening(void **state)
{
	enum { SIZE = 8 << 20 };
	char path[] = "/tmp/racewatch-test-XXXXXX";
	int fd = mkstemp(path);
	char *sample = sample_path("stack.O2");
	size_t size;
	uint8_t *bytes = sample_read(sample, &size);
	uint64_t code = sample_symbol(sample, "main").st_value;
	struct elftext *text;
	uint64_t cut_ns;

	(void)state;
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	text = open_path(path);
	assert_non_null(elftext_bytes(text, code, &size));
	cut_ns = clock_now_ns();
	assert_int_equal(ftruncate(fd, 64), 0);
	/* it was intact a moment ago, which counts for a millisecond */
	while (elftext_bytes(text, code, &size))
		assert_true(clock_now_ns() - cut_ns < 10 * CLOCK_NS_PER_S);
	elftext_close(text);
	close(fd);
	unlink(path);
	free(bytes);
	free(sample);
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (!truncated_fill(info))
		abort();
}

/*
 * Another file shrinks: this one is looked at once, not at each use. It is seen by
 * a new time, which alone does not matter.
 */
static void looked_at_once_when_another_shrinks(void **state)
{
	enum { PAGE = 4096, SIZE = 8 << 20 };
	const struct sigaction filled = { .sa_sigaction = on_bus_error,
					  .sa_flags = SA_SIGINFO };
	const struct timespec times[] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	char path[] = "/tmp/racewatch-test-XXXXXX";
	char *sample = sample_path("stack.O2");
	uint64_t code = sample_symbol(sample, "main").st_value;
	int fd = copy_sample("stack.O2", path);
	FILE *other = tmpfile();
	const volatile uint8_t *pages;
	struct sigaction before;
	struct elftext *text;
	size_t size;

	(void)state;
	assert_int_equal(sigaction(SIGBUS, &filled, &before), 0);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	text = open_path(path);
	assert_non_null(elftext_bytes(text, code, &size));
	assert_non_null(other);
	assert_int_equal(ftruncate(fileno(other), 2L * PAGE), 0);
	pages = mmap(NULL, 2L * PAGE, PROT_READ, MAP_PRIVATE, fileno(other), 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(ftruncate(fileno(other), PAGE), 0);
	assert_int_equal(pages[PAGE], 0);
	assert_non_null(elftext_bytes(text, code, &size));
	assert_int_equal(futimens(fd, times), 0);
	assert_non_null(elftext_bytes(text, code, &size));
	/* until it may have been this file again */
	assert_int_equal(ftruncate(fileno(other), 0), 0);
	assert_int_equal(pages[0], 0);
	assert_null(elftext_bytes(text, code, &size));
	assert_null(elftext_bytes(text, code, &size));
	assert_int_equal(sigaction(SIGBUS, &before, NULL), 0);
	munmap((void *)pages, 2L * PAGE);
	fclose(other);
	elftext_close(text);
	close(fd);
	unlink(path);
	free(sample);
}

/* And one that shrinks before its functions were asked for: there are none. */
static void shrunk_before_reading(void **state)
{
	enum { SIZE = 8 << 20 };
	char path[] = "/tmp/racewatch-test-XXXXXX";
	int fd = copy_sample("stack.O2", path);
	char *sample = sample_path("stack.O2");
	uint64_t code = sample_symbol(sample, "main").st_value;
	uint64_t start, end;
	size_t count;
	struct elftext *text;
	struct error *err;

	(void)state;
	assert_int_equal(ftruncate(fd, SIZE), 0);
	text = open_path(path);
	assert_false(elftext_is_read(text));
	assert_int_equal(ftruncate(fd, 64), 0);
	elftext_functions(text, &count);
	assert_int_equal(count, 0);
	assert_null(elftext_function_at(text, code));
	assert_false(elftext_in_plt(text, code));
	assert_false(elftext_in_rseq(text, code));
	assert_null(elftext_data_symbol(text, code, &start, &end));
	err = elftext_read(text);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_FORMAT);
	assert_non_null(strstr(error_message(err), path));
	error_free(err);
	assert_false(elftext_is_read(text));
	elftext_close(text);
	close(fd);
	unlink(path);
	free(sample);
}

/* What is there may be no more what the headers were of. */
static void written_before_reading(void **state)
{
	char path[] = "/tmp/racewatch-test-XXXXXX";
	int fd = copy_sample("stack.O2", path);
	struct elftext *text = open_path(path);
	char *sample = sample_path("stack.O2");
	uint64_t code = sample_symbol(sample, "main").st_value;
	struct timespec later[2] = { { .tv_nsec = UTIME_OMIT },
				     { .tv_sec = 1000000000 } };
	struct error *err;
	size_t size, count;

	(void)state;
	assert_int_equal(pwrite(fd, "", 1, 5000), 1);
	assert_int_equal(futimens(fd, later), 0);
	err = elftext_read(text);
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_FORMAT);
	assert_non_null(strstr(error_message(err), path));
	assert_non_null(strstr(error_message(err), "written to"));
	error_free(err);
	assert_null(elftext_bytes(text, code, &size));
	elftext_functions(text, &count);
	assert_int_equal(count, 0);
	assert_null(elftext_build_id(text));
	assert_null(elftext_soname(text));
	elftext_close(text);
	/* as it is now */
	text = open_path(path);
	assert_non_null(elftext_bytes(text, code, &size));
	elftext_close(text);
	close(fd);
	unlink(path);
	free(sample);
}

/* The path may lead elsewhere by then: what was opened is read. */
static void replaced_before_reading(void **state)
{
	char path[] = "/tmp/racewatch-test-XXXXXX";
	char other[] = "/tmp/racewatch-test-XXXXXX";
	int fd = copy_sample("stack.O2", path);
	int other_fd = copy_sample("data.so", other);
	struct elftext *text = open_path(path);

	(void)state;
	assert_int_equal(rename(other, path), 0);
	assert_functions(text, "stack.O2", stack_functions, 3, true);
	elftext_close(text);
	close(fd);
	close(other_fd);
	unlink(path);
}

/* Where few more can be opened a small one is read at once. */
static void read_at_once_where_files_are_scarce(void **state)
{
	char path[] = "/tmp/racewatch-test-XXXXXX";
	int fd = copy_sample("data.so", path);
	struct rlimit limit, low;
	struct elftext *text;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	low.rlim_cur = (rlim_t)fd * 4;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	text = open_path(path);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_string_equal(elftext_soname(text), "libdata.so.1");
	elftext_close(text);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_by_symbols),
		cmocka_unit_test(functions_by_cfi_when_stripped),
		cmocka_unit_test(functions_by_debug_link),
		cmocka_unit_test(functions_without_sections),
		cmocka_unit_test(plt_without_sections),
		cmocka_unit_test(what_stays_read_only),
		cmocka_unit_test(data_symbols),
		cmocka_unit_test(build_id_and_soname),
		cmocka_unit_test(build_id_without_a_section),
		cmocka_unit_test(what_is_static_and_fixed),
		cmocka_unit_test(bias_by_the_executable_mapping),
		cmocka_unit_test(bias_where_segments_share_a_page),
		cmocka_unit_test(restartable_sequences),
		cmocka_unit_test(refuses_what_is_not_elf),
		cmocka_unit_test(truncated_anywhere),
		cmocka_unit_test(corrupted_anywhere),
		cmocka_unit_test(shrunk_after_opening),
		cmocka_unit_test(looked_at_once_when_another_shrinks),
		cmocka_unit_test(shrunk_before_reading),
		cmocka_unit_test(written_before_reading),
		cmocka_unit_test(replaced_before_reading),
		cmocka_unit_test(read_at_once_where_files_are_scarce),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
