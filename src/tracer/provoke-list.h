/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sites of a provocation, whether they are armed or not: what of provoke.h
 * needs to arm nothing.
 */
#ifndef TRACER_PROVOKE_LIST_H
#define TRACER_PROVOKE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct addrspace;
struct breakpoint;
struct provoke;
struct wire_site;

struct wire_site *provoke_site(const struct provoke *provoke, size_t i);

/*
 * The breakpoint at the site, armed or not, and a space that has it; NULL: no
 * process runs the site's program, or none was ever there.
 */
struct breakpoint *provoke_breakpoint(const struct provoke *provoke,
				      const struct wire_site *site,
				      struct addrspace **ret_space);

/* Are they of the two sides, one of each? One may be of both. */
bool provoke_pairs(const struct wire_site *one, const struct wire_site *other);

/* Is a breakpoint there that stays? */
bool provoke_is_set(const struct provoke *provoke,
		    const struct wire_site *site);

#endif
