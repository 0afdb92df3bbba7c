/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which pages of a process are in memory (/proc/PID/pagemap, proc(5)). To ask
 * never brings a page in.
 */
#ifndef SYS_PAGEMAP_H
#define SYS_PAGEMAP_H

#include <stddef.h>
#include <stdint.h>

enum { PAGEMAP_PAGE = 4096 };

enum page_state {
	/* not in memory, or unknown: an access causes a page fault */
	PAGE_ABSENT,
	/*
	 * in memory or swapped out: private memory, or a copy of a file's page
	 */
	PAGE_PRIVATE,
	/* in memory: a page of a file or of shared memory */
	PAGE_OF_FILE,
};

/*
 * The states of count pages from the one that holds address on. fd is of
 * /proc/PID/pagemap, or -1: nothing can be told.
 */
void pagemap_states(int fd, uint64_t address, enum page_state *states,
		    size_t count);

/* One entry of the file (Documentation/admin-guide/mm/pagemap.rst). */
enum page_state pagemap_state(uint64_t entry);

#endif
