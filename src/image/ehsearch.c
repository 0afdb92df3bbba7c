/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looking for an FDE; see ehsearch.h.
 */
#include "image/ehsearch.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "image/ehframe.h"
#include "image/elffile.h"

/* .eh_frame_hdr as linkers write it (LSB Core 5.0 section 10.6.2) */
enum {
	HEADER_VERSION = 1,
	HEADER_SIZE = 12, /* with .eh_frame's address and the count */
	ENTRY_SIZE = 8,
	ENCODING_FORMAT = 0x0f,
	ENCODING_UDATA4 = 0x03,
	ENCODING_SDATA4 = 0x0b,
	ENCODING_TABLE = 0x3b, /* relative to the header, signed, 4 bytes */
};

struct eh_search {
	/* the file's table: pairs of a start and an FDE; NULL: none */
	const uint8_t *table;
	uint64_t header; /* what they are relative to */
	struct vec entries; /* of struct eh_entry, by start; else */
	size_t count; /* of either */
};

static bool has_table(const uint8_t *header)
{
	uint8_t address = header[1] & ENCODING_FORMAT;

	return header[0] == HEADER_VERSION && header[2] == ENCODING_UDATA4 &&
	       header[3] == ENCODING_TABLE &&
	       (address == ENCODING_UDATA4 || address == ENCODING_SDATA4);
}

static bool use_table(struct eh_search *search, const struct elffile *file)
{
	const Elf64_Phdr *segment = elffile_segment_type(file, PT_GNU_EH_FRAME);
	struct elf_span span;
	uint32_t count;

	if (!segment || !elffile_at(file, segment->p_vaddr, &span) ||
	    span.size < HEADER_SIZE || !has_table(span.bytes))
		return false;
	memcpy(&count, span.bytes + HEADER_SIZE - sizeof(count), sizeof(count));
	if (count == 0 || count > (span.size - HEADER_SIZE) / ENTRY_SIZE)
		return false;
	search->table = span.bytes + HEADER_SIZE;
	search->header = span.address;
	search->count = count;
	return true;
}

static int compare_entries(const void *left, const void *right)
{
	const struct eh_entry *a = left;
	const struct eh_entry *b = right;

	if (a->range.start != b->range.start)
		return a->range.start < b->range.start ? -1 : 1;
	return a->fde < b->fde ? -1 : a->fde > b->fde;
}

static bool make_table(struct eh_search *search, const struct elffile *file)
{
	if (!ehframe_collect(file, &search->entries))
		return false;
	search->count = search->entries.count;
	if (search->count)
		qsort(search->entries.items, search->count,
		      search->entries.size, compare_entries);
	return true;
}

struct eh_search *eh_search_create(const struct elffile *file)
{
	struct eh_search *search = calloc(1, sizeof(*search));

	if (!search)
		return NULL;
	search->entries = (struct vec)VEC_INIT(struct eh_entry);
	if (use_table(search, file) || make_table(search, file))
		return search;
	eh_search_destroy(search);
	return NULL;
}

void eh_search_destroy(struct eh_search *search)
{
	if (!search)
		return;
	vec_deinit(&search->entries);
	free(search);
}

/* Number i: where its code starts, and the FDE. */
static uint64_t start_of(const struct eh_search *search, size_t i,
			 uint64_t *ret_fde)
{
	const struct eh_entry *entry;
	int32_t pair[2];

	if (search->table) {
		memcpy(pair, search->table + i * ENTRY_SIZE, sizeof(pair));
		*ret_fde = search->header + (uint64_t)(int64_t)pair[1];
		return search->header + (uint64_t)(int64_t)pair[0];
	}
	entry = vec_at(&search->entries, i);
	*ret_fde = entry->fde;
	return entry->range.start;
}

bool eh_search_find(const struct eh_search *search, uint64_t address,
		    uint64_t *ret_fde)
{
	size_t low = 0;
	size_t high = search->count;
	uint64_t fde;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (start_of(search, middle, &fde) > address)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0)
		return false;
	start_of(search, low - 1, ret_fde);
	return true;
}
