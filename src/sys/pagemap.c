/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages that are in memory; see pagemap.h.
 */
#include "sys/pagemap.h"

#include <unistd.h>

enum { PAGEMAP_BATCH = 128 };

#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_PROTECTED (UINT64_C(1) << 57)
#define PAGEMAP_FILE (UINT64_C(1) << 61)

enum page_state pagemap_state(uint64_t entry)
{
	if (entry & PAGEMAP_PRESENT)
		return entry & PAGEMAP_FILE ? PAGE_OF_FILE : PAGE_PRIVATE;
	/*
	 * The same bit is set where a page that was never there is protected
	 * against writes by userfaultfd(2).
	 */
	if ((entry & PAGEMAP_SWAPPED) &&
	    !(entry & (PAGEMAP_FILE | PAGEMAP_PROTECTED)))
		return PAGE_PRIVATE;
	return PAGE_ABSENT;
}

void pagemap_states(int fd, uint64_t address, enum page_state *states,
		    size_t count)
{
	uint64_t page = address / PAGEMAP_PAGE;

	for (size_t done = 0; done < count;) {
		uint64_t entries[PAGEMAP_BATCH];
		size_t n = count - done < PAGEMAP_BATCH ? count - done
							: PAGEMAP_BATCH;
		ssize_t got = -1;

		if (fd >= 0)
			got = pread(
				fd, entries, n * sizeof(entries[0]),
				(off_t)((page + done) * sizeof(entries[0])));
		for (size_t i = 0; i < n; i++)
			states[done + i] =
				got >= (ssize_t)((i + 1) * sizeof(entries[0]))
					? pagemap_state(entries[i])
					: PAGE_ABSENT;
		done += n;
	}
}
