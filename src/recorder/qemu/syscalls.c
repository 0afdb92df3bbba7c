/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * See syscalls.h. QEMU calls it in the thread that makes the system call.
 */
#include "recorder/qemu/syscalls.h"

#include <asm/prctl.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hunt/trace-events.h"
#include "recorder/emit.h"
#include "recorder/qemu/translate.h"
#include "recorder/qemu/vcpu.h"
#include "recorder/salvage.h"

enum {
	NUMBER_FUTEX_WAITV = 449, /* not in Debian 12's older kernels */
	SIGNAL_CANCEL = 32, /* that pthread_cancel(3) of glibc sends */
	PARTS_MAX = 1024, /* of an array of buffers: IOV_MAX */
};

/* A system call that moves data between a file and memory. */
enum moved_form {
	MOVED_BUFFER, /* at argument 1 */
	MOVED_FIRST, /* at argument 0, and no file */
	MOVED_PARTS, /* struct iovec at argument 1 */
	MOVED_MESSAGE, /* struct msghdr there */
};

struct moving {
	int number;
	enum moved_form form;
	bool writes; /* memory */
};

static const struct moving all_moving[] = {
	{ SYS_read, MOVED_BUFFER, true },
	{ SYS_write, MOVED_BUFFER, false },
	{ SYS_pread64, MOVED_BUFFER, true },
	{ SYS_pwrite64, MOVED_BUFFER, false },
	{ SYS_recvfrom, MOVED_BUFFER, true },
	{ SYS_sendto, MOVED_BUFFER, false },
	{ SYS_mq_timedreceive, MOVED_BUFFER, true },
	{ SYS_getrandom, MOVED_FIRST, true },
	{ SYS_readv, MOVED_PARTS, true },
	{ SYS_writev, MOVED_PARTS, false },
	{ SYS_preadv, MOVED_PARTS, true },
	{ SYS_pwritev, MOVED_PARTS, false },
	{ SYS_recvmsg, MOVED_MESSAGE, true },
	{ SYS_sendmsg, MOVED_MESSAGE, false },
};

enum { ALL_MOVING = sizeof(all_moving) / sizeof(*all_moving) };

static void take_buffer(struct vcpu *vcpu, const struct moving *moving,
			uint64_t address, uint64_t size)
{
	const struct moved moved = {
		.ip = vcpu->syscall_ip,
		.address = address,
		.size = size,
		.number = moving->number,
		.fd = moving->form == MOVED_FIRST ? -1
						  : (int)vcpu->arguments[0],
		.writes = moving->writes,
	};

	if (size > 0)
		recorder_moved(&vcpus.recorder, vcpu->thread, &moved);
}

/* Bytes of several buffers, filled one after another. */
static void take_parts(struct vcpu *vcpu, const struct moving *moving,
		       const struct iovec *parts, size_t count, uint64_t size)
{
	for (size_t i = 0; i < count && i < PARTS_MAX && size > 0; i++) {
		uint64_t now = parts[i].iov_len < size ? parts[i].iov_len
						       : size;

		take_buffer(vcpu, moving,
			    (uint64_t)(uintptr_t)parts[i].iov_base, now);
		size -= now;
	}
}

static const void *argument_at(const struct vcpu *vcpu, int i)
{
	return (const void *)(uintptr_t)vcpu->arguments[i];
}

/* With MSG_TRUNC, a call returns more bytes than the buffer has. */
static uint64_t at_most(uint64_t size, uint64_t most)
{
	return size < most ? size : most;
}

/* The call has moved bytes. */
static void take_moved(struct vcpu *vcpu, const struct moving *moving,
		       uint64_t size)
{
	const struct msghdr *message;

	switch (moving->form) {
	case MOVED_FIRST:
		take_buffer(vcpu, moving, vcpu->arguments[0],
			    at_most(size, vcpu->arguments[1]));
		break;
	case MOVED_PARTS:
		take_parts(vcpu, moving, argument_at(vcpu, 1),
			   vcpu->arguments[2], size);
		break;
	case MOVED_MESSAGE:
		message = argument_at(vcpu, 1);
		take_parts(vcpu, moving, message->msg_iov, message->msg_iovlen,
			   size);
		break;
	case MOVED_BUFFER:
	default:
		take_buffer(vcpu, moving, vcpu->arguments[1],
			    at_most(size, vcpu->arguments[2]));
		break;
	}
}

