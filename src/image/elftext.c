/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One ELF file's code and data; see elftext.h. Everything is collected once,
 * when the file is opened; functions.c merges what the sources say about
 * function bounds.
 */
#include "image/elftext.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "image/debugfile.h"
#include "image/elffile.h"
#include "image/elfsyms.h"
#include "image/functions.h"

struct elftext {
	struct elffile *file;
	struct elffile *debug; /* owns some of the names; may be NULL */
	char *debug_path;
	char *build_id;
	const char *soname;
	uint64_t start, end;
	struct vec functions; /* of struct elf_function, by start */
	struct vec data; /* of struct elf_symbol, by start */
	struct vec plt; /* of struct code_range */
	struct vec rseq; /* of struct code_range */
};

static bool find_build_id(struct elftext *text)
{
	size_t size;
	const uint8_t *id = elffile_build_id(text->file, &size);
	struct strbuf hex = { 0 };

	if (!id)
		return true;
	for (size_t i = 0; i < size; i++)
		strbuf_addf(&hex, "%02x", id[i]);
	text->build_id = strbuf_steal(&hex);
	return text->build_id != NULL;
}

static void find_soname(struct elftext *text)
{
	struct elf_span strings;
	uint64_t address;
	uint64_t offset;

	if (elffile_dynamic(text->file, DT_SONAME, &offset) &&
	    elffile_dynamic(text->file, DT_STRTAB, &address) &&
	    elffile_at(text->file, address, &strings))
		text->soname = elf_string(&strings, offset);
}

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

static bool find_plt(struct elftext *text)
{
	static const char *const names[] = { ".plt", ".plt.got", ".plt.sec",
					     ".plt.bnd", ".iplt" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const Elf64_Shdr *section;
		size_t index = 0;

		while ((section = elffile_section(text->file, names[i],
						  &index))) {
			struct code_range range = { section->sh_addr,
						    section->sh_addr +
							    section->sh_size };

			if (range.end > range.start &&
			    !vec_push(&text->plt, &range))
				return false;
		}
	}
	return true;
}

/* A critical section's descriptor; struct rseq_cs of <linux/rseq.h>. */
struct rseq_descriptor {
	uint32_t version;
	uint32_t flags;
	uint64_t start;
	uint64_t length;
	uint64_t abort;
};

/*
 * The start address at that place: as in the file, or what a RELATIVE
 * relocation will put there.
 */
static uint64_t relocated(const struct elffile *file, uint64_t address,
			  uint64_t value)
{
	uint64_t table_address;
	uint64_t size;
	struct elf_span table;
	Elf64_Rela rela;

	if (value != 0 || !elffile_dynamic(file, DT_RELA, &table_address) ||
	    !elffile_dynamic(file, DT_RELASZ, &size) ||
	    !elffile_at(file, table_address, &table))
		return value;
	if (table.size > size)
		table.size = size;
	for (uint64_t at = 0; at + sizeof(rela) <= table.size;
	     at += sizeof(rela)) {
		memcpy(&rela, table.bytes + at, sizeof(rela));
		if (rela.r_offset == address &&
		    ELF64_R_TYPE(rela.r_info) == R_X86_64_RELATIVE)
			return (uint64_t)rela.r_addend;
	}
	return value;
}

static bool find_rseq(struct elftext *text)
{
	struct rseq_descriptor descriptor;
	const Elf64_Shdr *section;
	struct elf_span span;
	size_t index = 0;

	while ((section = elffile_section(text->file, "__rseq_cs", &index))) {
		if (!elffile_contents(text->file, section, &span))
			continue;
		for (uint64_t at = 0; at + sizeof(descriptor) <= span.size;
		     at += sizeof(descriptor)) {
			struct code_range range;

			memcpy(&descriptor, span.bytes + at,
			       sizeof(descriptor));
			range.start = relocated(
				text->file,
				span.address + at +
					offsetof(struct rseq_descriptor, start),
				descriptor.start);
			range.end = range.start + descriptor.length;
			if (range.end > range.start &&
			    !vec_push(&text->rseq, &range))
				return false;
		}
	}
	return true;
}

static int compare_data(const void *left, const void *right)
{
	const struct elf_symbol *a = left;
	const struct elf_symbol *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* of several names for one place the best comes last */
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(b->name, a->name);
}

