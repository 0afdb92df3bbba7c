/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rest of a program around a race: many functions that every thread calls
 * all the time, in turn, and that race with nobody. Of each ten, six work on
 * memory of the thread, two read what all threads read, and two change what
 * all threads change, under a lock. Compiled in before a target
 * (gcc -include), it takes the place of that target's work between accesses.
 */
#ifndef HAYSTACK_C
#define HAYSTACK_C

#include "target.h"

enum { HAY_FUNCTIONS = 320, HAY_WORDS = 512, HAY_EACH = 64 };

struct hay {
	unsigned long words[HAY_WORDS];
	unsigned turn;
};

static unsigned long hay_read[HAY_WORDS], hay_shared[HAY_WORDS];
static pthread_mutex_t hay_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct hay *hay_own;

/* Two sites or more to each; the indices differ, and so does the code. */
#define HAY_OWN(n)                                                    \
	NOINLINE static unsigned hay_##n(struct hay *hay, unsigned x) \
	{                                                             \
		hay->words[(n * 7) % HAY_WORDS] += x;                 \
		hay->words[(n * 3 + x % 4) % HAY_WORDS] ^= n;         \
		return x + (unsigned)hay->words[(n + 5) % HAY_WORDS]; \
	}
#define HAY_READ(n)                                                   \
	NOINLINE static unsigned hay_##n(struct hay *hay, unsigned x) \
	{                                                             \
		hay->words[(n * 5) % HAY_WORDS] +=                    \
			hay_read[(n * 9 + x % 2) % HAY_WORDS];        \
		return x ^ (unsigned)hay_read[n % HAY_WORDS];         \
	}
#define HAY_LOCKED(n)                                                 \
	NOINLINE static unsigned hay_##n(struct hay *hay, unsigned x) \
	{                                                             \
		pthread_mutex_lock(&hay_lock);                        \
		hay_shared[n % HAY_WORDS] += x;                       \
		x ^= (unsigned)hay_shared[(n * 3) % HAY_WORDS];       \
		pthread_mutex_unlock(&hay_lock);                      \
		hay->words[n % HAY_WORDS]++;                          \
		return x;                                             \
	}
/* no two runs of it agree about these */
/* clang-format off */
#define HAY_TEN(n) \
	HAY_OWN(n##0) HAY_OWN(n##1) HAY_READ(n##2) HAY_OWN(n##3) \
	HAY_LOCKED(n##4) HAY_OWN(n##5) HAY_OWN(n##6) HAY_READ(n##7) \
	HAY_OWN(n##8) HAY_LOCKED(n##9)
/* clang-format on */
#define HAY_ALL(ten)                                                           \
	ten(1) ten(2) ten(3) ten(4) ten(5) ten(6) ten(7) ten(8) ten(9) ten(10) \
		ten(11) ten(12) ten(13) ten(14) ten(15) ten(16) ten(17)        \
			ten(18) ten(19) ten(20) ten(21) ten(22) ten(23)        \
				ten(24) ten(25) ten(26) ten(27) ten(28)        \
					ten(29) ten(30) ten(31) ten(32)

HAY_ALL(HAY_TEN)

#define HAY_NAMES(n)                                                \
	hay_##n##0, hay_##n##1, hay_##n##2, hay_##n##3, hay_##n##4, \
		hay_##n##5, hay_##n##6, hay_##n##7, hay_##n##8, hay_##n##9,

static unsigned (*const hay_functions[HAY_FUNCTIONS])(
	struct hay *, unsigned) = { HAY_ALL(HAY_NAMES) };

/* A few of the functions, the next ones at the next call. */
NOINLINE static unsigned haystack(unsigned x, unsigned n)
{
	struct hay *hay = hay_own;

	if (!hay) {
		hay = calloc(1, sizeof(*hay));
		target_check(hay != NULL, "calloc");
		hay_own = hay;
	}
	for (unsigned i = 0; i < n / 16 + 1; i++)
		x = hay_functions[hay->turn++ % HAY_FUNCTIONS](hay, x);
	return x;
}

#define target_work(x, n) haystack(x, n)

#endif
