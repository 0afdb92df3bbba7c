/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints in an address space; see breakpoint.h. Text is compared before
 * it is written, so that a mapping that changed under us is never damaged.
 */
#include "target/breakpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { INT3 = 0xcc, TEXT_PAGE = 4096 };

struct error *addrspace_create(pid_t pid, struct addrspace **ret)
{
	struct addrspace *space = calloc(1, sizeof(*space));

	if (!space)
		return error_nomem;
	memory_init(&space->memory, pid);
	space->breakpoints = (struct vec)VEC_INIT(struct breakpoint *);
	space->users = 1;
	*ret = space;
	return NULL;
}

static struct breakpoint *breakpoint_at(const struct addrspace *space, size_t i)
{
	return *(struct breakpoint **)vec_at(&space->breakpoints, i);
}

void addrspace_release(struct addrspace *space)
{
	if (!space || --space->users > 0)
		return;
	for (size_t i = 0; i < space->breakpoints.count; i++)
		free(breakpoint_at(space, i));
	vec_deinit(&space->breakpoints);
	map_deinit(&space->index);
	memory_deinit(&space->memory);
	free(space);
}

struct breakpoint *breakpoint_find(const struct addrspace *space,
				   uint64_t address)
{
	const uint64_t *position = map_get(&space->index, address);

	return position ? breakpoint_at(space, (size_t)*position) : NULL;
}

static struct error *breakpoint_record(struct addrspace *space,
				       uint64_t address,
				       struct breakpoint **ret)
{
	struct breakpoint *breakpoint = breakpoint_find(space, address);

	if (!breakpoint) {
		breakpoint = calloc(1, sizeof(*breakpoint));
		if (!breakpoint)
			return error_nomem;
		if (!vec_push(&space->breakpoints, &breakpoint)) {
			free(breakpoint);
			return error_nomem;
		}
		if (!map_set(&space->index, address,
			     space->breakpoints.count - 1)) {
			space->breakpoints.count--;
			free(breakpoint);
			return error_nomem;
		}
	}
	*ret = breakpoint;
	return NULL;
}

/* Does the text at the site hold what the site says? */
static bool text_matches(const struct addrspace *space,
			 const struct wire_site *site)
{
	uint8_t bytes[X86_INSN_MAX];
	struct error *err;
	size_t size;

	err = memory_read(&space->memory, site->address, bytes,
			  site->insn.length, &size);
	if (err) {
		error_free(err);
		return false;
	}
	return size == site->insn.length &&
	       memcmp(bytes, site->bytes, size) == 0;
}

struct error *breakpoint_rearm(struct addrspace *space,
			       struct breakpoint *breakpoint)
{
	static const uint8_t int3 = INT3;
	struct error *err;

	if (breakpoint->armed)
		return NULL;
	err = memory_write_text(&space->memory, 0, breakpoint->site.address,
				&int3, 1);
	if (err)
		return err;
	breakpoint->armed = true;
	space->armed++;
	return NULL;
}

/*
 * Does the site lie in an instruction with an armed breakpoint? (Code may be
 * entered behind a prefix.) Each would spoil the text that the other is known
 * by.
 */
static bool breakpoint_overlaps(const struct addrspace *space, uint64_t address)
{
	for (unsigned int n = 1; n < X86_INSN_MAX; n++) {
		const struct breakpoint *before =
			breakpoint_find(space, address - n);

		if (before && before->armed && before->site.insn.length > n)
			return true;
	}
	return false;
}

struct error *breakpoint_arm(struct addrspace *space,
			     const struct wire_site *site, bool *ret_armed)
{
	struct breakpoint *breakpoint;
	struct error *err;

	*ret_armed = false;
	breakpoint = breakpoint_find(space, site->address);
	if ((breakpoint && breakpoint->armed) ||
	    breakpoint_overlaps(space, site->address) ||
	    !text_matches(space, site))
		return NULL;
	err = breakpoint_record(space, site->address, &breakpoint);
	if (err)
		return err;
	breakpoint->site = *site;
	breakpoint->policy = BREAKPOINT_ONE_SHOT;
	breakpoint->predicate = NULL;
	err = breakpoint_rearm(space, breakpoint);
	if (err)
		return err;
	*ret_armed = true;
	return NULL;
}

static int compare_addresses(const void *a, const void *b)
{
	const struct breakpoint *x = *(struct breakpoint *const *)a;
	const struct breakpoint *y = *(struct breakpoint *const *)b;

	return (x->site.address > y->site.address) -
	       (x->site.address < y->site.address);
}

/*
 * Is our int3 there, with the rest of its instruction behind it? Text that
 * was mapped anew at the address is not ours to write, even where it happens
 * to hold an int3.
 */
static bool text_armed(const struct wire_site *site, const uint8_t *bytes,
		       size_t size)
{
	size_t length = site->insn.length;

	return size >= length && bytes[0] == INT3 &&
	       memcmp(bytes + 1, site->bytes + 1, length - 1) == 0;
}

/*
 * Give the breakpoints of one page, sorted, their first bytes back in one
 * write. Where the page cannot be read, the text has gone.
 */
