/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Predicted accesses against the processor's: real programs are single-stepped
 * and, before each instruction that the decoder says accesses memory, the four
 * debug registers are set
 *
 *	0	on a piece of the bytes predicted, reads and writes: must trap
 *	1	on the same, writes only: must trap if a write is predicted
 *	2, 3	on the byte before and the byte after: must not trap
 *
 * and they stay there while instructions run that are said to access nothing,
 * which must not trap either. Which operand and which piece is taken changes
 * with each instruction. After a sample of the traps the instruction is looked
 * for from the registers alone, with decode_find_trapped(). What is refused is
 * counted by name.
 *
 *	test_step [-v] [PROGRAM [ARG...]]
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../helpers/machine.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "refusal-name.h"
#include "x86/decode.h"
#include "x86/dregs.h"
#include "x86/effective.h"

enum {
	/* instructions with accesses checked, per program and in all */
	CHECKS_MAX = 16000,
	CHECKS_MIN = 20000,
	/* how many come from the program's start, which is the loader's code */
	CHECKS_START = 2000,
	STEPS_MAX = 400000,
	COMPLAINTS_MAX = 20,
	/* every how many traps the instruction is looked for */
	FIND_EVERY = 5,
	FUNCTION_MAX = 8192,
	CALLS_MAX = 256,
	INPUT_LINES = 4000,
};

static const uint64_t REGISTERS_WAIT_NS = 120 * CLOCK_NS_PER_S;

struct counters {
	uint64_t steps;
	uint64_t checks;
	uint64_t by_kind[4];
	uint64_t by_size[X86_ACCESS_MAX + 1];
	uint64_t quiet; /* steps without access, watched all the same */
	uint64_t refused[X86_REFUSALS];
	uint64_t found;
	uint64_t not_looked_for;
	uint64_t failures;
};

/* What the debug registers are set to, and which have to trap. */
struct watch {
	struct mem_access piece;
	uint8_t may_trap; /* bit sets of slots */
	uint8_t must_trap;
};

struct stepper {
	pid_t pid;
	int mem;
	struct decoder *decoder;
	struct rng rng;
	struct counters counters;
	struct watch watch;
	/* entry points of the functions that are running */
	uint64_t calls[CALLS_MAX];
	int call_count;
	bool exited;
};

/*
 * ENOSPC: somebody watches by CPU and holds the registers of the machine, such
 * as a test beside this one. They are waited for.
 */
static void write_debug_register(struct stepper *stepper, int i, uint64_t value)
{
	size_t offset = offsetof(struct user, u_debugreg) +
			(size_t)i * sizeof(((struct user *)0)->u_debugreg[0]);
	uint64_t limit_ns = 0;
	long written;

	while ((written = ptrace(PTRACE_POKEUSER, stepper->pid, offset,
				 value)) != 0 &&
	       errno == ENOSPC) {
		uint64_t now_ns = clock_now_ns();

		if (!limit_ns)
			limit_ns = now_ns + REGISTERS_WAIT_NS;
		if (now_ns >= limit_ns)
			break;
		usleep(1000);
	}
	if (written != 0) {
		printf("# debug register %d, %llx: %s\n", i,
		       (unsigned long long)value, strerror(errno));
		stepper->counters.failures++;
	}
}

static uint8_t read_trapped(struct stepper *stepper)
{
	long dr6 = ptrace(PTRACE_PEEKUSER, stepper->pid,
			  offsetof(struct user, u_debugreg[6]), NULL);

	return (uint8_t)(dr6 & 15);
}

static bool read_registers(struct stepper *stepper, struct x86_registers *ret)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, stepper->pid, NULL, &regs) != 0)
		return false;
	*ret = (struct x86_registers){
		.gpr = { regs.rax, regs.rcx, regs.rdx, regs.rbx, regs.rsp,
			 regs.rbp, regs.rsi, regs.rdi, regs.r8, regs.r9,
			 regs.r10, regs.r11, regs.r12, regs.r13, regs.r14,
			 regs.r15 },
		.rip = regs.rip,
		.rflags = regs.eflags,
		.fs_base = regs.fs_base,
		.gs_base = regs.gs_base,
		.orig_rax = regs.orig_rax,
	};
	return true;
}

