/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole pages of a tracee, scattered; see memory.h.
 */
#include "sys/memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/backing.h"
#include "sys/pagemap.h"

enum {
	PAGES_BATCH = 64,
	/*
	 * One call reads the states of WINDOW pages at most. It reads up to GAP pages
	 * that are not wanted: these take the kernel as long as a second call.
	 */
	PAGES_WINDOW = 128,
	PAGES_GAP = 20,
};

/* Pages that are in memory, and stay there: nobody has to provide them. */
struct pages_batch {
	struct iovec local[PAGES_BATCH];
	struct iovec remote[PAGES_BATCH];
	struct memory_page *pages[PAGES_BATCH];
	size_t count;
};

static void batch_add(struct pages_batch *batch, struct memory_page *page)
{
	size_t i = batch->count++;

	batch->local[i] = (struct iovec){ page->bytes, PAGEMAP_PAGE };
	batch->remote[i] = (struct iovec){ (void *)(uintptr_t)page->address,
					   PAGEMAP_PAGE };
	batch->pages[i] = page;
}

/* The kernel ends at the first page that it cannot read: go on behind it. */
static void batch_read(const struct memory *memory, struct pages_batch *batch)
{
	size_t done = 0;

	while (done < batch->count) {
		ssize_t n = process_vm_readv(memory->pid, batch->local + done,
					     batch->count - done,
					     batch->remote + done,
					     batch->count - done, 0);
		size_t end = done + (n < 0 ? 0 : (size_t)n / PAGEMAP_PAGE);

		for (; done < end && done < batch->count; done++)
			batch->pages[done]->read = true;
		done += done < batch->count;
	}
	batch->count = 0;
}

/*
 * Must it be read through /proc/PID/mem? Where it disappears now, as by madvise(2),
 * process_vm_readv(2) would wait for who serves it by userfaultfd(2): perhaps for
 * a thread that is held, and so for ever.
 */
static bool page_may_be_served(const struct memory *memory,
			       const struct memory_page *page)
{
	return memory->fd >= 0 &&
	       (page->private ||
		backing_of(memory->backing, page->address) == BACKING_MEMORY);
}

/* Pages that follow each other, in the tracee and in the caller's memory. */
struct pages_run {
	struct memory_page *first;
	size_t count;
};

/* As batch_read() does, go on behind a page that cannot be read. */
static void run_read(const struct memory *memory, struct pages_run *run)
{
	size_t done = 0;

	while (done < run->count) {
		struct memory_page *page = &run->first[done];
		ssize_t n = pread(memory->fd, page->bytes,
				  (run->count - done) * PAGEMAP_PAGE,
				  (off_t)page->address);
		size_t end = done + (n < 0 ? 0 : (size_t)n / PAGEMAP_PAGE);

		for (; done < end && done < run->count; done++)
			run->first[done].read = true;
		done += done < run->count;
	}
	run->count = 0;
}

static void run_add(const struct memory *memory, struct pages_run *run,
		    struct memory_page *page)
{
	const struct memory_page *last = page - 1;

	if (run->count > 0 && (run->first + run->count != page ||
			       last->address + PAGEMAP_PAGE != page->address ||
			       last->bytes + PAGEMAP_PAGE != page->bytes))
		run_read(memory, run);
	if (run->count++ == 0)
		run->first = page;
}

/* Registers also hold numbers: most such pages are of no mapping. */
static void page_read_alone(const struct memory *memory,
			    struct memory_page *page)
{
	size_t size = 0;
	struct error *err;

	if (page->nothing ||
	    backing_of(memory->backing, page->address) == BACKING_NONE)
		return;
	err = memory_read(memory, page->address, page->bytes, PAGEMAP_PAGE,
			  &size);
	page->read = !err && size == PAGEMAP_PAGE;
	error_free(err);
}

/* Numbers of pages. */
struct pages_range {
	uint64_t first, last;
};

/* Let the range have the page too, if it is near. */
static void range_extend(struct pages_range *range, uint64_t number)
{
	if (number > range->last && number - range->last <= PAGES_GAP &&
	    number - range->first < PAGES_WINDOW)
		range->last = number;
	else if (number < range->first && range->first - number <= PAGES_GAP &&
		 range->last - number < PAGES_WINDOW)
		range->first = number;
}

static struct pages_range range_of(const struct memory_page *pages,
				   size_t count)
{
	uint64_t number = pages[0].address / PAGEMAP_PAGE;
	struct pages_range range = { number, number };

	for (size_t i = 1; i < count; i++)
		range_extend(&range, pages[i].address / PAGEMAP_PAGE);
	return range;
}

/*
 * Pages of a stack and of text are near each other: set `absent' of all that are
 * near the first one. Those between are asked for in vain, which takes the kernel
 * less than another call, and not those around.
 */
static void pages_look_near(const struct memory *memory,
			    struct memory_page *pages, size_t count)
{
	enum page_state states[PAGES_WINDOW];
	struct pages_range range = range_of(pages, count);

	pagemap_states(memory->pages, range.first * PAGEMAP_PAGE, states,
		       range.last - range.first + 1);
	for (size_t i = 0; i < count; i++) {
		uint64_t number = pages[i].address / PAGEMAP_PAGE;

		if (number < range.first || number > range.last)
			continue;
		pages[i].looked = true;
		pages[i].nothing = false;
		pages[i].absent = states[number - range.first] == PAGE_ABSENT;
		pages[i].private = states[number - range.first] == PAGE_PRIVATE;
	}
}

/*
 * What has the first page behind it is asked, and so known of all pages there. Private
 * memory is read through /proc/PID/mem, be it absent or not, unless the caller wants
 * to know that.
 */
static void pages_look(const struct memory *memory, struct memory_page *pages,
		       size_t count)
{
	struct backing_range range;

	if (memory->fd < 0 || pages[0].leave_absent ||
	    !backing_range(memory->backing, pages[0].address, &range)) {
		pages_look_near(memory, pages, count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (pages[i].address < range.start ||
		    pages[i].address >= range.end)
			continue;
		pages[i].looked = true;
		pages[i].nothing = pages[i].absent = !range.mapped;
		pages[i].private = range.mapped;
	}
}

void memory_read_pages(const struct memory *memory, struct memory_page *pages,
		       size_t count)
{
	struct pages_batch batch = { .count = 0 };
	struct pages_run run = { .count = 0 };

	for (size_t i = 0; i < count; i++)
		pages[i].read = pages[i].looked = false;
	for (size_t i = 0; i < count; i++) {
		if (!pages[i].looked)
			pages_look(memory, &pages[i], count - i);
		if (pages[i].absent)
			continue;
		if (page_may_be_served(memory, &pages[i]))
			run_add(memory, &run, &pages[i]);
		else
			batch_add(&batch, &pages[i]);
		if (batch.count == PAGES_BATCH)
			batch_read(memory, &batch);
	}
	batch_read(memory, &batch);
	run_read(memory, &run);
	for (size_t i = 0; i < count; i++) {
		if (pages[i].absent && !pages[i].leave_absent)
			page_read_alone(memory, &pages[i]);
	}
}
