/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwound LIBRARY PID ROUNDS: the stacks of a process's threads, taken once,
 * unwound ROUNDS times by `libunwind', `libdwfl' or `both'. It prints the
 * microseconds of CPU that the first stack took, and those of each later one;
 * and how many stacks and frames there are.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/error.h"
#include "image/image.h"
#include "image/unwind.h"

enum { STACKS_MAX = 64, STACK_BYTES = 64 << 10, PIECE = 1024, FRAMES = 64 };

struct taken {
	struct unwind_input input;
	uint8_t *bytes;
};

static void fail(const char *what)
{
	fprintf(stderr, "unwound: %s\n", what);
	exit(1);
}

static double cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void take_registers(const struct user_regs_struct *from,
			   struct x86_registers *to)
{
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

static void take_stack(int tid, struct taken *taken)
{
	struct unwind_input *input = &taken->input;
	uint64_t top = input->regs.gpr[X86_RSP] - 128;

	taken->bytes = malloc(STACK_BYTES);
	if (!taken->bytes)
		fail("out of memory");
	while (input->stack_size < STACK_BYTES) {
		struct iovec local = { taken->bytes + input->stack_size,
				       PIECE };
		struct iovec remote = {
			(void *)(uintptr_t)(top + input->stack_size), PIECE
		};

		if (process_vm_readv(tid, &local, 1, &remote, 1, 0) != PIECE)
			break;
		input->stack_size += PIECE;
	}
	input->tid = tid;
	input->stack = taken->bytes;
	input->stack_address = top;
}

/* The thread is stopped for as long as that takes. */
static void take_thread(int tid, struct taken *taken)
{
	struct user_regs_struct registers;
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0 ||
	    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 ||
	    waitpid(tid, &status, __WALL) != tid ||
	    ptrace(PTRACE_GETREGS, tid, NULL, &registers) != 0)
		fail("cannot stop a thread");
	take_registers(&registers, &taken->input.regs);
	take_stack(tid, taken);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

static size_t take_all(const char *pid, struct taken *taken)
{
	struct dirent *entry;
	char path[64];
	size_t count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	folder = opendir(path);
	if (!folder)
		fail("no such process");
	while (count < STACKS_MAX && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.')
			take_thread(atoi(entry->d_name), &taken[count++]);
	}
	closedir(folder);
	return count;
}

static size_t unwind(enum unwind_library library, struct image *image,
		     const struct taken *taken)
{
	struct unwind_frame frames[FRAMES];
	size_t count = 0;

	if (unwind_frames_by(library, image, &taken->input, frames, FRAMES,
			     &count))
		fail("cannot unwind");
	return count;
}

static enum unwind_library library_of(const char *name)
{
	if (strcmp(name, "both") == 0)
		return UNWIND_BOTH;
	return strcmp(name, "libdwfl") == 0 ? UNWIND_DWFL : UNWIND_UNW;
}

int main(int argc, char **argv)
{
	static struct taken taken[STACKS_MAX];
	enum unwind_library library;
	struct image *image;
	double start, first;
	size_t count, frames = 0;
	long rounds;
	bool changed;

	if (argc != 4)
		fail("usage: unwound LIBRARY PID ROUNDS");
	library = library_of(argv[1]);
	rounds = strtol(argv[3], NULL, 10);
	count = take_all(argv[2], taken);
	if (count == 0 || rounds < 1 || image_create(atoi(argv[2]), &image) ||
	    image_refresh(image, &changed))
		fail("nothing to unwind");
	start = cpu_us();
	unwind(library, image, &taken[0]);
	first = cpu_us() - start;
	for (size_t i = 0; i < count; i++)
		frames += unwind(library, image, &taken[i]);
	start = cpu_us();
	for (long n = 0; n < rounds; n++) {
		for (size_t i = 0; i < count; i++)
			unwind(library, image, &taken[i]);
	}
	printf("%.1f %.2f %zu %zu\n", first,
	       (cpu_us() - start) / (double)rounds / (double)count, count,
	       frames);
	image_destroy(image);
	return 0;
}
