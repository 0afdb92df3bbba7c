/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: userspace RCU. Readers follow the pointer between
 * rcu_read_lock() and rcu_read_unlock(); the writer exchanges it, waits for
 * synchronize_rcu() and only then frees what readers may have seen.
 */
#include "target.h"
#include <urcu.h>

struct route {
	long metric, twice;
};

static struct route *route;

NOINLINE static struct route *route_make(long metric)
{
	struct route *made = malloc(sizeof(*made));

	target_check(made != NULL, "malloc");
	made->metric = metric;
	made->twice = 2 * metric;
	return made;
}

NOINLINE static void route_change(struct route *to)
{
	struct route *old = rcu_xchg_pointer(&route, to);

	synchronize_rcu();
	old->metric = old->twice = -1;
	free(old);
}

NOINLINE static long route_metric(void)
{
	struct route *seen;
	long metric;

	rcu_read_lock();
	seen = rcu_dereference(route);
	metric = seen->metric;
	target_check(metric >= 0 && seen->twice == 2 * metric, "route");
	rcu_read_unlock();
	return metric;
}

static void *change_loop(void *arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i += 8)
		route_change(route_make((long)i));
	return arg;
}

static void *look_loop(void *arg)
{
	long last = 0, now;

	rcu_register_thread();
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		now = route_metric();
		target_check(now >= last, "order");
		last = now;
	}
	rcu_unregister_thread();
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	route = route_make(0);
	target_race(change_loop, look_loop);
	free(route);
	return target_done("free_rcu");
}
