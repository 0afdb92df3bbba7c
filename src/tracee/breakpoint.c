/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoints in an address space; see breakpoint.h. Text is compared before
 * it is written, so that a mapping that changed under us is never damaged.
 */
#include "tracee/breakpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "guardian/guardian.h"
#include "sys/mapping.h"
#include "tracee/code.h"
#include "tracee/execpoint.h"
#include "x86/int3.h"

enum { TEXT_PAGE = 4096, MASK_BITS = 64 };

static struct breakpoint *breakpoint_at(const struct program_text *text,
					size_t i)
{
	return *(struct breakpoint **)vec_at(&text->breakpoints, i);
}

static struct addrspace *text_space(const struct program_text *text, size_t i)
{
	return *(struct addrspace **)vec_at(&text->spaces, i);
}

static struct program_text *text_create(void)
{
	struct program_text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->spaces = (struct vec)VEC_INIT(struct addrspace *);
	text->breakpoints = (struct vec)VEC_INIT(struct breakpoint *);
	text->code = (struct vec)VEC_INIT(struct mapping);
	return text;
}

/* Before its int3 is written; false: there is no room. */
static bool breakpoint_protect(const struct program_text *text,
			       struct breakpoint *breakpoint)
{
	return breakpoint->guardian_entry != 0 ||
	       guardian_add(text->guardian, text->guardian_text,
			    &breakpoint->site, &breakpoint->guardian_entry);
}

/* When the text has been restored everywhere. */
static void breakpoint_unprotect(const struct program_text *text,
				 struct breakpoint *breakpoint)
{
	guardian_remove(text->guardian, breakpoint->guardian_entry);
	breakpoint->guardian_entry = 0;
}

static void text_destroy(struct program_text *text)
{
	if (text->execpoints)
		execpoints_forget(text->execpoints, text);
	for (size_t i = 0; i < text->breakpoints.count; i++) {
		breakpoint_unprotect(text, breakpoint_at(text, i));
		free(breakpoint_at(text, i));
	}
	vec_deinit(&text->breakpoints);
	vec_deinit(&text->spaces);
	vec_deinit(&text->code);
	map_deinit(&text->index);
	free(text->startup);
	free(text);
}

static void text_leave(struct program_text *text, const struct addrspace *space)
{
	for (size_t i = text->spaces.count; i-- > 0;) {
		if (text_space(text, i) == space)
			vec_remove(&text->spaces, i);
	}
	text->generation++;
	if (text->spaces.count == 0)
		text_destroy(text);
}

static struct error *space_create(pid_t pid, struct program_text *text,
				  struct addrspace **ret)
{
	struct addrspace *space = calloc(1, sizeof(*space));

	if (!space || !vec_push(&text->spaces, &space)) {
		free(space);
		return error_nomem;
	}
	text->generation++;
	memory_init(&space->memory, pid);
	memory_share(&space->memory, &text_space(text, 0)->memory);
	mappings_init(&space->mappings, pid);
	space->text = text;
	space->shared = (struct vec)VEC_INIT(struct wire_shared);
	space->displaced.areas = (struct vec)VEC_INIT(struct displaced_area);
	space->users = 1;
	*ret = space;
	return NULL;
}

struct error *addrspace_create(pid_t pid, struct addrspace **ret)
{
	struct program_text *text = text_create();
	struct error *err;

	if (!text)
		return error_nomem;
	err = space_create(pid, text, ret);
	if (err)
		text_destroy(text);
	return err;
}

struct error *addrspace_protect(struct addrspace *space,
				struct guardian *guardian)
{
	struct program_text *text = space->text;
	struct error *err;

	if (!guardian)
		return NULL;
	if (!text->guardian) {
		text->guardian = guardian;
		text->guardian_text = guardian_add_text(guardian);
	}
	err = guardian_add_space(guardian, text->guardian_text,
				 space->memory.pid, &space->guardian_space);
	space->is_protected = !err;
	return err;
}

