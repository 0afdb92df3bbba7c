/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * machine FACILITY: does this machine have what no package and no setting can
 * give it? Exit status 0: yes, or it cannot be told; 1: no, and a line says why.
 * Knows nothing of racewatch, so that a fault of racewatch does not look like a
 * machine that lacks something.
 *
 *	registers  debug registers that trap; some virtual machines have none
 *	ia32       a kernel that runs 32-bit programs
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	TRIES = 5,
	REGISTER_CONTROL = 7,
	/* register 0, enabled: writes of 8 bytes (Intel SDM 3B, 17.2.4) */
	CONTROL_WRITES = 1 | 1 << 16 | 2 << 18,
};

static volatile uint64_t watched;

static bool set_register(pid_t pid, int number, uint64_t value)
{
	size_t offset = offsetof(struct user, u_debugreg) +
			(size_t)number * sizeof(uint64_t);

	return ptrace(PTRACE_POKEUSER, pid, offset, value) == 0;
}

/* Does a child's write to a watched variable stop it? True if in doubt. */
static bool registers_trap(void)
{
	int status = 0;
	bool set, trapped;
	pid_t pid = fork();

	if (pid < 0)
		return true;
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		watched = 1;
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return true;
	/* others may have them all */
	set = set_register(pid, 0, (uint64_t)(uintptr_t)&watched) &&
	      set_register(pid, REGISTER_CONTROL, CONTROL_WRITES);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	trapped = WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
	if (WIFSTOPPED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	return !set || trapped;
}

static int look_at_registers(void)
{
	for (int i = 0; i < TRIES; i++) {
		if (registers_trap())
			return 0;
	}
	puts("debug registers do not trap on this machine");
	return 1;
}

/* A 32-bit program that ends at once. */
struct program {
	Elf32_Ehdr header;
	Elf32_Phdr segment;
	uint8_t code[16];
};

static void make_program(struct program *program)
{
	static const uint32_t base = 0x10000;
	/* mov $1, %eax; xor %ebx, %ebx; int $0x80: exit(0) */
	static const uint8_t code[] = {
		0xb8, 1, 0, 0, 0, 0x31, 0xdb, 0xcd, 0x80
	};

	*program = (struct program){
		.header = { .e_type = ET_EXEC,
			    .e_machine = EM_386,
			    .e_version = EV_CURRENT,
			    .e_entry = base + offsetof(struct program, code),
			    .e_phoff = offsetof(struct program, segment),
			    .e_ehsize = sizeof(Elf32_Ehdr),
			    .e_phentsize = sizeof(Elf32_Phdr),
			    .e_phnum = 1 },
		.segment = { .p_type = PT_LOAD,
			     .p_vaddr = base,
			     .p_filesz = sizeof(*program),
			     .p_memsz = sizeof(*program),
			     .p_flags = PF_R | PF_X,
			     .p_align = 4096 },
	};
	memcpy(program->header.e_ident, ELFMAG, SELFMAG);
	program->header.e_ident[EI_CLASS] = ELFCLASS32;
	program->header.e_ident[EI_DATA] = ELFDATA2LSB;
	program->header.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(program->code, code, sizeof(code));
}

static int look_at_ia32(void)
{
	char *const argv[] = { "ia32", NULL }, *const environment[] = { NULL };
	struct program program;
	int status = 0, fd = memfd_create("ia32", MFD_CLOEXEC);
	pid_t pid;

	make_program(&program);
	if (fd < 0 || write(fd, &program, sizeof(program)) != sizeof(program))
		return 0;
	pid = fork();
	if (pid == 0) {
		fexecve(fd, argv, environment);
		_exit(errno == ENOEXEC ? 1 : 2);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 1)
		return 0;
	puts("this kernel runs no 32-bit program");
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "registers") == 0)
		return look_at_registers();
	if (argc == 2 && strcmp(argv[1], "ia32") == 0)
		return look_at_ia32();
	fprintf(stderr, "usage: machine registers|ia32\n");
	return 2;
}
