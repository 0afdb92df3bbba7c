/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pointers of a thread, and what is read for them; see held-parts.h.
 */
#include "tracee/held-parts.h"

#include <stdlib.h>
#include <string.h>

#include "sys/mapping.h"
#include "tracee/addrspace.h"
#include "tracee/lockwords.h"
#include "tracee/process.h"
#include "tracee/thread.h"

enum {
	TEXTS_MAX = 5, /* places in code */
	/* of the stack: what is looked at for pointers */
	STACK_POINTERS = 4096,
	/* text before and behind a place in it */
	TEXT_BEFORE = 768,
	TEXT_BEHIND = 256,
	/* of the page before or behind an object, what is read for that */
	OBJECT_BEFORE = 128,
	OBJECT_BEHIND = 256,
	/* the shortest instruction that names memory: 48 8d 3d and four bytes */
	NAMES_SIZE = 7,
	ADDRESS_MIN = 1 << 16, /* nothing is mapped below, but by root */
};

static void room_add_page_of(struct held_room *room, uint64_t address,
			     size_t max)
{
	uint64_t start = address & ~(uint64_t)(HELD_PAGE - 1);

	for (size_t i = 0; i < room->page_count; i++) {
		if (room->pages[i].address == start)
			return;
	}
	if (room->page_count < max)
		room->pages[room->page_count++] =
			(struct memory_page){ .address = start,
					      .leave_absent = true };
}

static void room_add_page(struct held_room *room, uint64_t address)
{
	room_add_page_of(room, address, HELD_PAGES);
}

static int compare_pages(const void *a, const void *b)
{
	const struct memory_page *one = a, *two = b;

	return (one->address > two->address) - (one->address < two->address);
}

/* Those that were added since the last time. */
static void room_read(struct held_room *room, const struct memory *memory)
{
	struct memory_page *pages = room->pages + room->pages_read;
	size_t count = room->page_count - room->pages_read;

	/* neighbours are read at once */
	qsort(pages, count, sizeof(*pages), compare_pages);
	for (size_t i = 0; i < count; i++)
		pages[i].bytes = room->bytes[room->pages_read + i];
	memory_read_pages(memory, pages, count);
	room->pages_read = room->page_count;
}

/*
 * The bytes at the address, and how many there are in its page and those that
 * follow it here.
 */
static const uint8_t *room_bytes(const struct held_room *room, uint64_t address,
				 size_t *ret_size)
{
	for (size_t i = 0; i < room->pages_read; i++) {
		const struct memory_page *page = &room->pages[i];
		uint64_t skip = address - page->address;

		if (skip >= HELD_PAGE || !page->read)
			continue;
		*ret_size = HELD_PAGE - skip;
		for (; i + 1 < room->pages_read && page[1].read &&
		       page[1].address == page->address + HELD_PAGE &&
		       page[1].bytes == page->bytes + HELD_PAGE;
		     i++, page++)
			*ret_size += HELD_PAGE;
		return page->bytes + HELD_PAGE - *ret_size;
	}
	return NULL;
}

bool held_copy(const struct held_room *room, uint64_t address, uint8_t *bytes,
	       size_t size)
{
	while (size > 0) {
		size_t some;
		const uint8_t *from = room_bytes(room, address, &some);

		if (!from)
			return false;
		if (some > size)
			some = size;
		memcpy(bytes, from, some);
		bytes += some;
		address += some;
		size -= some;
	}
	return true;
}

static bool in_stack(const struct held_scan *scan, uint64_t address)
{
	return address - scan->side->stack_address < scan->side->stack_size;
}

/* As far as breakpoints were set there, code is known without asking. */
static bool in_code(const struct held_scan *scan, uint64_t address)
{
	const struct vec *code = &scan->thread->process->space->text->code;

	for (size_t i = 0; i < code->count; i++) {
		const struct mapping *mapping = vec_at(code, i);

		if (address >= mapping->start && address < mapping->end)
			return true;
	}
	return false;
}

static bool may_be_pointer(uint64_t word)
{
	return word >= ADDRESS_MIN && word >> 47 == 0;
}

/* The page of a lock there, and of the object that it may be a part of. */
static void add_pointer(struct held_scan *scan, uint64_t word)
{
	struct held_room *room = scan->room;

	if (!may_be_pointer(word) || in_stack(scan, word) ||
	    in_code(scan, word) || room->pointer_count == HELD_POINTERS)
		return;
	room->pointers[room->pointer_count++] = word;
	room_add_page(room, word);
	/* it may be on two pages */
	room_add_page(room, word + LOCKWORDS_MUTEX_SIZE - 1);
}

static void add_words(struct held_scan *scan, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i + sizeof(uint64_t) <= size;
	     i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, bytes + i, sizeof(word));
		add_pointer(scan, word);
	}
}

/* The object around it may be on two pages. */
static void add_object(struct held_scan *scan, uint64_t word)
{
	struct held_room *room = scan->room;
	size_t before = room->pointer_count;

	add_pointer(scan, word);
	if (room->pointer_count == before)
		return;
	room_add_page(room, word - OBJECT_BEFORE);
	room_add_page(room, word + OBJECT_BEHIND);
}

