/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plugin is loaded, called and unloaded over and over while another thread
 * is hot: breakpoints in it must go with it, and come to its next place.
 */
#include "special.h"
#include <dlfcn.h>

static char module_path[4096];

static void plugin_round(unsigned long i)
{
	void *module = dlopen(module_path, RTLD_NOW);
	void (*set)(long);
	long (*get)(void);

	target_check(module != NULL, "dlopen");
	set = (void (*)(long))dlsym(module, "plugin_set");
	get = (long (*)(void))dlsym(module, "plugin_get");
	for (long n = 0; n < 200; n++) {
		set(n + (long)i);
		target_check(get() == n + (long)i, "plugin");
	}
	target_check(!dlclose(module), "dlclose");
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	pthread_t hot;

	target_init(argc, argv, 1);
	snprintf(module_path, sizeof(module_path), "%.*splugin_module.so",
		 slash ? (int)(slash - argv[0] + 1) : 0, argv[0]);
	hot = target_thread(special_loop, NULL);
	for (unsigned long i = 0; target_goes_on(i * 64); i++)
		plugin_round(i);
	pthread_join(hot, NULL);
	return target_done("dlclose_loop");
}
