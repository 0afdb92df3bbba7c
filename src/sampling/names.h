/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that are known by their names: those of the C library and of
 * compilers' runtimes, and those that synchronize, in whatever module they are.
 */
#ifndef SAMPLING_NAMES_H
#define SAMPLING_NAMES_H

#include <stdbool.h>

/* Is it one of libc's mem*, str*, wcs* functions? */
bool rules_string_name(const char *name);

/* Is it a variant of one for some processors, as __memcpy_avx_unaligned? */
bool rules_variant_name(const char *name);

/* Is it a function of libc's or a compiler runtime's inside? */
bool rules_runtime_name(const char *name);

/* Is it one that synchronizes threads: pthread_*, sem_*, futex...? */
bool rules_threading_name(const char *name);

/*
 * Is it a lock's, an atomic operation's, or one of Go's runtime, in whatever
 * module it is?
 */
bool rules_synchronization_name(const char *name);

#endif
