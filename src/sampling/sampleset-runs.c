/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of a sampling set that are known to run; see sampleset.h.
 */
#include "sampling/sampleset-parts.h"

#include <string.h>

#include "base/error.h"
#include "sampling/sampler-runs.h"
#include "wire/site.h"
#include "wire/sound.h"
#include "x86/call.h"

/* The next part, from *part on, that has a function of the module there. */
static bool sampleset_next_at(const struct sampleset *set, uint64_t address,
			      size_t *part, uint32_t *ret_function)
{
	const struct module *module = image_module_at(set->image, address);

	if (!module || !module->text)
		return false;
	for (; *part < set->parts.count; (*part)++) {
		const struct sampleset_part *at = sampleset_part(set, *part);

		if (!at->gone && at->module == module &&
		    sampleset_find_function(at, address - module->bias,
					    ret_function))
			return true;
	}
	return false;
}

bool sampleset_holds(const struct sampleset *set, uint64_t address)
{
	size_t part = 0;
	uint32_t function;

	return sampleset_next_at(set, address, &part, &function);
}

struct error *sampleset_runs(struct sampleset *set, uint64_t address)
{
	struct error *err = NULL;
	uint32_t function;

	for (size_t part = 0;
	     !err && sampleset_next_at(set, address, &part, &function); part++)
		err = sampler_runs(&set->sampler, (uint32_t)part, function);
	return err;
}

bool sampleset_take_news(struct sampleset *set, struct wire_site *ret)
{
	uint64_t id = sampler_take_news(&set->sampler);

	return id != 0 && sampleset_describe(set, id, ret);
}

uint64_t sampleset_own_text(const struct sampleset *set)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < set->parts.count; i++) {
		if (sampleset_is_own(sampleset_part(set, i)))
			bytes += sampler_part_size(&set->sampler, (uint32_t)i);
	}
	return bytes;
}

/*
 * endbr64 stays as it is: where indirect branches are tracked, one that does not
 * lead to it kills the program.
 */
static uint64_t entry_skip(const uint8_t *bytes, size_t size)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return size > sizeof(endbr64) &&
			       memcmp(bytes, endbr64, sizeof(endbr64)) == 0
		       ? sizeof(endbr64)
		       : 0;
}

/* False: there is nothing that can be armed. */
static bool sampleset_describe_entry(struct sampleset *set, uint32_t number,
				     uint32_t index, struct wire_site *ret)
{
	const struct sampleset_part *part = sampleset_part(set, number);
	const struct elf_function *function = sampleset_function(part, index);
	uint64_t address = function->start;
	const uint8_t *bytes;
	size_t size = 0;

	bytes = elftext_bytes(part->module->text, address, &size);
	if (size > function->size)
		size = (size_t)function->size;
	address += entry_skip(bytes, size);
	bytes = elftext_bytes(part->module->text, address, &size);
	memset(ret, 0, sizeof(*ret));
	scan_instruction(&set->scanner, part->module, address, &ret->insn);
	if (ret->insn.refusal == X86_REFUSED_UNDECODABLE ||
	    ret->insn.length == 0 || ret->insn.length > size ||
	    address + ret->insn.length > function->start + function->size)
		return false;
	/* whatever it accesses: no thread is stalled there */
	ret->insn = (struct insn_access){ .length = ret->insn.length };
	memcpy(ret->bytes, bytes, ret->insn.length);
	ret->id = WIRE_ENTRY | sampler_entry(number, index);
	ret->address = address + part->module->bias;
	ret->function = function->start + part->module->bias;
	/* an int3 of its own could not be told from ours */
	return wire_site_is_sound(ret);
}

struct error *sampleset_callees(void *context, uint32_t number, uint32_t index,
				struct vec *functions)
{
	const struct sampleset *set = context;
	const struct sampleset_part *part = sampleset_part(set, number);
	const struct elf_function *function = sampleset_function(part, index);
	size_t size = 0, at = 0;
	const uint8_t *bytes =
		elftext_bytes(part->module->text, function->start, &size);
	uint64_t target;

	if (size > function->size)
		size = (size_t)function->size;
	while (x86_next_callee(bytes, size, function->start, &at, &target)) {
		uint32_t callee;

		if (sampleset_find_function(part, target, &callee) &&
		    sampleset_function(part, callee)->start == target &&
		    !vec_push(functions, &callee))
			return error_nomem;
	}
	return NULL;
}

/* One that is likely to run. */
static bool sampleset_take_callee(struct sampleset *set, struct wire_site *ret)
{
	uint32_t number, function;

	while (sampler_take_callee(&set->sampler, &number, &function)) {
		if (sampleset_describe_entry(set, number, function, ret))
			return true;
		sampler_return_entry(&set->sampler,
				     sampler_entry(number, function));
	}
	return false;
}

bool sampleset_take_entry(struct sampleset *set, struct sampleset_walk *walk,
			  struct wire_site *ret)
{
	if (sampleset_take_callee(set, ret))
		return true;
	for (; walk->part < set->parts.count; walk->part++, walk->at.site = 0) {
		uint32_t number = (uint32_t)walk->part, function;

		if (!sampleset_is_own(sampleset_part(set, walk->part)))
			continue;
		while (sampler_take_entry(&set->sampler, number, &walk->at.site,
					  &function)) {
			if (sampleset_describe_entry(set, number, function,
						     ret))
				return true;
			sampler_return_entry(&set->sampler,
					     sampler_entry(number, function));
		}
	}
	return false;
}
