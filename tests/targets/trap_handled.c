/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program has its own SIGTRAP handler and raises SIGTRAP itself: it must
 * see exactly its own ones, each with si_code SI_TKILL from itself. Its
 * children have the handler too.
 */
#include "special.h"

static __thread volatile sig_atomic_t seen, strange;

static void handler(int signal, siginfo_t *info, void *context)
{
	(void)context;
	seen++;
	if (signal != SIGTRAP || info->si_code != SI_TKILL ||
	    info->si_pid != getpid())
		strange++;
}

/* As sigaction(2) tells of it in the other member of the union. */
static void (*const as_handler)(int) = (void (*)(int))(void *)handler;

static void *worker(void *arg)
{
	sig_atomic_t raised = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		special_hot((unsigned)i);
		if (i % 65536 == 0)
			special_check_child(SIGTRAP, as_handler);
		if (i % 256 == 0) {
			raised++;
			raise(SIGTRAP);
			target_check(seen == raised, "SIGTRAP lost or added");
		}
	}
	target_check(!strange, "a SIGTRAP not raised here");
	target_check(seen == raised, "SIGTRAP lost or added");
	special_check_mask(SIGTRAP, 0);
	return arg;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
	target_init(argc, argv, 2);
	target_race(worker, worker);
	special_check_handler(SIGTRAP, as_handler);
	return target_done("trap_handled");
}
