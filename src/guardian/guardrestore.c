/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing text back from the guardian's table; see guardrestore.h.
 */
#include "guardian/guardrestore.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "x86/int3.h"

enum { TEXT_PAGE = 4096 };

struct error *guardrestore_create(struct guardtable *table,
				  struct guardrestore **ret)
{
	struct guardrestore *restore = calloc(1, sizeof(*restore));

	if (!restore)
		return error_nomem;
	restore->table = table;
	*ret = restore;
	return NULL;
}

void guardrestore_destroy(struct guardrestore *restore)
{
	if (!restore)
		return;
	for (uint32_t i = 0; i < GUARDTABLE_SPACES; i++) {
		if (restore->opened[i] != 0)
			memory_deinit(&restore->memories[i]);
	}
	free(restore);
}

void guardrestore_open(struct guardrestore *restore)
{
	for (uint32_t i = 0; i < GUARDTABLE_SPACES; i++) {
		struct guardtable_space *space = &restore->table->spaces[i];
		/* first: a use that begins meanwhile is looked at again */
		uint32_t uses = __atomic_load_n(&space->uses, __ATOMIC_ACQUIRE);
		pid_t pid = __atomic_load_n(&space->pid, __ATOMIC_ACQUIRE);

		if (pid == 0)
			uses = 0;
		if (restore->opened[i] == uses)
			continue;
		if (restore->opened[i] != 0)
			memory_deinit(&restore->memories[i]);
		if (uses != 0)
			memory_init(&restore->memories[i], pid);
		restore->opened[i] = uses;
		__atomic_store_n(&space->opened, uses, __ATOMIC_RELEASE);
	}
}

/* Entries of one page, to be written together. */
struct page_batch {
	uint64_t start; /* address of bytes[0] */
	size_t size; /* that could be read */
	size_t low, high; /* what changes: [low, high) */
	uint8_t bytes[TEXT_PAGE + X86_INSN_MAX];
};

/* Is our int3 there, with the rest of its instruction behind it? */
static bool batch_holds(const struct page_batch *batch,
			const struct guardtable_entry *entry)
{
	size_t at = (size_t)(entry->address - batch->start);

	return at < batch->size && batch->size - at >= entry->length &&
	       batch->bytes[at] == X86_INT3 &&
	       memcmp(batch->bytes + at + 1, entry->bytes + 1,
		      entry->length - 1u) == 0;
}

/* Put the byte back in the copy; false: there is nothing of ours there. */
static bool batch_change(struct page_batch *batch,
			 const struct guardtable_entry *entry)
{
	size_t at = (size_t)(entry->address - batch->start);

	if (!batch_holds(batch, entry))
		return false;
	batch->bytes[at] = entry->bytes[0];
	if (batch->high == 0 || at < batch->low)
		batch->low = at;
	if (at + 1 > batch->high)
		batch->high = at + 1;
	return true;
}

static bool batch_read(struct page_batch *batch, const struct memory *memory,
		       uint64_t start, size_t size)
{
	struct error *err;

	batch->start = start;
	batch->low = batch->high = 0;
	err = memory_read(memory, start, batch->bytes, size, &batch->size);
	error_free(err);
	return !err;
}

static bool batch_write(const struct page_batch *batch,
			const struct memory *memory, pid_t stopped_tid)
{
	struct error *err;

	if (batch->high == 0)
		return true;
	err = memory_write_text(memory, stopped_tid, batch->start + batch->low,
				batch->bytes + batch->low,
				batch->high - batch->low);
	error_free(err);
	return !err;
}

static void entry_done(struct guardtable_entry *entry)
{
	__atomic_store_n(&entry->length, 0, __ATOMIC_RELEASE);
}

static bool space_holds(const struct guardtable *table, uint32_t space,
			const struct guardtable_entry *entry)
{
	return table->spaces[space].pid != 0 &&
	       table->spaces[space].text == entry->text;
}

/* One entry in one space; nothing is done about what cannot be read. */
static void restore_one(struct guardrestore *restore, uint32_t space,
			const struct guardtable_entry *entry, pid_t stopped_tid)
{
	const struct memory *memory = &restore->memories[space];
	struct page_batch batch;

	if (batch_read(&batch, memory, entry->address, entry->length) &&
	    batch_change(&batch, entry))
		batch_write(&batch, memory, stopped_tid);
}

