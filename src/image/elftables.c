/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of an ELF file; see elftables.h. functions.c merges what the
 * sources say about function bounds.
 */
#include "image/elftables.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "image/debugfile.h"
#include "image/elffile.h"
#include "image/elfsyms.h"
#include "image/elftext.h"
#include "image/functions.h"
#include "image/ranges.h"
#include "image/tablecache.h"

static bool is_plt(const char *name)
{
	static const char *const names[] = { ".plt", ".plt.got", ".plt.sec",
					     ".plt.bnd", ".iplt" };

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static bool find_plt(struct elftables *tables)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(tables->file->elf, section))) {
		struct code_range range;

		if (!is_plt(elffile_section_name(tables->file, section)) ||
		    !gelf_getshdr(section, &header))
			continue;
		range.start = header.sh_addr;
		range.end = header.sh_addr + header.sh_size;
		if (range.end > range.start && !vec_push(&tables->plt, &range))
			return false;
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

/* What the dynamic linker will write: a base plus addend at offset. */
struct relative {
	uint64_t offset;
	uint64_t addend;
	size_t order; /* in the table: of several the first counts */
};

static int compare_relatives(const void *left, const void *right)
{
	const struct relative *a = left;
	const struct relative *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* All RELATIVE relocations, by place. */
static bool collect_relatives(const struct elffile *file, struct vec *ret)
{
	uint64_t table_address;
	uint64_t size;
	struct elf_span table;
	Elf64_Rela rela;

	if (!elffile_dynamic(file, DT_RELA, &table_address) ||
	    !elffile_dynamic(file, DT_RELASZ, &size) ||
	    !elffile_at(file, table_address, &table))
		return true;
	if (table.size > size)
		table.size = size;
	for (uint64_t at = 0; at + sizeof(rela) <= table.size;
	     at += sizeof(rela)) {
		struct relative relative = { .order = ret->count };

		memcpy(&rela, table.bytes + at, sizeof(rela));
		relative.offset = rela.r_offset;
		relative.addend = (uint64_t)rela.r_addend;
		if (ELF64_R_TYPE(rela.r_info) == R_X86_64_RELATIVE &&
		    !vec_push(ret, &relative))
			return false;
	}
	if (ret->count)
		qsort(ret->items, ret->count, ret->size, compare_relatives);
	return true;
}

/*
 * The start address at that place: as in the file, or what a RELATIVE
 * relocation will put there.
 */
static uint64_t relocated(const struct vec *relatives, uint64_t address,
			  uint64_t value)
{
	size_t low = 0;
	size_t high = relatives->count;
	const struct relative *found;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		found = vec_at(relatives, middle);
		if (found->offset < address)
			low = middle + 1;
		else
			high = middle;
	}
	found = low < relatives->count ? vec_at(relatives, low) : NULL;
	return value == 0 && found && found->offset == address ? found->addend
							       : value;
}

static bool add_rseq(struct elftables *tables, const struct elf_span *span,
		     const struct vec *relatives)
{
	struct rseq_descriptor descriptor;

	for (uint64_t at = 0; at + sizeof(descriptor) <= span->size;
	     at += sizeof(descriptor)) {
		struct code_range range;

		memcpy(&descriptor, span->bytes + at, sizeof(descriptor));
		range.start = relocated(relatives,
					span->address + at +
						offsetof(struct rseq_descriptor,
							 start),
					descriptor.start);
		range.end = range.start + descriptor.length;
		if (range.end > range.start && !vec_push(&tables->rseq, &range))
			return false;
	}
	return true;
}

/* Sections may overlap: in all, no more is read than the file has. */
static bool find_rseq(struct elftables *tables)
{
	struct vec relatives = VEC_INIT(struct relative);
	uint64_t left = tables->file->size;
	Elf_Scn *section = NULL;
	struct elf_span span;
	bool ok = true, first = true;

	while (ok && (section = elffile_section(tables->file, "__rseq_cs",
						section))) {
		if (!elffile_contents(tables->file, section, &span) ||
		    span.size > left)
			continue;
		left -= span.size;
		ok = !first || collect_relatives(tables->file, &relatives);
		first = false;
		ok = ok && add_rseq(tables, &span, &relatives);
	}
	vec_deinit(&relatives);
	ranges_unite(&tables->rseq);
	return ok;
}

enum { NAME_COMPARED = 256 };

static int compare_data(const void *left, const void *right)
{
	const struct elf_symbol *a = left;
	const struct elf_symbol *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* of several names for one place the best comes last */
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	/* of two long names that begin alike any will do */
	return strncmp(b->name, a->name, NAME_COMPARED);
}

/* Symbols of the file and of its debug file; a list may be NULL. */
static bool collect_symbols(const struct elftables *tables, struct vec *code,
			    struct vec *data)
{
	return elfsyms_collect(tables->file, code, data) &&
	       (!tables->debug || elfsyms_collect(tables->debug, code, data));
}

static bool collect(struct elftables *tables)
{
	struct function_sources sources = {
		.code = VEC_INIT(struct elf_symbol),
		.plt = &tables->plt,
	};
	bool ok;

	ok = find_plt(tables) && find_rseq(tables) &&
	     collect_symbols(tables, &sources.code, NULL) &&
	     functions_merge(tables->file, &sources, &tables->functions);
	/* the merge appends to them */
	ranges_unite(&tables->plt);
	vec_deinit(&sources.code);
	return ok;
}

static bool collect_data(struct elftables *tables)
{
	struct vec *data = &tables->data;

	if (!collect_symbols(tables, NULL, data))
		return false;
	if (data->count)
		qsort(data->items, data->count, data->size, compare_data);
	return true;
}

struct error *elftables_create(struct elffile *file, const char *name,
			       struct file_access *access,
			       struct elftables **ret)
{
	struct elftables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return error_nomem;
	tables->name = strdup(name);
	if (!tables->name) {
		free(tables);
		return error_nomem;
	}
	tables->file = file;
	tables->access = access;
	tables->functions = (struct vec)VEC_INIT(struct elf_function);
	tables->data = (struct vec)VEC_INIT(struct elf_symbol);
	tables->plt = (struct vec)VEC_INIT(struct code_range);
	tables->rseq = (struct vec)VEC_INIT(struct code_range);
	*ret = tables;
	return NULL;
}

static void elftables_clear(struct elftables *tables)
{
	vec_deinit(&tables->functions);
	vec_deinit(&tables->plt);
	vec_deinit(&tables->rseq);
}

static struct table_source table_source(struct elftables *tables)
{
	return (struct table_source){
		.build_id = tables->build_id,
		.file = tables->file,
		.debug = tables->debug,
		.functions = &tables->functions,
		.plt = &tables->plt,
		.rseq = &tables->rseq,
	};
}

void elftables_destroy(struct elftables *tables)
{
	struct table_source source;

	if (!tables)
		return;
	source = table_source(tables);
	if (tables->read && !tables->kept)
		table_cache_save(&source);
	elftables_clear(tables);
	vec_deinit(&tables->data);
	elffile_close(tables->debug);
	free(tables->debug_path);
	free(tables->build_id);
	free(tables->name);
	free(tables);
}

static struct error *find_build_id(struct elftables *tables)
{
	size_t size;
	const uint8_t *id = elffile_build_id(tables->file, &size);
	struct strbuf hex = { 0 };

	if (!id)
		return NULL;
	strbuf_add_hex(&hex, id, size);
	tables->build_id = strbuf_steal(&hex);
	return tables->build_id ? NULL : error_nomem;
}

struct error *elftables_contents(struct elftables *tables)
{
	struct error *err;

	if (tables->has_contents)
		return NULL;
	err = elffile_read(tables->file, tables->name);
	if (!err)
		err = find_build_id(tables);
	tables->has_contents = err != error_nomem;
	return err;
}

static struct error *truncated(const struct elftables *tables)
{
	return error_create(ERROR_FORMAT, "%s: truncated since it was opened",
			    tables->name);
}

/* The contents, of a file that may have been opened long ago. */
static struct error *intact_contents(struct elftables *tables)
{
	struct error *err = elftables_contents(tables);

	if (err || elffile_intact(tables->file))
		return err;
	return truncated(tables);
}

struct error *elftables_debug(struct elftables *tables)
{
	struct error *err;

	if (tables->has_debug)
		return NULL;
	err = intact_contents(tables);
	if (err)
		return err;
	err = debugfile_open(tables->file, tables->name, tables->access,
			     &tables->debug, &tables->debug_path);
	tables->has_debug = !err;
	return err;
}

/* The files that symbols are read of. */
static struct error *intact_files(struct elftables *tables)
{
	struct error *err = intact_contents(tables);

	return err ? err : elftables_debug(tables);
}

/* What was made of zeros is not kept. */
static struct error *after_reading(const struct elftables *tables,
				   bool had_memory)
{
	if (!had_memory)
		return error_nomem;
	return elffile_intact(tables->file) &&
			       (!tables->debug || elffile_intact(tables->debug))
		       ? NULL
		       : truncated(tables);
}

struct error *elftables_read(struct elftables *tables)
{
	struct table_source source;
	struct error *err;

	if (tables->read)
		return NULL;
	err = intact_files(tables);
	if (err)
		return err;
	source = table_source(tables);
	tables->kept = table_cache_load(&source);
	if (!tables->kept)
		err = after_reading(tables, collect(tables));
	tables->read = !err;
	if (err)
		elftables_clear(tables);
	return err;
}

struct error *elftables_data(struct elftables *tables)
{
	struct error *err;

	if (tables->has_data)
		return NULL;
	err = intact_files(tables);
	if (err)
		return err;
	err = after_reading(tables, collect_data(tables));
	tables->has_data = !err;
	if (err)
		vec_deinit(&tables->data);
	return err;
}
