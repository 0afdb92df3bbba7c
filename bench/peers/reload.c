/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings that a worker looks at for every request, and that the other one
 * replaces a few times in a run, beside its own requests. What is forgotten:
 * the read lock.
 */
#include "peers.h"

struct settings {
	unsigned depth;
	unsigned width;
	char name[32];
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
struct settings settings = { .depth = 100, .width = 3, .name = "first" };

NOINLINE static void settings_replace(unsigned serial)
{
	pthread_rwlock_wrlock(&lock);
	settings.depth = 100 + serial % 16; /* RACE: settings */
	settings.width = 3 + serial % 4; /* RACE: settings */
	settings.name[0] = (char)('a' + serial % 26); /* RACE: settings */
	pthread_rwlock_unlock(&lock);
}

NOINLINE static unsigned settings_steps(void)
{
	unsigned steps;

	FORGOTTEN(pthread_rwlock_rdlock(&lock));
	steps = settings.depth * settings.width; /* RACE: settings */
	FORGOTTEN(pthread_rwlock_unlock(&lock));
	return steps;
}

static void serve(const struct worker *worker, unsigned long i)
{
	use(target_work((unsigned)i | 1, settings_steps() + worker->number));
}

static void serve_and_reload(const struct worker *worker, unsigned long i)
{
	serve(worker, i);
	if (is_seldom(i))
		settings_replace((unsigned)i);
}

int main(int argc, char **argv)
{
	return workers_run(argc, argv, "reload", serve, serve_and_reload);
}
