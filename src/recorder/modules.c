/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of several variants of memcpy runs is known when the loader has called
 * its resolver. A stripped C library does not say where such a variant ends.
 * The linker places variants of the same kind side by side, so an address up to
 * 4 KiB behind the entry of one is in a string function.
 */
#include "recorder/modules.h"

#include "recorder/elf.h"
#include "recorder/os.h"

enum { STRING_SPAN = 4096 };

void modules_init(struct modules *modules)
{
	modules->all = os_map(MODULES_MAX * sizeof(*modules->all));
	modules->count = 0;
	modules->last = 0;
	records_init(&modules->functions, sizeof(struct function));
	table_init(&modules->by_entry);
}

void modules_deinit(struct modules *modules)
{
	for (uint32_t i = 0; i < modules->count; i++)
		os_free(modules->all[i].path);
	os_unmap(modules->all, MODULES_MAX * sizeof(*modules->all));
	records_deinit(&modules->functions);
	table_deinit(&modules->by_entry);
}

bool modules_add_rule(struct modules *modules, const char *pattern,
		      enum module_kind kind)
{
	if (modules->rules_count == MODULE_RULES_MAX)
		return false;
	modules->rules[modules->rules_count++] =
		(struct module_rule){ pattern, (uint8_t)kind };
	return true;
}

static enum module_kind kind_of(const struct modules *modules, const char *path)
{
	const char *name = path;

	for (const char *at = path; *at != '\0'; at++)
		name = *at == '/' ? at + 1 : name;
	for (uint32_t i = 0; i < modules->rules_count; i++) {
		if (names_match(modules->rules[i].pattern, name))
			return modules->rules[i].kind;
	}
	return MODULE_OWN;
}

uint32_t modules_entry(const struct modules *modules, uint64_t address)
{
	uint32_t hash = table_hash(address, 0), at = 0, id;

	while ((id = table_next(&modules->by_entry, hash, &at)) != 0) {
		if (function_at(modules, id)->entry == address)
			return id;
	}
	return 0;
}

static struct function *add_function(struct modules *modules, uint64_t entry)
{
	uint32_t id = modules_entry(modules, entry);

	if (id == 0) {
		id = records_add(&modules->functions);
		table_add(&modules->by_entry, table_hash(entry, 0), id);
		function_at(modules, id)->entry = entry;
	}
	return function_at(modules, id);
}

struct finding {
	struct modules *modules;
	const struct module *module;
};

static void found_function(void *data, const struct elf_function *found)
{
	struct finding *finding = data;
	enum watched kind = names_find(found->name, found->length);
	struct function *function;
	size_t length = found->length;

	if (kind == WATCH_NONE)
		return;
	function = add_function(finding->modules,
				found->value + finding->module->bias);
	if (length > sizeof(function->name) - 1)
		length = sizeof(function->name) - 1;
	if (function->kind != WATCH_NONE)
		return; /* another name of it */
	os_copy(function->name, found->name, length);
	function->kind = (uint8_t)kind;
	function->resolver = found->resolver;
	if (!found->resolver && found->size > 0)
		function->end = function->entry + found->size;
}

static bool is_same(const struct module *module, const struct elf_file *file,
		    const char *path)
{
	size_t n = os_length(path);

	return !module->unloaded && module->bias == file->bias &&
	       os_length(module->path) == n &&
	       os_compare(module->path, path, n) == 0;
}

static void forget_functions(struct modules *modules,
			     const struct module *module)
{
	for (uint32_t id = 1; id <= modules->functions.count; id++) {
		struct function *function = function_at(modules, id);

		if (function->entry < module->low ||
		    function->entry >= module->high)
			continue;
		table_remove(&modules->by_entry, table_hash(function->entry, 0),
			     id);
		function->entry = 0;
		function->end = 0;
		function->kind = WATCH_NONE;
	}
}

void modules_map(struct modules *modules, const char *path, uint64_t address,
		 uint64_t offset, uint64_t sequence)
{
	size_t length = os_length(path);
	struct elf_file file;
	struct module *module;

	if (modules->count == MODULES_MAX ||
	    !elf_read(path, address, offset, &file))
		return;
	for (uint32_t i = 0; i < modules->count; i++) {
		if (is_same(&modules->all[i], &file, path))
			return;
	}
	module = &modules->all[modules->count++];
	module->bias = file.bias;
	module->low = file.low + file.bias;
	module->high = file.high + file.bias;
	module->kind = (uint8_t)kind_of(modules, path);
	module->build_id_size = (uint8_t)file.build_id_size;
	os_copy(module->build_id, file.build_id, file.build_id_size);
	module->sequence = sequence;
	module->path = os_alloc(length + 1);
	os_copy(module->path, path, length);
	forget_functions(modules, module);
	elf_each_function(path, found_function,
			  &(struct finding){ modules, module });
}

uint32_t modules_unmap(struct modules *modules, uint64_t address, uint64_t size)
{
	for (uint32_t i = 0; i < modules->count; i++) {
		struct module *module = &modules->all[i];

		if (module->unloaded || address > module->low ||
		    address + size < module->high)
			continue;
		module->unloaded = true;
		forget_functions(modules, module);
		return i + 1;
	}
	return 0;
}

static bool has(const struct module *module, uint64_t address)
{
	return address >= module->low && address < module->high;
}

uint32_t modules_find(struct modules *modules, uint64_t address)
{
	uint32_t found = 0;

	if (modules->last != 0 &&
	    !module_at(modules, modules->last)->unloaded &&
	    has(module_at(modules, modules->last), address))
		return modules->last;
	for (uint32_t i = modules->count; i > 0; i--) {
		const struct module *module = &modules->all[i - 1];

		if (!has(module, address))
			continue;
		if (!module->unloaded) {
			modules->last = i;
			return i;
		}
		found = found == 0 ? i : found;
	}
	return found;
}

void modules_resolved(struct modules *modules, uint32_t resolver,
		      uint64_t entry)
{
	struct function *function = add_function(modules, entry);

	if (function->kind != WATCH_NONE)
		return;
	function->kind = function_at(modules, resolver)->kind;
	os_copy(function->name, function_at(modules, resolver)->name,
		sizeof(function->name));
}

/* The WATCH_STRING function that the address is in; or 0. */
static uint32_t string_function(struct modules *modules, uint64_t address)
{
	uint32_t module = modules_find(modules, address), found = 0;
	uint64_t nearest = 0;

	for (uint32_t id = 1; id <= modules->functions.count; id++) {
		const struct function *function = function_at(modules, id);
		uint64_t end = function->end != 0
				       ? function->end
				       : function->entry + STRING_SPAN;

		if (function->kind != WATCH_STRING || function->resolver ||
		    address < function->entry || address >= end ||
		    function->entry < nearest || module == 0 ||
		    !has(module_at(modules, module), function->entry))
			continue;
		nearest = function->entry;
		found = id;
	}
	return found;
}

bool modules_recorded(struct modules *modules, uint64_t address,
		      uint32_t *function)
{
	uint32_t module = modules_find(modules, address);
	uint8_t kind = MODULE_OWN;

	if (module != 0)
		kind = module_at(modules, module)->kind;
	*function = 0;
	if (kind != MODULE_RUNTIME && module != 0)
		*function = string_function(modules, address);
	return kind == MODULE_OWN || *function != 0;
}