void addrspace_unprotect(struct addrspace *space)
{
	if (space->users > 1 || !space->is_protected)
		return;
	guardian_remove_space(space->text->guardian, space->guardian_space);
	space->is_protected = false;
}

void addrspace_note_stopped(const struct addrspace *space, pid_t pid,
			    bool stopped)
{
	if (space->is_protected && space->memory.pid == pid)
		guardian_note_stopped(space->text->guardian,
				      space->guardian_space, stopped);
}

void addrspace_release(struct addrspace *space)
{
	if (!space)
		return;
	addrspace_unprotect(space);
	if (--space->users > 0)
		return;
	text_leave(space->text, space);
	vec_deinit(&space->shared);
	vec_deinit(&space->displaced.areas);
	map_deinit(&space->displaced.copies);
	mappings_deinit(&space->mappings);
	memory_deinit(&space->memory);
	free(space);
}

struct breakpoint *breakpoint_find(const struct addrspace *space,
				   uint64_t address)
{
	const struct program_text *text = space->text;
	const uint64_t *position = map_get(&text->index, address);

	return position ? breakpoint_at(text, (size_t)*position) : NULL;
}

static struct error *breakpoint_record(struct addrspace *space,
				       uint64_t address,
				       struct breakpoint **ret)
{
	struct breakpoint *breakpoint = breakpoint_find(space, address);
	struct program_text *text = space->text;

	if (!breakpoint) {
		breakpoint = calloc(1, sizeof(*breakpoint));
		if (!breakpoint)
			return error_nomem;
		if (!vec_push(&text->breakpoints, &breakpoint)) {
			free(breakpoint);
			return error_nomem;
		}
		if (!map_set(&text->index, address,
			     text->breakpoints.count - 1)) {
			text->breakpoints.count--;
			free(breakpoint);
			return error_nomem;
		}
	}
	*ret = breakpoint;
	return NULL;
}

