/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions that are passed by copies of them while breakpoints record
 * (tests/run/passed.sh). Called as
 *
 *	passed together		eight threads execute each of two instructions ten
 *				times, all at the same time each: one that adds to a
 *				word of 2 bytes, by a register, and one that sets
 *				another, relative to rip
 *	passed odd		what a copy could get wrong: a handler of a fault, a
 *				repeated string, children
 *	passed confined		the first, where a filter kills the process if it maps
 *				memory at a certain address
 *
 * Ends with 0 if all did what it should.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "target.h"

enum { THREADS = 8, ROUNDS = 10, STRING = 40, PAGE = 4096 };

static struct {
	_Alignas(64) uint16_t value;
} counters[THREADS];
uint16_t passed_last;
static unsigned int arrived;
static pthread_barrier_t all_done;

/* By instructions of these sizes alone do threads access words of 2 bytes. */
NOINLINE static void pass(int i)
{
	__asm__ volatile("addw $1, %0" : "+m"(counters[i].value) : : "cc");
	__asm__ volatile("movw %w0, passed_last(%%rip)" : : "r"(i) : "memory");
}

static void *work(void *number)
{
	for (unsigned int round = 1; round <= ROUNDS; round++) {
		__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
		while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) <
		       round * THREADS)
			;
		pass((int)(intptr_t)number);
	}
	/* what is recorded is less where threads have ended */
	pthread_barrier_wait(&all_done);
	return NULL;
}

static void pass_together(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&all_done, NULL, THREADS);
	for (intptr_t i = 0; i < THREADS; i++)
		threads[i] = target_thread(work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		target_check(counters[i].value == ROUNDS, "a count");
	target_check(passed_last < THREADS, "the last");
}

static uint64_t *page;
extern const char passed_store[];
static int faults;

NOINLINE static void store(uint64_t *to, uint64_t value)
{
	__asm__ volatile(".globl passed_store\npassed_store: movq %1, (%0)"
			 :
			 : "r"(to), "r"(value)
			 : "memory");
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)signal;
	if (at->uc_mcontext.gregs[REG_RIP] != (intptr_t)passed_store ||
	    info->si_addr != page)
		_exit(3);
	faults++;
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static void pass_fault(void)
{
	const struct sigaction action = { .sa_sigaction = on_fault,
					  .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
	for (uint64_t i = 1; i <= 3; i++) {
		page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		store(page, i);
		target_check(*page == i, "a page that was served");
	}
	target_check(faults == 3, "one fault each");
}

static char string[STRING], copied[STRING];

NOINLINE static void copy(void)
{
	const char *from = string;
	char *to = copied;
	long count = STRING;

	__asm__ volatile("rep movsb"
			 : "+S"(from), "+D"(to), "+c"(count)
			 :
			 : "memory");
	target_check(count == 0 && from == string + STRING &&
			     memcmp(string, copied, STRING) == 0,
		     "a string");
}

static void *write_string(void *unused)
{
	for (int i = 0; i < STRING; i++)
		string[i] = (char)(i + 1);
	copy();
	return unused;
}

static void pass_children(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		pass(1);
		_exit(counters[1].value == 1 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	target_check(status == 0 && counters[1].value == 0, "a child");
	/* in the same memory */
	pid = vfork();
	if (pid == 0) {
		pass(2);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	target_check(status == 0 && counters[2].value == 1, "a vfork child");
}

static void pass_odd(void)
{
	pthread_t thread = target_thread(write_string, NULL);

	pthread_join(thread, NULL);
	pass_fault();
	pass_children();
	pass(3);
	target_check(counters[3].value == 1 && passed_last == 3, "after that");
}

/* The C library does not map so. */
static void confine(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_FIXED_NOREPLACE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {
		.len = sizeof(code) / sizeof(code[0]),
		.filter = code,
	};

	target_check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
			     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
				   &filter) == 0,
		     "a filter");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "confined") == 0) {
		confine();
		execl("/proc/self/exe", argv[0], "together", NULL);
		target_check(0, "a program in its place");
	}
	if (strcmp(how, "odd") == 0)
		pass_odd();
	else
		pass_together();
	return target_done("passed");
}
