/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An access that failed in the scratch process: a page is missing there, or the
 * program would have failed too; see processor-parts.h.
 */
#include "replay/processor-parts.h"

#include <signal.h>

#include "base/error.h"
#include "replay/trail.h"
#include "sys/mapping.h"
#include "sys/memory.h"

/* Below this, a leaf function may still have what it needs (psABI, 3.2.2). */
enum { FAULT_RED_ZONE = 128 };

static const unsigned int FAULT_ANY = MAPPING_READ | MAPPING_WRITE |
				      MAPPING_EXECUTE;

struct fault {
	struct processor *processor;
	struct space *space; /* in which it is */
	int number; /* of the space */
	uint64_t rip, address, page;
	struct mapping mapping; /* what the program has there, if ... */
	bool found, covers;
	struct replay_stop *stop;
};

/* An instruction may begin on the page before. */
static bool fault_executes(const struct fault *fault)
{
	return fault->address - fault->rip < X86_INSN_MAX;
}

static void fault_is(const struct fault *fault, enum replay_stop_kind kind)
{
	*fault->stop = (struct replay_stop){ .kind = kind,
					     .has_address = true,
					     .address = fault->address };
	if (kind != REPLAY_SIGNAL)
		return;
	fault->stop->signal = SIGSEGV;
	/* a jump to what is no code; not an instruction that goes on there */
	fault->stop->executes =
		fault->address == fault->rip &&
		!(fault->covers && fault->mapping.access & MAPPING_EXECUTE);
}

static struct error *fault_look(struct fault *fault)
{
	struct processor *processor = fault->processor;
	struct error *err = replay_source_look(&fault->space->source,
					       fault->page, &fault->mapping,
					       &fault->found);

	processor->gone = err == error_gone;
	fault->covers = !err && fault->found &&
			fault->page >= fault->mapping.start;
	return err;
}

/*
 * The program's stack below the stack pointer: nothing there is alive, so it
 * need not be known. Where it has never been, the kernel would enlarge it.
 */
static bool fault_on_dead_stack(const struct fault *fault)
{
	const struct processor *processor = fault->processor;
	const struct mapping *mapping = &fault->mapping;

	for (int i = 0; i < REPLAY_THREADS; i++) {
		const struct replay_thread *thread =
			&processor->instance.threads[i];
		uint64_t rsp = processor->starts[i].regs.gpr[X86_RSP];

		if (processor_space_of(processor, i) == fault->number &&
		    fault->found && (thread->stack_low || mapping->stack) &&
		    (fault->covers || mapping->stack) &&
		    rsp >= mapping->start && rsp < mapping->end &&
		    fault->page + REPLAY_PAGE <= rsp - FAULT_RED_ZONE &&
		    replay_is_dead(thread, rsp, fault->page))
			return true;
	}
	return false;
}

static struct error *fault_install(struct fault *fault,
				   struct cached_page *page, bool *ret_again)
{
	struct error *err;

	page->access = fault->mapping.access;
	/* unmapped since: it was there at the time of the race */
	if (!fault->covers)
		page->access = MAPPING_READ | MAPPING_WRITE;
	err = processor_install(fault->processor, fault->number, page);
	*ret_again = !err;
	return err;
}

/* Why the page cannot be read. */
static enum replay_stop_kind fault_reason(const struct fault *fault)
{
	const struct memory *memory = fault->space->source.memory;

	if (fault->mapping.secret)
		return REPLAY_SECRET;
	if (fault->mapping.clock)
		return REPLAY_CLOCK;
	if (memory_is_served(memory, fault->page, REPLAY_PAGE))
		return REPLAY_SERVED;
	return fault->covers && mapping_may_be_userfaultfd(memory->pid,
							   &fault->mapping)
		       ? REPLAY_USERFAULTFD
		       : REPLAY_UNFETCHABLE;
}

static struct error *fault_read_late(struct fault *fault, bool *ret_again)
{
	struct space *space = fault->space;
	struct error *err =
		pagecache_fetch(&space->cache, &space->source, &fault->page, 1);
	struct cached_page *page = pagecache_find(&space->cache, fault->page);

	if (!err && page)
		err = space_link(fault->processor, fault->number, page);
	if (!err && page)
		return fault_install(fault, page, ret_again);
	if (!err)
		fault_is(fault, fault_reason(fault));
	return err;
}

/* Data of a program or library, at the same address always: .data, .bss? */
static bool fault_is_module(const struct fault *fault)
{
	const struct mapping *mapping = &fault->mapping;
	struct mapping before;
	bool found = false;
	struct error *err;

	if (mapping->inode != 0)
		return true;
	err = replay_source_look(&fault->space->source, mapping->start - 1,
				 &before, &found);
	error_free(err);
	return !err && found && before.end == mapping->start &&
	       before.inode != 0;
}

