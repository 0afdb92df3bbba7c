/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owners of stacks; see owner.h. A stack is the mapping that its thread's
 * stack pointer is in. Where the kernel has joined it with another's, the
 * thread whose stack pointer is next below the address is its owner.
 */
#include "conflict/owner.h"

#include <string.h>

#include "base/error.h"
#include "conflict/conflict.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/maps.h"
#include "sys/procfs.h"

enum { RED_ZONE = 128 };

/* The search for it. */
struct owner_search {
	const struct map_entry *entry; /* that has the address */
	uint64_t address;
	uint64_t stack_pointer; /* of the best so far */
	struct owner owner;
};

static void consider(struct owner_search *search, int tid, int side,
		     uint64_t sp)
{
	const struct map_entry *entry = search->entry;

	if (sp < entry->start || sp >= entry->end ||
	    search->address + RED_ZONE < sp ||
	    (search->owner.tid && sp <= search->stack_pointer))
		return;
	search->stack_pointer = sp;
	search->owner.tid = tid;
	search->owner.side = side;
}

static bool consider_sleeper(pid_t tid, void *data)
{
	uint64_t sp;

	if (procfs_stack_pointer(tid, &sp))
		consider(data, tid, -1, sp);
	return true;
}

/*
 * Thread-local variables of the executable lie right below the thread pointer
 * (Drepper, "ELF Handling For Thread-Local Storage", variant II).
 */
static bool owner_tls(const struct conflict_context *context,
		      const struct conflict *conflict, uint64_t address,
		      struct owner *ret)
{
	for (int i = 0; i < 2; i++) {
		const struct wire_side *wire = &conflict->wire.sides[i];
		const struct vec *modules =
			image_modules(context->homes[i].image);

		for (size_t m = 0; wire->present && m < modules->count; m++) {
			const struct module *module =
				*(struct module **)vec_at(modules, m);
			uint64_t size = module->text && module->main
						? elftext_tls_size(module->text)
						: 0;
			uint64_t start = wire->regs.fs_base - size;

			if (address - start >= size)
				continue;
			ret->tid = wire->tid;
			ret->side = i;
			ret->tls = true;
			ret->tls_offset = address - start;
			return true;
		}
	}
	return false;
}

static void owner_in_maps(const struct maps *maps,
			  const struct conflict *conflict, uint64_t address,
			  struct owner *ret)
{
	struct owner_search search = {
		.entry = maps_find(maps, address),
		.address = address,
		.owner = { .side = -1 },
	};
	int pid = conflict->wire.sides[0].pid;

	if (!search.entry || search.entry->inode != 0 ||
	    strcmp(search.entry->path, "[heap]") == 0)
		return;
	error_free(procfs_threads(pid, consider_sleeper, &search));
	for (int i = 0; i < 2; i++) {
		const struct wire_side *wire = &conflict->wire.sides[i];

		/* where it sleeps now does not matter */
		if (wire->present && search.owner.tid == wire->tid) {
			search.owner.tid = 0;
			search.stack_pointer = 0;
		}
	}
	for (int i = 0; i < 2; i++) {
		const struct wire_side *wire = &conflict->wire.sides[i];

		if (wire->present && wire->pid == pid)
			consider(&search, wire->tid, i,
				 wire->regs.gpr[X86_RSP]);
	}
	if (!search.owner.tid && strcmp(search.entry->path, "[stack]") == 0)
		search.owner.tid = pid;
	*ret = search.owner;
}

struct error *owner_find(const struct conflict_context *context,
			 const struct conflict *conflict, struct owner *ret)
{
	uint64_t address = conflict->overlap.address;
	const struct image *image = context->homes[0].image;
	struct owner owner = { .side = -1 };
	struct error *err;
	struct maps maps;

	if (!owner_tls(context, conflict, address, &owner)) {
		maps_init(&maps);
		err = maps_read(conflict->wire.sides[0].pid, &maps);
		if (err == error_nomem)
			return err;
		owner_in_maps(err ? image_maps(image) : &maps, conflict,
			      address, &owner);
		error_free(err);
		maps_deinit(&maps);
	}
	*ret = owner;
	return NULL;
}
