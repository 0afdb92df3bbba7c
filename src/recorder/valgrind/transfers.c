/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Valgrind's core knows which memory each system call reads and writes. Only
 * calls that move the program's data count, not those that fill in a structure.
 */
#include "recorder/valgrind/transfers.h"

#include <pub_tool_basics.h>

#include <pub_tool_aspacemgr.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>

#include "recorder/emit.h"
#include "recorder/recorder.h"

enum { SYSCALL_LENGTH = 2, FUTEX_WAITV = 449, URING_SETUP = 425 };

static const uint16_t moving[] = {
	__NR_read,
	__NR_write,
	__NR_pread64,
	__NR_pwrite64,
	__NR_readv,
	__NR_writev,
	__NR_preadv,
	__NR_pwritev,
	__NR_sendto,
	__NR_recvfrom,
	__NR_sendmsg,
	__NR_recvmsg,
	__NR_sendmmsg,
	__NR_recvmmsg,
	__NR_msgsnd,
	__NR_msgrcv,
	__NR_mq_timedsend,
	__NR_mq_timedreceive,
	__NR_getrandom,
	__NR_process_vm_readv,
	__NR_process_vm_writev,
};

static bool moves(uint32_t number)
{
	for (size_t i = 0; i < sizeof(moving) / sizeof(*moving); i++) {
		if (moving[i] == number)
			return true;
	}
	return false;
}

/* The kinds of clone(2) that Valgrind runs: threads, fork and vfork. */
static bool is_bare_clone(uint64_t flags)
{
	return (flags & VKI_CLONE_VM) && !(flags & VKI_CLONE_THREAD) &&
	       !(flags & VKI_CLONE_VFORK);
}

static bool shares_by_vfork(uint32_t number, const unsigned long *arguments,
			    uint32_t count)
{
	return number == __NR_vfork || (number == __NR_clone && count > 0 &&
					(arguments[0] & VKI_CLONE_VM) &&
					(arguments[0] & VKI_CLONE_VFORK));
}

/* What the recorder cannot show of the system call; NULL: nothing. */
static const char *unable(uint32_t number, const unsigned long *arguments,
			  uint32_t count)
{
	if (number == __NR_clone && count > 0 && is_bare_clone(arguments[0]))
		return "clone: a process that shares memory and is no thread "
		       "cannot be run by Valgrind";
	if (shares_by_vfork(number, arguments, count))
		return "vfork: the child has a copy of the memory, what it "
		       "writes before exec is not seen";
	switch (number) {
	case URING_SETUP:
		return "io_uring: what the kernel reads and writes by its "
		       "rings is not recorded";
	case FUTEX_WAITV:
		return "futex_waitv: Valgrind says that the kernel lacks it";
	default:
		return NULL;
	}
}

struct transfer transfer_begin(struct recorder *recorder, uint32_t number,
			       const unsigned long *arguments, uint32_t count)
{
	struct transfer transfer = { .number = -1, .fd = -1 };
	const char *text = unable(number, arguments, count);

	if (text)
		emit_unable(recorder, text);
	if (!moves(number))
		return transfer;
	transfer.number = (int)number;
	if (count > 0 && number != __NR_getrandom &&
	    number != __NR_process_vm_readv && number != __NR_process_vm_writev)
		transfer.fd = (int)arguments[0];
	return transfer;
}

void transfer_access(struct recorder *recorder, struct thread *thread,
		     const struct transfer *transfer, uint64_t ip,
		     uint64_t address, uint64_t size, bool writes)
{
	const struct moved moved = {
		.ip = ip - SYSCALL_LENGTH,
		.address = address,
		.size = size,
		.number = transfer->number,
		.fd = transfer->fd,
		.writes = writes,
	};

	if (transfer->number >= 0 && size > 0 &&
	    VG_(am_is_valid_for_client)(address, size, VKI_PROT_READ))
		recorder_moved(recorder, thread, &moved);
}
