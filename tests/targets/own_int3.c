/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program carries an int3 of its own and handles it, as programs with
 * assertions or debug hooks do: each one must arrive, with the instruction
 * pointer just behind it.
 */
#include "special.h"
#include <ucontext.h>

extern char own_int3_end[];
static __thread volatile sig_atomic_t seen, strange;

static void handler(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *user = context;

	(void)signal;
	seen++;
	if (info->si_code != SI_KERNEL ||
	    (char *)user->uc_mcontext.gregs[REG_RIP] != own_int3_end)
		strange++;
}

NOINLINE static void own_int3(void)
{
	__asm__ volatile("int3\n"
			 ".globl own_int3_end\n"
			 "own_int3_end:" ::
				 : "memory");
}

static void *worker(void *arg)
{
	sig_atomic_t done = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		special_hot((unsigned)i);
		if (i % 256)
			continue;
		own_int3();
		target_check(seen == ++done, "int3 lost or added");
		target_check(!strange, "an int3 from elsewhere");
	}
	return arg;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
	target_init(argc, argv, 2);
	target_race(worker, worker);
	special_check_handler(SIGTRAP, (void (*)(int))(void *)handler);
	return target_done("own_int3");
}
