/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which string functions of the C library a process calls, read from the slots
 * of its modules; see sampleset-parts.h.
 */
#include "sampling/sampleset-parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "sampling/dynamic.h"
#include "sys/memory.h"

enum { SLOT_PAGE = 4096 };

/* The function that a slot's value names, if it is a new one of libc's. */
static bool sampleset_variant(const struct sampleset *set,
			      const struct sampleset_module *libc,
			      uint64_t value, uint32_t *ret_index)
{
	struct module *module = libc->module;
	const struct elf_function *function, *functions;
	bool decided;
	size_t count;

	if (value < libc->start || value >= libc->end)
		return false;
	function = elftext_function_at(module->text, value - module->bias);
	if (!function || function->start != value - module->bias ||
	    function->ifunc || elftext_in_plt(module->text, function->start))
		return false;
	/* what the user said of libc has been applied to what has a name */
	if (globs_module(&set->rules->globs, module->path, &decided) !=
	    GLOB_NONE)
		return false;
	functions = elftext_functions(module->text, &count);
	*ret_index = (uint32_t)(function - functions);
	return !libc->sampled[*ret_index];
}

/* A piece of the program's memory, read at once: slots lie together. */
struct slot_window {
	uint64_t start;
	size_t size;
	uint8_t bytes[SLOT_PAGE];
};

/* To the end of its page: the next may be none that may be touched. */
static size_t slot_room(uint64_t slot)
{
	size_t room = SLOT_PAGE - slot % SLOT_PAGE;

	return room < sizeof(uint64_t) ? sizeof(uint64_t) : room;
}

/* The slot's value, of the window or of a new one that begins there. */
static struct error *slot_read(const struct memory *memory,
			       struct slot_window *window, uint64_t slot,
			       uint64_t *ret)
{
	if (slot < window->start || window->size < sizeof(*ret) ||
	    slot - window->start > window->size - sizeof(*ret)) {
		struct error *err = memory_read(memory, slot, window->bytes,
						slot_room(slot), &window->size);

		window->start = slot;
		if (err)
			window->size = 0;
		else if (window->size < sizeof(*ret))
			err = error_os(EFAULT, "read slot at 0x%llx",
				       (unsigned long long)slot);
		if (err)
			return err;
	}
	memcpy(ret, window->bytes + (slot - window->start), sizeof(*ret));
	return NULL;
}

/*
 * Has the slot its last value, in another module? A function that was not called
 * yet may still be looked up: the slot leads to its own module, and before that
 * to none.
 */
static bool slot_is_bound(const struct sampleset *set,
			  const struct sampleset_module *module, uint64_t value)
{
	for (size_t i = 0; i < set->modules.count; i++) {
		const struct sampleset_module *to = sampleset_module(set, i);

		if (value >= to->start && value < to->end)
			return to != module;
	}
	return false;
}

/*
 * Look through slots, and forget those that are bound for the module, which is
 * the one that they are of.
 */
static struct error *slots_read(struct sampleset *set,
				struct sampleset_module *libc,
				const struct sampleset_module *module,
				struct vec *slots, const struct memory *memory,
				struct vec *found)
{
	struct slot_window window = { .size = 0 };
	bool readable = true;
	size_t kept = 0;

	for (size_t i = 0; i < slots->count; i++) {
		uint64_t slot = *(uint64_t *)vec_at(slots, i);
		uint64_t value = 0;
		uint32_t index;
		struct error *err =
			readable ? slot_read(memory, &window, slot, &value)
				 : NULL;

		readable &= !err;
		error_free(err);
		if (sampleset_variant(set, libc, value, &index)) {
			libc->sampled[index] = true;
			if (!vec_push(found, &index))
				return error_nomem;
		}
		if (!slot_is_bound(set, module, value))
			*(uint64_t *)vec_at(slots, kept++) = slot;
	}
	slots->count = kept;
	return NULL;
}

/* Look through the slots of all modules for new string functions of libc. */
static struct error *sampleset_read_slots(struct sampleset *set,
					  struct sampleset_module *libc,
					  const struct memory *memory,
					  struct vec *found)
{
	struct error *err = NULL;

	for (size_t m = 0; !err && m < set->modules.count; m++) {
		struct sampleset_module *module = sampleset_module(set, m);

		err = slots_read(set, libc, module, &module->slots, memory,
				 found);
	}
	return err;
}

static void variants_sort(const struct sampleset_module *libc,
			  struct vec *found)
{
	if (found->count == 0)
		return;
	log_debug(LOG_DETECT, "%s: %zu string functions resolved",
		  libc->module->path, found->count);
	qsort(found->items, found->count, found->size,
	      sampleset_compare_indices);
}

struct error *sampleset_find_variants(struct sampleset *set,
				      struct sampleset_module *libc,
				      struct vec *found)
{
	struct memory memory;
	struct error *err;

	memory_init(&memory, set->pid);
	err = sampleset_read_slots(set, libc, &memory, found);
	memory_deinit(&memory);
	if (!err)
		variants_sort(libc, found);
	return err;
}

struct error *sampleset_find_called(struct sampleset *set,
				    struct sampleset_module *libc,
				    const struct sampleset_module *module,
				    struct vec *found)
{
	struct vec slots = VEC_INIT(uint64_t);
	struct memory memory;
	struct error *err = error_nomem;

	memory_init(&memory, set->pid);
	if (dynamic_chosen_slots(module->module, libc->module, &slots))
		err = slots_read(set, libc, libc, &slots, &memory, found);
	memory_deinit(&memory);
	vec_deinit(&slots);
	if (!err)
		variants_sort(libc, found);
	return err;
}
