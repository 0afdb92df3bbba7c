/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One thread works on some bytes of a line by instructions that are wider than
 * those, or of which a count or a mask tells how wide they are; two others
 * change what is beside those bytes, under a lock. There is no race. Called as
 *
 *	wide SECONDS CASE [race]
 *
 * with `race' the others change those bytes.
 */
#include "target.h"

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512bw,avx512vl,avx512dq")))

struct padded {
	char tag; /* and three bytes that nobody looks at */
	int number;
	short end;
};

union line {
	struct {
		uint8_t theirs, first, second;
		uint8_t theirs_too;
		unsigned length : 24;
		uint8_t hops;
		unsigned low : 5, high : 11;
		uint16_t count;
		struct padded padded;
		int total;
	} fields;
	char bytes[64]; /* 20 to 40 are ours */
	int words[16]; /* 4 to 9 */
};
enum { OURS = 20, SIZE = 20, FIRST_WORD = 5, LAST_WORD = 9 };

static union line line __attribute__((aligned(64)));
static char copy[64] __attribute__((aligned(64))); /* of the first thread */
static struct padded padded;
static int race;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile size_t size = SIZE;

#define CASE(name_, attribute_, ...) \
	attribute_ NOINLINE static unsigned do_##name_(char *s) __VA_ARGS__

/* Fields: of one word, compared at once, copied with what is between them. */
CASE(bits, , {
	(void)s;
	return line.fields.length;
})
CASE(bits_equal, , {
	(void)s;
	return line.fields.length == 0x123456 && line.fields.high == 1000;
})
CASE(both, , {
	(void)s;
	return line.fields.first == 1 && line.fields.second == 2;
})
CASE(bits_put, , {
	(void)s;
	line.fields.length += 3;
	return 0;
})
CASE(padded, , {
	(void)s;
	padded = line.fields.padded;
	return (unsigned)padded.number;
})
CASE(padded_part, , {
	(void)s;
	struct padded part = line.fields.padded;

	return (unsigned)part.number + (unsigned)part.end;
})

/* Repeated string instructions, of bytes and of doublewords. */
#define REP(name_, insn_, from_, to_, count_, a_)                    \
	CASE(name_, , {                                              \
		const char *from = from_;                            \
		char *to = to_;                                      \
		size_t count = count_;                               \
		__asm__ volatile(insn_                               \
				 : "+S"(from), "+D"(to), "+c"(count) \
				 : "a"(a_)                           \
				 : "memory", "cc");                  \
		return (unsigned)count + (s == from);                \
	})
REP(movsb, "rep movsb", s, copy, size, 0)
REP(movsl, "rep movsl", s, copy, size / 4, 0)
REP(movsb_to, "rep movsb", copy, s, size, 0)
REP(movsq_to, "rep movsq", copy, s, size / 8, 0)
REP(movsb_down, "std; rep movsb; cld", s + 19, copy + 19, size, 0)
REP(stosb, "rep stosb", s, s, size, 1)
REP(stosl, "rep stosl", s, s, size / 4, 1)
REP(cmpsb, "repe cmpsb", s, copy, size, 0)
REP(cmpsl, "repe cmpsl", s, copy, size / 4, 0)
REP(cmpsb_ends, "repe cmpsb", s, line.bytes + OURS + 1, (size_t)-1, 0)
REP(scasb, "repne scasb", s, s, size, 'Z')
REP(scasl, "repne scasl", s, s, size / 4, 'Z')

/* Masked moves: 20 bytes, from the first on or not. */
CASE(maskload, AVX2, {
	__m256i mask = _mm256_setr_epi32(-1, -1, -1, -1, -1, 0, 0, 0), words;

	__asm__ volatile("vpmaskmovd (%1), %2, %0"
			 : "=&x"(words)
			 : "r"(s), "x"(mask)
			 : "memory");
	return (unsigned)_mm256_movemask_epi8(words);
})
CASE(maskload_high, AVX2, {
	__m256i mask = _mm256_setr_epi32(0, 0, 0, -1, -1, -1, -1, -1), words;

	__asm__ volatile("vpmaskmovd (%1), %2, %0"
			 : "=&x"(words)
			 : "r"(s - 12), "x"(mask)
			 : "memory");
	return (unsigned)_mm256_movemask_epi8(words);
})
CASE(maskstore, AVX2, {
	_mm256_maskstore_epi32((int *)s,
			       _mm256_setr_epi32(-1, -1, -1, -1, -1, 0, 0, 0),
			       _mm256_set1_epi32(3));
	return 0;
})
CASE(maskstore_ps, AVX2, {
	_mm256_maskstore_ps((float *)(s - 12),
			    _mm256_setr_epi32(0, 0, 0, -1, -1, -1, -1, -1),
			    _mm256_set1_ps(3));
	return 0;
})
CASE(maskmovdqu, , {
	_mm_maskmoveu_si128(_mm_set1_epi8(3),
			    _mm_setr_epi8(-1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0,
					  0, 0, 0, 0, 0),
			    s);
	return 0;
})
CASE(load_512, AVX512, {
	__m512i bytes = _mm512_maskz_loadu_epi8(0xfffff, s);

	return (unsigned)_mm512_reduce_add_epi32(bytes);
})
CASE(load_512_high, AVX512, {
	__m512i bytes =
		_mm512_maskz_loadu_epi8(UINT64_C(0xfffff) << 12, s - 12);

	return (unsigned)_mm512_reduce_add_epi32(bytes);
})
CASE(store_512, AVX512, {
	_mm512_mask_storeu_epi32(s, 0x1f, _mm512_set1_epi32(3));
	return 0;
})
CASE(store_512_high, AVX512, {
	_mm512_mask_storeu_epi8(s - 12, UINT64_C(0xfffff) << 12,
				_mm512_set1_epi8(3));
	return 0;
})
CASE(compress_512, AVX512, {
	_mm512_mask_compressstoreu_epi32(s, 0x8421, _mm512_set1_epi32(3));
	return 0;
})
CASE(gather, AVX2, {
	__m256i at = _mm256_setr_epi32(0, 1, 2, 3, 4, 0, 1, 2);

	return (unsigned)_mm256_movemask_epi8(
		_mm256_i32gather_epi32((int *)s, at, 4));
})

#define ENTRY(name_) { #name_, do_##name_ },
static const struct {
	const char *name;
	unsigned (*turn)(char *s);
} cases[] = {
	ENTRY(bits) ENTRY(bits_equal) ENTRY(both) ENTRY(bits_put) ENTRY(
		padded) ENTRY(padded_part) ENTRY(movsb) ENTRY(movsl)
		ENTRY(movsb_to) ENTRY(movsq_to) ENTRY(movsb_down) ENTRY(
			stosb) ENTRY(stosl) ENTRY(cmpsb) ENTRY(cmpsl)
			ENTRY(cmpsb_ends) ENTRY(scasb) ENTRY(scasl) ENTRY(
				maskload) ENTRY(maskload_high) ENTRY(maskstore)
				ENTRY(maskstore_ps) ENTRY(maskmovdqu) ENTRY(
					load_512) ENTRY(load_512_high)
					ENTRY(store_512) ENTRY(store_512_high)
						ENTRY(compress_512)
							ENTRY(gather)
};

static unsigned (*chosen)(char *s);
static int of_fields;

/* Has this processor the instructions? */
static int is_there(const char *name)
{
	if (strstr(name, "512"))
		return __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl");
	return !(strstr(name, "mask") || strstr(name, "gather")) ||
	       __builtin_cpu_supports("avx2");
}

static void *turn_loop(void *arg)
{
	unsigned x = 1;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++)
		x = target_work(x + chosen(line.bytes + OURS), 30);
	return arg;
}

NOINLINE static void change_fields(void)
{
	if (race) {
		line.fields.first ^= 2;
		line.fields.length ^= 0x10;
		line.fields.padded.number++;
	} else {
		line.fields.theirs++;
		line.fields.theirs_too++;
		line.fields.hops++;
		line.fields.count++;
		line.fields.total++;
	}
}

NOINLINE static unsigned change_bytes(unsigned i)
{
	if (race)
		line.bytes[OURS] ^= 2;
	else if (i & 1)
		line.words[FIRST_WORD - 1]++;
	else
		line.words[LAST_WORD + 1]++;
	return (unsigned)line.bytes[OURS - 1] +
	       (unsigned)line.bytes[OURS + SIZE];
}

static void *change_loop(void *arg)
{
	unsigned x = 2;

	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		pthread_mutex_lock(&lock);
		if (of_fields)
			change_fields();
		else
			x += change_bytes((unsigned)i);
		pthread_mutex_unlock(&lock);
		x = target_work(x, 60);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc > 2 && strcmp(cases[i].name, argv[2]) == 0) {
			chosen = cases[i].turn;
			of_fields = i < 6;
		} else if (argc == 2 && strcmp(argv[1], "list") == 0 &&
			   is_there(cases[i].name)) {
			puts(cases[i].name);
		}
	}
	if (!chosen || !is_there(argv[2]))
		return argc != 2;
	race = argc > 3;
	line.fields.first = 1;
	line.fields.second = 2;
	line.fields.length = 0x123456;
	line.fields.high = 1000;
	if (!of_fields) {
		memset(line.bytes, 0, sizeof(line.bytes));
		line.bytes[OURS + 10] = 7; /* where cmpsb_ends does */
	}
	target_init(argc, argv, 3);
	for (int i = 0; i < 3; i++)
		threads[i] = target_thread(i ? change_loop : turn_loop, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return target_done("wide");
}
