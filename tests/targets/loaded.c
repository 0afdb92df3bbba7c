/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread loads a library (loaded_module.c) that is used there alone, and whose
 * constructor starts a thread. Two races, of accesses 20 ms apart: of the
 * constructor and its thread, and of what two threads call in it later. Called as
 *
 *	loaded again	load it, unload it and load it again first
 *	loaded gone	unload it as soon as it has been used
 */
#include "target.h"
#include <dlfcn.h>

static void (*set)(long);
static long (*get)(void);
static sem_t loaded, given, got;
static const char *how = "";
static char path[4096];

static void *open_module(void)
{
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	target_check(module != NULL, "dlopen");
	set = (void (*)(long))dlsym(module, "loaded_set");
	get = (long (*)(void))dlsym(module, "loaded_get");
	target_check(set && get, "dlsym");
	return module;
}

static void *setter(void *arg)
{
	void *module = open_module();

	if (!strcmp(how, "again")) {
		target_check(!dlclose(module), "dlclose");
		module = open_module();
	}
	sem_post(&loaded);
	set(1);
	sem_post(&given);
	if (!strcmp(how, "gone")) {
		sem_wait(&got);
		target_check(!dlclose(module), "dlclose");
	}
	return arg;
}

static void *getter(void *arg)
{
	sem_wait(&loaded);
	usleep(20000);
#ifdef TWIN
	sem_wait(&given);
#endif
	target_check(get() >= 0, "get");
	sem_post(&got);
	return arg;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');

#ifdef TWIN
	setenv("LOADED_TWIN", "1", 1);
#endif
	how = argc > 1 ? argv[1] : how;
	snprintf(path, sizeof(path), "%.*sloaded_module.so",
		 slash ? (int)(slash - argv[0] + 1) : 0, argv[0]);
	sem_init(&loaded, 0, 0);
	sem_init(&given, 0, 0);
	sem_init(&got, 0, 0);
	target_race(setter, getter);
	return target_done("loaded");
}
