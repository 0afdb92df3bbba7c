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

/* Have the scratch process know what the page is now. */
static struct error *trial_restore(struct processor *processor, int space,
				   const struct cached_page *page)
{
	const struct scratch *scratch = processor->spaces[space].scratch;

	if (!scratch_is_installed(scratch, page->address))
		return NULL;
	return processor_fail(processor,
			      processor_restore(processor, space, page));
}

static struct error *trial_set_page(struct processor *processor, int space,
				    struct cached_page *page, size_t offset,
				    const void *bytes, size_t size)
{
	struct error *err;

	memcpy(page->bytes + offset, bytes, size);
	err = trial_restore(processor, space, page);
	if (err || !page->twin)
		return err;
	memcpy(page->twin->bytes + offset, bytes, size);
	return trial_restore(processor, !space, page->twin);
}

bool trial_set_memory(struct processor *processor, int thread, uint64_t address,
		      const void *bytes, uint32_t size, struct error **ret_err)
{
	int space = processor_space_of(processor, thread);

	*ret_err = NULL;
	for (size_t done = 0, chunk; done < size && !*ret_err; done += chunk) {
		uint64_t page = replay_page_of(address + done);
		size_t offset = (size_t)(address + done - page);
		struct cached_page *cached =
			pagecache_find(&processor->spaces[space].cache, page);

		if (!cached)
			return false;
		chunk = REPLAY_PAGE - offset;
		if (chunk > size - done)
			chunk = size - done;
		*ret_err = trial_set_page(processor, space, cached, offset,
					  (const char *)bytes + done, chunk);
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

	/* the usual case, without asking the processor where parts are */
	if (a->vectors_size == b->vectors_size &&
	    memcmp(a->vectors, b->vectors, a->vectors_size) == 0)
		return true;
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
