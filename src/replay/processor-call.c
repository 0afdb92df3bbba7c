/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls of the code, none of which is executed; see region.h.
 */
#include "replay/processor-parts.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/error.h"
#include "sys/memory.h"
#include "sys/trace.h"

bool processor_read(const struct space *space, uint64_t address, void *bytes,
		    size_t size)
{
	uint64_t page = replay_page_of(address);
	size_t first = (size_t)(page + REPLAY_PAGE - address);
	size_t read = 0;

	if (first > size)
		first = size;
	if (!scratch_is_installed(space->scratch, page)) {
		if (!pagecache_read(&space->cache, address, bytes, first))
			return false;
	} else {
		struct error *err = memory_read(scratch_memory(space->scratch),
						address, bytes, first, &read);

		error_free(err);
		if (err || read < first)
			return false;
	}
	return first == size ||
	       processor_read(space, address + first, (char *)bytes + first,
			      size - first);
}

static void call_remember(struct processor *processor, int thread,
			  uint64_t futex)
{
	struct replay_word word = { processor_space_of(processor, thread),
				    futex };

	space_canonical(processor, &word.space, &word.address);
	for (size_t i = 0; i < processor->futex_count; i++) {
		const struct replay_word *known = &processor->futexes[i];

		if (known->space == word.space &&
		    known->address == word.address)
			return;
	}
	if (processor->futex_count < REPLAY_FUTEXES)
		processor->futexes[processor->futex_count++] = word;
}

/* futex(2), by its arguments; *ret_waits: it would sleep. False: another use. */
static bool call_futex(const struct space *space,
		       const struct x86_registers *regs, int64_t *ret_result,
		       bool *ret_waits)
{
	uint64_t operation = regs->gpr[X86_RSI] & (uint64_t)FUTEX_CMD_MASK;
	uint32_t value = 0;

	*ret_waits = false;
	*ret_result = 0;
	if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET)
		return true;
	if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)
		return false;
	if (!processor_read(space, regs->gpr[X86_RDI], &value, sizeof(value)))
		return false;
	*ret_waits = value == (uint32_t)regs->gpr[X86_RDX];
	if (!*ret_waits)
		*ret_result = -EAGAIN;
	return true;
}

/* False: it is not answered. */
static bool call_answer(const struct space *space,
			const struct x86_registers *regs, uint64_t number,
			int64_t *ret_result, struct replay_stop *stop)
{
	bool waits = false;

	*ret_result = 0;
	*stop = (struct replay_stop){ .kind = REPLAY_SYSTEM_CALL,
				      .number = number,
				      .rip = regs->rip };
	if (number == SYS_sched_yield) {
		stop->kind = REPLAY_YIELDED;
		return true;
	}
	if (number != SYS_futex || !call_futex(space, regs, ret_result, &waits))
		return false;
	stop->has_address = true;
	stop->address = regs->gpr[X86_RDI];
	stop->kind = waits ? REPLAY_WAITS : REPLAY_STEPPED;
	return true;
}

struct error *processor_call(struct processor *processor, int thread,
			     uint64_t number, bool *ret_again,
			     struct replay_stop *ret_stop)
{
	const struct space *space = processor_space(processor, thread);
	pid_t pid = scratch_pid(space->scratch);
	struct x86_registers regs;
	struct error *err = trace_registers(pid, &regs);
	int64_t result;

	*ret_again = false;
	if (err || !call_answer(space, &regs, number, &result, ret_stop))
		return err;
	if (ret_stop->has_address)
		call_remember(processor, thread, ret_stop->address);
	*ret_again = ret_stop->kind == REPLAY_STEPPED;
	regs.gpr[X86_RAX] = (uint64_t)result;
	regs.orig_rax = ~UINT64_C(0);
	return trace_set_registers(pid, &regs);
}
