/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A client's session: what it is doing, whether it is open, and whether its
 * thread sleeps and wants to be woken.
 */
#include "figure7.h"

enum state { STATE_OPEN, STATE_CLOSING };

struct session {
	const char *info;
	enum state state;
	int sleeping, work;
};

struct session session = { "idle", STATE_OPEN, 0, 0 };
static sem_t wake;

NOINLINE static void print_prefix(void)
{
	OPAQUE();
}

/* As any list of processes is made. */
NOINLINE static void session_list(const struct session *shown)
{
	if (!shown->info) /* RACE: info */
		return;
	print_prefix();
	use_text(shown->info); /* RACE: info */
}

NOINLINE static void session_set_info(struct session *mine, const char *info)
{
	mine->info = info; /* RACE: info */
}

/* By the client and by the time-out: its file is closed twice. */
NOINLINE static void session_close(struct session *closed)
{
	if (closed->state != STATE_OPEN) /* RACE: state */
		return;
	closed->state = STATE_CLOSING; /* RACE: state */
	use((unsigned long)closed);
	closed->state = STATE_OPEN; /* RACE: state */
}

/* Sleeps too long if the work came between the two lines. */
NOINLINE static void session_sleep(struct session *mine)
{
	struct timespec until;

	mine->sleeping = 1; /* RACE: wakeup */
	if (!mine->work) { /* RACE: wakeup */
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 200000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		sem_timedwait(&wake, &until);
	}
	mine->sleeping = 0; /* RACE: wakeup */
	mine->work = 0; /* RACE: wakeup */
}

NOINLINE static void session_wake(struct session *other)
{
	other->work = 1; /* RACE: wakeup */
	if (other->sleeping) /* RACE: wakeup */
		sem_post(&wake);
}

static void owner(unsigned long i)
{
	session_set_info(&session, i & 1 ? NULL : "query");
	session_close(&session);
	if (i % 64 == 0)
		session_sleep(&session);
}

static void other(unsigned long i)
{
	session_list(&session);
	session_close(&session);
	if (i % 8 == 0)
		session_wake(&session);
}

int main(int argc, char **argv)
{
	struct role roles[] = { { owner, 40 }, { other, 30 }, { NULL, 0 } };

	sem_init(&wake, 0, 0);
	return roles_run(argc, argv, "session", roles);
}