bool breakpoint_text_matches(const struct addrspace *space,
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

static struct breakpoint **text_list(struct program_text *text, bool armed)
{
	return armed ? &text->first_armed : &text->first_lifted;
}

/* Out of its list; one that was never armed is in none. */
static void text_unlink(struct program_text *text,
			struct breakpoint *breakpoint)
{
	struct breakpoint **first = text_list(text, breakpoint->armed);

	if (breakpoint->previous)
		breakpoint->previous->next = breakpoint->next;
	else if (*first == breakpoint)
		*first = breakpoint->next;
	if (breakpoint->next)
		breakpoint->next->previous = breakpoint->previous;
	breakpoint->previous = breakpoint->next = NULL;
}

static void text_link(struct program_text *text, struct breakpoint *breakpoint)
{
	struct breakpoint **first = text_list(text, breakpoint->armed);

	breakpoint->next = *first;
	if (*first)
		(*first)->previous = breakpoint;
	*first = breakpoint;
}

/* That it is armed, or not any more, in the texts of all spaces. */
static void text_count(struct program_text *text, struct breakpoint *breakpoint,
		       bool armed)
{
	size_t change = armed ? 1 : SIZE_MAX;

	text_unlink(text, breakpoint);
	breakpoint->armed = armed;
	text_link(text, breakpoint);
	if (!armed)
		breakpoint->lifted_ns = clock_now_ns();
	text->armed += change;
	if (wire_site_apart(&breakpoint->site))
		text->armed_once += change;
}

/* Where one space has the text that is meant, it is set for all. */
static void text_set_untouched(struct program_text *text,
			       struct breakpoint *breakpoint)
{
	const struct wire_site *site = &breakpoint->site;
	bool matches = false;

	for (size_t i = 0; !matches && i < text->spaces.count; i++)
		matches = breakpoint_text_matches(text_space(text, i), site);
	if (!matches || !execpoint_set(text->execpoints, text, site->address))
		return;
	text_count(text, breakpoint, true);
}

/* Can its int3 be in that space? */
static bool breakpoint_may_be_in(const struct program_text *text,
				 const struct breakpoint *breakpoint,
				 size_t space)
{
	size_t count = text->spaces.count, place;

	if (breakpoint->set_generation != text->generation)
		return true;
	place = (space + count - breakpoint->set_first) % count;
	if (place >= breakpoint->set_count)
		return false;
	return breakpoint->set_count > MASK_BITS ||
	       (breakpoint->set_mask >> place & 1);
}

/*
 * Is it to be in every space? Of what is drawn, and of entries of functions, few
 * are reached, and most of those by several processes.
 */
static bool breakpoint_goes_everywhere(const struct breakpoint *breakpoint)
{
	return breakpoint->policy != BREAKPOINT_ONE_SHOT ||
	       (wire_site_apart(&breakpoint->site) &&
		!(breakpoint->site.id & WIRE_ENTRY));
}

/* Set it in the space, where the text is what it was. *ret_set: it was set. */
static struct error *space_write(struct addrspace *space,
				 const struct wire_site *site, bool *ret_set)
{
	static const uint8_t int3 = X86_INT3;
	struct error *err;

	*ret_set = false;
	if (!breakpoint_text_matches(space, site))
		return NULL;
	err = memory_write_text(&space->memory, space->writer, site->address,
				&int3, 1);
	*ret_set = !err;
	space->memory.refused |= err && err->kind == ERROR_REFUSED;
	return err;
}

/* May the next one that is set in some spaces be in any of them? */
static bool text_takes_any(struct program_text *text)
{
	size_t quiet = 0;

	for (size_t i = 0; i < text->spaces.count; i++)
		quiet += text_space(text, i)->quiet;
	return quiet == 0 || quiet == text->spaces.count ||
	       text->turns++ % BREAKPOINT_QUIET == 0;
}

/*
 * Set it in as many spaces as it is to be in; any: of those that hardly run too.
 * *ret_set: in how many it was set. Goes on past errors; the first is returned.
 */
static struct error *text_write(struct program_text *text,
				struct breakpoint *breakpoint, bool any,
				size_t *ret_set)
{
	bool all = breakpoint_goes_everywhere(breakpoint), was_set;
	size_t count = text->spaces.count, set = 0, i;
	size_t most = all ? count : BREAKPOINT_SPACES;
	size_t *turn = any ? &text->turn_any : &text->turn;
	struct error *first = NULL;

	breakpoint->set_first = *turn % count;
	/* it may be in some already (breakpoint_replace()) */
	breakpoint->set_mask = all ? UINT64_MAX : 0;
	for (i = 0; i < count && set < most; i++) {
		struct addrspace *one =
			text_space(text, (breakpoint->set_first + i) % count);
		struct error *err;

		if (one->quiet && !any)
			continue;
		if (i < MASK_BITS)
			breakpoint->set_mask |= UINT64_C(1) << i;
		err = space_write(one, &breakpoint->site, &was_set);
		set += was_set;
		if (!first)
			first = err;
		else
			error_free(err);
	}
	breakpoint->set_count = i;
	breakpoint->set_generation = text->generation;
	*turn += i;
	*ret_set = set;
	return first;
}

static struct error *text_set(struct addrspace *space,
			      struct breakpoint *breakpoint)
{
	struct program_text *text = space->text;
	struct error *err;
	size_t set;
	bool any;

	if (text->execpoints) {
		text_set_untouched(text, breakpoint);
		return NULL;
	}
	if (!breakpoint_protect(text, breakpoint))
		return error_create(ERROR_OTHER, "the guardian has no room");
	any = breakpoint_goes_everywhere(breakpoint) || text_takes_any(text);
	err = text_write(text, breakpoint, any, &set);
	/* the text may be in those alone that hardly run */
	if (set == 0 && !err)
		err = text_write(text, breakpoint, true, &set);
	if (set == 0) {
		breakpoint_unprotect(text, breakpoint);
		return err;
	}
	text_count(text, breakpoint, true);
	return err;
}

void breakpoint_replace(struct addrspace *space, struct breakpoint *breakpoint,
			const struct wire_site *site)
{
	struct program_text *text = space->text;
	size_t set;

	text_count(text, breakpoint, false);
	breakpoint->site = *site;
	/* in the other spaces too; where it is set, the text does not match */
	if (breakpoint_goes_everywhere(breakpoint) && !text->execpoints)
		error_free(text_write(text, breakpoint, true, &set));
	text_count(text, breakpoint, true);
}

struct error *breakpoint_rearm(struct addrspace *space,
			       struct breakpoint *breakpoint)
{
	return breakpoint->armed ? NULL : text_set(space, breakpoint);
}

/*
 * Does the site lie in an instruction with an armed breakpoint, or such a one in
 * the site? (Code may be entered behind a prefix.) Each would spoil the text that
 * the other is known by: in the same space now, or in another one's fork child.
 */
static bool breakpoint_overlaps(const struct addrspace *space,
				const struct wire_site *site)
{
	for (unsigned int n = 1; n < X86_INSN_MAX; n++) {
		const struct breakpoint *before =
			breakpoint_find(space, site->address - n);
		const struct breakpoint *inside =
			n < site->insn.length
				? breakpoint_find(space, site->address + n)
				: NULL;

		if ((before && before->armed && before->site.insn.length > n) ||
		    (inside && inside->armed))
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
	    breakpoint_overlaps(space, site))
		return NULL;
	if (!code_is_mapped(space, site->address, site->insn.length))
		return NULL;
	err = breakpoint_record(space, site->address, &breakpoint);
	if (err)
		return err;
	/* the entry of one that could not be lifted is of the old text */
	breakpoint_unprotect(space->text, breakpoint);
	breakpoint->site = *site;
	breakpoint->policy = BREAKPOINT_ONE_SHOT;
	breakpoint->predicate = NULL;
	if (!breakpoint_protect(space->text, breakpoint))
		return NULL;
	err = breakpoint_rearm(space, breakpoint);
	*ret_armed = breakpoint->armed;
	return err;
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

	return size >= length && bytes[0] == X86_INT3 &&
	       memcmp(bytes + 1, site->bytes + 1, length - 1) == 0;
}

/* Are the bytes those of the instruction? */
static bool text_clean(const struct wire_site *site, const uint8_t *bytes,
		       size_t size)
{
	return size >= site->insn.length &&
	       memcmp(bytes, site->bytes, site->insn.length) == 0;
}

/* Bytes from a page's start in which all instructions that begin in it end. */
enum { PAGE_SPAN = TEXT_PAGE + X86_INSN_MAX };

/* How many of a sorted list that is not empty begin in the first one's page. */
static size_t page_count(struct breakpoint *const *list, size_t count)
{
	uint64_t page = list[0]->site.address / TEXT_PAGE;
	size_t i = 1;

	while (i < count && list[i]->site.address / TEXT_PAGE == page)
		i++;
	return i;
}

/*
 * The text from the first to the last breakpoint of one page's, sorted. *ret_size:
 * bytes that were read; 0 where the text has gone, which the front end may not
 * have noticed yet.
 */
static struct error *page_read(const struct memory *memory,
			       struct breakpoint *const *list, size_t count,
			       uint8_t bytes[PAGE_SPAN], size_t *ret_size)
{
	const struct wire_site *last = &list[count - 1]->site;
	uint64_t first = list[0]->site.address;
	size_t span = (size_t)(last->address - first) + last->insn.length;
	struct error *err = memory_read(memory, first, bytes, span, ret_size);

	if (!err || (err->code != EFAULT && err->code != EIO))
		return err;
	error_free(err);
	if (!memory_holds_nothing(memory, first))
		return error_create(ERROR_REFUSED,
				    "read text of %d at 0x%llx: its files in "
				    "/proc cannot be opened",
				    (int)memory->pid,
				    (unsigned long long)first);
	*ret_size = 0;
	return NULL;
}

/*
 * Set the breakpoints of one page, sorted, or give them their first bytes back,
 * in one write. What is not as expected is left alone.
 */
static struct error *page_put(const struct memory *memory, pid_t stopped_tid,
			      struct breakpoint *const *list, size_t count,
			      bool armed)
{
	uint64_t first = list[0]->site.address;
	uint8_t bytes[PAGE_SPAN];
	size_t size, changed = 0;
	struct error *err = page_read(memory, list, count, bytes, &size);

	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		const struct wire_site *site = &list[i]->site;
		size_t at = (size_t)(site->address - first);
		bool expected =
			at < size &&
			(armed ? text_clean(site, bytes + at, size - at)
			       : text_armed(site, bytes + at, size - at));

		if (!expected)
			continue;
		bytes[at] = armed ? X86_INT3 : site->bytes[0];
		changed = at + 1;
	}
	if (!changed)
		return NULL;
	return memory_write_text(memory, stopped_tid, first, bytes, changed);
}

