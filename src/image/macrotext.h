/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The atomic operations in a macro's expansion, by the text of its definition
 * and those of the macros it uses. Private to src/image. Nothing is expanded:
 * the texts are searched for the names of operations, and for other accesses.
 */
#ifndef IMAGE_MACROTEXT_H
#define IMAGE_MACROTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "image/ctoken.h"

enum {
	MACRO_LOADS = 1 << 0,
	MACRO_STORES = 1 << 1,
};

struct macro_meaning {
	/*
	 * What its atomic moves do. Not its locked instructions, which are
	 * recognized by themselves.
	 */
	unsigned int marks;
	bool plain; /* it may access other than the operands of these */
	bool unknown; /* it calls what may be a macro that was not found */
	bool arguments; /* a parameter is used outside of them */
};

/* The definition of a macro. params.at is NULL: it takes none. */
struct macro_definition {
	struct ctokens params, body;
};

enum macro_kind {
	MACRO_UNKNOWN, /* perhaps a macro that was not found */
	MACRO_FUNCTION,
	MACRO_VARIABLE,
};

/* Whom to ask about a name. */
struct macro_names {
	/* The n-th definition of it, from 0; false: there are no more. */
	bool (*definition)(void *arg, const struct ctoken *name, size_t n,
			   struct macro_definition *ret);
	/* What it is where it is no macro. */
	enum macro_kind (*kind)(void *arg, const struct ctoken *name);
	void *arg;
};

/* C11, GCC, Clang, Linux and those who follow it, userspace RCU, GLib. */
bool macro_name_loads(const struct ctoken *name);
bool macro_name_stores(const struct ctoken *name);

/*
 * The meaning of a name at its place in the source; arguments is the text from
 * its end on, which may be longer than its call. A name that is neither a macro
 * nor called has no meaning (all zero). If definitions differ, the meaning is
 * that of both, and plain.
 */
void macro_meaning_at(const struct macro_names *names,
		      const struct ctoken *name, struct ctokens arguments,
		      struct macro_meaning *ret);

#endif
