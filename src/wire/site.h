/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A place where a breakpoint may be set: WIRE_SITES (wire/message.h).
 */
#ifndef WIRE_SITE_H
#define WIRE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/access.h"

/*
 * In the id of a site: it was not drawn uniformly, but is one where a race is
 * likely. The same site may be with the tracer without it too.
 */
#define WIRE_GUIDED (UINT64_C(1) << 63)
/* It was armed only to see who comes and what for, without a stall. */
#define WIRE_PROBE (UINT64_C(1) << 62)
/* The user asked for it: --at. It goes before all others. */
#define WIRE_AIMED (UINT64_C(1) << 61)
/*
 * It is the entry of a function, armed to see whether that runs. No thread is
 * stalled there, since its access is not known. The rest of the id is that of
 * the function.
 */
#define WIRE_ENTRY (UINT64_C(1) << 60)
/* The id that the front end gave it. */
#define WIRE_ID(id) \
	((id) & ~(WIRE_GUIDED | WIRE_PROBE | WIRE_AIMED | WIRE_ENTRY))

/* One number for a site of a program; ids are far from using all their bits. */
static inline uint64_t wire_site_key(uint32_t program, uint64_t id)
{
	return (uint64_t)program << 48 ^ id;
}

/* A decoded sampling site: all the tracer needs to know of an instruction. */
struct wire_site {
	uint64_t id; /* never 0; chosen by the front end */
	uint64_t address; /* run-time */
	uint64_t function; /* where its function begins, run-time */
	/* id of a queued site to arm while this one stalls; 0: none */
	uint64_t pair;
	uint32_t program;
	/* it is reached seldom: stalls there may be as long as any */
	bool seldom;
	/*
	 * one of those that have not run yet, which are all armed at once,
	 * beside the pool
	 */
	bool once;
	bool runs; /* of those, one whose function was seen to run: first */
	/* sides of the race to be provoked; breakpoints there stay (provoke.h) */
	uint8_t provoke;
	bool hunt; /* of a side of a hunt, or of a partner: they stay (hunt.h) */
	uint8_t record; /* enum wire_record (record.h): they stay for a while */
	uint8_t passed; /* of those, hits without a stall; the tracer's */
	uint8_t bytes[X86_INSN_MAX + 1]; /* what the text must hold */
	struct insn_access insn;
};

/* Are both the same instruction of the same program? */
static inline bool wire_site_is(const struct wire_site *a,
				const struct wire_site *b)
{
	return a->program == b->program && a->address == b->address;
}

/* What comes after the instruction. */
static inline uint64_t wire_site_end(const struct wire_site *site)
{
	return site->address + site->insn.length;
}

/* Is the site armed beside the pool, and not counted in its size? */
static inline bool wire_site_apart(const struct wire_site *site)
{
	return site->once || (site->id & WIRE_AIMED);
}

#endif