/* The next instance may use other memory, but for a module's data. */
static void fault_remember(const struct fault *fault)
{
	struct processor *processor = fault->processor;

	if (!fault_is_module(fault) &&
	    trail_learn(processor, fault->number, fault->address))
		return;
	replay_hints_add(processor->instance.hints,
			 replay_hint(fault->number, fault->page));
}

/* The region ends before the access, where that is an end. */
static bool fault_ends(const struct fault *fault)
{
	if (!fault->processor->instance.ends_at_missed)
		return false;
	fault_is(fault, REPLAY_UNCAPTURED);
	fault->stop->rip = fault->rip;
	return true;
}

/*
 * Too late: others may have written to it since. It is read all the same, so that
 * the code runs on and misses all that it will, for the next instance.
 */
static struct error *fault_learn(struct fault *fault, bool *ret_again)
{
	struct processor *processor = fault->processor;
	struct error *err;

	if (fault_ends(fault)) {
		fault_remember(fault);
		return NULL;
	}
	err = fault_read_late(fault, ret_again);
	if (err || !*ret_again)
		return err;
	fault_remember(fault);
	if (!processor->missed)
		processor->missed = fault->address;
	return NULL;
}

/* Has the capture asked for the page, and found nothing? */
static bool fault_was_absent(const struct fault *fault)
{
	const struct processor *processor = fault->processor;

	for (size_t i = 0; i < processor->absent_count; i++) {
		if (processor->absent[i] ==
		    replay_hint(fault->number, fault->page))
			return true;
	}
	return false;
}

/*
 * Nothing is mapped there now. Was there anything when the threads were held? Not
 * where nothing can be mapped (vm.mmap_min_addr), or where the capture found
 * nothing. That the page is in the hints says less: it may have been missed only
 * by an earlier schedule of this instance.
 */
static void fault_on_unmapped(struct fault *fault)
{
	struct processor *processor = fault->processor;

	fault_is(fault, REPLAY_SIGNAL);
	if (!scratch_has_room(fault->page) || fault_was_absent(fault))
		return;
	replay_hints_add(processor->instance.hints,
			 replay_hint(fault->number, fault->page));
	if (fault_ends(fault))
		return;
	if (!processor->missed)
		processor->missed = fault->address;
}

static struct error *fault_on_missing(struct fault *fault, bool *ret_again)
{
	struct space *space = fault->space;
	struct cached_page *page = pagecache_find(&space->cache, fault->page);
	struct error *err;

	if (page && (!fault->covers || fault->mapping.access & FAULT_ANY))
		return fault_install(fault, page, ret_again);
	if (fault_on_dead_stack(fault)) {
		err = pagecache_add_zeros(&space->cache, fault->page, &page);
		return err ? err : fault_install(fault, page, ret_again);
	}
	if (!fault->covers)
		fault_on_unmapped(fault);
	else if (!(fault->mapping.access & FAULT_ANY))
		fault_is(fault, REPLAY_SIGNAL);
	else if (!scratch_has_room(fault->page))
		fault_is(fault, REPLAY_UNFETCHABLE);
	else if (fault->mapping.access & (MAPPING_WRITE | MAPPING_SHARED))
		return fault_learn(fault, ret_again);
	else
		return fault_read_late(fault, ret_again);
	return NULL;
}

/* It is there: code that may not run yet, or an access that is forbidden. */
static struct error *fault_on_installed(struct fault *fault, bool *ret_again)
{
	struct space *space = fault->space;
	const struct cached_page *page =
		pagecache_find(&space->cache, fault->page);
	struct error *err = NULL;

	if (fault_executes(fault) && page->access & MAPPING_EXECUTE &&
	    fault->covers)
		err = scratch_permit(space->scratch, fault->mapping.start,
				     fault->mapping.end, ret_again);
	if (!err && !*ret_again)
		fault_is(fault, REPLAY_SIGNAL);
	return err;
}

struct error *processor_fault(struct processor *processor, int thread,
			      uint64_t rip, uint64_t address, bool *ret_again,
			      struct replay_stop *ret_stop)
{
	struct fault fault = { .processor = processor,
			       .space = processor_space(processor, thread),
			       .number = processor_space_of(processor, thread),
			       .rip = rip,
			       .address = address,
			       .page = replay_page_of(address),
			       .stop = ret_stop };
	struct error *err = fault_look(&fault);

	*ret_again = false;
	if (err)
		return err;
	if (scratch_is_installed(fault.space->scratch, fault.page))
		return fault_on_installed(&fault, ret_again);
	return fault_on_missing(&fault, ret_again);
}