const uint8_t *held_stack(const struct held_scan *scan, size_t max,
			  size_t *ret_size)
{
	uint64_t skip =
		scan->side->regs.gpr[X86_RSP] - scan->side->stack_address;

	if (skip > scan->side->stack_size) {
		*ret_size = 0;
		return scan->stack;
	}
	*ret_size = scan->side->stack_size - skip;
	if (*ret_size > max)
		*ret_size = max;
	return scan->stack + skip;
}

/*
 * lea or mov of what is relative to the next instruction, to a register: the lock
 * itself, or a pointer to it (also one of the GOT). Other bytes that look the
 * same lead to no lock.
 */
static void text_names(struct held_scan *scan, const uint8_t *bytes,
		       uint64_t address)
{
	struct held_room *room = scan->room;
	int32_t displacement;
	uint64_t named;

	if ((bytes[0] & 0xfb) != 0x48 || (bytes[2] & 0xc7) != 0x05)
		return;
	memcpy(&displacement, bytes + 3, sizeof(displacement));
	named = address + NAMES_SIZE + (uint64_t)(int64_t)displacement;
	if (bytes[1] == 0x8d)
		add_pointer(scan, named);
	if (bytes[1] != 0x8b || !may_be_pointer(named) ||
	    room->slot_count == HELD_SLOTS)
		return;
	room->slots[room->slot_count++] = named;
	room_add_page(room, named);
}

/* mov $address, %edi or the like, in a program that is not moved. */
static void text_has(struct held_scan *scan, const uint8_t *bytes,
		     uint64_t address)
{
	uint32_t named;

	memcpy(&named, bytes + 1, sizeof(named));
	if ((bytes[0] & 0xf8) == 0xb8 && address >> 31 == 0 &&
	    named - address < UINT64_C(1) << 28)
		add_pointer(scan, named);
}

static void text_scan(struct held_scan *scan, uint64_t from, uint64_t to)
{
	while (from < to) {
		size_t size = 0;
		const uint8_t *bytes = room_bytes(scan->room, from, &size);

		if (!bytes)
			size = HELD_PAGE - from % HELD_PAGE;
		if (size > to - from)
			size = to - from;
		for (size_t i = 0; bytes && i + NAMES_SIZE <= size; i++) {
			text_names(scan, bytes + i, from + i);
			text_has(scan, bytes + i, from + i);
		}
		from += size;
	}
}

/* Where the thread is, and where it may return to. */
static size_t text_places(const struct held_scan *scan,
			  uint64_t places[TEXTS_MAX])
{
	size_t count = 0, size;
	const uint8_t *top = held_stack(scan, STACK_POINTERS, &size);

	places[count++] = scan->side->regs.rip;
	for (size_t i = 0; i + sizeof(uint64_t) <= size && count < TEXTS_MAX;
	     i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, top + i, sizeof(word));
		if (in_code(scan, word))
			places[count++] = word;
	}
	return count;
}

static void add_text(struct held_scan *scan)
{
	uint64_t places[TEXTS_MAX];
	size_t count = text_places(scan, places);

	for (size_t i = 0; i < count; i++) {
		room_add_page(scan->room, places[i] - TEXT_BEFORE);
		room_add_page(scan->room, places[i] + TEXT_BEHIND - 1);
	}
	room_read(scan->room, scan->memory);
	for (size_t i = 0; i < count; i++)
		text_scan(scan, places[i] - TEXT_BEFORE,
			  places[i] + TEXT_BEHIND);
}

static void add_slots(struct held_scan *scan)
{
	for (size_t i = 0; i < scan->room->slot_count; i++) {
		size_t size;
		const uint8_t *bytes =
			room_bytes(scan->room, scan->room->slots[i], &size);

		if (bytes && size >= sizeof(uint64_t))
			add_words(scan, bytes, sizeof(uint64_t));
	}
}

void held_gather(struct held_scan *scan, uint64_t address,
		 const uint8_t *machine)
{
	const struct wire_machine *copied = &scan->side->machine;
	struct held_room *room = scan->room;
	size_t size;
	const uint8_t *top = held_stack(scan, STACK_POINTERS, &size);

	room->page_count = room->pages_read = 0;
	room->pointer_count = room->slot_count = 0;
	add_text(scan);
	add_object(scan, address);
	/* where its heap block may begin */
	room_add_page(room, address - HELD_PAGE);
	for (int i = 0; i < 16; i++)
		add_object(scan, scan->side->regs.gpr[i]);
	/* the first window is around the raced bytes */
	if (copied->window_count > 0)
		add_words(scan, machine + copied->vectors_size,
			  copied->windows[0].size);
	add_words(scan, top, size);
	room_read(room, scan->memory);
	add_slots(scan);
	room_read(room, scan->memory);
}

void held_gather_ends(struct held_scan *scan, const uint64_t *addresses,
		      size_t count)
{
	struct held_room *room = scan->room;

	for (size_t i = 0; i < count; i++)
		room_add_page_of(room, addresses[i],
				 room->pages_read + HELD_ENDS);
	room_read(room, scan->memory);
}