static struct error *page_restore(const struct memory *memory,
				  pid_t stopped_tid,
				  struct breakpoint *const *list, size_t count)
{
	const struct wire_site *last = &list[count - 1]->site;
	uint64_t first = list[0]->site.address;
	uint8_t bytes[TEXT_PAGE + X86_INSN_MAX];
	size_t span = (size_t)(last->address - first) + last->insn.length;
	size_t changed = 0;
	struct error *err;
	size_t size;

	err = memory_read(memory, first, bytes, span, &size);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		const struct wire_site *site = &list[i]->site;
		size_t at = (size_t)(site->address - first);

		if (at < size && text_armed(site, bytes + at, size - at)) {
			bytes[at] = site->bytes[0];
			changed = at + 1;
		}
	}
	if (!changed)
		return NULL;
	return memory_write_text(memory, stopped_tid, first, bytes, changed);
}

struct error *breakpoint_lift(struct addrspace *space, pid_t stopped_tid,
			      struct breakpoint *breakpoint)
{
	struct error *err;

	if (!breakpoint->armed)
		return NULL;
	err = page_restore(&space->memory, stopped_tid, &breakpoint, 1);
	if (err)
		return err;
	breakpoint->armed = false;
	space->armed--;
	return NULL;
}

/* Restore a sorted list page by page; the first error, after trying all. */
static struct error *list_restore(const struct memory *memory,
				  pid_t stopped_tid,
				  struct breakpoint *const *list, size_t count)
{
	struct error *first = NULL;

	for (size_t i = 0, j; i < count; i = j) {
		uint64_t page = list[i]->site.address / TEXT_PAGE;
		struct error *err;

		for (j = i + 1;
		     j < count && list[j]->site.address / TEXT_PAGE == page;)
			j++;
		err = page_restore(memory, stopped_tid, list + i, j - i);
		if (!first)
			first = err;
		else
			error_free(err);
	}
	return first;
}

/* Pointers to the records in [start, end), sorted; armed ones only if so. */
static struct error *list_collect(struct addrspace *space, uint64_t start,
				  uint64_t end, bool armed, size_t most,
				  struct vec *list)
{
	size_t count = space->breakpoints.count;

	for (size_t i = 0; i < count && list->count < most; i++) {
		struct breakpoint *breakpoint =
			breakpoint_at(space, (space->cursor + i) % count);
		uint64_t address = breakpoint->site.address;

		if (address < start || address >= end ||
		    (armed && !breakpoint->armed))
			continue;
		if (!vec_push(list, &breakpoint))
			return error_nomem;
	}
	if (count > 0)
		space->cursor = (space->cursor + list->count) % count;
	if (list->count > 0)
		qsort(list->items, list->count, list->size, compare_addresses);
	return NULL;
}

/* The way out when there is no memory for a list: one at a time. */
static struct error *lift_singly(struct addrspace *space, pid_t stopped_tid,
				 uint64_t start, uint64_t end)
{
	struct error *first = NULL;

	for (size_t i = 0; i < space->breakpoints.count; i++) {
		struct breakpoint *breakpoint = breakpoint_at(space, i);
		struct error *err;

		if (breakpoint->site.address < start ||
		    breakpoint->site.address >= end)
			continue;
		err = breakpoint_lift(space, stopped_tid, breakpoint);
		if (!first)
			first = err;
		else
			error_free(err);
	}
	return first;
}

struct error *breakpoint_lift_range(struct addrspace *space, pid_t stopped_tid,
				    uint64_t start, uint64_t end, size_t most,
				    struct vec *returned)
{
	struct vec list = VEC_INIT(struct breakpoint *);
	struct error *err;

	err = list_collect(space, start, end, true, most, &list);
	if (err) {
		error_free(err);
		vec_deinit(&list);
		return lift_singly(space, stopped_tid, start, end);
	}
	err = list_restore(&space->memory, stopped_tid, list.items, list.count);
	for (size_t i = 0; i < list.count; i++) {
		struct breakpoint *breakpoint =
			*(struct breakpoint **)vec_at(&list, i);

		breakpoint->armed = false;
		space->armed--;
		if (returned)
			vec_push(returned, &breakpoint->site.id);
	}
	vec_deinit(&list);
	return err;
}

struct error *breakpoint_clean_copy(struct addrspace *space,
				    const struct memory *copy, pid_t tid)
{
	struct vec list = VEC_INIT(struct breakpoint *);
	struct error *err;

	err = list_collect(space, 0, UINT64_MAX, false, SIZE_MAX, &list);
	if (!err) {
		err = list_restore(copy, tid, list.items, list.count);
	} else {
		/* without memory for a list: one at a time, as they are */
		error_free(err);
		err = NULL;
		for (size_t i = 0; i < space->breakpoints.count; i++) {
			struct breakpoint *one = breakpoint_at(space, i);

			error_free(page_restore(copy, tid, &one, 1));
		}
	}
	vec_deinit(&list);
	return err;
}

void breakpoint_forget_range(struct addrspace *space, uint64_t start,
			     uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < space->breakpoints.count; i++) {
		struct breakpoint *breakpoint = breakpoint_at(space, i);
		uint64_t address = breakpoint->site.address;

		if (address >= start && address < end) {
			if (breakpoint->armed)
				space->armed--;
			map_remove(&space->index, address);
			free(breakpoint);
			continue;
		}
		*(struct breakpoint **)vec_at(&space->breakpoints, kept) =
			breakpoint;
		*map_get(&space->index, address) = kept++;
	}
	space->breakpoints.count = kept;
}
