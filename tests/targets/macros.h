/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Atomic operations as a project's own header has them: behind macros, macros
 * of macros, and functions that macros define.
 */
#ifndef MACROS_H
#define MACROS_H

#define LOAD(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define LOAD_THEN(p)                                              \
	__extension__({                                           \
		__typeof__(p) load_p = (p); /* evaluated once */  \
		__typeof__(*load_p) load_v;                       \
		__atomic_load(load_p, &load_v, __ATOMIC_ACQUIRE); \
		load_v;                                           \
	})
#define STORE_THEN(p, v)                                      \
	do {                                                  \
		__atomic_store_n((p), (v), __ATOMIC_RELEASE); \
	} while (0)
#define PUBLISH(object, member, v) STORE_THEN(&(object)->member, v)
#define HURRY(x) __builtin_expect(!!(x), 0)

#define DEFINE_PEEK(name, type)                                                \
	static inline type name(const type *p)                                 \
	{                                                                      \
		type v;                                                        \
		__asm__ volatile("mov %1, %0" : "=r"(v) : "m"(*p) : "memory"); \
		return v;                                                      \
	}

/* One of the two accesses is atomic, and the other is not. */
#define LOAD_BOTH(p, q) (LOAD(p) + *(q))

#endif
