/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Both sides of the race, and the variable, are in a plugin loaded with
 * dlopen(3) after the start: see plugin_module.c. The argument after the
 * running time is its path, else it is found beside the program.
 */
#include "target.h"
#include <dlfcn.h>

static void (*plugin_set)(long);
static long (*plugin_get)(void);

static void load(const char *program)
{
	char path[4096];
	const char *slash = strrchr(program, '/');
	void *module;

	snprintf(path, sizeof(path), "%.*splugin_module.so",
		 slash ? (int)(slash - program + 1) : 0, program);
	module = dlopen(path, RTLD_NOW);
	target_check(module != NULL, "dlopen");
	plugin_set = (void (*)(long))dlsym(module, "plugin_set");
	plugin_get = (long (*)(void))dlsym(module, "plugin_get");
	target_check(plugin_set && plugin_get, "dlsym");
}

static void *set_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		plugin_set(x);
		LEAVE();
		x = target_work(x, 40);
	}
	return arg;
}

static void *get_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		ENTER();
		x += (unsigned)plugin_get();
		LEAVE();
		x = target_work(x, 30);
	}
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	load(argv[0]);
	target_race(set_loop, get_loop);
	return target_done("plugin");
}
