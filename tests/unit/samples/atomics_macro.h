/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The macros of atomics_macro.c: no line of code comes from this file. */
#ifndef ATOMICS_MACRO_H
#define ATOMICS_MACRO_H

#define LOAD_RAW(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define LOAD(p) LOAD_RAW(p)
#define STORE(p, v)                                           \
	do {                                                  \
		__atomic_store_n((p), (v), __ATOMIC_RELEASE); \
	} while (0)
#define CHECKED(x) ((x) ? 1 : 0)
#define PLAIN_LOAD(p) (*(p))
#define LOAD_BOTH(p, q) (LOAD(p) + *(q))

int unseen(int value);

#endif
