/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code's text, which is read when it is needed; see processor-parts.h.
 */
#include "replay/processor-parts.h"

#include "base/error.h"
#include "sys/mapping.h"

/* Only what the program cannot write is still as it was. */
static void code_fetch(struct space *space, uint64_t page)
{
	const struct replay_source *source = &space->source;
	struct mapping mapping;
	bool found = false;
	struct error *err;

	if (pagecache_find(&space->cache, page))
		return;
	err = replay_source_look(source, page, &mapping, &found);
	if (!err && found && page >= mapping.start &&
	    !(mapping.access & (MAPPING_WRITE | MAPPING_SHARED)))
		err = pagecache_fetch(&space->cache, source, &page, 1);
	error_free(err);
}

size_t processor_read_text(struct space *space, uint64_t address,
			   uint8_t *bytes, size_t size)
{
	uint64_t next = replay_page_of(address) + REPLAY_PAGE;

	code_fetch(space, replay_page_of(address));
	if (address + size > next)
		code_fetch(space, next);
	if (pagecache_read(&space->cache, address, bytes, size))
		return size;
	if (address + size <= next)
		return 0;
	size = (size_t)(next - address);
	return pagecache_read(&space->cache, address, bytes, size) ? size : 0;
}
