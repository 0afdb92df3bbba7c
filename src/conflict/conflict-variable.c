/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A conflict's variable; see conflict-variable.h.
 */
#include "conflict/conflict-variable.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "conflict/block.h"
#include "conflict/conflict.h"
#include "conflict/owner.h"
#include "image/image.h"
#include "image/pointers.h"
#include "image/variables.h"
#include "report/race.h"
#include "sys/memory.h"
#include "sys/procfs.h"

/* The memory that one side sees. */
struct side_memory {
	const struct conflict *conflict;
	struct memory memory;
};

static enum race_region describe_region(enum data_region region)
{
	switch (region) {
	case DATA_GLOBAL:
		return REGION_GLOBAL;
	case DATA_HEAP:
		return REGION_HEAP;
	case DATA_STACK:
		return REGION_STACK;
	case DATA_TLS:
		return REGION_TLS;
	case DATA_MAPPING:
		return REGION_MAPPING;
	case DATA_UNKNOWN:
		break;
	}
	return REGION_UNKNOWN;
}

/* From the stacks' copies if they are of that process, else as it is now. */
static bool read_side_memory(void *context, uint64_t address, void *bytes,
			     size_t size)
{
	const struct side_memory *memory = context;
	struct error *err;
	size_t got;

	for (int i = 0; i < 2; i++) {
		const struct conflict_side *side = &memory->conflict->sides[i];
		uint64_t skip =
			address - memory->conflict->wire.sides[i].stack_address;

		if (!side->stack || side->wire->pid != memory->memory.pid ||
		    skip >= side->wire->stack_size ||
		    size > side->wire->stack_size - skip)
			continue;
		memcpy(bytes, side->stack + skip, size);
		return true;
	}
	err = memory_read(&memory->memory, address, bytes, size, &got);
	if (err) {
		error_free(err);
		return false;
	}
	return got == size;
}

/* By the pointers of one side, what is in the query besides them. */
static struct error *name_by_pointers(const struct conflict *conflict, int i,
				      struct pointer_query query,
				      struct data_name *name,
				      unsigned int *rank, bool *ret_found)
{
	const struct conflict_side *side = &conflict->sides[i];
	struct side_memory memory = { .conflict = conflict };
	struct frame_memory reader = { read_side_memory, &memory };
	struct error *err;

	query.frames = side->frames;
	query.frame_count = side->frame_count;
	query.memory = &reader;
	memory_init(&memory.memory, side->wire->pid);
	err = pointers_name(side->home->image, &query, name, rank, ret_found);
	memory_deinit(&memory.memory);
	return err;
}

struct error *conflict_name_object(const struct conflict *conflict, int i,
				   uint64_t address, uint32_t size,
				   struct data_name *ret)
{
	const struct conflict_side *side = &conflict->sides[i];
	struct pointer_query query = { .address = address, .size = size };
	struct data_name found = { 0 };
	unsigned int rank;
	bool any = false;
	struct error *err = variables_name(side->home->image, side->wire->pid,
					   address, size, ret);

	if (err || ret->name)
		return err;
	err = name_by_pointers(conflict, i, query, &found, &rank, &any);
	if (err || !any)
		return err;
	data_name_deinit(ret);
	*ret = found;
	return NULL;
}

/* Better names than before replace *name. */
static struct error *name_by_side(const struct conflict *conflict, int i,
				  struct data_name *name, unsigned int *rank)
{
	struct pointer_query query = {
		.address = conflict->overlap.address,
		.size = conflict->overlap.size,
		.base = conflict->sides[i].base,
	};
	struct data_name found = { .region = name->region };
	unsigned int found_rank;
	struct error *err;
	bool any;

	if (!conflict->sides[i].wire->present)
		return NULL;
	if (i == 1)
		query.address += conflict->wire.shift;
	err = name_by_pointers(conflict, i, query, &found, &found_rank, &any);
	if (err || !any)
		return err;
	/* the same name whichever side was stalled */
	if (found_rank > *rank || (found_rank == *rank && name->name &&
				   strcmp(found.name, name->name) >= 0)) {
		data_name_deinit(&found);
		return NULL;
	}
	found.module = take_string(&name->module);
	found.module_offset = name->module_offset;
	data_name_deinit(name);
	*name = found;
	*rank = found_rank;
	return NULL;
}

static struct error *describe_owner(const struct conflict *conflict,
				    const struct owner *owner,
				    struct data_name *name,
				    struct race_variable *variable)
{
	char thread[32];

	if (!owner->tid)
		return NULL;
	name->region = owner->tls ? DATA_TLS : DATA_STACK;
	variable->owner = owner->tid;
	if (owner->side >= 0)
		memcpy(thread, conflict->wire.sides[owner->side].name,
		       WIRE_NAME);
	else
		procfs_name(conflict->wire.sides[0].pid, owner->tid, thread,
			    sizeof(thread));
	thread[WIRE_NAME] = '\0';
	variable->owner_thread = strdup(thread);
	return variable->owner_thread ? NULL : error_nomem;
}

/* Memory that is not of a module. */
static struct error *describe_memory(const struct conflict_context *context,
				     const struct conflict *conflict,
				     struct data_name *name,
				     struct race_variable *variable)
{
	unsigned int rank = UINT32_MAX;
	struct owner owner;
	struct error *err = owner_find(context, conflict, &owner);

	if (!err)
		err = describe_owner(conflict, &owner, name, variable);
	if (!err && owner.tls)
		err = variables_name_local(context->homes[owner.side].image,
					   owner.tls_offset,
					   conflict->overlap.size, name);
	if (!err && !owner.tid)
		err = block_find(conflict, &variable->block);
	if (variable->block.address)
		name->region = DATA_HEAP;
	if (name->name)
		return err;
	for (int i = 0; !err && i < 2; i++)
		err = name_by_side(conflict, i, name, &rank);
	return err;
}

struct error *conflict_variable(const struct conflict_context *context,
				const struct conflict *conflict,
				struct race_variable *variable)
{
	struct data_name name = { 0 };
	struct error *err = variables_name(context->homes[0].image,
					   conflict->wire.sides[0].pid,
					   conflict->overlap.address,
					   conflict->overlap.size, &name);

	if (!err && name.region != DATA_GLOBAL)
		err = describe_memory(context, conflict, &name, variable);
	if (err) {
		data_name_deinit(&name);
		return err;
	}
	variable->name = take_string(&name.name);
	variable->symbol = take_string(&name.symbol);
	variable->offset = name.offset;
	variable->type = take_string(&name.type);
	variable->container = take_string(&name.container);
	variable->file = take_string(&name.file);
	variable->line = name.line;
	variable->region = describe_region(name.region);
	variable->module = take_string(&name.module);
	variable->module_offset = name.module_offset;
	data_name_deinit(&name);
	return NULL;
}
