/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread adds up every second, third or fourth element of arrays, or those
 * that are its own, in loops that compilers vectorize: whole vectors are loaded
 * and what is beside those elements is thrown away. Two others change that,
 * under a lock. There is no race. Called as
 *
 *	strided SECONDS LOOP [race]
 *
 * with `race' the others change what is added up.
 */
#include "target.h"

#define LINE __attribute__((aligned(64)))
enum { MANY = 29 }; /* the last vector is not a full one */

struct {
	int ours, theirs;
} pairs[MANY] LINE;
struct {
	uint8_t theirs, ours;
} octets[MANY] LINE;
struct {
	uint16_t ours, theirs;
} shorts[MANY] LINE;
struct {
	int ours, theirs[2];
} triples[MANY] LINE;
struct {
	uint8_t theirs, ours[2];
} pixels[MANY] LINE;
struct {
	float ours[2], theirs[2];
} points[MANY] LINE;
struct {
	double theirs, ours;
} doubles[MANY] LINE;
struct {
	uint64_t ours, theirs;
} wides[MANY] LINE;
int numbers[MANY] LINE; /* those with an odd index are ours */
double reals[MANY] LINE;
unsigned char odd[MANY] LINE;

static int race;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define LOOP(name_, attribute_, type_, what_)            \
	attribute_ NOINLINE static unsigned sum_##name_( \
		UNUSED const unsigned char *mine)        \
	{                                                \
		type_ sum = 0;                           \
		for (unsigned i = 0; i < MANY; i++)      \
			sum += what_;                    \
		return (unsigned)sum;                    \
	}
/* The floating ones into an array: sums of those stay in order. */
#define EACH(name_, attribute_, type_, what_)            \
	attribute_ NOINLINE static unsigned sum_##name_( \
		UNUSED const unsigned char *mine)        \
	{                                                \
		static type_ to[MANY];                   \
		for (unsigned i = 0; i < MANY; i++)      \
			to[i] = what_;                   \
		return (unsigned)to[MANY / 2];           \
	}
#define LOOPS(suffix_, attribute_)                                         \
	LOOP(pairs_##suffix_, attribute_, int, pairs[i].ours)              \
	LOOP(octets_##suffix_, attribute_, uint8_t, octets[i].ours)        \
	LOOP(octets_wide_##suffix_, attribute_, unsigned, octets[i].ours)  \
	LOOP(shorts_##suffix_, attribute_, uint16_t, shorts[i].ours)       \
	LOOP(triples_##suffix_, attribute_, int, triples[i].ours)          \
	LOOP(pixels_##suffix_, attribute_, int,                            \
	     pixels[i].ours[0] + 2 * pixels[i].ours[1])                    \
	EACH(points_##suffix_, attribute_, float,                          \
	     points[i].ours[0] * points[i].ours[1])                        \
	EACH(doubles_##suffix_, attribute_, double, doubles[i].ours * 3)   \
	LOOP(wides_##suffix_, attribute_, uint64_t, wides[i].ours)         \
	LOOP(numbers_##suffix_, attribute_, int, mine[i] ? numbers[i] : 0) \
	EACH(reals_##suffix_, attribute_, double, mine[i] ? reals[i] : 0)

#ifndef __clang__
#pragma GCC optimize("O3")
#endif
LOOPS(sse2, )
LOOPS(avx2, __attribute__((target("avx2"))))
LOOPS(avx512, __attribute__((target("avx512bw,avx512vl,avx512dq"))))

/* clang-format off */
#define ENTRY(name_) { #name_, sum_##name_ },
#define ENTRIES(suffix_)                                                 \
	ENTRY(pairs_##suffix_)                                           \
	ENTRY(octets_##suffix_) ENTRY(octets_wide_##suffix_)             \
		ENTRY(shorts_##suffix_) ENTRY(triples_##suffix_)         \
			ENTRY(pixels_##suffix_) ENTRY(points_##suffix_)  \
				ENTRY(doubles_##suffix_)                 \
					ENTRY(wides_##suffix_)           \
						ENTRY(numbers_##suffix_) \
							ENTRY(reals_##suffix_)
static const struct {
	const char *name;
	unsigned (*sum)(const unsigned char *mine);
} loops[] = { ENTRIES(sse2) ENTRIES(avx2) ENTRIES(avx512) };
/* clang-format on */

static unsigned (*chosen)(const unsigned char *mine);

/* Has this processor the instructions? */
static int is_there(const char *name)
{
	if (strstr(name, "avx512"))
		return __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl");
	return !strstr(name, "avx2") || __builtin_cpu_supports("avx2");
}

static void *sum_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		x = target_work(x + chosen(odd), 30);
	return arg;
}

NOINLINE static void change_theirs(unsigned i)
{
	pairs[i].theirs++;
	octets[i].theirs++;
	shorts[i].theirs++;
	triples[i].theirs[i & 1]++;
	pixels[i].theirs++;
	points[i].theirs[i & 1]++;
	doubles[i].theirs++;
	wides[i].theirs++;
	numbers[i & ~1u]++;
	reals[i & ~1u]++;
}

/* Changes that come to nothing in no sum. */
NOINLINE static void change_ours(unsigned i)
{
	pairs[i].ours++;
	octets[i].ours++;
	shorts[i].ours++;
	triples[i].ours++;
	pixels[i].ours[0]++;
	points[i].ours[1]++;
	doubles[i].ours++;
	wides[i].ours++;
	numbers[i | 1]++;
	reals[i | 1]++;
}

static void *change_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		pthread_mutex_lock(&lock);
		if (race)
			change_ours(i % (MANY - 1));
		else
			change_theirs(i % MANY);
		pthread_mutex_unlock(&lock);
		x = target_work(x, 60);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		if (argc > 2 && strcmp(loops[i].name, argv[2]) == 0)
			chosen = loops[i].sum;
		else if (argc == 2 && strcmp(argv[1], "list") == 0 &&
			 is_there(loops[i].name))
			puts(loops[i].name);
	}
	if (!chosen || !is_there(argv[2]))
		return argc != 2;
	for (int i = 0; i < MANY; i++)
		odd[i] = i & 1;
	race = argc > 3;
	target_init(argc, argv, 3);
	for (int i = 0; i < 3; i++)
		threads[i] = target_thread(i ? change_loop : sum_loop, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return target_done("strided");
}
