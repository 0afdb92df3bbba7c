/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One ELF file's code and data; see elftext.h. The headers are read when the
 * file is opened, the tables when one is needed.
 */
#include "image/elftext.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/regular.h"
#include "base/vec.h"
#include "image/elffile.h"
#include "image/elfsyms.h"
#include "image/elftables.h"
#include "image/functions.h"
#include "image/ranges.h"

struct elftext {
	struct elffile *file;
	struct elftables *tables;
	uint64_t start, end;
};

static void find_extent(struct elftext *text)
{
	const uint64_t mask = ELFFILE_PAGE - 1;

	text->start = UINT64_MAX;
	for (size_t i = 0; i < text->file->segment_count; i++) {
		const Elf64_Phdr *segment = &text->file->segments[i];
		uint64_t end = segment->p_vaddr + segment->p_memsz;

		if (segment->p_type != PT_LOAD)
			continue;
		if ((segment->p_vaddr & ~mask) < text->start)
			text->start = segment->p_vaddr & ~mask;
		if (((end + mask) & ~mask) > text->end)
			text->end = (end + mask) & ~mask;
	}
}

/* Takes file over, also on failure. */
static struct error *elftext_create(struct elffile *file, const char *name,
				    struct file_access *access,
				    struct elftext **ret)
{
	struct elftext *text = calloc(1, sizeof(*text));
	struct error *err;

	if (!text) {
		elffile_close(file);
		return error_nomem;
	}
	text->file = file;
	err = elftables_create(file, name, access, &text->tables);
	/* a large one has them, and might not long after */
	if (!err && file->bytes)
		err = elftables_contents(text->tables);
	if (err) {
		elftext_close(text);
		return err;
	}
	find_extent(text);
	*ret = text;
	return NULL;
}

struct error *elftext_open_file(int fd, const char *name,
				struct file_access *access,
				struct elftext **ret)
{
	struct elffile *file;
	struct error *err = elffile_open(fd, name, &file);

	return err ? err : elftext_create(file, name, access, ret);
}

struct error *elftext_open(const char *path, const char *name,
			   struct elftext **ret)
{
	struct stat status;
	struct error *err;
	int fd;

	err = regular_open(path, name, &fd, &status);
	return err ? err : elftext_open_file(fd, name, NULL, ret);
}

struct error *elftext_create_copy(const void *bytes, size_t size,
				  const char *name, struct elftext **ret)
{
	struct elffile *file;
	struct error *err = elffile_create_copy(bytes, size, name, &file);

	return err ? err : elftext_create(file, name, NULL, ret);
}

void elftext_close(struct elftext *text)
{
	if (!text)
		return;
	elftables_destroy(text->tables);
	elffile_close(text->file);
	free(text);
}

struct error *elftext_read(const struct elftext *text)
{
	return elftables_read(text->tables);
}

bool elftext_is_whole(const struct elftext *text)
{
	return elffile_intact(text->file);
}

bool elftext_is_read(const struct elftext *text)
{
	return text->tables->read;
}

/* What cannot be read is not there. */
static void pass_over(struct error *err)
{
	if (err)
		log_debug(LOG_IMAGE, "%s", error_message(err));
	error_free(err);
}

static const struct elftables *tables_of(const struct elftext *text)
{
	pass_over(elftables_read(text->tables));
	return text->tables;
}

static struct elffile *contents_of(const struct elftext *text)
{
	pass_over(elftables_contents(text->tables));
	return text->file;
}

const struct elf_function *elftext_functions(const struct elftext *text,
					     size_t *ret_count)
{
	const struct elftables *tables = tables_of(text);

	*ret_count = tables->functions.count;
	return tables->functions.items;
}

const struct elf_function *elftext_function_at(const struct elftext *text,
					       uint64_t address)
{
	const struct vec *functions = &tables_of(text)->functions;
	size_t low = 0;
	size_t high = functions->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct elf_function *function = vec_at(functions, middle);

		if (address < function->start)
			high = middle;
		else if (address - function->start >= function->size)
			low = middle + 1;
		else
			return function;
	}
	return NULL;
}

const uint8_t *elftext_bytes(const struct elftext *text, uint64_t address,
			     size_t *ret_size)
{
	struct elffile *file = contents_of(text);
	struct elf_span span;

	if (!elffile_at(file, address, &span) || !elffile_intact(file))
		return NULL;
	*ret_size = span.size;
	return span.bytes;
}

