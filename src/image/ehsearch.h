/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which FDE of .eh_frame describes an address: by the search table that linkers
 * write to .eh_frame_hdr, or, where there is none, by one that is made here of
 * all entries. Private to src/image.
 */
#ifndef IMAGE_EHSEARCH_H
#define IMAGE_EHSEARCH_H

#include <stdbool.h>
#include <stdint.h>

struct eh_search;
struct elffile;

/* Of a file whose contents are read and stay open; NULL: out of memory. */
struct eh_search *eh_search_create(const struct elffile *file);
void eh_search_destroy(struct eh_search *search);

/*
 * The address in the file of the last FDE that begins at address or before it.
 * The FDE may end before address, and a damaged table leads anywhere.
 */
bool eh_search_find(const struct eh_search *search, uint64_t address,
		    uint64_t *ret_fde);

#endif
