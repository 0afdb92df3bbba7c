/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions that are tried; see trial-parts.h.
 */
#include "replay/trial-parts.h"

#include <string.h>

#include "base/error.h"
#include "replay/orders.h"
#include "replay/processor-parts.h"
#include "x86/vectors.h"

/* of rflags: carry, parity, adjust, zero, sign, overflow */
static const uint64_t TRIAL_FLAGS = 0x8d5;

bool trial_set_memory(struct processor *processor, uint64_t address,
		      const void *bytes, uint32_t size, struct error **ret_err)
{
	*ret_err = NULL;
	for (uint32_t i = 0; i < size && !*ret_err; i++) {
		uint64_t page = replay_page_of(address + i);
		struct cached_page *cached =
			pagecache_find(&processor->cache, page);

		if (!cached)
			return false;
		cached->bytes[address + i - page] = ((const uint8_t *)bytes)[i];
		if (!scratch_is_installed(processor->scratch, page))
			continue;
		if (i + 1 == size || replay_page_of(address + i + 1) != page)
			*ret_err = processor_fail(processor,
						  processor_restore(processor,
								    cached));
	}
	return true;
}

struct error *trial_run(struct processor *processor, int thread,
			const struct replay_context *from, unsigned int count,
			struct replay_outcome *ret)
{
	const struct replay_step step = { (uint8_t)thread, REPLAY_ACCESS };
	struct replay_context start = processor->starts[thread];
	struct thread_access access = processor->accesses[thread];
	struct error *err;

	processor->starts[thread] = *from;
	processor->accesses[thread] = (struct thread_access){ .length = count };
	err = orders_run(processor, &step, 1, ret);
	processor->starts[thread] = start;
	processor->accesses[thread] = access;
	return err;
}

static bool trial_same_vectors(const struct replay_context *a,
			       const struct replay_context *b)
{
	struct x86_vectors of_a, of_b;

	vectors_read(a->vectors, a->vectors_size, &of_a);
	vectors_read(b->vectors, b->vectors_size, &of_b);
	return of_a.known == of_b.known &&
	       memcmp(of_a.reg, of_b.reg, sizeof(of_a.reg)) == 0 &&
	       memcmp(of_a.mask, of_b.mask, sizeof(of_a.mask)) == 0;
}

bool trial_same_registers(const struct replay_context *a,
			  const struct replay_context *b)
{
	return a->regs.rip == b->regs.rip &&
	       memcmp(a->regs.gpr, b->regs.gpr, sizeof(a->regs.gpr)) == 0 &&
	       ((a->regs.rflags ^ b->regs.rflags) & TRIAL_FLAGS) == 0 &&
	       trial_same_vectors(a, b);
}
