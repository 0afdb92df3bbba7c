/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that are recognized by their names: those of the C library and of
 * compilers' runtimes, and those that synchronize, in any module.
 */
#ifndef SAMPLING_NAMES_H
#define SAMPLING_NAMES_H

#include <stdbool.h>

/* Is it one of libc's mem*, str*, wcs* functions? */
bool rules_string_name(const char *name);

/* Is it a variant of one for some processors, as __memcpy_avx_unaligned? */
bool rules_variant_name(const char *name);

/* Is it an internal function of libc or of a compiler's runtime? */
bool rules_runtime_name(const char *name);

/* Is it one that synchronizes threads: pthread_*, sem_*, futex...? */
bool rules_threading_name(const char *name);

/*
 * Is it a function of a lock, of an atomic operation or of Go's runtime, in any
 * module?
 */
bool rules_synchronization_name(const char *name);

#endif
