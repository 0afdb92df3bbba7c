/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of functions; see functions.h.
 *
 * Both sources become a list sorted by start, one entry for each. Walking the
 * two side by side, a start that both know takes the smaller of the two
 * sizes: hand-written code has symbols that reach over data, and CFI that
 * reaches over several symbols. What overlaps the next start is cut there;
 * what would follow the inner one is given up, as nothing says that an
 * instruction starts there.
 */
#include "image/functions.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "image/ehframe.h"
#include "image/elffile.h"
#include "image/elfsyms.h"
#include "image/elftext.h"
#include "image/ranges.h"

enum {
	NAME_COMPARED = 256,
	/* with fewer items qsort() is faster */
	RADIX_ITEMS = 2048,
};

_Static_assert(offsetof(struct elf_symbol, start) == 0 &&
		       offsetof(struct eh_range, start) == 0,
	       "sort() takes the start from there");

static int compare_symbols(const void *left, const void *right)
{
	const struct elf_symbol *a = left;
	const struct elf_symbol *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	/* of two long names that begin alike any will do */
	return strncmp(a->name, b->name, NAME_COMPARED);
}

static int compare_ranges(const void *left, const void *right)
{
	const struct eh_range *a = left;
	const struct eh_range *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->size > b->size ? -1 : a->size < b->size;
}

typedef int compare_items(const void *left, const void *right);

static bool is_sorted(const struct vec *vec, compare_items *compare)
{
	for (size_t i = 1; i < vec->count; i++) {
		if (compare(vec_at(vec, i - 1), vec_at(vec, i)) > 0)
			return false;
	}
	return true;
}

static uint64_t start_at(const struct vec *vec, size_t i)
{
	/* it comes first in both kinds of items */
	return *(const uint64_t *)vec_at(vec, i);
}

/*
 * Tables are often in order already. Else sort by start, and what has the same
 * start by the comparison.
 */
static bool sort(struct vec *vec, compare_items *compare)
{
	size_t first = 0;

	if (is_sorted(vec, compare))
		return true;
	if (vec->count < RADIX_ITEMS) {
		qsort(vec->items, vec->count, vec->size, compare);
		return true;
	}
	if (!radix_sort(vec, 0))
		return false;
	for (size_t i = 1; i <= vec->count; i++) {
		if (i < vec->count && start_at(vec, i) == start_at(vec, first))
			continue;
		if (i - first > 1)
			qsort(vec_at(vec, first), i - first, vec->size,
			      compare);
		first = i;
	}
	return true;
}

/* Of the names of one start keep the best, with the largest size. */
static void unite_symbols(struct vec *symbols)
{
	size_t kept = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		struct elf_symbol *symbol = vec_at(symbols, i);
		struct elf_symbol *last = kept ? vec_at(symbols, kept - 1)
					       : NULL;

		if (last && last->start == symbol->start) {
			if (symbol->size > last->size)
				last->size = symbol->size;
			if (symbol->type == STT_GNU_IFUNC)
				last->type = STT_GNU_IFUNC;
			continue;
		}
		*(struct elf_symbol *)vec_at(symbols, kept++) = *symbol;
	}
	symbols->count = kept;
}

static void unite_ranges(struct vec *ranges)
{
	size_t kept = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		struct eh_range *range = vec_at(ranges, i);
		struct eh_range *last = kept ? vec_at(ranges, kept - 1) : NULL;

		/* the largest of one start comes first */
		if (!last || last->start != range->start)
			*(struct eh_range *)vec_at(ranges, kept++) = *range;
	}
	ranges->count = kept;
}

static bool starts_with(const uint8_t **at, const uint8_t *end,
			const char *bytes, size_t size)
{
	if ((size_t)(end - *at) < size || memcmp(*at, bytes, size) != 0)
		return false;
	*at += size;
	return true;
}

/*
 * Does code that no symbol names look like a PLT? It starts with an indirect
 * jump through a rip-relative slot (.plt.sec, .plt.got), or with a push of
 * such a slot and then that jump (the head of .plt).
 */
