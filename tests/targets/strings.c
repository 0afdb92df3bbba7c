/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread calls a string function on a name that nobody changes; two others
 * change counters just before and just behind it, under a lock. The function
 * loads more than it uses, and there is no race. Called as
 *
 *	strings SECONDS FUNCTION [race]
 *
 * with `race' the others change a letter of the name: a race with any function
 * that gets as far as that letter.
 */
#include "target.h"

#include <immintrin.h>
#include <strings.h>
#include <wchar.h>

#define LETTERS "abcdefghij"

struct box {
	/*
	 * Some functions load words of 8 bytes: the name begins with one, and a
	 * counter is in the same word as its last letters.
	 */
	unsigned nothing;
	unsigned before;
	char name[12];
	unsigned hits;
	unsigned wide_before;
	wchar_t wide[4];
	unsigned wide_hits;
	char rest[64];
} box __attribute__((aligned(64))) = { .name = LETTERS, .wide = L"abc" };

static int race;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile size_t name_size = sizeof(box.name);
static char copy[64]; /* of the reading thread alone */
static const char same[64] = LETTERS;

#define FUNCTION(name_, ...)                         \
	NOINLINE static size_t call_##name_(char *s) \
	{                                            \
		return (size_t)(__VA_ARGS__);        \
	}

FUNCTION(strlen, strlen(s))
FUNCTION(strnlen, strnlen(s, name_size))
FUNCTION(strchr, strchr(s, 'j'))
FUNCTION(strchr_none, strchr(s, 'Z'))
FUNCTION(strrchr, strrchr(s, 'b'))
FUNCTION(strchrnul, strchrnul(s, 'Z'))
FUNCTION(index, index(s, 'j'))
FUNCTION(strcmp, strcmp(s, same))
FUNCTION(strcmp_second, strcmp(same, s))
FUNCTION(strncmp, strncmp(s, same, name_size))
FUNCTION(strcasecmp, strcasecmp(s, "ABCDEFGHIJ"))
FUNCTION(strncasecmp, strncasecmp(s, "ABCDEFGHIJ", name_size))
FUNCTION(strcoll, strcoll(s, same))
FUNCTION(strstr, strstr(s, "hij"))
FUNCTION(strstr_none, strstr(s, "hix"))
FUNCTION(strcasestr, strcasestr(s, "HIJ"))
FUNCTION(strspn, strspn(s, "jihgfedcba"))
FUNCTION(strcspn, strcspn(s, "Zj"))
FUNCTION(strpbrk, strpbrk(s, "Zj"))
FUNCTION(memchr, memchr(s, 'j', name_size))
FUNCTION(memchr_none, memchr(s, 'Z', name_size))
FUNCTION(memrchr, memrchr(s, 'a', name_size))
FUNCTION(memrchr_none, memrchr(s, 'Z', name_size))
#ifdef __GLIBC__ /* musl has none */
FUNCTION(rawmemchr, rawmemchr(s, 'j'))
#else
#define call_rawmemchr NULL
#endif
FUNCTION(memcmp, memcmp(s, same, name_size))
FUNCTION(memcmp_second, memcmp(same, s, name_size))
FUNCTION(bcmp, bcmp(s, same, name_size))
FUNCTION(memmem, memmem(s, name_size, "hij", 3))
FUNCTION(strcpy, strcpy(copy, s))
FUNCTION(stpcpy, stpcpy(copy, s))
FUNCTION(strncpy, strncpy(copy, s, name_size))
FUNCTION(stpncpy, stpncpy(copy, s, name_size))
FUNCTION(strcat, (copy[0] = 0, strcat(copy, s)))
FUNCTION(strncat, (copy[0] = 0, strncat(copy, s, name_size)))
FUNCTION(memcpy, memcpy(copy, s, name_size))
FUNCTION(mempcpy, mempcpy(copy, s, name_size))
FUNCTION(memmove, memmove(copy, s, name_size))
FUNCTION(memccpy, memccpy(copy, s, 'j', name_size))

NOINLINE static size_t call_strdup(char *s)
{
	char *made = strdup(s);
	size_t first = (unsigned char)made[0];

	free(made);
	return first;
}

FUNCTION(wcslen, wcslen(box.wide) + (s == NULL))
FUNCTION(wcschr, wcschr(box.wide, L'c') == (void *)s)
FUNCTION(wcsrchr, wcsrchr(box.wide, L'a') == (void *)s)
FUNCTION(wcscmp, wcscmp(box.wide, L"abc") + (s == NULL))
FUNCTION(wmemchr, wmemchr(box.wide, L'Z', 4) == (void *)s)
FUNCTION(wcsnlen, wcsnlen(box.wide, 4) + (s == NULL))

/* What compilers make of short ones. */
FUNCTION(inline_memcmp, __builtin_memcmp(s, "abcdefgh", 8) == 0)
FUNCTION(inline_eleven, __builtin_memcmp(s, same, 11) == 0)

/* repnz scasb: until the zero, and no further. */
NOINLINE static size_t call_scas(char *s)
{
	size_t left = (size_t)-1;

	__asm__ volatile("repnz scasb"
			 : "+D"(s), "+c"(left)
			 : "a"(0)
			 : "memory", "cc");
	return ~left - 1;
}

NOINLINE static size_t call_cmps(char *s)
{
	const char *other = same;
	size_t left = name_size;

	__asm__ volatile("repe cmpsb"
			 : "+S"(s), "+D"(other), "+c"(left)
			 :
			 : "memory", "cc");
	return left;
}

/* Masked loads access what the mask selects. */
__attribute__((target("avx512f,avx512bw,avx512vl"))) NOINLINE static size_t
call_masked(char *s)
{
	__m256i bytes = _mm256_maskz_loadu_epi8(0xfff, s);

	return _mm256_movepi8_mask(_mm256_add_epi8(bytes, bytes));
}

/* The mask stays: what it was when the load was made can still be told. */
__attribute__((target("avx2"))) NOINLINE static size_t call_maskload(char *s)
{
	__m256i mask = _mm256_setr_epi32(-1, -1, -1, 0, 0, 0, 0, 0), words;

	__asm__ volatile("vpmaskmovd (%1), %2, %0"
			 : "=&x"(words)
			 : "r"(s), "x"(mask)
			 : "memory");
	return (size_t)_mm256_movemask_epi8(_mm256_add_epi8(words, words));
}

#define ENTRY(name_)                 \
	{                            \
#name_, call_##name_ \
	}
static const struct {
	const char *name;
	size_t (*call)(char *s);
} functions[] = {
	ENTRY(strlen),	      ENTRY(strnlen),	    ENTRY(strchr),
	ENTRY(strchr_none),   ENTRY(strrchr),	    ENTRY(strchrnul),
	ENTRY(index),	      ENTRY(strcmp),	    ENTRY(strcmp_second),
	ENTRY(strncmp),	      ENTRY(strcasecmp),    ENTRY(strncasecmp),
	ENTRY(strcoll),	      ENTRY(strstr),	    ENTRY(strstr_none),
	ENTRY(strcasestr),    ENTRY(strspn),	    ENTRY(strcspn),
	ENTRY(strpbrk),	      ENTRY(memchr),	    ENTRY(memchr_none),
	ENTRY(memrchr),	      ENTRY(memrchr_none),  ENTRY(rawmemchr),
	ENTRY(memcmp),	      ENTRY(memcmp_second), ENTRY(bcmp),
	ENTRY(memmem),	      ENTRY(strcpy),	    ENTRY(stpcpy),
	ENTRY(strncpy),	      ENTRY(stpncpy),	    ENTRY(strcat),
	ENTRY(strncat),	      ENTRY(memcpy),	    ENTRY(mempcpy),
	ENTRY(memmove),	      ENTRY(memccpy),	    ENTRY(strdup),
	ENTRY(wcslen),	      ENTRY(wcschr),	    ENTRY(wcsrchr),
	ENTRY(wcscmp),	      ENTRY(wmemchr),	    ENTRY(wcsnlen),
	ENTRY(inline_memcmp), ENTRY(inline_eleven), ENTRY(scas),
	ENTRY(cmps),	      ENTRY(masked),	    ENTRY(maskload),
};

static size_t (*chosen)(char *s);

/* Has this processor the instructions? */
static int is_there(size_t (*call)(char *s))
{
	if (!call)
		return 0;
	if (call == call_masked)
		return __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512vl");
	return call != call_maskload || __builtin_cpu_supports("avx2");
}

static void *read_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		x = target_work(x + (unsigned)chosen(box.name), 30);
	return arg;
}

/* In a race: the letter changes and comes back. */
NOINLINE static void change_letter(unsigned x)
{
	box.name[1] = x & 1 ? 'b' : 'B';
	box.wide[1] = x & 1 ? L'b' : L'B';
}

NOINLINE static void change_counts(void)
{
	box.hits++;
	box.before++;
	box.wide_hits++;
	box.wide_before++;
}

static void *write_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		pthread_mutex_lock(&lock);
		if (race)
			change_letter((unsigned)i);
		else
			change_counts();
		pthread_mutex_unlock(&lock);
		x = target_work(x, 60);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t reader, writers[2];

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (argc > 2 && strcmp(functions[i].name, argv[2]) == 0)
			chosen = functions[i].call;
		else if (argc == 2 && strcmp(argv[1], "list") == 0 &&
			 is_there(functions[i].call))
			puts(functions[i].name);
	}
	if (!chosen || !is_there(chosen))
		return argc != 2;
	race = argc > 3;
	target_init(argc, argv, 3);
	reader = target_thread(read_loop, NULL);
	writers[0] = target_thread(write_loop, NULL);
	writers[1] = target_thread(write_loop, NULL);
	pthread_join(reader, NULL);
	pthread_join(writers[0], NULL);
	pthread_join(writers[1], NULL);
	return target_done("strings");
}
