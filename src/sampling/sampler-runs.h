/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampler's knowledge of which functions run, and whether hits of their
 * sites accessed shared memory. A breakpoint at a function's entry shows that
 * the function runs. Pure code, as sampler.h.
 */
#ifndef SAMPLING_SAMPLER_RUNS_H
#define SAMPLING_SAMPLER_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct sampler;

/*
 * The function runs: its sites are drawn from now on before those of functions
 * that are not known to run. Decodes it. A second call does nothing.
 */
struct error *sampler_runs(struct sampler *sampler, uint32_t part,
			   uint32_t function);

/*
 * It was hit; shared: another thread, or another process, can access the same
 * bytes. Sites of functions where none can are drawn less often, by the share
 * of such hits. Half of the sites that were found private are from now on drawn
 * like those of functions that do not run, until a sample is taken there.
 */
void sampler_note_hit(struct sampler *sampler, uint64_t id, bool shared);

/* One number for a function of a part. */
static inline uint64_t sampler_entry(uint32_t part, uint32_t function)
{
	return ((uint64_t)part + 1) << 32 | function;
}

/*
 * The next function of the part, from *cursor on, that is not known to run and
 * is not out yet: it is from now on, until it is returned. False: there is none.
 */
bool sampler_take_entry(struct sampler *sampler, uint32_t part, size_t *cursor,
			uint32_t *ret_function);
/*
 * The same of one that a function which runs calls, of the program's own modules,
 * each once: it is likely to run too.
 */
bool sampler_take_callee(struct sampler *sampler, uint32_t *ret_part,
			 uint32_t *ret_function);
/*
 * Also those that such functions call, and so on, until there are `most'.
 * ERROR_NOMEM only.
 */
struct error *sampler_follow_callees(struct sampler *sampler, size_t most);
/*
 * Of those that sampler_take_callee() would return, the sites of the first become
 * news, as if the functions ran, until there are `sites'. Decodes them.
 */
struct error *sampler_expect_callees(struct sampler *sampler, size_t sites);
/* Return it. Unknown ones, and those of removed parts, are ignored. */
void sampler_return_entry(struct sampler *sampler, uint64_t entry);
/* The same, and it is never taken again. */
void sampler_retire_entry(struct sampler *sampler, uint64_t entry);
/* It runs. */
struct error *sampler_entered(struct sampler *sampler, uint64_t entry);

/*
 * The next site that was never hit, and is free, of a function of the program's
 * own modules that was found to run; each function once. 0: there is none.
 * Returned as others.
 */
uint64_t sampler_take_news(struct sampler *sampler);

#endif
