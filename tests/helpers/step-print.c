/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * step-print PROGRAM [ARGUMENT...]: runs it an instruction at a time and prints
 * those of its own file as FILE+0xOFFSET, by the processor's count. The program's
 * output goes to standard error. The loader, which executes none of that file, runs
 * at full speed, to the program's entry.
 */
#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct text {
	uint64_t low, high, bias;
};

/* Where the code of the file is mapped. A fixed one is at its addresses. */
static struct text find_text(pid_t pid, const char *path)
{
	struct text text = { 0 };
	uint64_t low, high, offset, first = 0;
	char maps[64], line[1024], flags[8];
	FILE *file;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
	file = fopen(maps, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strchr(line, '/') || strcmp(strchr(line, '/'), path) != 0)
			continue;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &low,
			   &high, flags, &offset) != 4)
			continue;
		if (!first)
			first = low;
		if (flags[2] == 'x')
			text = (struct text){ low, high, first };
	}
	if (file)
		fclose(file);
	/* ET_EXEC of the x86-64 ABI: its segments begin at 0x400000 */
	if (text.bias < 0x1000000)
		text.bias = 0;
	return text;
}

/* By its auxiliary vector; 0: not there. */
static uint64_t entry_of(pid_t pid)
{
	Elf64_auxv_t part = { 0 };
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	file = fopen(path, "re");
	while (file && fread(&part, sizeof(part), 1, file) == 1 &&
	       part.a_type != AT_ENTRY)
		;
	if (file)
		fclose(file);
	return part.a_type == AT_ENTRY ? part.a_un.a_val : 0;
}

/* By a breakpoint, which is removed; false: it does not come there. */
static bool run_to(pid_t pid, uint64_t address, int *ret_status)
{
	struct user_regs_struct registers;
	long word = ptrace(PTRACE_PEEKTEXT, pid, address, NULL);

	if (ptrace(PTRACE_POKETEXT, pid, address, (word & ~0xffL) | 0xcc) !=
		    0 ||
	    ptrace(PTRACE_CONT, pid, NULL, NULL) != 0 ||
	    waitpid(pid, ret_status, 0) != pid || !WIFSTOPPED(*ret_status) ||
	    WSTOPSIG(*ret_status) != SIGTRAP ||
	    ptrace(PTRACE_GETREGS, pid, NULL, &registers) != 0)
		return false;
	registers.rip = address;
	return ptrace(PTRACE_POKETEXT, pid, address, word) == 0 &&
	       ptrace(PTRACE_SETREGS, pid, NULL, &registers) == 0;
}

static void step_all(pid_t pid, const char *path, int *ret_status)
{
	const char *name = strrchr(path, '/') + 1;
	struct text text = find_text(pid, path);
	struct user_regs_struct registers;
	uintptr_t passed; /* a signal, when the program gets one */

	for (;;) {
		if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) == 0 &&
		    registers.rip >= text.low && registers.rip < text.high)
			printf("%s+0x%" PRIx64 "\n", name,
			       (uint64_t)registers.rip - text.bias);
		passed = WSTOPSIG(*ret_status) == SIGTRAP
				 ? 0
				 : (uintptr_t)WSTOPSIG(*ret_status);
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, passed) != 0)
			return;
		if (waitpid(pid, ret_status, 0) != pid ||
		    !WIFSTOPPED(*ret_status))
			return;
	}
}

int main(int argc, char **argv)
{
	char path[4096];
	int status = 0;
	pid_t pid;

	if (argc < 2 || !realpath(argv[1], path)) {
		fputs("usage: step-print PROGRAM [ARGUMENT...]\n", stderr);
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(path, argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 125;
	if (WIFSTOPPED(status) && run_to(pid, entry_of(pid), &status))
		step_all(pid, path, &status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