/* Restore a sorted list page by page; the first error, after trying all. */
static struct error *list_restore(const struct memory *memory,
				  pid_t stopped_tid,
				  struct breakpoint *const *list, size_t count)
{
	struct error *first = NULL;

	for (size_t i = 0, n; i < count; i += n) {
		struct error *err;

		n = page_count(list + i, count - i);
		err = page_put(memory, stopped_tid, list + i, n, false);
		if (!first)
			first = err;
		else
			error_free(err);
	}
	return first;
}

static void list_unset(const struct program_text *text,
		       struct breakpoint *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		execpoint_unset(text->execpoints, text, list[i]->site.address);
}

/* The process has ended (its memory goes before it does), or its text has. */
static bool text_is_gone(const struct error *err)
{
	return err && (err == error_gone || err->code == EFAULT);
}

/* Restore those of a sorted list that can be in that space. */
static struct error *space_restore(const struct program_text *text,
				   size_t space, pid_t tid,
				   struct breakpoint *const *list, size_t count)
{
	const struct memory *memory = &text_space(text, space)->memory;
	struct error *first = NULL;

	for (size_t from = 0, to; from < count; from = to + 1) {
		struct error *err;

		for (to = from;
		     to < count && breakpoint_may_be_in(text, list[to], space);)
			to++;
		err = list_restore(memory, tid, list + from, to - from);
		if (!first)
			first = err;
		else
			error_free(err);
	}
	return first;
}

