/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a program's code is; see code.h.
 */
#include "tracee/code.h"

#include "base/error.h"
#include "sys/mapping.h"
#include "tracee/addrspace.h"

static bool code_holds(const struct mapping *mapping, uint64_t address,
		       size_t size)
{
	return address >= mapping->start && address < mapping->end &&
	       size <= mapping->end - address;
}

static bool code_is_known(const struct vec *code, uint64_t address, size_t size)
{
	for (size_t i = 0; i < code->count; i++) {
		if (code_holds(vec_at(code, i), address, size))
			return true;
	}
	return false;
}

/* What is written to a shared mapping may be written to the file. */
static bool code_is_of_file(const struct mapping *mapping)
{
	return (mapping->access & MAPPING_EXECUTE) &&
	       !(mapping->access & MAPPING_SHARED) && mapping->inode != 0;
}

/* False: it cannot be, and what was opened before stays. */
static bool code_open_again(struct addrspace *space)
{
	struct mappings mappings;

	mappings_init(&mappings, space->memory.pid);
	if (mappings.fd < 0)
		return false;
	mappings_deinit(&space->mappings);
	space->mappings = mappings;
	return true;
}

/*
 * By the file that was opened with the space: once the program has made itself not
 * dumpable, it cannot be opened (prctl(2)). It is opened again if that failed
 * then, or if it was that of a thread which has ended.
 */
static bool code_find(struct addrspace *space, uint64_t address,
		      struct mapping *ret)
{
	bool found = false;
	struct error *err =
		mappings_find(&space->mappings, address, ret, &found);

	if (err && code_open_again(space)) {
		error_free(err);
		err = mappings_find(&space->mappings, address, ret, &found);
	}
	error_free(err);
	return !err && found;
}

/* Without memory to keep what was found, it is looked for again. */
bool code_is_mapped(struct addrspace *space, uint64_t address, size_t size)
{
	struct vec *code = &space->text->code;
	struct mapping mapping;

	if (code_is_known(code, address, size))
		return true;
	if (!code_find(space, address, &mapping) ||
	    !code_is_of_file(&mapping) || !code_holds(&mapping, address, size))
		return false;
	vec_push(code, &mapping);
	return true;
}

void code_forget(struct addrspace *space)
{
	vec_clear(&space->text->code);
}
