/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plugin is loaded, called and unloaded, and another file mapped in its
 * place, executable too: not a byte of that may change, though breakpoints
 * were set at these addresses.
 */
#include "special.h"
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

enum { SIZE = 0x4000 };

static char module_path[4096];
static int other;

/* Where the plugin was; it is gone. */
static uintptr_t plugin_round(unsigned long i)
{
	void *module = dlopen(module_path, RTLD_NOW);
	struct link_map *map;
	void (*set)(long);
	uintptr_t base;

	target_check(module != NULL, "dlopen");
	target_check(!dlinfo(module, RTLD_DI_LINKMAP, &map), "dlinfo");
	base = map->l_addr;
	set = (void (*)(long))dlsym(module, "plugin_set");
	for (long n = 0; n < 5000; n++)
		set(n + (long)i);
	target_check(!dlclose(module), "dlclose");
	return base;
}

static void other_round(uintptr_t base)
{
	unsigned char *bytes = mmap((void *)base, SIZE, PROT_READ | PROT_EXEC,
				    MAP_PRIVATE | MAP_FIXED_NOREPLACE, other,
				    0);

	if (bytes == MAP_FAILED && errno == EEXIST)
		return; /* another thread's arena has come there */
	target_check(bytes == (unsigned char *)base, "mmap");
	for (int round = 0; round < 50; round++)
		for (int i = 0; i < SIZE; i++)
			target_check(bytes[i] == (unsigned char)(i * 7),
				     "what is mapped now has changed");
	munmap(bytes, SIZE);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	unsigned char bytes[SIZE];
	pthread_t hot;

	target_init(argc, argv, 1);
	snprintf(module_path, sizeof(module_path), "%.*splugin_module.so",
		 slash ? (int)(slash - argv[0] + 1) : 0, argv[0]);
	for (int i = 0; i < SIZE; i++)
		bytes[i] = (unsigned char)(i * 7);
	other = fileno(tmpfile());
	target_check(write(other, bytes, SIZE) == SIZE, "write");
	hot = target_thread(special_loop, NULL);
	for (unsigned long i = 0; target_goes_on(i * 64); i++)
		other_round(plugin_round(i));
	pthread_join(hot, NULL);
	return target_done("text_remap");
}
