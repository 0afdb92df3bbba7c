/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From addresses to sites of a sampling set, and back; see sampleset.h.
 */
#include "sampling/sampleset-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "wire/site.h"

int sampleset_compare_indices(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

bool sampleset_describe(struct sampleset *set, uint64_t id,
			struct wire_site *ret)
{
	uint32_t number, index, offset;
	const struct sampleset_part *part;
	const uint8_t *bytes;
	uint64_t address;
	size_t size = 0;

	if (!sampler_locate(&set->sampler, id, &number, &index, &offset))
		return false;
	memset(ret, 0, sizeof(*ret));
	part = sampleset_part(set, number);
	address = sampleset_function(part, index)->start + offset;
	bytes = elftext_bytes(part->module->text, address, &size);
	scan_instruction(&set->scanner, part->module, address, &ret->insn);
	memcpy(ret->bytes, bytes,
	       size < ret->insn.length ? size : ret->insn.length);
	ret->id = id;
	ret->address = address + part->module->bias;
	ret->function = ret->address - offset;
	return true;
}

static bool sampleset_is(const struct module *module, const char *path,
			 const char *build_id)
{
	const char *own = elftext_build_id(module->text);

	if (own || build_id)
		return own && build_id && strcmp(own, build_id) == 0;
	return strcmp(module->path, path) == 0;
}

bool sampleset_find_function(const struct sampleset_part *part, uint64_t offset,
			     uint32_t *ret_function)
{
	const struct elf_function *all, *function;
	const uint32_t *found;
	uint32_t index;
	size_t count;

	function = elftext_function_at(part->module->text, offset);
	if (!function || part->functions.count == 0)
		return false;
	all = elftext_functions(part->module->text, &count);
	index = (uint32_t)(function - all);
	found = bsearch(&index, part->functions.items, part->functions.count,
			part->functions.size, sampleset_compare_indices);
	if (!found)
		return false;
	*ret_function =
		(uint32_t)(found - (const uint32_t *)part->functions.items);
	return true;
}

/* In the part, if it is of the module. */
static struct error *sampleset_find_in(struct sampleset *set, size_t number,
				       const struct module *module,
				       uint64_t address, uint64_t *ret_id)
{
	const struct sampleset_part *part = sampleset_part(set, number);
	uint32_t function;

	if (part->gone || part->module != module ||
	    !sampleset_find_function(part, address, &function))
		return NULL;
	return sampler_find(
		&set->sampler, (uint32_t)number, function,
		(uint32_t)(address - sampleset_function(part, function)->start),
		ret_id);
}

struct error *sampleset_find_site(struct sampleset *set, const char *path,
				  const char *build_id, uint64_t offset,
				  uint64_t *ret_id)
{
	struct error *err = NULL;
	uint64_t id = 0;

	for (size_t i = 0; !err && id == 0 && i < set->parts.count; i++) {
		const struct sampleset_part *part = sampleset_part(set, i);

		if (!part->gone && sampleset_is(part->module, path, build_id))
			err = sampleset_find_in(set, i, part->module, offset,
						&id);
	}
	if (!err)
		*ret_id = id;
	return err;
}

struct error *sampleset_find_at(struct sampleset *set,
				const struct module *module, uint64_t address,
				uint64_t *ret_id)
{
	struct error *err = NULL;
	uint64_t id = 0;

	for (size_t i = 0; !err && id == 0 && i < set->parts.count; i++)
		err = sampleset_find_in(set, i, module, address, &id);
	if (!err)
		*ret_id = id;
	return err;
}

bool sampleset_place(const struct sampleset *set, uint64_t id,
		     struct sampleset_place *ret)
{
	const struct sampleset_part *part;
	uint32_t number, index, offset;

	if (!sampler_locate(&set->sampler, id, &number, &index, &offset))
		return false;
	part = sampleset_part(set, number);
	*ret = (struct sampleset_place){
		.module = part->module,
		.offset = sampleset_function(part, index)->start + offset,
	};
	return true;
}
