/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which atomic operations a macro comes to, by the text of its definition and
 * those of the macros it calls. Private to src/image. Nothing is expanded: a
 * text is searched for the names of operations, and for what else it accesses.
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
	 * What its moves do that are atomic. Locked instructions are not
	 * meant: they tell for themselves.
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
 * What a name means where it stands in the source; arguments is the text from
 * its end on, which may go beyond its call. A name that is neither a macro nor
 * called has no meaning (all zero). Definitions that do not agree have that of
 * both, and are plain.
 */
void macro_meaning_at(const struct macro_names *names,
		      const struct ctoken *name, struct ctokens arguments,
		      struct macro_meaning *ret);

#endif