static size_t read_code(struct stepper *stepper, uint64_t address,
			uint8_t *bytes, size_t size)
{
	ssize_t got = pread(stepper->mem, bytes, size, (off_t)address);

	return got > 0 ? (size_t)got : 0;
}

/* Continue by `request` until the next stop; false when it is gone. */
static bool resume(struct stepper *stepper, int request)
{
	int status;
	int signal = 0;

	for (;;) {
		if (ptrace(request, stepper->pid, NULL, signal) != 0 ||
		    waitpid(stepper->pid, &status, __WALL) != stepper->pid ||
		    !WIFSTOPPED(status)) {
			stepper->exited = true;
			return false;
		}
		signal = WSTOPSIG(status);
		if (signal == SIGTRAP || signal == (SIGTRAP | 0x80))
			return true;
	}
}

static void complain(struct stepper *stepper, uint64_t address,
		     const struct insn_access *insn, const char *what,
		     uint8_t trapped)
{
	uint8_t bytes[X86_INSN_MAX];
	size_t size = read_code(stepper, address, bytes, sizeof(bytes));
	char text[128];

	if (++stepper->counters.failures > COMPLAINTS_MAX)
		return;
	decoder_text(stepper->decoder, bytes, size, address, text,
		     sizeof(text));
	printf("# %s: at 0x%llx:", what, (unsigned long long)address);
	for (size_t i = 0; i < insn->length && i < size; i++)
		printf(" %02x", bytes[i]);
	printf(" %s; piece 0x%llx, %u bytes; trapped %x, must %x, may %x\n",
	       text, (unsigned long long)stepper->watch.piece.address,
	       stepper->watch.piece.size, trapped, stepper->watch.must_trap,
	       stepper->watch.may_trap);
}

/* All accesses of one step: one element of a repeated string instruction. */
static int predict(const struct insn_access *insn,
		   const struct x86_registers *regs, struct mem_access *ret)
{
	struct insn_access once = *insn;
	int count;

	if (insn->rep != X86_REP_NONE && regs->gpr[X86_RCX] == 0)
		return 0;
	once.rep = X86_REP_NONE;
	count = effective_accesses(&once, regs, ret);
	for (int i = 0; i < insn->operand_count; i++) {
		const struct mem_operand *operand = &insn->operands[i];

		if (operand->stack)
			ret[count++] = (struct mem_access){
				effective_address(insn, operand, regs),
				operand->size, operand->kind
			};
	}
	return count;
}

/* A piece of the access that one debug register covers. */
static struct mem_access choose_piece(struct stepper *stepper,
				      const struct mem_access *access)
{
	struct mem_access piece = *access;
	uint64_t at = rng_below(&stepper->rng, access->size);
	struct dregs dregs = { 0 };
	struct dregs_claim claim;

	/* the first byte, the last, or anything */
	if (rng_below(&stepper->rng, 3) == 0)
		at = rng_below(&stepper->rng, 2) ? 0 : access->size - 1;
	piece.address += at;
	piece.size -= (uint32_t)at;
	if (rng_below(&stepper->rng, 2) == 0 ||
	    !dregs_claim(&dregs, piece.address, piece.size, DREGS_WRITE, true,
			 &claim)) {
		piece.size = 1;
		return piece;
	}
	piece.size = dregs.slots[0].length;
	return piece;
}

static bool touched(const struct mem_access *accesses, int count,
		    const struct mem_access *piece, uint8_t kinds)
{
	for (int i = 0; i < count; i++) {
		if ((accesses[i].kind & kinds) != 0 &&
		    mem_access_overlap(&accesses[i], piece))
			return true;
	}
	return false;
}

