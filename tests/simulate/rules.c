/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules of the product that can be left out, each where it is asked for; others
 * are options of it (front.c), or left out where the program is answered for.
 */
#include "base/error.h"
#include "machine.h"
#include "sampling/sampler-runs.h"
#include "sampling/sampler.h"
#include "schedule/lengths.h"
#include "session/session-state.h"
#include "session/stacks.h"
#include "tracer/profile.h"

uint64_t __real_lengths_of(const struct lengths *lengths, uint64_t site,
			   uint64_t max_ns, bool scarce);
uint64_t __wrap_lengths_of(const struct lengths *lengths, uint64_t site,
			   uint64_t max_ns, bool scarce);
void __real_sampler_note_hit(struct sampler *sampler, uint64_t id, bool shared);
void __wrap_sampler_note_hit(struct sampler *sampler, uint64_t id, bool shared);
void __real_sampler_return(struct sampler *sampler, uint64_t id,
			   enum sampler_return how);
void __wrap_sampler_return(struct sampler *sampler, uint64_t id,
			   enum sampler_return how);
uint32_t __real_session_probes(const struct session_config *config);
uint32_t __wrap_session_probes(const struct session_config *config);

uint64_t __wrap_lengths_of(const struct lengths *lengths, uint64_t site,
			   uint64_t max_ns, bool scarce)
{
	return machine_without(SIMULATE_LENGTHS)
		       ? max_ns
		       : __real_lengths_of(lengths, site, max_ns, scarce);
}

void __wrap_sampler_note_hit(struct sampler *sampler, uint64_t id, bool shared)
{
	if (!machine_without(SIMULATE_PRIVATE))
		__real_sampler_note_hit(sampler, id, shared);
}

void __wrap_sampler_return(struct sampler *sampler, uint64_t id,
			   enum sampler_return how)
{
	if (how == SAMPLER_MISSED && machine_without(SIMULATE_MISSED))
		how = SAMPLER_RAN;
	__real_sampler_return(sampler, id, how);
}

uint32_t __wrap_session_probes(const struct session_config *config)
{
	return machine_without(SIMULATE_PROBES) ? 0
						: __real_session_probes(config);
}
