/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for data addresses; see variables.h.
 */
#include "image/variables.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "image/debuginfo.h"
#include "image/die.h"
#include "image/elftext.h"
#include "image/fieldpath.h"
#include "image/image.h"
#include "image/plainname.h"
#include "image/varindex.h"

void data_name_deinit(struct data_name *name)
{
	free(name->name);
	free(name->symbol);
	free(name->type);
	free(name->container);
	free(name->file);
	free(name->module);
	memset(name, 0, sizeof(*name));
}

/* A copy of text, NULL of "" or NULL; *failed is set when out of memory. */
static char *copy_text(const char *text, bool *failed)
{
	char *copy = NULL;

	if (text && text[0]) {
		copy = strdup(text);
		*failed |= !copy;
	}
	return copy;
}

static void add_scope_name(Dwarf_Die *scope, struct strbuf *name)
{
	const char *own = dwarf_diename(scope);

	switch (dwarf_tag(scope)) {
	case DW_TAG_namespace:
		strbuf_add(name, own ? own : "(anonymous namespace)");
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
		if (!own)
			return;
		strbuf_add(name, own);
		break;
	default:
		return;
	}
	strbuf_add(name, "::");
}

void variables_add_name(Dwarf_Die *die, struct strbuf *name)
{
	const char *linkage = die_linkage_name(die);
	char *demangled = linkage ? demangle(linkage) : NULL;
	Dwarf_Die declaration = *die;
	const char *own = dwarf_diename(die);
	Dwarf_Die *scopes = NULL;
	int count;

	if (demangled) {
		strbuf_add(name, demangled);
		free(demangled);
		return;
	}
	die_referred(die, DW_AT_specification, &declaration);
	/* Go's names are whole; its units are so large that a walk takes long */
	if (die_language(die) == DW_LANG_Go) {
		strbuf_add(name, own ? own : "?");
		return;
	}
	count = dwarf_getscopes_die(&declaration, &scopes);
	for (int i = count - 1; i > 0; i--)
		add_scope_name(&scopes[i], name);
	free(scopes);
	strbuf_add(name, own ? own : "?");
}

/* Fill in from a variable's DIE. */
static struct error *name_by_dwarf(Dwarf_Die *die, uint64_t offset,
				   uint32_t size, struct data_name *ret)
{
	struct field_path path = { 0 };
	struct strbuf name = { 0 };
	bool failed = false;
	Dwarf_Die type;

	variables_add_name(die, &name);
	ret->symbol = copy_text(strbuf_text(&name), &failed);
	ret->offset = offset;
	ret->inner = offset;
	if (die_referred(die, DW_AT_type, &type)) {
		field_path_find(&type, offset, size, &path);
		ret->inner = path.inner;
	}
	strbuf_add(&name, strbuf_text(&path.path));
	failed |= name.failed || path.path.failed || path.type.failed ||
		  path.container.failed;
	ret->name = strbuf_steal(&name);
	if (ret->name)
		plain_name(ret->name);
	failed |= !ret->name;
	ret->type = copy_text(strbuf_text(&path.type), &failed);
	ret->container = copy_text(strbuf_text(&path.container), &failed);
	ret->file = copy_text(die_file(die, DW_AT_decl_file), &failed);
	ret->line = (int)die_number(die, DW_AT_decl_line, 0);
	field_path_deinit(&path);
	return failed ? error_nomem : NULL;
}

/* Fill in from an ELF symbol: "counter" or "counter+8". */
static struct error *name_by_symbol(const char *symbol, uint64_t offset,
				    struct data_name *ret)
{
	struct strbuf name = { 0 };

	ret->symbol = demangle(symbol);
	if (!ret->symbol)
		ret->symbol = strdup(symbol);
	if (!ret->symbol)
		return error_nomem;
	ret->offset = offset;
	ret->inner = offset;
	strbuf_add(&name, ret->symbol);
	if (offset)
		strbuf_addf(&name, "+%" PRIu64, offset);
	ret->name = strbuf_steal(&name);
	return ret->name ? NULL : error_nomem;
}

static struct error *name_in_module(struct image *image, struct module *module,
				    uint64_t address, uint32_t size,
				    struct data_name *ret)
{
	uint64_t at = address - module->bias;
	struct debug_module *debug;
	const char *symbol;
	struct error *err;
	uint64_t start;
	uint64_t extent;
	bool found = false;
	Dwarf_Die die;

	ret->region = DATA_GLOBAL;
	ret->module_offset = at;
	ret->module = strdup(module->path);
	if (!ret->module)
		return error_nomem;
	if (!module->text)
		return NULL;
	err = debuginfo_module(image, module, &debug);
	if (!err && debug->dwarf)
		err = variable_index_find(debug, at + debug->dwarf_shift, &die,
					  &start, &found);
	if (err)
		return err;
	if (found)
		return name_by_dwarf(&die, at + debug->dwarf_shift - start,
				     size, ret);
	symbol = elftext_data_symbol(module->text, at, &start, &extent);
	return symbol ? name_by_symbol(symbol, at - start, ret) : NULL;
}