/* Set the four registers around one of the accesses. */
static void arm(struct stepper *stepper, const struct mem_access *accesses,
		int count)
{
	const struct mem_access *chosen =
		&accesses[rng_below(&stepper->rng, (uint64_t)count)];
	struct mem_access piece = choose_piece(stepper, chosen);
	struct mem_access before = { chosen->address - 1, 1, ACCESS_RMW };
	struct mem_access after = { chosen->address + chosen->size, 1,
				    ACCESS_RMW };
	struct dregs dregs = {
		.slots = {
			{ piece.address, (uint8_t)piece.size,
			  DREGS_READ_WRITE, 1 },
			{ piece.address, (uint8_t)piece.size, DREGS_WRITE, 1 },
			{ before.address, 1, DREGS_READ_WRITE, 1 },
			{ after.address, 1, DREGS_READ_WRITE, 1 },
		},
	};

	stepper->watch.piece = piece;
	stepper->watch.must_trap = 1;
	if (touched(accesses, count, &piece, ACCESS_WRITE))
		stepper->watch.must_trap |= 2;
	if (touched(accesses, count, &before, ACCESS_RMW))
		stepper->watch.must_trap |= 4;
	if (touched(accesses, count, &after, ACCESS_RMW))
		stepper->watch.must_trap |= 8;
	stepper->watch.may_trap = stepper->watch.must_trap;
	write_debug_register(stepper, 7, dregs_control_neutral());
	for (int i = 0; i < DREGS_SLOTS; i++)
		write_debug_register(stepper, i, dregs.slots[i].address);
	write_debug_register(stepper, 7, dregs_control(&dregs));
}

/* Keep the stack of function entries, to know where a function begins. */
static void follow_calls(struct stepper *stepper,
			 const struct insn_access *insn, uint64_t rip)
{
	if (insn->flow == X86_FLOW_CALL && stepper->call_count < CALLS_MAX)
		stepper->calls[stepper->call_count++] = rip;
	else if (insn->flow == X86_FLOW_RET && stepper->call_count > 0)
		stepper->call_count--;
}

/* After a trap: is the instruction found from where the thread stands? */
static void look_for(struct stepper *stepper, uint64_t address,
		     const struct insn_access *insn,
		     const struct x86_registers *after)
{
	uint8_t code[FUNCTION_MAX];
	uint64_t start = stepper->call_count > 0
				 ? stepper->calls[stepper->call_count - 1]
				 : 0;
	uint64_t found_address = 0;
	struct insn_access found;
	size_t size;

	/* calls, returns and tail calls lead out of the function */
	if (insn->flow == X86_FLOW_CALL || insn->flow == X86_FLOW_RET ||
	    address - start >= FUNCTION_MAX / 2 ||
	    after->rip - start >= FUNCTION_MAX / 2) {
		stepper->counters.not_looked_for++;
		return;
	}
	size = read_code(stepper, start, code, sizeof(code));
	if (!decode_find_trapped(stepper->decoder, code, size, start, after,
				 &stepper->watch.piece, &found_address,
				 &found)) {
		complain(stepper, address, insn, "trapped, and not found", 0);
		return;
	}
	if (found_address != address)
		complain(stepper, address, insn, "another one was found", 0);
	stepper->counters.found++;
}

static void check_traps(struct stepper *stepper, uint64_t address,
			const struct insn_access *insn)
{
	uint8_t trapped = read_trapped(stepper);
	uint8_t missing = stepper->watch.must_trap & ~trapped;
	uint8_t surplus = trapped & ~stepper->watch.may_trap;

	if (missing)
		complain(stepper, address, insn, "predicted, did not trap",
			 trapped);
	else if (surplus)
		complain(stepper, address, insn, "trapped, not predicted",
			 trapped);
}

static void count_accesses(struct counters *counters,
			   const struct mem_access *accesses, int count)
{
	counters->checks++;
	for (int i = 0; i < count; i++) {
		counters->by_kind[accesses[i].kind]++;
		counters->by_size[accesses[i].size]++;
	}
}

