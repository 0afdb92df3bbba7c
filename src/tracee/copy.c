/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of a fork child; see copy.h.
 */
#include "tracee/copy.h"

#include <string.h>

#include "base/error.h"
#include "sys/identity.h"
#include "sys/remote.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"

/* As prctl(2) has it. */
enum { NOT_DUMPABLE = 0, DUMPABLE = 1 };

/*
 * A newborn stands behind the instruction that has made it, as does a thread that
 * sleeps in another call. What that is, its creator's memory says: ours of it was
 * opened before.
 */
static uint64_t copy_find_call(pid_t tid, const struct addrspace *origin)
{
	static const uint8_t instruction[] = { 0x0f, 0x05 };
	uint8_t bytes[sizeof(instruction)];
	struct x86_registers regs;
	struct error *err;
	size_t size = 0;

	err = trace_registers(tid, &regs);
	if (!err)
		err = memory_read(&origin->memory,
				  regs.rip - sizeof(instruction), bytes,
				  sizeof(bytes), &size);
	if (!err && size == sizeof(bytes) &&
	    memcmp(bytes, instruction, size) == 0)
		return regs.rip - sizeof(instruction);
	error_free(err);
	return 0;
}

/*
 * Where that fails, or it is dumpable, the memory stays closed, and whoever reads
 * it is told.
 */
static void copy_make_dumpable(struct copy *copy, pid_t pid)
{
	int dumpable = DUMPABLE;
	struct error *err;

	err = remote_dumpable(copy->tid, copy->call, &dumpable);
	if (!err && dumpable != DUMPABLE) {
		err = remote_set_dumpable(copy->tid, copy->call, DUMPABLE);
		copy->opened = !err;
	}
	error_free(err);
	if (copy->opened)
		memory_reopen(&copy->memory, pid);
}

void copy_open(struct copy *copy, pid_t pid, pid_t tid,
	       const struct addrspace *origin, uint64_t call)
{
	*copy = (struct copy){ .tid = tid, .call = call };
	memory_init(&copy->memory, pid);
	if (copy->memory.fd >= 0 || tid == 0 || !identity_has_no_filter(tid))
		return;
	if (copy->call == 0)
		copy->call = copy_find_call(tid, origin);
	if (copy->call != 0)
		copy_make_dumpable(copy, pid);
}

/*
 * A set-user-ID program may have had the value 2 (proc_sys_fs(5), suid_dumpable),
 * which prctl(2) does not set: 0 is the stricter one.
 */
struct error *copy_close(struct copy *copy)
{
	struct error *err = NULL;

	if (copy->opened)
		err = remote_set_dumpable(copy->tid, copy->call, NOT_DUMPABLE);
	memory_deinit(&copy->memory);
	return error_wrap(err, "make process %d not dumpable again",
			  (int)copy->memory.pid);
}
