/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One store of 1 over 1 in a stripped library (ways_module.c), to which two
 * threads come by four of its functions, from four of the program's: one race.
 * With the argument "two" after the running time, the library's other store is
 * done to two variables of the program instead: two races.
 */
#include "target.h"
#include <dlfcn.h>

static void (*ways[4])(void);
static void (*set_at)(int *flag);
int ways_first, ways_second;

static void load(const char *program)
{
	static const char *const names[] = { "ways_one", "ways_two",
					     "ways_three", "ways_four" };
	const char *slash = strrchr(program, '/');
	char path[4096];
	void *module;

	snprintf(path, sizeof(path), "%.*sways_module.so",
		 slash ? (int)(slash - program + 1) : 0, program);
	module = dlopen(path, RTLD_NOW);
	target_check(module != NULL, "dlopen");
	for (int i = 0; i < 4; i++)
		ways[i] = (void (*)(void))dlsym(module, names[i]);
	set_at = (void (*)(int *))dlsym(module, "ways_set_at");
	target_check(ways[0] && set_at, "dlsym");
}

#define WAY(name, call)                        \
	NOINLINE static void name(unsigned *x) \
	{                                      \
		call;                          \
		*x = target_work(*x, 20);      \
	}

WAY(go_north, ways[0]())
WAY(go_east, ways[1]())
WAY(go_south, ways[2]())
WAY(go_west, ways[3]())
WAY(set_first, set_at(&ways_first))
WAY(set_second, set_at(&ways_second))

static void *walk(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		go_north(&x);
		go_east(&x);
		go_south(&x);
		go_west(&x);
	}
	return arg;
}

static void *set(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		set_first(&x);
		set_second(&x);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int two = argc > 2 && strcmp(argv[2], "two") == 0;

	target_init(argc, argv, 2);
	load(argv[0]);
	if (two)
		target_race(set, set);
	else
		target_race(walk, walk);
	return target_done("ways");
}
