/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An instance of a race, taken while both threads are held before their accesses
 * (PLDI'07, section 4.2): their registers, and the memory that they are likely to
 * use. The tracer takes it; whoever replays it (processor.h) may be another
 * process. The program is only read.
 */
#ifndef REPLAY_LIVEIN_H
#define REPLAY_LIVEIN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "replay/context.h"
#include "replay/likely.h"
#include "replay/pagecache.h"

enum {
	REPLAY_THREADS = 2,
	/* of processes: each thread may be of its own */
	REPLAY_SPACES = REPLAY_THREADS,
};

struct error;
struct memory;

/* More than half a megabyte: not for the stack. */
struct replay_capture {
	struct replay_context threads[REPLAY_THREADS];
	size_t count; /* of pages; each is there once */
	/*
	 * the number of pages of the first thread's process, which come first;
	 * the others are of the second thread's process
	 */
	size_t of_first;
	uint64_t addresses[LIKELY_MAX];
	/* breakpoints of ours may be in them */
	uint8_t pages[LIKELY_MAX][REPLAY_PAGE];
	/* replay_hint() of each page that was looked for and not found */
	size_t absent_count;
	uint64_t absent[LIKELY_MAX];
};

/*
 * Two threads, each in a ptrace-stop of the caller's, and the memory of their
 * address spaces: the same pointer twice if that is one. They may run as soon as
 * this returns. It costs four requests to ptrace(2), and what memory_read_pages()
 * (sys/memory.h) takes, up to three times for each address space: pages are found by
 * pointers in others. A page that cannot be read is left out, and is in `absent'. raced: the pages of the raced bytes, no
 * more than LIKELY_RACED; hints: of the race; NULL: there are none.
 * error_gone: a thread is. ERROR_UNSUPPORTED: its registers are more than there
 * is room for. After an error *ret means nothing.
 */
struct error *
replay_capture_take(const pid_t tids[REPLAY_THREADS],
		    const struct memory *const memories[REPLAY_THREADS],
		    const struct replay_hints *raced,
		    const struct replay_hints *hints,
		    struct replay_capture *ret);

/*
 * To a capture of one address space, while the threads are still stopped: add these
 * pages of it as far as there is room. Those that are not in memory are left out, and
 * are not in `absent'. Costs what memory_read_pages() takes.
 */
void replay_capture_add(const struct memory *memory,
			const struct replay_hints *pages,
			struct replay_capture *ret);

#endif
