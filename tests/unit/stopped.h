/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sample program that has come to a stop under ptrace, with what a snapshot
 * of it holds. Include after <cmocka.h> and sample.h.
 */
#ifndef TESTS_UNIT_STOPPED_H
#define TESTS_UNIT_STOPPED_H

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "image/image.h"
#include "image/unwind.h"

struct stopped {
	char *path;
	int pid;
	struct image *image;
	struct unwind_input input;
	uint8_t stack[16384];
};

static inline void stopped_set_registers(struct stopped *stopped,
					 const struct user_regs_struct *from)
{
	struct x86_registers *to = &stopped->input.regs;

	to->gpr[X86_RAX] = from->rax;
	to->gpr[X86_RCX] = from->rcx;
	to->gpr[X86_RDX] = from->rdx;
	to->gpr[X86_RBX] = from->rbx;
	to->gpr[X86_RSP] = from->rsp;
	to->gpr[X86_RBP] = from->rbp;
	to->gpr[X86_RSI] = from->rsi;
	to->gpr[X86_RDI] = from->rdi;
	to->gpr[X86_R8] = from->r8;
	to->gpr[X86_R9] = from->r9;
	to->gpr[X86_R10] = from->r10;
	to->gpr[X86_R11] = from->r11;
	to->gpr[X86_R12] = from->r12;
	to->gpr[X86_R13] = from->r13;
	to->gpr[X86_R14] = from->r14;
	to->gpr[X86_R15] = from->r15;
	to->rip = from->rip;
}

static inline void stopped_read_registers(struct stopped *stopped)
{
	struct user_regs_struct from;

	assert_int_equal(ptrace(PTRACE_GETREGS, stopped->pid, NULL, &from), 0);
	stopped_set_registers(stopped, &from);
}

/* The stack bytes of its registers, as far as they can be read. */
static inline void stopped_read_stack(struct stopped *stopped)
{
	struct unwind_input *input = &stopped->input;
	struct iovec local = { stopped->stack, 0 };
	struct iovec remote;

	input->tid = stopped->pid;
	input->stack = stopped->stack;
	input->stack_size = 0;
	input->stack_address = input->regs.gpr[X86_RSP] - 128;
	/* the stack may end before the buffer does: 256 bytes at a time */
	while (input->stack_size < sizeof(stopped->stack)) {
		local.iov_base = stopped->stack + input->stack_size;
		local.iov_len = 256;
		remote.iov_base = (void *)(uintptr_t)(input->stack_address +
						      input->stack_size);
		remote.iov_len = 256;
		if (process_vm_readv(stopped->pid, &local, 1, &remote, 1, 0) !=
		    256)
			break;
		input->stack_size += 256;
	}
}

/* Registers and stack bytes as they are now. */
static inline void stopped_snapshot(struct stopped *stopped)
{
	stopped_read_registers(stopped);
	stopped_read_stack(stopped);
}

/* Start the sample with that argument and run it to its stop. */
static inline void stopped_start(struct stopped *stopped, const char *sample,
				 const char *where)
{
	bool changed = false;
	int status;

	memset(stopped, 0, sizeof(*stopped));
	stopped->path = sample_path(sample);
	stopped->pid = fork();
	if (stopped->pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(stopped->path, stopped->path, where, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(stopped->pid, &status, 0), stopped->pid);
	assert_true(WIFSTOPPED(status));
	do {
		long signal = WSTOPSIG(status);

		ptrace(PTRACE_CONT, stopped->pid, NULL,
		       signal == SIGTRAP ? 0 : signal);
		assert_int_equal(waitpid(stopped->pid, &status, 0),
				 stopped->pid);
		assert_true(WIFSTOPPED(status));
	} while (WSTOPSIG(status) == SIGUSR1);
	assert_null(image_create(stopped->pid, &stopped->image));
	assert_null(image_refresh(stopped->image, &changed));
	assert_true(changed);
	stopped_snapshot(stopped);
}

static inline void stopped_step(struct stopped *stopped)
{
	int status;

	ptrace(PTRACE_SINGLESTEP, stopped->pid, NULL, NULL);
	assert_int_equal(waitpid(stopped->pid, &status, 0), stopped->pid);
	assert_true(WIFSTOPPED(status));
	stopped_read_registers(stopped);
}

static inline void stopped_end(struct stopped *stopped)
{
	kill(stopped->pid, SIGKILL);
	waitpid(stopped->pid, NULL, 0);
	image_destroy(stopped->image);
	free(stopped->path);
}

#endif
