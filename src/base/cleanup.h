/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scope-bound cleanup for locals, by the compiler's cleanup attribute:
 *
 *	cleanup_free char *path = NULL;
 *	cleanup_close int fd = -1;
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_pointer(void *location)
{
	free(*(void **)location);
}

static inline void cleanup_close_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose_file(FILE *const *file)
{
	if (*file)
		fclose(*file);
}

static inline void cleanup_closedir_dir(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}

/* Take the string over from *text, which becomes NULL. */
static inline char *take_string(char **text)
{
	char *taken = *text;

	*text = NULL;
	return taken;
}

#define cleanup_free __attribute__((cleanup(cleanup_free_pointer)))
#define cleanup_close __attribute__((cleanup(cleanup_close_fd)))
#define cleanup_fclose __attribute__((cleanup(cleanup_fclose_file)))
#define cleanup_closedir __attribute__((cleanup(cleanup_closedir_dir)))

#endif