static uint32_t *bucket_of(struct guardrestore *restore,
			   const struct guardtable_entry *entry)
{
	uint64_t page = entry->address / TEXT_PAGE + entry->text * 7919u;

	return &restore->first[(page ^ page >> 14) % GUARDRESTORE_BUCKETS];
}

static bool same_page(const struct guardtable_entry *a,
		      const struct guardtable_entry *b)
{
	return a->address / TEXT_PAGE == b->address / TEXT_PAGE &&
	       a->text == b->text;
}

static void restore_index(struct guardrestore *restore)
{
	const struct guardtable *table = restore->table;

	memset(restore->first, 0, sizeof(restore->first));
	for (uint32_t i = 0; i < table->end; i++) {
		uint32_t *first = bucket_of(restore, &table->entries[i]);

		if (!guardtable_used(table, i))
			continue;
		restore->next[i] = *first;
		*first = i + 1;
	}
}

/* The next entry of the bucket on this page, from n on; plus 1; 0: none. */
static uint32_t next_on_page(const struct guardrestore *restore, uint32_t n,
			     const struct guardtable_entry *page)
{
	while (n != 0 && !same_page(&restore->table->entries[n - 1], page))
		n = restore->next[n - 1];
	return n;
}

/*
 * All entries on the page of this one, in one space, in one write. False: they may
 * still be there.
 */
static bool restore_page_in(struct guardrestore *restore, uint32_t space,
			    uint32_t first)
{
	const struct guardtable_entry *entries = restore->table->entries;
	const struct guardtable_entry *page = &entries[first - 1];
	const struct memory *memory = &restore->memories[space];
	uint64_t start = page->address / TEXT_PAGE * TEXT_PAGE;
	struct page_batch batch;

	if (!batch_read(&batch, memory, start, sizeof(batch.bytes)))
		return memory_holds_nothing(memory, start);
	for (uint32_t n = first; n != 0;
	     n = next_on_page(restore, restore->next[n - 1], page))
		batch_change(&batch, &entries[n - 1]);
	return batch_write(&batch, memory, 0);
}

/* The same in every space, if this entry is the page's first. */
static void restore_page(struct guardrestore *restore, uint32_t i)
{
	struct guardtable *table = restore->table;
	struct guardtable_entry *entries = table->entries;
	const struct guardtable_entry *page = &entries[i];
	uint32_t first = next_on_page(restore, *bucket_of(restore, page), page);
	bool written = true;

	if (first != i + 1)
		return;
	for (uint32_t s = 0; s < GUARDTABLE_SPACES; s++) {
		if (space_holds(table, s, page))
			written &= restore_page_in(restore, s, first);
	}
	for (uint32_t n = first; written && n != 0;
	     n = next_on_page(restore, restore->next[n - 1], page))
		entry_done(&entries[n - 1]);
}

/* They are looked at again with their pages. */
static void restore_recent(struct guardrestore *restore)
{
	const struct guardtable *table = restore->table;

	for (uint32_t n = 1; n <= GUARDTABLE_RECENT && n <= table->recent_next;
	     n++) {
		uint32_t i = table->recent[(table->recent_next - n) %
					   GUARDTABLE_RECENT];

		for (uint32_t s = 0;
		     s < GUARDTABLE_SPACES && guardtable_used(table, i); s++) {
			if (space_holds(table, s, &table->entries[i]))
				restore_one(restore, s, &table->entries[i], 0);
		}
	}
}

uint32_t guardrestore_text(struct guardrestore *restore)
{
	const struct guardtable *table = restore->table;
	uint32_t left = 0;

	restore_recent(restore);
	restore_index(restore);
	for (uint32_t i = table->end; i-- > 0;) {
		if (guardtable_used(table, i))
			restore_page(restore, i);
	}
	for (uint32_t i = 0; i < table->end; i++)
		left += guardtable_used(table, i);
	return left;
}

void guardrestore_through(struct guardrestore *restore, uint32_t space,
			  pid_t stopped_tid)
{
	const struct guardtable *table = restore->table;

	for (uint32_t i = 0; i < table->end; i++) {
		if (guardtable_used(table, i) &&
		    space_holds(table, space, &table->entries[i]))
			restore_one(restore, space, &table->entries[i],
				    stopped_tid);
	}
}