bool elftext_readonly(const struct elftext *text, uint64_t address,
		      uint64_t size)
{
	uint64_t end = address + size;

	if (end < address)
		return false;
	for (size_t i = 0; i < text->file->segment_count; i++) {
		const Elf64_Phdr *segment = &text->file->segments[i];
		uint64_t limit = segment->p_vaddr + segment->p_memsz;

		/* the loader protects whole pages only */
		if (segment->p_type == PT_GNU_RELRO)
			limit &= ~(uint64_t)(ELFFILE_PAGE - 1);
		else if (segment->p_type != PT_LOAD ||
			 (segment->p_flags & PF_W))
			continue;
		if (address >= segment->p_vaddr && end <= limit)
			return true;
	}
	return false;
}

bool elftext_in_plt(const struct elftext *text, uint64_t address)
{
	return ranges_hold(&tables_of(text)->plt, address);
}

bool elftext_in_rseq(const struct elftext *text, uint64_t address)
{
	return ranges_hold(&tables_of(text)->rseq, address);
}

const char *elftext_data_symbol(const struct elftext *text, uint64_t address,
				uint64_t *ret_start, uint64_t *ret_size)
{
	/* how far back a symbol may start that others lie within */
	enum { NESTED_MAX = 16 };
	const struct vec *data = &text->tables->data;
	size_t low = 0;
	size_t high;

	pass_over(elftables_data(text->tables));
	high = data->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct elf_symbol *symbol = vec_at(data, middle);

		if (symbol->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < low && i < NESTED_MAX; i++) {
		const struct elf_symbol *symbol = vec_at(data, low - 1 - i);

		if (address - symbol->start < symbol->size) {
			*ret_start = symbol->start;
			*ret_size = symbol->size;
			return symbol->name;
		}
	}
	return NULL;
}

const char *elftext_build_id(const struct elftext *text)
{
	pass_over(elftables_contents(text->tables));
	return text->tables->build_id;
}

bool elftext_bias(const struct elftext *text, uint64_t start, uint64_t offset,
		  uint64_t *ret_bias)
{
	const uint64_t mask = ELFFILE_PAGE - 1;
	const Elf64_Phdr *match = NULL;

	for (size_t i = 0; i < text->file->segment_count; i++) {
		const Elf64_Phdr *segment = &text->file->segments[i];
		uint64_t end = segment->p_offset + segment->p_filesz;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		if ((segment->p_offset & ~mask) == offset) {
			match = segment;
			break;
		}
		if (!match && offset > segment->p_offset && offset < end)
			match = segment;
	}
	if (!match)
		return false;
	*ret_bias = start - (match->p_vaddr - match->p_offset + offset);
	return true;
}

uint64_t elftext_tls_size(const struct elftext *text)
{
	const Elf64_Phdr *segment = elffile_segment_type(text->file, PT_TLS);
	uint64_t align;

	if (!segment || segment->p_memsz > UINT64_C(1) << 40)
		return 0;
	align = segment->p_align ? segment->p_align : 1;
	if (align > UINT64_C(1) << 30)
		return 0;
	return (segment->p_memsz + align - 1) / align * align;
}

bool elftext_dynamic(const struct elftext *text, int64_t tag, uint64_t *ret)
{
	struct elffile *file = contents_of(text);

	return elffile_intact(file) && elffile_dynamic(file, tag, ret);
}

bool elftext_is_fixed(const struct elftext *text)
{
	return text->file->fixed;
}

bool elftext_is_static(const struct elftext *text)
{
	uint64_t flags;

	if (elffile_segment_type(text->file, PT_INTERP))
		return false;
	return text->file->fixed ||
	       (elftext_dynamic(text, DT_FLAGS_1, &flags) &&
		(flags & DF_1_PIE));
}

const char *elftext_soname(const struct elftext *text)
{
	struct elffile *file = contents_of(text);
	struct elf_span strings;
	uint64_t address;
	uint64_t offset;

	if (!elffile_intact(file) ||
	    !elffile_dynamic(file, DT_SONAME, &offset) ||
	    !elffile_dynamic(file, DT_STRTAB, &address) ||
	    !elffile_at(file, address, &strings))
		return NULL;
	return elf_string(&strings, offset);
}

void elftext_extent(const struct elftext *text, uint64_t *ret_start,
		    uint64_t *ret_end)
{
	*ret_start = text->start;
	*ret_end = text->end;
}

bool elftext_is_stripped(const struct elftext *text)
{
	return !elftext_debug_file(text) && elffile_intact(text->file) &&
	       !elffile_section_type(text->file, SHT_SYMTAB) &&
	       !elffile_section(text->file, ".debug_info", NULL);
}

const char *elftext_debug_path(const struct elftext *text)
{
	pass_over(elftables_debug(text->tables));
	return text->tables->debug_path;
}

const struct elffile *elftext_debug_file(const struct elftext *text)
{
	pass_over(elftables_debug(text->tables));
	return text->tables->debug;
}

const struct elffile *elftext_file(const struct elftext *text)
{
	return contents_of(text);
}