static bool collect(struct elftext *text)
{
	struct function_sources sources = {
		.code = VEC_INIT(struct elf_symbol),
		.plt = &text->plt,
	};
	bool ok;

	find_soname(text);
	find_extent(text);
	ok = find_build_id(text) && find_plt(text) && find_rseq(text) &&
	     elfsyms_collect(text->file, &sources.code, &text->data) &&
	     (!text->debug ||
	      elfsyms_collect(text->debug, &sources.code, &text->data)) &&
	     functions_merge(text->file, &sources, &text->functions);
	vec_deinit(&sources.code);
	if (text->data.count)
		qsort(text->data.items, text->data.count, text->data.size,
		      compare_data);
	return ok;
}

/* Takes file over, also on failure. */
static struct error *elftext_create(struct elffile *file, const char *name,
				    struct elftext **ret)
{
	struct elftext *text = calloc(1, sizeof(*text));
	struct error *err;

	if (!text) {
		elffile_close(file);
		return error_nomem;
	}
	text->file = file;
	text->functions = (struct vec)VEC_INIT(struct elf_function);
	text->data = (struct vec)VEC_INIT(struct elf_symbol);
	text->plt = (struct vec)VEC_INIT(struct code_range);
	text->rseq = (struct vec)VEC_INIT(struct code_range);
	err = debugfile_open(file, name, &text->debug, &text->debug_path);
	if (!err && !collect(text))
		err = error_nomem;
	if (err) {
		elftext_close(text);
		return err;
	}
	*ret = text;
	return NULL;
}

struct error *elftext_open(const char *path, const char *name,
			   struct elftext **ret)
{
	struct elffile *file;
	struct error *err = elffile_open(path, name, &file);

	return err ? err : elftext_create(file, name, ret);
}

struct error *elftext_create_copy(const void *bytes, size_t size,
				  const char *name, struct elftext **ret)
{
	struct elffile *file;
	struct error *err = elffile_create_copy(bytes, size, name, &file);

	return err ? err : elftext_create(file, name, ret);
}

void elftext_close(struct elftext *text)
{
	if (!text)
		return;
	vec_deinit(&text->functions);
	vec_deinit(&text->data);
	vec_deinit(&text->plt);
	vec_deinit(&text->rseq);
	free(text->build_id);
	free(text->debug_path);
	elffile_close(text->debug);
	elffile_close(text->file);
	free(text);
}

const struct elf_function *elftext_functions(const struct elftext *text,
					     size_t *ret_count)
{
	*ret_count = text->functions.count;
	return text->functions.items;
}

const struct elf_function *elftext_function_at(const struct elftext *text,
					       uint64_t address)
{
	size_t low = 0;
	size_t high = text->functions.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct elf_function *function =
			vec_at(&text->functions, middle);

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
	struct elf_span span;

	if (!elffile_at(text->file, address, &span) ||
	    !elffile_intact(text->file))
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

static bool in_ranges(const struct vec *ranges, uint64_t address)
{
	for (size_t i = 0; i < ranges->count; i++) {
		const struct code_range *range = vec_at(ranges, i);

		if (address >= range->start && address < range->end)
			return true;
	}
	return false;
}

bool elftext_in_plt(const struct elftext *text, uint64_t address)
{
	return in_ranges(&text->plt, address);
}

bool elftext_in_rseq(const struct elftext *text, uint64_t address)
{
	return in_ranges(&text->rseq, address);
}

const char *elftext_data_symbol(const struct elftext *text, uint64_t address,
				uint64_t *ret_start, uint64_t *ret_size)
{
	/* how far back a symbol may start that others lie within */
	enum { NESTED_MAX = 16 };
	size_t low = 0;
	size_t high = text->data.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct elf_symbol *symbol = vec_at(&text->data, middle);

		if (symbol->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < low && i < NESTED_MAX; i++) {
		const struct elf_symbol *symbol =
			vec_at(&text->data, low - 1 - i);

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
	return text->build_id;
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

const char *elftext_soname(const struct elftext *text)
{
	return text->soname;
}

void elftext_extent(const struct elftext *text, uint64_t *ret_start,
		    uint64_t *ret_end)
{
	*ret_start = text->start;
	*ret_end = text->end;
}

bool elftext_is_stripped(const struct elftext *text)
{
	size_t index = 0;

	return !text->debug && !elffile_section_type(text->file, SHT_SYMTAB) &&
	       !elffile_section(text->file, ".debug_info", &index);
}

const char *elftext_debug_path(const struct elftext *text)
{
	return text->debug_path;
}

const struct elffile *elftext_file(const struct elftext *text)
{
	return text->file;
}
