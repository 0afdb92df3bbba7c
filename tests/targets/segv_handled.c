/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that lives with its own SIGSEGV: a guard page is hit on purpose,
 * the handler opens it, the store is run again. Counts must fit.
 */
#include "special.h"
#include <sys/mman.h>

static char *guard_page;
static volatile sig_atomic_t faults;

static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	target_check(info->si_addr == guard_page + 24, "fault elsewhere");
	faults++;
	mprotect(guard_page, 4096, PROT_READ | PROT_WRITE);
}

NOINLINE static void page_store(long value)
{
	*(long *)(guard_page + 24) = value;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO };
	pthread_t hot;
	int done = 0;

	sigaction(SIGSEGV, &action, NULL);
	target_init(argc, argv, 1);
	guard_page =
		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	target_check(guard_page != MAP_FAILED, "mmap");
	hot = target_thread(special_loop, NULL);
	for (unsigned long i = 0; target_goes_on(i); i++) {
		special_hot((unsigned)i);
		mprotect(guard_page, 4096, PROT_READ);
		page_store((long)i);
		target_check(faults == ++done, "fault lost or added");
	}
	pthread_join(hot, NULL);
	return target_done("segv_handled");
}