/* One step; false when the program is gone. */
static bool step(struct stepper *stepper)
{
	struct counters *counters = &stepper->counters;
	struct mem_access accesses[X86_OPERANDS_MAX];
	struct x86_registers regs;
	struct x86_registers after;
	struct insn_access insn;
	uint8_t bytes[X86_INSN_MAX];
	size_t size;
	int count;

	if (!read_registers(stepper, &regs))
		return false;
	size = read_code(stepper, regs.rip, bytes, sizeof(bytes));
	if (size == 0)
		return false;
	decoder_decode(stepper->decoder, bytes, size, regs.rip, &insn);
	count = predict(&insn, &regs, accesses);
	stepper->watch.must_trap = 0;
	stepper->watch.may_trap = 0;
	if (insn.refusal != X86_OK) {
		counters->refused[insn.refusal]++;
		stepper->watch.may_trap = 15;
	} else if (count > 0) {
		count_accesses(counters, accesses, count);
		arm(stepper, accesses, count);
	} else {
		counters->quiet++;
	}
	counters->steps++;
	if (!resume(stepper, PTRACE_SINGLESTEP) ||
	    !read_registers(stepper, &after))
		return false;
	check_traps(stepper, regs.rip, &insn);
	follow_calls(stepper, &insn, after.rip);
	if (count > 0 && counters->checks % FIND_EVERY == 0)
		look_for(stepper, regs.rip, &insn, &after);
	return true;
}

static void step_until(struct stepper *stepper, uint64_t checks)
{
	while (stepper->counters.checks < checks &&
	       stepper->counters.steps < STEPS_MAX && step(stepper))
		;
}

/* Run on until the first read of the input is done. */
static void run_to_input(struct stepper *stepper)
{
	struct x86_registers regs;

	write_debug_register(stepper, 7, dregs_control_neutral());
	/* the calls that are running are not known any more */
	stepper->call_count = 0;
	while (!stepper->exited && resume(stepper, PTRACE_SYSCALL)) {
		if (!read_registers(stepper, &regs))
			return;
		/* a system-call-exit stop of read(0, ...) with data */
		if (regs.orig_rax == 0 && regs.gpr[X86_RDI] == 0 &&
		    (int64_t)regs.gpr[X86_RAX] > 0)
			return;
	}
}

/* Lines in no order, the same in every run. */
static int make_input(void)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	struct rng rng;

	rng_init(&rng, 1);
	for (int i = 0; i < INPUT_LINES; i++)
		dprintf(fd, "%llu line %llu of text\n",
			(unsigned long long)rng_below(&rng, 100000),
			(unsigned long long)rng_next(&rng));
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void run_child(char *const *argv)
{
	static char *const environment[] = { (char *)"LC_ALL=C",
					     (char *)"PATH=/usr/bin:/bin",
					     NULL };
	int input = make_input();
	int output = open("/dev/null", O_WRONLY);

	dup2(input, 0);
	dup2(output, 1);
	personality(ADDR_NO_RANDOMIZE);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(77);
	execve(argv[0], argv, environment);
	_exit(127);
}

/* Start the program, stopped at its first instruction. */
static bool start_program(struct stepper *stepper, char *const *argv)
{
	char path[64];
	int status;

	fflush(stdout);
	stepper->pid = fork();
	if (stepper->pid == 0)
		run_child(argv);
	if (stepper->pid < 0 ||
	    waitpid(stepper->pid, &status, __WALL) != stepper->pid ||
	    !WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_SETOPTIONS, stepper->pid, NULL,
	       PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)stepper->pid);
	stepper->mem = open(path, O_RDONLY | O_CLOEXEC);
	return stepper->mem >= 0;
}

