/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server's configuration: loaded anew while workers use the old one, which
 * is freed; beside it settings of one word, of which either value will do.
 */
#include "figure7.h"

struct config {
	long serial, timeout, retries, limit;
};

struct config *config;
int log_level = 1;
int draining;

NOINLINE static struct config *config_new(long serial)
{
	struct config *fresh = (struct config *)calloc(1, sizeof(*fresh));

	target_check(fresh != NULL, "calloc");
	fresh->serial = serial; /* RACE: reload */
	fresh->timeout = serial + 30; /* RACE: reload */
	fresh->retries = 3; /* RACE: reload */
	fresh->limit = serial * 2; /* RACE: reload */
	return fresh;
}

NOINLINE static void config_reload(long serial)
{
	struct config *fresh = config_new(serial); /* RACE: reload */
	struct config *old = config;

	config = fresh; /* RACE: reload */
	free(old); /* RACE: reload */
}

NOINLINE static long config_deadline(long now)
{
	const struct config *current = config; /* RACE: reload */

	if (now > current->limit) /* RACE: reload */
		now = current->limit; /* RACE: reload */
	return now + current->timeout * current->retries; /* RACE: reload */
}

NOINLINE static void log_debug(const char *text)
{
	if (log_level > 2) /* RACE: log_level */
		use_text(text);
}

NOINLINE static void log_set_level(int level)
{
	log_level = level; /* RACE: log_level */
}

NOINLINE static int is_draining(void)
{
	return draining != 0; /* RACE: draining */
}

NOINLINE static void set_draining(int drain)
{
	draining = drain; /* RACE: draining */
}

static void worker(unsigned long i)
{
	use((unsigned long)config_deadline((long)i));
	log_debug("deadline");
	if (!is_draining())
		use(i);
}

static void admin(unsigned long i)
{
	config_reload((long)i);
	log_set_level((int)(i / 2 % 4));
	set_draining((int)(i / 16 % 2));
}

int main(int argc, char **argv)
{
	struct role roles[] = {
		{ worker, 30 }, { worker, 50 }, { admin, 100 }, { NULL, 0 }
	};

	config = config_new(0);
	return roles_run(argc, argv, "conf", roles);
}
