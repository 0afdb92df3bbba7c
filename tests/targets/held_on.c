/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What racewatch is killed over while it holds a thread in a hunt: one thread
 * makes an access (held_write) and then loads a library, another one never stops
 * computing, and made the conflicting access long before. Called as
 *
 *	held_on		end then: for the recording
 *	held_on FILE	write the process, the address of held_write and that of
 *			the loader's function for debuggers to FILE; load the
 *			library when FILE.go is there; do not end
 */
#include "special.h"
#include <dlfcn.h>
#include <link.h>

static long value;
static sem_t begun;

NOINLINE static void held_write(void)
{
	value = 1;
}

NOINLINE static long early_read(void)
{
	return value;
}

static void *compute(void *arg)
{
	target_check(early_read() == 0, "value");
	sem_post(&begun);
	for (unsigned i = 0; arg; i++)
		special_hot(target_work(i, 20));
	return NULL;
}

static void *writer(void *arg)
{
	char go[4096];

	sem_wait(&begun);
	held_write();
	snprintf(go, sizeof(go), "%s.go", arg ? (char *)arg : "");
	while (arg && access(go, F_OK))
		usleep(1000);
	target_check(dlopen("libm.so.6", RTLD_NOW) != NULL, "dlopen");
	return NULL;
}

static void tell(const char *path)
{
	char temporary[4096];
	FILE *file;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	file = fopen(temporary, "w");
	target_check(file != NULL, "file");
	fprintf(file, "%d %lu %lu\n", (int)getpid(), (unsigned long)held_write,
		(unsigned long)_r_debug.r_brk);
	target_check(!fclose(file) && !rename(temporary, path), "rename");
}

int main(int argc, char **argv)
{
	char *path = argc > 1 ? argv[1] : NULL;
	pthread_t threads[2];

	sem_init(&begun, 0, 0);
	if (path)
		tell(path);
	threads[0] = target_thread(compute, path);
	threads[1] = target_thread(writer, path);
	/* a guard against being forgotten */
	alarm(120);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return target_done("held_on");
}
