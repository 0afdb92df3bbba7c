/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sites to the tracer, and word of how many there are; see session-state.h.
 */
#include "session/session-state.h"

void session_send_sites(struct session *session,
			struct watched_program *program,
			struct wire_site *sites, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sites[i].program = program->id;
	if (count == 0 || channel_send(&session->channel, WIRE_SITES, sites,
				       count * sizeof(*sites)))
		return;
	for (size_t i = 0; i < count; i++)
		sampler_return(&program->set.sampler, sites[i].id,
			       SAMPLER_FREE);
}

/* How many sites could be armed, as far as that is known. */
static uint64_t session_sites(const struct session *session)
{
	uint64_t sites = 0;

	for (size_t i = 0; i < session->watched.programs.count; i++) {
		const struct watched_program *program =
			watched_at(&session->watched, i);
		const struct sampler *sampler = &program->set.sampler;

		if (program->pid == 0)
			continue;
		sites += sampleset_complete(&program->set)
				 ? sampler->known - sampler->retired
				 : sampler->text_size;
	}
	return sites;
}

void session_send_supply(struct session *session)
{
	struct wire_supply supply = { .sites = session_sites(session) };

	if (supply.sites != session->supply &&
	    channel_send(&session->channel, WIRE_SUPPLY, &supply,
			 sizeof(supply)))
		session->supply = supply.sites;
}

void session_forget(struct session *session, uint32_t program,
		    const struct vec *gone)
{
	for (size_t i = 0; i < gone->count; i++) {
		struct wire_range range =
			*(const struct wire_range *)vec_at(gone, i);

		range.program = program;
		channel_send(&session->channel, WIRE_FORGET, &range,
			     sizeof(range));
	}
}
