/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code and data that debug information marks as synchronization or as
 * deliberately shared: pcs inside inlined or real bodies of std::atomic,
 * std::atomic_ref, std::atomic_flag, __atomic_base and Rust's
 * core::sync::atomic, and global variables declared _Atomic (or of type
 * std::atomic<...>). From the source, where it is at hand: code that
 * comes from a line and column that names an atomic load or store, or a macro
 * that has one. Also from
 * symbols alone: functions whose mangled name is a member of std::atomic, and
 * C++ guard variables (_ZGV...).
 *
 * Compilation units are read once each, lazily. What cannot be read, or does
 * not fit in memory, is ATOMICS_NONE; so are variables at first where there is
 * too much debugging information to look through all of it at one question
 * (see variables_prepare()).
 */
#ifndef IMAGE_ATOMICS_H
#define IMAGE_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

struct image;
struct module;

enum atomics_mark {
	ATOMICS_NONE,
	ATOMICS_CODE, /* body of an atomic operation */
	/*
	 * The source names one: an instruction that reads, or writes, is it.
	 * Compilers give what its operands read the same line and column.
	 */
	ATOMICS_LOAD,
	ATOMICS_STORE,
	ATOMICS_TYPE, /* the variable is _Atomic or std::atomic */
	ATOMICS_GUARD, /* C++ guard variable of a static local */
};

/*
 * Addresses are the module's file addresses. Macros that the source calls are
 * looked up only if asked for: that may read hundreds of headers.
 */
enum atomics_mark atomics_code(struct image *image, struct module *module,
			       uint64_t address, bool macros);
enum atomics_mark atomics_data(struct image *image, struct module *module,
			       uint64_t address);

/*
 * What is missing to tell whether a load, or a store (writes), at an address is
 * an atomic operation: C's and GCC's built-in ones leave no trace but the line and the
 * column, so that it takes the source; those of C++ and Rust have names.
 */
enum atomics_missing {
	ATOMICS_MISS_NOTHING, /* atomics_code() has the answer */
	/* the source names a macro that leaves it open, or is not found */
	ATOMICS_MISS_MACRO,
	ATOMICS_MISS_SOURCE,
	ATOMICS_MISS_DEBUG, /* no debug information is of that code */
};

enum atomics_missing atomics_missing(struct image *image, struct module *module,
				     uint64_t address, bool writes);

#endif
