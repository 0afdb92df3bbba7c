/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stuck tracer; see guardstuck.h.
 */
#include "guardian/guardstuck.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "guardian/guardrestore.h"
#include "sys/procfs.h"

/* between looks at threads that have met a breakpoint and not stopped yet */
static const struct timespec GUARDSTUCK_NAP = { .tv_nsec = 5000000 };

enum { GUARDSTUCK_LOOKS = 200 };

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

static bool guardstuck_look(pid_t tid, void *data)
{
	struct thread_status status;
	bool *pending = data;
	struct error *err;

	err = procfs_status(tid, &status);
	if (!err)
		*pending |= (status.pending >> (SIGTRAP - 1)) & 1;
	error_free(err);
	return true;
}

/* Has any thread a trap that it has not stopped for? */
static bool guardstuck_pending(const struct guardrestore *restore)
{
	bool pending = false;

	for (uint32_t i = 0; i < GUARDTABLE_SPACES; i++) {
		pid_t pid = restore->table->spaces[i].pid;

		if (pid > 0)
			error_free(
				procfs_threads(pid, guardstuck_look, &pending));
	}
	return pending;
}

/* Where the machine is loaded, a thread may take its time to stop. */
static void guardstuck_collect(const struct guardrestore *restore)
{
	struct deputy *deputy = &restore->table->deputy;

	for (int i = 0; i < GUARDSTUCK_LOOKS; i++) {
		uint32_t before = deputy->count;
		bool pending;

		nanosleep(&GUARDSTUCK_NAP, NULL);
		pending = guardstuck_pending(restore);
		if (!deputy_ask(deputy, GUARDSTUCK_ASK_NS))
			return;
		/* twice nothing new */
		if (i > 0 && !pending && deputy->count == before)
			return;
	}
}

/*
 * SIGSTOP comes last: a stop for it must not be waited for, or it is lost. A
 * pending one takes effect before a detached thread executes anything.
 */
void guardstuck_kill(struct guardrestore *restore, int tracer)
{
	guardrestore_open(restore);
	guardrestore_text(restore);
	guardstuck_collect(restore);
	guardstuck_signal(restore, SIGSTOP);
	syscall(SYS_pidfd_send_signal, tracer, SIGKILL, NULL, 0);
}

void guardstuck_continue(const struct guardrestore *restore)
{
	guardstuck_signal(restore, SIGCONT);
}
