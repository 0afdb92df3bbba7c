/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers of a thread; see context.h.
 */
#include "replay/context.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "sys/trace.h"

/* of rflags: a trap after each instruction */
static const uint64_t CONTEXT_TRAP_FLAG = 0x100;

enum {
	/* of XSAVE's area: XSTATE_BV, which parts of it are in use */
	CONTEXT_IN_USE = 512,
	/* its bits, Intel's manual, volume 1, 13.1 */
	CONTEXT_TILE_CONFIGURATION = 17,
	CONTEXT_TILES = 18,
};

/* Is anything of the area in use behind what is kept? */
static bool context_exceeds(const uint8_t *area, size_t size)
{
	uint64_t in_use;

	if (size <= REPLAY_VECTORS_MAX)
		return false;
	memcpy(&in_use, area + CONTEXT_IN_USE, sizeof(in_use));
	return size >= REPLAY_AREA_MAX ||
	       in_use & (UINT64_C(1) << CONTEXT_TILE_CONFIGURATION |
			 UINT64_C(1) << CONTEXT_TILES);
}

static struct error *context_read_vectors(pid_t tid, struct replay_context *ret)
{
	uint8_t area[REPLAY_AREA_MAX];
	struct error *err =
		trace_vectors(tid, area, sizeof(area), &ret->area_size);

	if (err)
		return err;
	if (context_exceeds(area, ret->area_size))
		return error_create(ERROR_UNSUPPORTED,
				    "thread %d uses AMX, which cannot be "
				    "replayed",
				    (int)tid);
	ret->vectors_size = ret->area_size < REPLAY_VECTORS_MAX
				    ? ret->area_size
				    : REPLAY_VECTORS_MAX;
	memcpy(ret->vectors, area, ret->vectors_size);
	return NULL;
}

struct error *replay_context_read(pid_t tid, struct replay_context *ret)
{
	struct error *err = trace_registers(tid, &ret->regs);

	return err ? err : context_read_vectors(tid, ret);
}

static void context_hold(const struct replay_context *context,
			 struct replay_held *held)
{
	held->vectors_size = context->vectors_size;
	memcpy(held->vectors, context->vectors, context->vectors_size);
}

struct error *replay_context_read_vectors(pid_t tid, struct replay_context *ret,
					  struct replay_held *held)
{
	struct error *err = context_read_vectors(tid, ret);

	held->vectors_size = 0;
	if (!err)
		context_hold(ret, held);
	return err;
}

static struct error *context_write_vectors(pid_t tid,
					   const struct replay_context *context,
					   struct replay_held *held)
{
	/* the kernel takes nothing but the whole area */
	uint8_t area[REPLAY_AREA_MAX];
	size_t size = context->vectors_size;
	struct error *err;

	if (held->vectors_size == size &&
	    memcmp(held->vectors, context->vectors, size) == 0)
		return NULL;
	held->vectors_size = 0;
	memcpy(area, context->vectors, size);
	memset(area + size, 0, context->area_size - size);
	err = trace_set_vectors(tid, area, context->area_size);
	if (!err)
		context_hold(context, held);
	return err;
}

struct error *replay_context_write(pid_t tid,
				   const struct replay_context *context,
				   struct replay_held *held)
{
	struct x86_registers regs = context->regs;
	struct error *err = NULL;

	regs.rflags &= ~CONTEXT_TRAP_FLAG;
	/* the kernel would make a system call anew that is none of ours */
	regs.orig_rax = ~UINT64_C(0);
	if (!held->known || memcmp(&held->regs, &regs, sizeof(regs)) != 0)
		err = trace_set_registers(tid, &regs);
	held->known = false;
	return err ? err : context_write_vectors(tid, context, held);
}