/*
 * The same in every space; of several, one whose text has gone is no error.
 * Returns the first error.
 */
static struct error *spaces_restore(struct addrspace *space, pid_t stopped_tid,
				    struct breakpoint *const *list,
				    size_t count)
{
	const struct program_text *text = space->text;
	struct error *first = NULL;

	if (text->execpoints) {
		list_unset(text, list, count);
		return NULL;
	}
	for (size_t i = 0; i < text->spaces.count; i++) {
		const struct addrspace *one = text_space(text, i);
		pid_t tid = one == space && stopped_tid ? stopped_tid
							: one->writer;
		struct error *err = space_restore(text, i, tid, list, count);

		if (!first && (text->spaces.count == 1 || !text_is_gone(err)))
			first = err;
		else
			error_free(err);
	}
	return first;
}

struct error *breakpoint_lift(struct addrspace *space, pid_t stopped_tid,
			      struct breakpoint *breakpoint)
{
	struct error *err;

	if (!breakpoint->armed)
		return NULL;
	err = spaces_restore(space, stopped_tid, &breakpoint, 1);
	if (err)
		return err;
	breakpoint_unprotect(space->text, breakpoint);
	text_count(space->text, breakpoint, false);
	return NULL;
}

/* Pointers to the armed ones in [start, end), sorted. */
static struct error *list_collect(struct program_text *text, uint64_t start,
				  uint64_t end, size_t most, struct vec *list)
{
	size_t count = text->breakpoints.count, i;

	for (i = 0; i < count && list->count < most; i++) {
		struct breakpoint *breakpoint =
			breakpoint_at(text, (text->cursor + i) % count);
		uint64_t address = breakpoint->site.address;

		if (address < start || address >= end || !breakpoint->armed ||
		    (most < SIZE_MAX && wire_site_apart(&breakpoint->site)))
			continue;
		if (!vec_push(list, &breakpoint))
			return error_nomem;
	}
	if (count > 0)
		text->cursor = (text->cursor + i) % count;
	if (list->count > 0)
		qsort(list->items, list->count, list->size, compare_addresses);
	return NULL;
}

