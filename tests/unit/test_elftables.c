/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the tables of an ELF file takes time in proportion to their size,
 * also where they were made to take longer: many entries for one address,
 * tables in the worst order, entries that send the reader elsewhere each time.
 *
 * Time is that of the processor, the shortest of several: others on the machine
 * can only make it longer. Sixteen times as much takes 16 times as long and some
 * more for sorting and for caches that are too small, but 256 times as long
 * where something is quadratic.
 */
#include "image/elftables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "image/elffile.h"
#include "image/elftext.h"

enum {
	SMALL = 2000, /* entries */
	TIMES = 16,
	TIMES_MAX = 100,
	TRIES = 5,
	/* where there is code; it is left zero */
	CODE = 0x1000,
	CODE_SIZE = 0x200000,
	DISTANCE = 8, /* of functions */
};

/* A file that is mapped as it is, at address 0. */
struct file {
	uint8_t *bytes;
	size_t size, room;
	struct vec sections; /* of Elf64_Shdr */
};

static const char names[] = "\0.eh_frame\0__rseq_cs\0.plt";
enum { NAME_NONE = 0, NAME_EH_FRAME = 1, NAME_RSEQ = 11, NAME_PLT = 21 };

static void add(struct file *file, const void *bytes, size_t size)
{
	if (file->room < file->size + size) {
		file->room = 2 * (file->size + size);
		file->bytes = realloc(file->bytes, file->room);
		assert_non_null(file->bytes);
	}
	if (bytes)
		memcpy(file->bytes + file->size, bytes, size);
	else
		memset(file->bytes + file->size, 0, size);
	file->size += size;
}

static void add_word(struct file *file, uint32_t word)
{
	add(file, &word, sizeof(word));
}

/* What follows until end_section() is its contents. */
static Elf64_Shdr *begin_section(struct file *file, uint32_t name,
				 uint32_t type)
{
	const Elf64_Shdr section = {
		.sh_name = name,
		.sh_type = type,
		.sh_offset = file->size,
		.sh_addr = file->size,
	};

	assert_true(vec_push(&file->sections, &section));
	return vec_at(&file->sections, file->sections.count - 1);
}

static void end_section(const struct file *file, Elf64_Shdr *section)
{
	section->sh_size = file->size - section->sh_offset;
}

/* The headers, the code, and the names of sections as the second of them. */
static void begin(struct file *file)
{
	Elf64_Shdr *section;

	*file = (struct file){ .sections = VEC_INIT(Elf64_Shdr) };
	add(file, NULL, CODE + CODE_SIZE);
	begin_section(file, NAME_NONE, SHT_NULL);
	section = begin_section(file, NAME_NONE, SHT_STRTAB);
	add(file, names, sizeof(names));
	end_section(file, section);
}

/* dynamic: where a dynamic section of that size is, or 0 */
static void end(struct file *file, uint64_t dynamic, uint64_t size)
{
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_filesz = file->size,
		  .p_memsz = file->size },
		{ .p_type = dynamic ? PT_DYNAMIC : PT_NULL,
		  .p_offset = dynamic,
		  .p_vaddr = dynamic,
		  .p_filesz = size,
		  .p_memsz = size },
	};
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(segments[0]),
		.e_phnum = 2,
		.e_shoff = file->size,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shstrndx = 1,
	};
	Elf64_Shdr *first = vec_at(&file->sections, 0);

	memcpy(file->bytes, &header, sizeof(header));
	memcpy(file->bytes + sizeof(header), segments, sizeof(segments));
	/* there may be too many for e_shnum */
	first->sh_size = file->sections.count;
	add(file, file->sections.items,
	    file->sections.count * sizeof(Elf64_Shdr));
}

/* The same, with a dynamic section that names a table of relocations. */
static void end_dynamic(struct file *file, uint64_t table, uint64_t size)
{
	const Elf64_Dyn entries[] = {
		{ DT_RELA, { table } },
		{ DT_RELASZ, { size } },
		{ DT_NULL, { 0 } },
	};
	uint64_t at = file->size;

	add(file, entries, sizeof(entries));
	end(file, at, sizeof(entries));
}

/* Symbols for few addresses, backwards, whose names differ at their ends. */
static void many_symbols(struct file *file, size_t count)
{
	enum { NAME_SIZE = 300 };
	char name[NAME_SIZE];
	Elf64_Shdr *section;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	section = begin_section(file, NAME_NONE, SHT_STRTAB);
	add(file, name, sizeof(name));
	end_section(file, section);
	section = begin_section(file, NAME_NONE, SHT_SYMTAB);
	section->sh_link = 2;
	section->sh_entsize = sizeof(Elf64_Sym);
	for (size_t i = 0; i < count; i++) {
		const Elf64_Sym symbol = {
			.st_name = (Elf64_Word)(i % 32),
			.st_info = ELF64_ST_INFO(STB_GLOBAL,
						 i % 2 ? STT_FUNC : STT_OBJECT),
			.st_shndx = 1,
			.st_value = CODE + (count - i) / 64,
			.st_size = CODE_SIZE,
		};

		add(file, &symbol, sizeof(symbol));
	}
	end_section(file, section);
	end(file, 0, 0);
}

/* A CIE of which that many bytes must be read. */
static uint64_t add_cie(struct file *file, size_t padding)
{
	uint64_t at = file->size;

	add_word(file, (uint32_t)(4 + 4 + padding + 4));
	add_word(file, 0);
	add(file, "\1zR", 4); /* the version, the augmentation */
	add(file, NULL, padding);
	memset(file->bytes + file->size - padding, 0x80, padding - 1);
	add(file, "\1\1\1\3", 4); /* the last: PE_UDATA4 */
	return at;
}