static void print_counters(const struct counters *counters)
{
	printf("# %llu steps, %llu with accesses: %llu reads, %llu writes, "
	       "%llu read-modify-writes\n",
	       (unsigned long long)counters->steps,
	       (unsigned long long)counters->checks,
	       (unsigned long long)counters->by_kind[ACCESS_READ],
	       (unsigned long long)counters->by_kind[ACCESS_WRITE],
	       (unsigned long long)counters->by_kind[ACCESS_RMW]);
	printf("# by size:");
	for (int i = 1; i <= X86_ACCESS_MAX; i++) {
		if (counters->by_size[i] != 0)
			printf(" %d: %llu", i,
			       (unsigned long long)counters->by_size[i]);
	}
	printf("\n# %llu quiet, found again %llu, not looked for %llu\n",
	       (unsigned long long)counters->quiet,
	       (unsigned long long)counters->found,
	       (unsigned long long)counters->not_looked_for);
	for (int i = X86_OK + 1; i < X86_REFUSALS; i++) {
		if (counters->refused[i] != 0)
			printf("# refused %s: %llu\n",
			       refusal_name((enum x86_refusal)i),
			       (unsigned long long)counters->refused[i]);
	}
}

/* Step one program; its checks are added to *checks. 77: cannot be traced. */
static int check_program(struct decoder *decoder, int number, char *const *argv,
			 uint64_t *checks)
{
	struct stepper stepper = { .decoder = decoder };
	uint64_t begin = clock_now_ns();
	bool good;

	rng_init(&stepper.rng, 1);
	if (!start_program(&stepper, argv))
		return 77;
	step_until(&stepper, CHECKS_START);
	run_to_input(&stepper);
	step_until(&stepper, CHECKS_MAX);
	if (!stepper.exited) {
		kill(stepper.pid, SIGKILL);
		waitpid(stepper.pid, NULL, __WALL);
	}
	close(stepper.mem);
	print_counters(&stepper.counters);
	good = stepper.counters.failures == 0 && stepper.counters.checks > 0;
	printf("%s %d - %s: %llu instructions predicted, %llu failures\n",
	       good ? "ok" : "not ok", number, argv[0],
	       (unsigned long long)stepper.counters.checks,
	       (unsigned long long)stepper.counters.failures);
	printf("# %.1f s\n", (double)(clock_now_ns() - begin) / 1e9);
	*checks += stepper.counters.checks;
	return good ? 0 : 1;
}

/* Programs that read their standard input; those that are not there are
 * passed over. */
static char *const programs[][6] = {
	{ (char *)"/usr/bin/sort", (char *)"--parallel=1", NULL },
	{ (char *)"/usr/bin/openssl", (char *)"dgst", (char *)"-sha256", NULL },
	{ (char *)"/usr/bin/xz", (char *)"-1", (char *)"-c", NULL },
	{ (char *)"/usr/bin/perl", (char *)"-ne",
	  (char *)"$n{$1 % 97} += $1 * 1.5 if /(\\d+)/; END { print %n }",
	  NULL },
};

static int skip(const char *why)
{
	const char *require = getenv("RACEWATCH_TEST_REQUIRE");

	if (require && strcmp(require, "all") == 0) {
		printf("not ok 1 - %s\n1..1\n", why);
		return 1;
	}
	printf("1..0 # SKIP %s\n", why);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t checks = 0;
	int failed = 0;
	int number = 0;
	struct decoder *decoder;
	struct error *err = decoder_create(&decoder);

	if (err) {
		printf("Bail out! %s\n", error_message(err));
		error_free(err);
		return 99;
	}
	if (machine_lacks_registers()) {
		decoder_destroy(decoder);
		puts("1..0 # SKIP debug registers do not trap");
		return 0;
	}
	if (argc > 1)
		failed = check_program(decoder, ++number, argv + 1, &checks);
	for (size_t i = 0;
	     argc == 1 && i < sizeof(programs) / sizeof(programs[0]); i++) {
		int result;

		if (access(programs[i][0], X_OK) != 0)
			continue;
		result = check_program(decoder, ++number, programs[i], &checks);
		if (result == 77) {
			decoder_destroy(decoder);
			return skip("a program cannot be traced");
		}
		failed |= result;
	}
	decoder_destroy(decoder);
	if (argc == 1) {
		bool enough = checks >= CHECKS_MIN;

		printf("%s %d - %llu instructions in all, at least %d\n",
		       enough ? "ok" : "not ok", ++number,
		       (unsigned long long)checks, CHECKS_MIN);
		failed |= !enough;
	}
	printf("1..%d\n", number);
	return failed;
}