/* The mapping right below, if there is no gap. */
static const struct map_entry *entry_below(const struct maps *maps,
					   const struct map_entry *entry)
{
	const struct map_entry *below = entry - 1;

	if (entry == maps->entries.items || below->end != entry->start)
		return NULL;
	return below;
}

/*
 * What anonymous private memory is, by the habits of the GNU C library: heaps
 * of threads start at multiples of 64 MiB (malloc/arena.c, HEAP_MAX_SIZE);
 * malloc maps what is larger than 128 KiB; stacks have a guard below them.
 */
static enum data_region anonymous_region(const struct maps *maps,
					 const struct map_entry *entry)
{
	const uint64_t arena = UINT64_C(64) << 20;
	const uint64_t large = UINT64_C(128) << 10;
	const struct map_entry *below = entry_below(maps, entry);

	if (entry->shared || !entry->write || entry->exec)
		return DATA_MAPPING;
	if (entry->start % arena == 0)
		return DATA_HEAP;
	if (below && below->inode == 0 && !below->read && !below->write)
		return DATA_MAPPING;
	return entry->end - entry->start > large ? DATA_HEAP : DATA_MAPPING;
}

static struct error *name_in_mapping(const struct maps *maps,
				     const struct map_entry *entry,
				     uint64_t address, struct data_name *ret)
{
	ret->module_offset = address - entry->start;
	if (entry->inode != 0)
		ret->module_offset += entry->offset;
	if (strcmp(entry->path, "[heap]") == 0)
		ret->region = DATA_HEAP;
	else if (strcmp(entry->path, "[stack]") == 0)
		ret->region = DATA_STACK;
	else if (entry->inode == 0 && entry->path[0] == '\0')
		ret->region = anonymous_region(maps, entry);
	else
		ret->region = DATA_MAPPING;
	if (entry->path[0] == '\0')
		return NULL;
	ret->module = strdup(entry->path);
	return ret->module ? NULL : error_nomem;
}

static struct error *name_in_maps(const struct maps *maps, uint64_t address,
				  struct data_name *ret)
{
	const struct map_entry *entry = maps_find(maps, address);

	return entry ? name_in_mapping(maps, entry, address, ret) : NULL;
}

/* By the process's own maps; those of the image where it has ended. */
static struct error *name_in_process(const struct image *image, int pid,
				     uint64_t address, struct data_name *ret)
{
	struct maps own;
	struct error *err;

	if (pid == 0 || pid == image_pid(image))
		return name_in_maps(image_maps(image), address, ret);
	maps_init(&own);
	err = maps_read(pid, &own);
	error_free(err);
	err = name_in_maps(err ? image_maps(image) : &own, address, ret);
	maps_deinit(&own);
	return err;
}

struct error *variables_name(struct image *image, int pid, uint64_t address,
			     uint32_t size, struct data_name *ret)
{
	struct module *module = image_module_at(image, address);
	struct data_name name = { 0 };
	struct error *err;

	err = module ? name_in_module(image, module, address, size, &name)
		     : name_in_process(image, pid, address, &name);
	if (err) {
		data_name_deinit(&name);
		return err;
	}
	*ret = name;
	return NULL;
}

static struct module *executable(const struct image *image)
{
	const struct vec *modules = image_modules(image);

	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);

		if (module->main && module->text)
			return module;
	}
	return NULL;
}

struct error *variables_name_local(struct image *image, uint64_t offset,
				   uint32_t size, struct data_name *ret)
{
	struct module *module = executable(image);
	struct data_name name = { .region = DATA_TLS };
	struct debug_module *debug;
	struct error *err = NULL;
	uint64_t start;
	bool found = false;
	Dwarf_Die die;

	if (!module)
		return NULL;
	err = debuginfo_module(image, module, &debug);
	if (!err && debug->dwarf)
		err = variable_index_find_local(debug, offset, &die, &start,
						&found);
	if (err || !found)
		return err;
	name.module_offset = offset;
	name.module = strdup(module->path);
	err = name.module ? name_by_dwarf(&die, offset - start, size, &name)
			  : error_nomem;
	data_name_deinit(err ? &name : ret);
	if (!err)
		*ret = name;
	return err;
}

struct error *variables_prepare(struct image *image, uint64_t address)
{
	struct module *module = image_module_at(image, address);
	struct debug_module *debug;
	struct error *err;
	bool complete;

	if (!module || !module->text)
		return NULL;
	err = debuginfo_module(image, module, &debug);
	if (!err && debug->dwarf)
		err = variable_index_work(debug, UINT64_MAX, &complete);
	return err;
}