/* The way out when there is no memory for a list: one at a time. */
static struct error *lift_singly(struct addrspace *space, pid_t stopped_tid,
				 uint64_t start, uint64_t end, size_t most,
				 struct vec *returned)
{
	struct error *first = NULL;

	for (size_t i = 0; i < space->text->breakpoints.count && most > 0;
	     i++) {
		struct breakpoint *breakpoint = breakpoint_at(space->text, i);
		struct error *err;

		if (!breakpoint->armed || breakpoint->site.address < start ||
		    breakpoint->site.address >= end ||
		    (most < SIZE_MAX && wire_site_apart(&breakpoint->site)))
			continue;
		most--;
		err = breakpoint_lift(space, stopped_tid, breakpoint);
		if (returned && !breakpoint->armed)
			vec_push(returned, &breakpoint->site.id);
		if (!first)
			first = err;
		else
			error_free(err);
	}
	return first;
}

/* Is our int3 still in the text of any space? */
static bool text_has_int3(const struct program_text *text,
			  const struct wire_site *site)
{
	for (size_t i = 0; i < text->spaces.count; i++) {
		uint8_t bytes[X86_INSN_MAX];
		struct error *err;
		size_t size;

		err = memory_read(&text_space(text, i)->memory, site->address,
				  bytes, site->insn.length, &size);
		if (!err && text_armed(site, bytes, size))
			return true;
		error_free(err);
	}
	return false;
}

struct error *breakpoint_lift_range(struct addrspace *space, pid_t stopped_tid,
				    uint64_t start, uint64_t end, size_t most,
				    struct vec *returned)
{
	struct vec list = VEC_INIT(struct breakpoint *);
	struct error *err;

	err = list_collect(space->text, start, end, most, &list);
	if (err) {
		error_free(err);
		vec_deinit(&list);
		return lift_singly(space, stopped_tid, start, end, most,
				   returned);
	}
	err = spaces_restore(space, stopped_tid, list.items, list.count);
	if (err && err != error_gone) {
		/* what could not be lifted is armed still, and remembered */
		error_free(err);
		vec_deinit(&list);
		return lift_singly(space, stopped_tid, start, end, most,
				   returned);
	}
	for (size_t i = 0; i < list.count; i++) {
		struct breakpoint *breakpoint =
			*(struct breakpoint **)vec_at(&list, i);

		/* where that failed, it may be there still */
		if (!err || !text_has_int3(space->text, &breakpoint->site))
			breakpoint_unprotect(space->text, breakpoint);
		text_count(space->text, breakpoint, false);
		if (returned)
			vec_push(returned, &breakpoint->site.id);
	}
	vec_deinit(&list);
	return err;
}

/* Pointers to those that are armed, and those lifted since then; sorted. */
static struct error *list_collect_since(const struct program_text *text,
					uint64_t since_ns, struct vec *list)
{
	struct breakpoint *one;

	for (one = text->first_armed; one; one = one->next) {
		if (!vec_push(list, &one))
			return error_nomem;
	}
	for (one = text->first_lifted; one && one->lifted_ns >= since_ns;
	     one = one->next) {
		if (!vec_push(list, &one))
			return error_nomem;
	}
	if (list->count > 0)
		qsort(list->items, list->count, list->size, compare_addresses);
	return NULL;
}

/* Without memory for a list: one at a time, all that ever were armed. */
static struct error *clean_singly(const struct program_text *text,
				  const struct memory *copy, pid_t tid)
{
	struct error *first = NULL;

	for (size_t i = 0; i < text->breakpoints.count; i++) {
		struct breakpoint *one = breakpoint_at(text, i);
		struct error *err = page_put(copy, tid, &one, 1, false);

		if (!first)
			first = err;
		else
			error_free(err);
	}
	return first;
}

