/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: settings published by pointer with memory_order_release and
 * read through what a load with memory_order_consume gave: the dependency
 * orders the reads. Versions are never written again, nor freed.
 */
#include "target.h"
#include <stdatomic.h>

enum { VERSIONS = 1 << 16 };

struct settings {
	long version, twice;
};

static struct settings versions[VERSIONS];
static _Atomic(struct settings *) current = versions;

NOINLINE static void settings_publish(long version)
{
	struct settings *settings = &versions[version];

	settings->version = version;
	settings->twice = 2 * version;
	atomic_store_explicit(&current, settings, memory_order_release);
}

NOINLINE static long settings_version(void)
{
	struct settings *settings =
		atomic_load_explicit(&current, memory_order_consume);

	target_check(settings->twice == 2 * settings->version, "settings");
	return settings->version;
}

static void *publish_loop(void *arg)
{
	unsigned x = 1;
	long version = 0;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		if (version < VERSIONS - 1 && i % 32 == 0)
			settings_publish(++version);
		x = target_work(x, 30);
	}
	return arg;
}

static void *use_loop(void *arg)
{
	long last = 0, version;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		version = settings_version();
		target_check(version >= last, "order");
		last = version;
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	target_race(publish_loop, use_loop);
	return target_done("free_consume");
}
