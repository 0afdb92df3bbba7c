/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sorting more than memory holds: items of a key and data, ascending by the
 * bytes of their keys, and in the order they were added where keys are equal.
 * What does not fit is kept in a file without a name in $TMPDIR, or /var/tmp.
 */
#ifndef REPORT_SORTER_H
#define REPORT_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct sorter;

struct sorter_item {
	const uint8_t *key;
	size_t key_size;
	const char *data;
	size_t size;
};

/*
 * memory: bytes of items to hold; one item may be larger. What is read back
 * takes some more, 1/256 of the whole at worst.
 */
struct error *sorter_create(size_t memory, struct sorter **ret);
void sorter_destroy(struct sorter *sorter);

/* Copies the item. Not after sorter_sort(). */
struct error *sorter_add(struct sorter *sorter, const struct sorter_item *item);

/* After the last item; once more: begin again with the first. */
struct error *sorter_sort(struct sorter *sorter);

/* The next item, valid until the next call; *ret_more is false at the end. */
struct error *sorter_next(struct sorter *sorter, struct sorter_item *ret,
			  bool *ret_more);

#endif
