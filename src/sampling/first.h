/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is an access the first that its function makes? Then what the function does to
 * memory is all ahead of a thread that is held there, and an order in which two
 * such threads run to the end of their functions one after the other is one of the
 * two functions whole. From the instructions alone, by their addresses.
 */
#ifndef SAMPLING_FIRST_H
#define SAMPLING_FIRST_H

#include <stdbool.h>
#include <stdint.h>

struct scan_site;
struct vec;

/*
 * Does this call take a lock, and do nothing else that others may see? A function
 * that has taken one only, and is held under it, has done nothing yet.
 */
struct first_locks {
	bool (*takes)(void *context, const struct scan_site *call);
	void *context;
};

/*
 * insns: all of the function (scan_function_all()). The frame of the function and
 * thread-local memory do not count. update: the access is a store of what its
 * function made of a value that it loaded from there; such loads do not count.
 * Nor do calls that take a lock; locks NULL: none is known to.
 * False when it is not known, as where a loop or an indirect jump may lead back.
 */
bool first_access(const struct vec *insns, uint64_t address, bool update,
		  const struct first_locks *locks);

#endif