struct error *breakpoint_clean_copy(struct addrspace *space,
				    const struct memory *copy, pid_t tid,
				    uint64_t since_ns)
{
	struct vec list = VEC_INIT(struct breakpoint *);
	struct error *err;

	if (space->text->execpoints)
		return NULL;
	err = list_collect_since(space->text, since_ns, &list);
	if (!err) {
		err = list_restore(copy, tid, list.items, list.count);
	} else {
		error_free(err);
		err = clean_singly(space->text, copy, tid);
	}
	vec_deinit(&list);
	return err;
}

/* The child's text is clean: set what is armed elsewhere. */
static struct error *space_set_all(struct addrspace *space, pid_t tid)
{
	struct vec list = VEC_INIT(struct breakpoint *);
	struct error *err;

	if (space->text->execpoints)
		return NULL;
	err = list_collect_since(space->text, UINT64_MAX, &list);
	for (size_t i = 0, n; !err && i < list.count; i += n) {
		struct breakpoint *const *at = vec_at(&list, i);

		n = page_count(at, list.count - i);
		err = page_put(&space->memory, tid, at, n, true);
	}
	vec_deinit(&list);
	return err;
}

struct error *addrspace_join(const struct addrspace *sibling, pid_t pid,
			     struct addrspace **ret)
{
	return space_create(pid, sibling->text, ret);
}

struct error *addrspace_fork(const struct addrspace *parent, pid_t pid,
			     uint64_t since_ns, struct addrspace **ret)
{
	struct addrspace *space;
	struct error *err = space_create(pid, parent->text, &space);

	if (err)
		return err;
	err = breakpoint_clean_copy(space, &space->memory, pid, since_ns);
	if (!err)
		err = space_set_all(space, pid);
	if (err) {
		error_free(breakpoint_clean_copy(space, &space->memory, pid,
						 since_ns));
		addrspace_release(space);
		return err;
	}
	*ret = space;
	return NULL;
}

/* Is the instruction still in the text of any space? */
static bool text_has_site(const struct program_text *text,
			  const struct wire_site *site)
{
	for (size_t i = 0; i < text->spaces.count; i++) {
		if (breakpoint_text_matches(text_space(text, i), site))
			return true;
	}
	return false;
}

/*
 * It could not be lifted, which may be tried again. Who forgot it would take the
 * trap of the next thread for the program's own.
 */
static bool breakpoint_is_stuck(const struct program_text *text,
				const struct breakpoint *breakpoint)
{
	return breakpoint->armed && !text->execpoints &&
	       text_has_int3(text, &breakpoint->site);
}

size_t breakpoint_count_left(const struct addrspace *space)
{
	const struct program_text *text = space->text;
	size_t left = 0;

	for (const struct breakpoint *one = text->first_armed; one;
	     one = one->next)
		left += breakpoint_is_stuck(text, one);
	return left;
}

void breakpoint_forget_range(struct addrspace *space, uint64_t start,
			     uint64_t end)
{
	struct program_text *text = space->text;
	size_t kept = 0;

	code_forget(space);
	for (size_t i = 0; i < text->breakpoints.count; i++) {
		struct breakpoint *breakpoint = breakpoint_at(text, i);
		uint64_t address = breakpoint->site.address;
		bool forgets = address >= start && address < end &&
			       !breakpoint_is_stuck(text, breakpoint);

		if (forgets) {
			if (breakpoint->armed)
				text_count(text, breakpoint, false);
			if (text->execpoints)
				execpoint_unset(text->execpoints, text,
						address);
			breakpoint_unprotect(text, breakpoint);
		}
		if (forgets && !text->copied &&
		    !text_has_site(text, &breakpoint->site)) {
			map_remove(&text->index, address);
			text_unlink(text, breakpoint);
			free(breakpoint);
			continue;
		}
		*(struct breakpoint **)vec_at(&text->breakpoints, kept) =
			breakpoint;
		*map_get(&text->index, address) = kept++;
	}
	text->breakpoints.count = kept;
}