/* Backwards, each of another CIE than the one before. */
static void add_entries(struct file *file, size_t count, size_t padding)
{
	Elf64_Shdr *section = begin_section(file, NAME_EH_FRAME, SHT_PROGBITS);
	uint64_t cies[] = { add_cie(file, padding), add_cie(file, padding) };

	for (size_t i = 0; i < count; i++) {
		add_word(file, 12);
		add_word(file, (uint32_t)(file->size - cies[i % 2]));
		add_word(file, (uint32_t)(CODE + (count - i) * DISTANCE));
		add_word(file, CODE_SIZE);
	}
	end_section(file, section);
}

static void many_entries(struct file *file, size_t count)
{
	add_entries(file, count, count);
	end(file, 0, 0);
}

/* Code without names that looks like a procedure linkage table. */
static void many_linkages(struct file *file, size_t count)
{
	for (size_t at = CODE; at < CODE + CODE_SIZE; at += DISTANCE)
		memcpy(file->bytes + at, "\xff\x25", 2);
	add_entries(file, count, 1);
	end(file, 0, 0);
}

/* A section of such a table between any two functions. */
static void many_sections(struct file *file, size_t count)
{
	add_entries(file, count, 1);
	for (size_t i = 0; i < count; i++) {
		Elf64_Shdr *section =
			begin_section(file, NAME_PLT, SHT_PROGBITS);

		section->sh_addr = CODE + i * DISTANCE + DISTANCE / 2;
		section->sh_size = 1;
	}
	end(file, 0, 0);
}

/* Sections whose names begin in a long table that has no end. */
static void many_unended_names(struct file *file, size_t count)
{
	Elf64_Shdr *section = vec_at(&file->sections, 1);
	size_t size = count * 16;

	section->sh_offset = file->size;
	section->sh_size = size;
	add(file, NULL, size);
	memset(file->bytes + file->size - size, 'x', size);
	for (size_t i = 0; i < count; i++)
		begin_section(file, NAME_NONE, SHT_PROGBITS);
	end(file, 0, 0);
}

/* Restartable sequences whose starts are relocated, in the worst order. */
static void many_relocations(struct file *file, size_t count)
{
	enum { DESCRIPTOR = 32, START = 8 };
	Elf64_Shdr *section = begin_section(file, NAME_RSEQ, SHT_PROGBITS);
	uint64_t rseq = file->size;
	uint64_t table;

	for (size_t i = 0; i < count; i++) {
		const uint64_t descriptor[] = { 0, 0, 1, 0 };

		add(file, descriptor, DESCRIPTOR);
	}
	end_section(file, section);
	table = file->size;
	for (size_t i = count; i-- > 0;) {
		const Elf64_Rela rela = {
			.r_offset = rseq + i * DESCRIPTOR + START,
			.r_info = R_X86_64_RELATIVE,
			.r_addend = (Elf64_Sxword)(CODE + i * 2),
		};

		add(file, &rela, sizeof(rela));
	}
	end_dynamic(file, table, file->size - table);
}

/* To read it once. */
static uint64_t time_once(const struct file *file)
{
	struct timespec before, after;
	struct elftext *text;

	assert_null(
		elftext_create_copy(file->bytes, file->size, "made", &text));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	assert_null(elftext_read(text));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	elftext_close(text);
	return (uint64_t)(after.tv_sec - before.tv_sec) * CLOCK_NS_PER_S +
	       (uint64_t)after.tv_nsec - (uint64_t)before.tv_nsec;
}

typedef void make_t(struct file *file, size_t count);

/* The least of several, or the first that is less than enough. */
static uint64_t time_of(make_t *make, size_t count, uint64_t enough)
{
	uint64_t least = UINT64_MAX;
	struct file file;

	begin(&file);
	make(&file, count);
	for (int i = 0; i < TRIES && least >= enough; i++) {
		uint64_t time = time_once(&file);

		if (time < least)
			least = time;
	}
	vec_deinit(&file.sections);
	free(file.bytes);
	return least;
}

static void assert_in_proportion(make_t *make)
{
	uint64_t small = time_of(make, SMALL, 0);
	uint64_t limit = TIMES_MAX * small;
	uint64_t large = time_of(make, TIMES * SMALL, limit);

	if (large >= limit)
		fail_msg("%d: %llu us, %d: %llu us", SMALL,
			 (unsigned long long)(small / CLOCK_NS_PER_US),
			 TIMES * SMALL,
			 (unsigned long long)(large / CLOCK_NS_PER_US));
}

static void symbols_take_time_in_proportion(void **state)
{
	(void)state;
	assert_in_proportion(many_symbols);
}

static void unwind_entries_take_time_in_proportion(void **state)
{
	(void)state;
	assert_in_proportion(many_entries);
}

static void linkage_tables_take_time_in_proportion(void **state)
{
	(void)state;
	assert_in_proportion(many_linkages);
}

static void sections_take_time_in_proportion(void **state)
{
	(void)state;
	assert_in_proportion(many_sections);
}

static void unended_names_take_time_in_proportion(void **state)
{
	(void)state;
	assert_in_proportion(many_unended_names);
}

static void relocations_take_time_in_proportion(void **state)
{
	(void)state;
	assert_in_proportion(many_relocations);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_take_time_in_proportion),
		cmocka_unit_test(unwind_entries_take_time_in_proportion),
		cmocka_unit_test(linkage_tables_take_time_in_proportion),
		cmocka_unit_test(sections_take_time_in_proportion),
		cmocka_unit_test(unended_names_take_time_in_proportion),
		cmocka_unit_test(relocations_take_time_in_proportion),
	};

	return cmocka_run_group_tests_name("elftables", tests, NULL, NULL);
}