static bool looks_like_plt(const struct elffile *file, uint64_t start,
			   uint64_t size)
{
	struct elf_span span;
	const uint8_t *at;
	const uint8_t *end;

	if (!elffile_at(file, start, &span))
		return false;
	at = span.bytes;
	end = at + (size < span.size ? size : span.size);
	starts_with(&at, end, "\xf3\x0f\x1e\xfa", 4); /* endbr64 */
	if (starts_with(&at, end, "\xff\x35", 2)) { /* push x(%rip) */
		if (end - at < 4)
			return false;
		at += 4;
	}
	starts_with(&at, end, "\xf2", 1); /* bnd */
	return starts_with(&at, end, "\xff\x25", 2); /* jmp *x(%rip) */
}

struct merge {
	const struct elffile *file;
	struct function_sources *sources;
	struct vec ranges; /* of struct eh_range */
	size_t next_symbol;
	size_t next_range;
	size_t plt_sections; /* the PLT ranges that sections told */
	size_t plt_cursor; /* of ranges_overlap() */
	uint64_t code_start, code_end; /* code lies there, up to its end */
	struct vec *functions;
};

/* elffile_exec_end(), of functions that mostly lie in the same segment. */
static uint64_t merge_limit(struct merge *merge, uint64_t start)
{
	if (start < merge->code_start || start >= merge->code_end) {
		merge->code_start = start;
		merge->code_end = elffile_exec_end(merge->file, start);
	}
	return merge->code_end;
}

/* Nothing true has gigabytes. */
static uint32_t function_size(uint64_t size)
{
	return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

static bool merge_add(struct merge *merge, const struct elf_function *function)
{
	struct elf_function *last =
		merge->functions->count > 0
			? vec_at(merge->functions, merge->functions->count - 1)
			: NULL;
	uint64_t limit = merge_limit(merge, function->start);
	uint64_t end = function->start + function->size;
	struct elf_function cut = *function;

	if (limit == 0)
		return true;
	if (end > limit || end < function->start)
		cut.size = function_size(limit - function->start);
	end = cut.start + cut.size;
	if (ranges_overlap(merge->sources->plt, &merge->plt_cursor, cut.start,
			   end))
		return true;
	if (!cut.name && merge->plt_sections == 0 &&
	    looks_like_plt(merge->file, cut.start, cut.size)) {
		struct code_range range = { cut.start, end };

		return vec_push(merge->sources->plt, &range);
	}
	if (last && cut.start - last->start < last->size)
		last->size = function_size(cut.start - last->start);
	return vec_push(merge->functions, &cut);
}

/* What the sources say about the lowest start that is left. */
static bool merge_step(struct merge *merge, bool *ret_more)
{
	struct vec *code = &merge->sources->code;
	const struct elf_symbol *symbol = NULL;
	const struct eh_range *range = NULL;
	struct elf_function function = { 0 };

	if (merge->next_symbol < code->count)
		symbol = vec_at(code, merge->next_symbol);
	if (merge->next_range < merge->ranges.count)
		range = vec_at(&merge->ranges, merge->next_range);
	*ret_more = symbol || range;
	if (!*ret_more)
		return true;
	if (symbol && range && symbol->start < range->start)
		range = NULL;
	else if (symbol && range && symbol->start > range->start)
		symbol = NULL;
	if (symbol) {
		merge->next_symbol++;
		function.start = symbol->start;
		function.size = function_size(symbol->size);
		function.name = symbol->name;
		function.ifunc = symbol->type == STT_GNU_IFUNC;
		function.initial = symbol->initial;
	}
	if (range) {
		merge->next_range++;
		function.start = range->start;
		if (function.size == 0 || range->size < function.size)
			function.size = function_size(range->size);
	}
	return function.size == 0 || merge_add(merge, &function);
}

bool functions_merge(const struct elffile *file,
		     struct function_sources *sources, struct vec *functions)
{
	struct merge merge = {
		.file = file,
		.sources = sources,
		.ranges = VEC_INIT(struct eh_range),
		.plt_sections = sources->plt->count,
		.functions = functions,
	};
	bool more = true;
	bool ok = ehframe_collect(file, &merge.ranges);

	ranges_unite(sources->plt);
	ok = ok && sort(&sources->code, compare_symbols) &&
	     sort(&merge.ranges, compare_ranges);
	unite_symbols(&sources->code);
	unite_ranges(&merge.ranges);
	ok = ok &&
	     vec_reserve(functions, sources->code.count + merge.ranges.count);
	while (ok && more)
		ok = merge_step(&merge, &more);
	vec_deinit(&merge.ranges);
	return ok;
}
