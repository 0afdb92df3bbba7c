/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preloaded into racewatch, makes calls of the C library fail: opening files
 * whose path has a word in it, and getting memory. From the environment:
 *
 *	FAILING         open:WORD or malloc
 *	FAILING_AT      N: the Nth such call; N-: it and all after it
 *	FAILING_IN      front: in the process that racewatch begins as, or
 *	                others: in those it forks
 *	FAILING_COUNT   a file that gets the number of such calls made until
 *	                the front end exits
 *
 * The programs that racewatch starts do not get it. Compiled with FAIL_MEMORY it
 * is malloc, else open: a sanitizer has memory functions of its own.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static const char *word; /* of paths; NULL: paths do not matter */
static bool memory, ready, in_front;
static unsigned long first, last;
static pid_t front;
static atomic_ulong *calls; /* shared by all processes forked */

static bool due(void)
{
	unsigned long n;

	if (!ready || (getpid() == front) != in_front)
		return false;
	n = atomic_fetch_add(calls, 1) + 1;
	return n >= first && n <= last;
}

__attribute__((unused)) static bool open_fails(const char *path)
{
	if (!word || !path || !strstr(path, word) || !due())
		return false;
	errno = EIO;
	return true;
}

__attribute__((unused)) static bool memory_fails(void)
{
	if (!memory || !due())
		return false;
	errno = ENOMEM;
	return true;
}

__attribute__((constructor)) static void begin(void)
{
	const char *what = getenv("FAILING"), *at = getenv("FAILING_AT");
	const char *in = getenv("FAILING_IN");
	char *end;

	unsetenv("LD_PRELOAD");
	if (!what || !at || !in)
		return;
	if (strncmp(what, "open:", 5) == 0)
		word = what + 5;
	memory = strcmp(what, "malloc") == 0;
	first = strtoul(at, &end, 10);
	last = *end == '-' ? (unsigned long)-1 : first;
	in_front = strcmp(in, "front") == 0;
	front = getpid();
	calls = mmap(NULL, sizeof(*calls), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ready = calls != MAP_FAILED;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAILING_COUNT");
	FILE *file;

	if (!ready || getpid() != front)
		return;
	ready = false;
	file = path ? fopen(path, "w") : NULL;
	if (!file)
		return;
	fprintf(file, "%lu\n", atomic_load(calls));
	fclose(file);
}

#ifdef FAIL_MEMORY
void *malloc(size_t size)
{
	return memory_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return memory_fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return memory_fails() ? NULL : __libc_realloc(old, size);
}
#else
/* The next definition of a function, as its own type. */
#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open_fails(path) ? -1 : NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open_fails(path) ? -1 : NEXT(open64)(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return open_fails(path) ? -1 : NEXT(openat)(dir, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return open_fails(path) ? NULL : NEXT(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return open_fails(path) ? NULL : NEXT(fopen64)(path, mode);
}

DIR *opendir(const char *path)
{
	return open_fails(path) ? NULL : NEXT(opendir)(path);
}
#endif
