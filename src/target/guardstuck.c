/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stuck tracer; see guardstuck.h.
 */
#include "target/guardstuck.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "target/guardrestore.h"

/* a thread that has just met a breakpoint is to stop for it first */
static const struct timespec GUARDSTUCK_SETTLE = { .tv_nsec = 20000000 };

static const uint64_t GUARDSTUCK_ASK_NS = CLOCK_NS_PER_S / 2;

static void guardstuck_signal(const struct guardrestore *restore, int number)
{
	for (uint32_t i = 0; i < GUARDTABLE_SPACES; i++) {
		pid_t pid = __atomic_load_n(&restore->table->spaces[i].pid,
					    __ATOMIC_ACQUIRE);

		if (pid > 0)
			kill(pid, number);
	}
}

/*
 * SIGSTOP comes last: a stop for it must not be waited for, or it is lost.
 * Pending, it takes effect before a thread that is let go executes anything.
 */
void guardstuck_kill(struct guardrestore *restore, int tracer)
{
	guardrestore_open(restore);
	guardrestore_text(restore);
	nanosleep(&GUARDSTUCK_SETTLE, NULL);
	deputy_ask(&restore->table->deputy, GUARDSTUCK_ASK_NS);
	guardstuck_signal(restore, SIGSTOP);
	syscall(SYS_pidfd_send_signal, tracer, SIGKILL, NULL, 0);
}

void guardstuck_continue(const struct guardrestore *restore)
{
	guardstuck_signal(restore, SIGCONT);
}