/* What QEMU 7.2 does not do as the kernel does; NULL: it does. */
static const char *unable(int64_t number, const uint64_t *arguments)
{
	switch (number) {
	case SYS_io_uring_setup:
		return "io_uring: QEMU says that the kernel lacks it";
	case NUMBER_FUTEX_WAITV:
		return "futex_waitv: QEMU says that the kernel lacks it";
	case SYS_vfork:
		return "vfork: the child has a copy of the memory, what it "
		       "writes before exec is not seen";
	case SYS_execve:
	case SYS_execveat:
		return "execve: QEMU does not go on to the next program";
	case SYS_clone:
		if ((arguments[0] & CLONE_VM) && (arguments[0] & CLONE_VFORK))
			return unable(SYS_vfork, arguments);
		return (arguments[0] & CLONE_VM) &&
				       !(arguments[0] & CLONE_THREAD)
			       ? "clone: a process that shares memory and is "
				 "no thread is refused by QEMU"
			       : NULL;
	case SYS_tgkill:
		return arguments[2] == SIGNAL_CANCEL
			       ? "pthread_cancel: QEMU does not handle its "
				 "signal"
			       : NULL;
	default:
		return NULL;
	}
}

static bool replaces_program(int64_t number)
{
	return number == SYS_execve || number == SYS_execveat;
}

static bool maps_memory(int64_t number)
{
	return number == SYS_mmap || number == SYS_munmap ||
	       number == SYS_mremap;
}

static void before(struct vcpu *vcpu, int64_t number)
{
	const char *text = unable(number, vcpu->arguments);

	if (maps_memory(number))
		vcpus_give();
	vcpu_give(vcpu);
	if (text)
		emit_unable(&vcpus.recorder, text);
	if (replaces_program(number))
		salvage_executes(&vcpus.recorder);
	else if (number == SYS_arch_prctl && vcpu->arguments[0] == ARCH_SET_FS)
		vcpu->thread->pointer = vcpu->arguments[1];
}

void syscalls_before(qemu_plugin_id_t id, unsigned int index, int64_t number,
		     uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
		     uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	struct vcpu *vcpu = vcpu_at(index);

	(void)id, (void)a7, (void)a8;
	if (!vcpu)
		return;
	vcpu->number = number;
	vcpu->arguments[0] = a1;
	vcpu->arguments[1] = a2;
	vcpu->arguments[2] = a3;
	vcpu->arguments[3] = a4;
	vcpu->arguments[4] = a5;
	vcpu->arguments[5] = a6;
	if (number == SYS_exit_group)
		syscalls_end((int)(a1 & 0xff));
	else if (number == SYS_exit)
		vcpu_end(vcpu);
	vcpus_lock();
	if (vcpu->thread && !vcpus.over)
		before(vcpu, number);
	vcpu_waits(vcpu, true);
	vcpus_unlock();
}

static void unmapped(uint64_t address, uint64_t size)
{
	struct recorder *recorder = &vcpus.recorder;
	uint32_t module;

	recorder_forget(recorder, address, size);
	while ((module = modules_unmap(&recorder->modules, address, size)) != 0)
		emit_unload(recorder, module);
}

/* Memory was mapped, or is not mapped any more. */
static void take_mapping(const struct vcpu *vcpu, uint64_t result)
{
	const uint64_t *arguments = vcpu->arguments;

	switch (vcpu->number) {
	case SYS_mmap:
		recorder_forget(&vcpus.recorder, result, arguments[1]);
		break;
	case SYS_munmap:
		unmapped(arguments[0], arguments[1]);
		break;
	case SYS_mremap:
		recorder_forget(&vcpus.recorder, arguments[0], arguments[1]);
		recorder_forget(&vcpus.recorder, result, arguments[2]);
		break;
	default:
		return;
	}
	translate_forget();
}

static void succeeded(struct vcpu *vcpu, uint64_t result)
{
	take_mapping(vcpu, result);
	for (size_t i = 0; i < ALL_MOVING && result > 0; i++) {
		if (all_moving[i].number == vcpu->number)
			take_moved(vcpu, &all_moving[i], result);
	}
}

void syscalls_after(qemu_plugin_id_t id, unsigned int index, int64_t number,
		    int64_t result)
{
	struct vcpu *vcpu = vcpu_at(index);

	(void)id;
	if (!vcpu)
		return;
	vcpus_lock();
	vcpu_waits(vcpu, false);
	if (vcpu->thread && !vcpus.over) {
		vcpu_give(vcpu);
		if (result >= 0 || result < -4095)
			succeeded(vcpu, (uint64_t)result);
		else if (replaces_program(number))
			salvage_goes_on(&vcpus.recorder);
	}
	vcpu->number = -1;
	vcpus_unlock();
}

void syscalls_create(qemu_plugin_id_t id, unsigned int index)
{
	struct vcpu *parent = vcpu_this();

	(void)id;
	if (parent && parent->number == SYS_clone)
		vcpu_create(index, parent, parent->arguments[1],
			    parent->arguments[4]);
	else
		vcpu_create(index, NULL, 0, 0);
}

void syscalls_end(int status)
{
	vcpus_lock();
	if (!vcpus.over) {
		vcpus_give();
		recorder_runs(&vcpus.recorder, NULL);
		emit_all(&vcpus.recorder);
		emit_end(&vcpus.recorder, status, TRACE_ENDED);
		salvage_unprotect(&vcpus.recorder);
		writer_close(&vcpus.recorder.writer);
		vcpus.over = true;
	}
	vcpus_unlock();
}
