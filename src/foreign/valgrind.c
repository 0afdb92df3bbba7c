/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences of Helgrind and DRD; see valgrind.h. */
#include "foreign/valgrind.h"

#include "foreign/gather.h"
#include "foreign/scan.h"
#include "report/race.h"

/* Of Valgrind's layout of the address space. */
static const uint64_t PROGRAM_BIAS = 0x108000, PROGRAM_FIXED = 0x400000,
		      LIBRARIES = 0x4000000;

uint64_t valgrind_offset(uint64_t address)
{
	if (address >= LIBRARIES || address < PROGRAM_BIAS)
		return 0;
	return address >= PROGRAM_FIXED ? address : address - PROGRAM_BIAS;
}

/* "read of size 8" */
static bool scan_access(struct scan *text, struct gather_access *access)
{
	if (scan_word(text, "read"))
		access->access = ACCESS_READ;
	else if (scan_word(text, "write"))
		access->access = ACCESS_WRITE;
	else
		return false;
	return scan_word(text, " of size ") && scan_number(text, &access->size);
}

/* " by thread #3": with the mark, which announcements have too */
static bool scan_thread(struct scan *text, struct scan *ret)
{
	uint64_t number;

	if (!scan_word(text, " by thread "))
		return false;
	*ret = *text;
	if (!scan_word(text, "#") || !scan_number(text, &number))
		return false;
	scan_cut(ret, text->at);
	return true;
}

static void add_access(struct gather *gather, bool good,
		       const struct gather_access *access, size_t line)
{
	if (good) {
		gather_access(gather, access);
		return;
	}
	gather_bad(gather, line, "an access has no size, address or thread");
	gather_no_frames(gather);
}

/* Helgrind's */
static bool read_possible(struct gather *gather, const struct scan *text,
			  size_t line)
{
	struct gather_access access = { .size = 0 };
	struct scan rest = *text;

	if (!scan_word(&rest, "Possible data race during "))
		return false;
	gather_begin(gather, "helgrind", line);
	add_access(gather,
		   scan_access(&rest, &access) && scan_word(&rest, " at ") &&
			   scan_address(&rest, &access.address) &&
			   scan_thread(&rest, &access.thread),
		   &access, line);
	return true;
}

static bool read_conflict(struct gather *gather, const struct scan *text,
			  size_t line)
{
	struct gather_access access = { .size = 0 };
	struct scan rest = *text;

	if (!scan_word(&rest, "This conflicts with a previous "))
		return false;
	add_access(gather,
		   scan_access(&rest, &access) &&
			   scan_thread(&rest, &access.thread),
		   &access, line);
	return true;
}

/* DRD's: "Conflicting store by thread 3 at 0x0010c0d8 size 8" */
static bool read_conflicting(struct gather *gather, const struct scan *text,
			     size_t line)
{
	struct gather_access access = { .size = 0 };
	struct scan rest = *text;
	uint64_t number;
	bool good;

	if (!scan_word(&rest, "Conflicting "))
		return false;
	if (scan_word(&rest, "store by thread "))
		access.access = ACCESS_WRITE;
	else if (scan_word(&rest, "load by thread "))
		access.access = ACCESS_READ;
	else
		return false;
	gather_begin(gather, "drd", line);
	access.thread = rest;
	good = scan_number(&rest, &number);
	scan_cut(&access.thread, rest.at);
	good = good && scan_word(&rest, " at ") &&
	       scan_address(&rest, &access.address) &&
	       scan_word(&rest, " size ") && scan_number(&rest, &access.size);
	add_access(gather, good, &access, line);
	return true;
}

/* Between what two stacks the other thread made its access, DRD does not know. */
static bool read_segment(struct gather *gather, const struct scan *text)
{
	struct gather_access access = { .access = ACCESS_NONE };
	struct scan rest = *text;
	uint64_t number;

	if (!scan_word(&rest, "Other segment "))
		return false;
	if (gather->accesses == 1 && scan_word(&rest, "start (thread ")) {
		access.thread = rest;
		if (scan_number(&rest, &number)) {
			scan_cut(&access.thread, rest.at);
			gather_access(gather, &access);
		}
	}
	gather_no_frames(gather);
	return true;
}

/* "24 bytes inside data symbol "shards"", "... inside a block of size 8 alloc'd" */
static void read_inside(struct gather *gather, uint64_t address,
			struct scan *rest)
{
	uint64_t offset, size;
	struct scan name;

	if (!scan_number(rest, &offset) || !scan_word(rest, " bytes inside "))
		return;
	if (scan_word(rest, "a block of size ")) {
		if (scan_number(rest, &size) && scan_first(rest, "alloc'd"))
			gather_block(gather, address - offset, size);
		return;
	}
	if (!scan_word(rest, "data symbol \"") &&
	    !scan_word(rest, "global var \"") &&
	    !scan_word(rest, "local var \""))
		return;
	if (scan_before(rest, "\"", &name))
		gather_variable(gather, &name, offset, NULL, 0);
}

/* In a section or segment of a file, of which no name is known. */
static void set_segment(struct gather *gather, const struct scan *module)
{
	gather_region(gather, REGION_GLOBAL, module);
	gather->race->variable.module_offset =
		valgrind_offset(gather->race->address);
}

/* What is there: of Helgrind " Address 0x10c0d8 is 24 bytes inside ..." */
static bool read_address(struct gather *gather, const struct scan *text)
{
	struct scan rest = *text, module;
	uint64_t address, offset, start;

	scan_spaces(&rest);
	if ((!scan_word(&rest, "Address ") && !scan_word(&rest, "Location ")) ||
	    !scan_address(&rest, &address) || !scan_word(&rest, " is "))
		return false;
	gather_no_frames(gather);
	if (scan_word(&rest, "at offset ")) {
		if (scan_number(&rest, &offset) && scan_word(&rest, " from ") &&
		    scan_address(&rest, &start))
			gather_block(gather, start, 0);
	} else if (scan_word(&rest, "on thread #") ||
		   scan_word(&rest, "on thread ")) {
		gather_region(gather, REGION_STACK, NULL);
	} else if (scan_word(&rest, "in ") &&
		   scan_before(&rest, " segment of ", &module)) {
		set_segment(gather, &rest);
	} else {
		read_inside(gather, address, &rest);
	}
	return true;
}

/* DRD: "Allocation context: BSS section of /tmp/cache" */
static bool read_context(struct gather *gather, const struct scan *text)
{
	struct scan rest = *text, section;

	if (!scan_word(&rest, "Allocation context: "))
		return false;
	gather_no_frames(gather);
	if (scan_before(&rest, " section of ", &section))
		set_segment(gather, &rest);
	return true;
}

bool valgrind_sentence(struct gather *gather, unsigned int tools,
		       const struct scan *text, size_t line)
{
	if ((tools & VALGRIND_HELGRIND) && read_possible(gather, text, line))
		return true;
	if ((tools & VALGRIND_DRD) && read_conflicting(gather, text, line))
		return true;
	return gather->race &&
	       (read_conflict(gather, text, line) ||
		read_segment(gather, text) || read_address(gather, text) ||
		read_context(gather, text));
}
