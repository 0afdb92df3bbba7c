/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preloaded into racewatch, it truncates the file named by TRUNCATING to a page
 * when libelf has just handed out the file's contents: after all checks of its
 * size. With TRUNCATING_BACK=1 the file gets its size back, but not what it
 * held, once something was read that was not there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

char *elf_rawfile(void *elf, size_t *size)
{
	char *(*next)(void *, size_t *) = dlsym(RTLD_NEXT, "elf_rawfile");
	const char *path = getenv("TRUNCATING");
	const char *back = getenv("TRUNCATING_BACK");
	char *bytes = next(elf, size);
	struct stat status;

	if (!bytes || !path || stat(path, &status) != 0 ||
	    (size_t)status.st_size != *size || truncate(path, PAGE) != 0)
		return bytes;
	if (back && *back == '1' && *(volatile char *)(bytes + PAGE) == 0)
		truncate(path, status.st_size);
	return bytes;
}
