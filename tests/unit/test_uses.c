/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/dataflow/uses.c against the processor: a child calls the string functions of
 * the C library, in each of its variants, one instruction at a time. What the
 * emulator makes of each instruction must be what the processor made of it;
 * of each load it is asked about some bytes of the memory around the string:
 *
 *   bytes that no string function may look at are not used by any load;
 *   when no load uses the bytes, other values there give the same result;
 *   a letter in the middle of the string is used by some load.
 *
 * A run has half of the strings' places, and the next day's the others
 * (helpers/turn.h).
 */
#include "dataflow/uses.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include <cmocka.h>

#include "../helpers/turn.h"
#include "base/rng.h"
#include "dataflow/uses-parts.h"
#include "sys/trace.h"
#include "x86/decode.h"
#include "x86/effective.h"

/* 3060: to the end of a page */
enum { ARENA = 8192, AT = 1024, SIZE = 12, AREA = 2816 };

/* What the two processes share. */
struct shared {
	int function;
	char *string;
	size_t result;
	char arena[ARENA] __attribute__((aligned(4096)));
	char copy[256];
};

static struct shared *shared;
static volatile size_t size = SIZE;
static const char *volatile letters = "abcdefghij\0";
static const wchar_t *volatile wide_letters = L"abc";

#define NOINLINE __attribute__((noinline))
#define FUNCTION(name_, ...)                  \
	NOINLINE static size_t name_(char *s) \
	{                                     \
		return (size_t)(__VA_ARGS__); \
	}
#define COPY shared->copy
#define WIDE ((wchar_t *)(void *)s)

/* Where in the string; a string that is not there is at -1. */
NOINLINE static size_t place(const void *found, const char *s)
{
	return found ? (size_t)((const char *)found - s) : (size_t)-1;
}

FUNCTION(f_strlen, strlen(s))
FUNCTION(f_strnlen, strnlen(s, size))
FUNCTION(f_strchr, place(strchr(s, 'j'), s))
FUNCTION(f_strchr_none, place(strchr(s, 'Z'), s))
FUNCTION(f_strrchr, place(strrchr(s, 'b'), s))
FUNCTION(f_strchrnul, place(strchrnul(s, 'Z'), s))
FUNCTION(f_strcmp, strcmp(s, letters))
FUNCTION(f_strcmp_second, strcmp(letters, s))
FUNCTION(f_strncmp, strncmp(s, letters, size))
FUNCTION(f_strcasecmp, strcasecmp(s, "ABCDEFGHIJ"))
FUNCTION(f_strncasecmp, strncasecmp(s, "ABCDEFGHIJ", size))
FUNCTION(f_strstr, place(strstr(s, "hij"), s))
FUNCTION(f_strstr_none, place(strstr(s, "hix"), s))
FUNCTION(f_strspn, strspn(s, "jihgfedcba"))
FUNCTION(f_strcspn, strcspn(s, "Zj"))
FUNCTION(f_strpbrk, place(strpbrk(s, "Zj"), s))
FUNCTION(f_memchr, place(memchr(s, 'j', size), s))
FUNCTION(f_memchr_none, place(memchr(s, 'Z', size), s))
FUNCTION(f_memrchr, place(memrchr(s, 'a', size), s))
FUNCTION(f_memrchr_none, place(memrchr(s, 'Z', size), s))
FUNCTION(f_rawmemchr, place(rawmemchr(s, 'j'), s))
FUNCTION(f_memcmp, memcmp(s, letters, size))
FUNCTION(f_memcmp_second, memcmp(letters, s, size))
FUNCTION(f_strcpy, strcpy(COPY, s)[9])
FUNCTION(f_stpcpy, place(stpcpy(COPY, s), COPY))
FUNCTION(f_strncpy, strncpy(COPY, s, size)[9])
FUNCTION(f_strcat, strcat(COPY, s)[9])
FUNCTION(f_strncat, strncat(COPY, s, size)[9])
FUNCTION(f_memcpy, ((char *)memcpy(COPY, s, size))[9])
FUNCTION(f_memmove, ((char *)memmove(COPY, s, size))[9])
FUNCTION(f_wcslen, wcslen(WIDE))
FUNCTION(f_wcsnlen, wcsnlen(WIDE, 4))
FUNCTION(f_wcschr, place(wcschr(WIDE, L'c'), s))
FUNCTION(f_wcsrchr, place(wcsrchr(WIDE, L'a'), s))
FUNCTION(f_wcscmp, wcscmp(WIDE, wide_letters))
FUNCTION(f_wmemchr, place(wmemchr(WIDE, L'Z', 4), s))

struct function {
	const char *name;
	size_t (*call)(char *s);
	bool wide;
};

#define ENTRY(name_)                     \
	{                                \
#name_, f_##name_, false \
	}
#define WIDE_ENTRY(name_)               \
	{                               \
#name_, f_##name_, true \
	}
static const struct function functions[] = {
	ENTRY(strlen),	     ENTRY(strnlen),	   ENTRY(strchr),
	ENTRY(strchr_none),  ENTRY(strrchr),	   ENTRY(strchrnul),
	ENTRY(strcmp),	     ENTRY(strcmp_second), ENTRY(strncmp),
	ENTRY(strcasecmp),   ENTRY(strncasecmp),   ENTRY(strstr),
	ENTRY(strstr_none),  ENTRY(strspn),	   ENTRY(strcspn),
	ENTRY(strpbrk),	     ENTRY(memchr),	   ENTRY(memchr_none),
	ENTRY(memrchr),	     ENTRY(memrchr_none),  ENTRY(rawmemchr),
	ENTRY(memcmp),	     ENTRY(memcmp_second), ENTRY(strcpy),
	ENTRY(stpcpy),	     ENTRY(strncpy),	   ENTRY(strcat),
	ENTRY(strncat),	     ENTRY(memcpy),	   ENTRY(memmove),
	WIDE_ENTRY(wcslen),  WIDE_ENTRY(wcsnlen),  WIDE_ENTRY(wcschr),
	WIDE_ENTRY(wcsrchr), WIDE_ENTRY(wcscmp),   WIDE_ENTRY(wmemchr),
};

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* Stops, calls, stops, ... until it is killed. */
static void child(void)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	for (;;) {
		__asm__ volatile("int3" ::: "memory");
		shared->result =
			functions[shared->function].call(shared->string);
	}
}

/* One state of the child. */
struct freeze {
	struct x86_registers regs;
	struct x86_vectors vectors;
};

struct tester {
	pid_t child;
	struct decoder *decoder;
	uint64_t asked_start, asked_size; /* bytes that are asked about */
	unsigned int loads; /* that overlap them */
	unsigned int none, some, unknown; /* the answers */
	uint64_t load, where; /* of the last, and where it was given */
	unsigned int refused; /* loads that are not judged */
	unsigned int steps, unlike, strange;
};

static void freeze_read(pid_t pid, struct freeze *ret)
{
	uint8_t area[AREA];
	size_t area_size = 0;

	assert_null(trace_registers(pid, &ret->regs));
	assert_null(trace_vectors(pid, area, sizeof(area), &area_size));
	vectors_read(area, area_size, &ret->vectors);
	assert_true(ret->vectors.known);
}

static bool child_memory(void *context, uint64_t address, uint8_t *bytes,
			 size_t count)
{
	const struct tester *tester = context;
	struct iovec local = { bytes, count };
	struct iovec remote = { (void *)(uintptr_t)address, count };

	return process_vm_readv(tester->child, &local, 1, &remote, 1, 0) ==
	       (ssize_t)count;
}

static size_t child_code(void *context, uint64_t address, uint8_t *bytes,
			 size_t count)
{
	while (count > 0 && !child_memory(context, address, bytes, count))
		count--;
	return count;
}

static struct uses_thread thread_of(struct tester *tester,
				    const struct freeze *freeze)
{
	return (struct uses_thread){
		.decoder = tester->decoder,
		.regs = &freeze->regs,
		.vectors = &freeze->vectors,
		.code = child_code,
		.memory = child_memory,
		.context = tester,
	};
}

static bool same_bits(uint64_t seen, const struct number *number)
{
	uint64_t open = number->asked | number->unknown;

	return (seen & ~open) == number->value && number->low <= seen &&
	       number->high >= seen;
}

static bool same_flag(uint64_t rflags, unsigned int bit, uint8_t flag)
{
	return flag > TRI_YES || (rflags >> bit & 1) == (flag == TRI_YES);
}

/* Does the emulator get where the processor got? */
static bool same_state(const struct uses_state *state,
		       const struct freeze *after)
{
	const struct flags *flags = &state->flags;
	uint64_t rflags = after->regs.rflags;
	bool same = state->rip == after->regs.rip &&
		    same_flag(rflags, 0, flags->carry) &&
		    same_flag(rflags, 2, flags->parity) &&
		    same_flag(rflags, 6, flags->zero) &&
		    same_flag(rflags, 7, flags->sign) &&
		    same_flag(rflags, 11, flags->overflow);

	for (int i = 0; i < 16; i++)
		same = same && same_bits(after->regs.gpr[i], &state->gpr[i]);
	for (int i = 0; i < X86_MASKS; i++)
		same = same &&
		       same_bits(after->vectors.mask[i], &state->masks[i]);
	for (int i = 0; i < X86_VECTORS; i++) {
		for (int j = 0; j < X86_VECTOR_BYTES; j++) {
			const struct vector *vector = &state->vectors[i];

			same = same && (after->vectors.reg[i][j] &
					(uint8_t)~vector->unknown[j]) ==
					       vector->value[j];
		}
	}
	return same;
}

static void tell_step(struct tester *tester, uint64_t address, const char *what)
{
	uint8_t bytes[X86_INSN_MAX];
	char text[128];

	child_code(tester, address, bytes, sizeof(bytes));
	decoder_text(tester->decoder, bytes, sizeof(bytes), address, text,
		     sizeof(text));
	print_error("%s: %s: %#lx: %s\n", functions[shared->function].name,
		    what, (unsigned long)address, text);
}

/* One instruction without any bytes asked about. */
static void check_step(struct tester *tester, const struct freeze *before,
		       const struct freeze *after, uint8_t flow)
{
	struct uses_thread thread = thread_of(tester, before);
	struct uses_question question = { .address = before->regs.rip };
	unsigned int steps = 0;
	struct uses_run run = { .thread = &thread,
				.question = &question,
				.steps = &steps };

	if (flow == X86_FLOW_CALL || flow == X86_FLOW_RET)
		return;
	uses_begin(&run);
	uses_execute(&run);
	tester->steps++;
	if (run.ended) {
		tester->strange++;
		tell_step(tester, before->regs.rip, "not known");
	} else if (!same_state(&run.state, after)) {
		tester->unlike++;
		tell_step(tester, before->regs.rip, "not the same");
	}
}

static void count_answer(struct tester *tester, enum uses_answer answer)
{
	tester->none += answer == USES_NONE;
	tester->some += answer == USES_SOME;
	tester->unknown += answer > USES_SOME;
}

/* A load is asked about as it stands before it, and as it stands after it. */
static void check_load(struct tester *tester, const struct freeze *before,
		       const struct freeze *after,
		       const struct insn_access *insn)
{
	struct mem_access accesses[X86_OPERANDS_MAX];
	int count = effective_accesses(insn, &before->regs, accesses);

	for (int i = 0; i < count; i++) {
		struct uses_question question = {
			.address = before->regs.rip,
			.access = accesses[i],
			.asked = uses_range(&accesses[i], tester->asked_start,
					    tester->asked_size),
		};
		struct uses_thread thread = thread_of(tester, before);
		uint64_t where;

		if (question.asked == 0 || accesses[i].kind != ACCESS_READ)
			continue;
		assert_true(child_memory(tester, accesses[i].address,
					 question.bytes, accesses[i].size));
		tester->loads++;
		tester->load = before->regs.rip;
		count_answer(tester, uses_find(&thread, &question, &where));
		if (tester->some + tester->unknown > 0)
			tester->where = where, tester->load = before->regs.rip;
		if (insn->rep != X86_REP_NONE)
			continue;
		thread.regs = &after->regs;
		thread.vectors = &after->vectors;
		question.done = true;
		count_answer(tester, uses_find(&thread, &question, &where));
		if (tester->some + tester->unknown > 0)
			tester->where = where, tester->load = before->regs.rip;
	}
}

static void step(struct tester *tester)
{
	int status;

	assert_return_code(ptrace(PTRACE_SINGLESTEP, tester->child, 0, 0),
			   errno);
	assert_int_equal(waitpid(tester->child, &status, 0), tester->child);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
}

/* One call from int3 to int3; the emulator looks on unless `plainly'. */
static size_t call(struct tester *tester, int function, char *string,
		   bool plainly)
{
	struct freeze before, after;
	uint8_t bytes[X86_INSN_MAX] = { 0 };
	int status;

	shared->function = function;
	shared->string = string;
	memset(COPY, 0, sizeof(COPY));
	if (plainly) {
		ptrace(PTRACE_CONT, tester->child, 0, 0);
		assert_int_equal(waitpid(tester->child, &status, 0),
				 tester->child);
		assert_true(WIFSTOPPED(status));
		return shared->result;
	}
	freeze_read(tester->child, &before);
	for (;;) {
		struct insn_access insn;
		size_t length = child_code(tester, before.regs.rip, bytes,
					   sizeof(bytes));

		if (bytes[0] == 0xcc)
			break;
		decoder_decode(tester->decoder, bytes, length, before.regs.rip,
			       &insn);
		step(tester);
		freeze_read(tester->child, &after);
		check_step(tester, &before, &after, insn.flow);
		check_load(tester, &before, &after, &insn);
		tester->refused += insn.refusal != X86_OK;
		before = after;
	}
	step(tester);
	return shared->result;
}

static char *fill(const struct function *function, unsigned int offset,
		  struct rng *rng)
{
	char *string = shared->arena + AT + offset;

	for (int i = 0; i < ARENA; i++)
		shared->arena[i] = (char)('k' + rng_below(rng, 8));
	if (function->wide)
		memcpy(string, L"abc\0", 16);
	else
		memcpy(string, "abcdefghij\0\0", SIZE);
	return string;
}

static void ask(struct tester *tester, const char *start, uint64_t count)
{
	tester->asked_start = (uintptr_t)start;
	tester->asked_size = count;
	tester->loads = tester->none = tester->some = tester->unknown = 0;
	tester->refused = 0;
}

static void scramble(struct rng *rng, char *at, size_t count)
{
	for (size_t i = 0; i < count; i++)
		at[i] = (char)rng_below(rng, 256);
}

/*
 * Without SSE4.2 these look up four bytes at a time in a table, and only then
 * whether one is the terminator: an address made of a byte is a use of it.
 */
static bool looks_up_bytes(const struct function *function)
{
	const char *tunables = getenv("GLIBC_TUNABLES");

	return tunables && strstr(tunables, "-SSE4_2") &&
	       (function->call == f_strspn || function->call == f_strcspn ||
		function->call == f_strpbrk);
}

static void check_beside(struct tester *tester, int function,
			 unsigned int offset, struct rng *rng, bool behind)
{
	const struct function *what = &functions[function];
	char *string = fill(what, offset, rng);
	unsigned int length = what->wide ? 16 : SIZE;
	size_t first, second;

	ask(tester, behind ? string + length : string - 4, 4);
	first = call(tester, function, string, false);
	if (tester->some + tester->unknown > 0 && !looks_up_bytes(what)) {
		print_error("%s, offset %u, %s: %u used, %u not known\n",
			    what->name, offset, behind ? "behind" : "before",
			    tester->some, tester->unknown);
		tell_step(tester, tester->load, "the load");
		tell_step(tester, tester->where, "the answer was given");
		tester->strange++;
	}
	for (int i = 0; i < 8; i++) {
		scramble(rng, behind ? string + length : string - 4, 4);
		second = call(tester, function, string, true);
		assert_int_equal(first, second);
	}
}

/* The letter in the middle is looked at by all of them. */
static void check_inside(struct tester *tester, int function,
			 unsigned int offset, struct rng *rng)
{
	const struct function *what = &functions[function];
	char *string = fill(what, offset, rng);

	ask(tester, string + (what->wide ? 4 : 1), 1);
	call(tester, function, string, false);
	if (tester->some + tester->refused == 0) {
		print_error("%s, offset %u: a letter is not used\n", what->name,
			    offset);
		tell_step(tester, tester->load, "the load");
		tester->strange++;
	}
}

/*
 * Any bytes: where no load uses them they do not change what the function gives
 * back.
 */
static void check_any(struct tester *tester, int function, unsigned int offset,
		      struct rng *rng)
{
	char *string = fill(&functions[function], offset, rng);
	char *at = string - 8 + rng_below(rng, 40);
	size_t count = 1 + rng_below(rng, 6), first;

	ask(tester, at, count);
	first = call(tester, function, string, false);
	if (tester->some + tester->unknown + tester->refused > 0)
		return;
	for (int i = 0; i < 16; i++) {
		size_t second;

		scramble(rng, at, count);
		second = call(tester, function, string, true);
		if (first == second)
			continue;
		print_error("%s, offset %u, %zu bytes at %td: not used, but "
			    "%zx becomes %zx\n",
			    functions[function].name, offset, count,
			    at - string, first, second);
		tell_step(tester, tester->load, "the load");
		tester->strange++;
		return;
	}
}

/* In a process whose C library has chosen its variants. */
static void run_all(void **state)
{
	static const unsigned int offsets[] = {
		4, 8, 20, 52, 3056, 3060, 3066
	};
	struct tester tester = { 0 };
	size_t places = 0, left_out = 0;
	struct rng rng;
	int status;

	(void)state;
	rng_init(&rng, 1);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	assert_null(decoder_create(&tester.decoder));
	tester.child = fork();
	if (tester.child == 0)
		child();
	assert_int_equal(waitpid(tester.child, &status, 0), tester.child);
	assert_true(WIFSTOPPED(status));
	for (int i = 0; i < FUNCTIONS; i++) {
		/* the loader resolves it */
		call(&tester, i, fill(&functions[i], 4, &rng), true);
		for (size_t j = 0; j < sizeof(offsets) / sizeof(offsets[0]);
		     j++) {
			if (functions[i].wide && offsets[j] % 4 != 0)
				continue;
			places++;
			if (!turn_has((size_t)i + j, 2)) {
				left_out++;
				continue;
			}
			check_beside(&tester, i, offsets[j], &rng, true);
			check_beside(&tester, i, offsets[j], &rng, false);
			check_inside(&tester, i, offsets[j], &rng);
			check_any(&tester, i, offsets[j], &rng);
			check_any(&tester, i, offsets[j], &rng);
		}
	}
	kill(tester.child, SIGKILL);
	waitpid(tester.child, &status, 0);
	decoder_destroy(tester.decoder);
	munmap(shared, sizeof(*shared));
	print_message("%u instructions\n", tester.steps);
	turn_tell(left_out, places);
	assert_int_equal(tester.unlike, 0);
	assert_int_equal(tester.strange, 0);
	assert_true(tester.steps > 1000);
}

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif

#ifndef SANITIZED
/* The variants of glibc (GLIBC_TUNABLES, since 2.33). */
static void run_variant(const char *tunables)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		setenv("GLIBC_TUNABLES", tunables, 1);
		/* what it prints is no part of our plan */
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/proc/self/exe", "test_uses", "alone", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void agrees_with_best_variants(void **state)
{
	(void)state;
	run_variant("");
}

static void agrees_with_avx2_variants(void **state)
{
	(void)state;
	run_variant("glibc.cpu.hwcaps=-AVX512VL");
}

static void agrees_with_sse42_variants(void **state)
{
	(void)state;
	run_variant("glibc.cpu.hwcaps=-AVX512VL,-AVX2");
}

static void agrees_with_sse2_variants(void **state)
{
	(void)state;
	run_variant("glibc.cpu.hwcaps="
		    "-AVX512VL,-AVX2,-SSE4_2,-SSE4_1,-SSSE3");
}

#endif

/* Code at a fixed address, and a pointer that it loads. */
enum { CODE_AT = 0x10000, POINTER_AT = 0x20000, CODE_SIZE = 16 };

static size_t fixed_code(void *context, uint64_t address, uint8_t *bytes,
			 size_t count)
{
	const uint8_t *code = context;
	size_t left = address - CODE_AT < CODE_SIZE
			      ? CODE_SIZE - (address - CODE_AT)
			      : 0;

	if (left < count)
		count = left;
	memcpy(bytes, code + (CODE_SIZE - left), count);
	return count;
}

static bool no_memory(void *context, uint64_t address, uint8_t *bytes,
		      size_t count)
{
	(void)context;
	(void)address;
	(void)bytes;
	(void)count;
	return false;
}

/*
 * What becomes of the pointer at (%rdi) that the first instruction loads; ecx is
 * 32, all else zero.
 */
static enum uses_answer answer_to(uint8_t code[CODE_SIZE])
{
	struct x86_registers regs = { .rip = CODE_AT };
	struct x86_vectors vectors = { .known = true };
	struct uses_thread thread = { .regs = &regs,
				      .vectors = &vectors,
				      .code = fixed_code,
				      .memory = no_memory,
				      .context = code };
	struct uses_question question = {
		.address = CODE_AT,
		.access = { .kind = ACCESS_READ,
			    .address = POINTER_AT,
			    .size = 8 },
		.asked = 0xff,
	};
	enum uses_answer answer;

	regs.gpr[X86_RDI] = POINTER_AT;
	regs.gpr[X86_RCX] = 32;
	assert_null(decoder_create(&thread.decoder));
	answer = uses_find(&thread, &question, NULL);
	decoder_destroy(thread.decoder);
	return answer;
}

static void who_calls_through_it_uses_it(void **state)
{
	/* call *(%rdi); ret */
	uint8_t by_memory[CODE_SIZE] = { 0xff, 0x17, 0xc3 };
	/* mov (%rdi), %rax; call *%rax; ret */
	uint8_t by_register[CODE_SIZE] = { 0x48, 0x8b, 0x07, 0xff, 0xd0, 0xc3 };
	/* mov (%rdi), %rax; xor %eax, %eax; ret */
	uint8_t overwritten[CODE_SIZE] = { 0x48, 0x8b, 0x07, 0x31, 0xc0, 0xc3 };

	(void)state;
	assert_int_equal(answer_to(by_memory), USES_SOME);
	assert_int_equal(answer_to(by_register), USES_SOME);
	assert_int_equal(answer_to(overwritten), USES_NONE);
}

static void lowest_and_highest_hide_the_other(void **state)
{
	/* movq (%rdi), %xmm0; pxor %xmm1, %xmm1; pminub %xmm1, %xmm0; ret */
	uint8_t lowest[CODE_SIZE] = { 0xf3, 0x0f, 0x7e, 0x07, 0x66, 0x0f, 0xef,
				      0xc9, 0x66, 0x0f, 0xda, 0xc1, 0xc3 };
	/* the same with pcmpeqd %xmm1, %xmm1; pmaxub %xmm1, %xmm0 */
	uint8_t highest[CODE_SIZE] = { 0xf3, 0x0f, 0x7e, 0x07, 0x66, 0x0f, 0x76,
				       0xc9, 0x66, 0x0f, 0xde, 0xc1, 0xc3 };
	/* and with pxor %xmm1, %xmm1; pmaxub %xmm1, %xmm0 */
	uint8_t open[CODE_SIZE] = { 0xf3, 0x0f, 0x7e, 0x07, 0x66, 0x0f, 0xef,
				    0xc9, 0x66, 0x0f, 0xde, 0xc1, 0xc3 };

	(void)state;
	assert_int_equal(answer_to(lowest), USES_NONE);
	assert_int_equal(answer_to(highest), USES_NONE);
	assert_int_not_equal(answer_to(open), USES_NONE);
}

/* Each loads rax, and leaves it or makes it zero by a flag. */
static void bmi_flags_are_as_defined(void **state)
{
	/* mov (%rdi), %rax; blsr %ecx, %ecx; jp 1f; ret; 1: xor %eax, %eax; ret */
	uint8_t parity[CODE_SIZE] = {
		0x48, 0x8b, 0x07, 0xc4, 0xe2, 0x70, 0xf3,
		0xc9, 0x7a, 0x01, 0xc3, 0x31, 0xc0, 0xc3
	};
	/* the same with bzhi %ecx, %edx, %edx; jc 1f */
	uint8_t carry[CODE_SIZE] = { 0x48, 0x8b, 0x07, 0xc4, 0xe2, 0x70, 0xf5,
				     0xd2, 0x72, 0x01, 0xc3, 0x31, 0xc0, 0xc3 };

	(void)state;
	/* the processor may take either way */
	assert_int_not_equal(answer_to(parity), USES_NONE);
	/* bit 32 is above the operand: it always jumps */
	assert_int_equal(answer_to(carry), USES_NONE);
	parity[7] = 0xd1; /* blsmsk %ecx, %ecx */
	assert_int_not_equal(answer_to(parity), USES_NONE);
	parity[6] = 0xf5; /* bzhi %ecx, %edx, %edx */
	parity[7] = 0xd2;
	assert_int_not_equal(answer_to(parity), USES_NONE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest alone[] = { cmocka_unit_test(run_all) };
	const struct CMUnitTest tests[] = {
/* AddressSanitizer puts functions of its own in the place of glibc's */
#ifndef SANITIZED
		cmocka_unit_test(agrees_with_best_variants),
		cmocka_unit_test(agrees_with_avx2_variants),
		cmocka_unit_test(agrees_with_sse42_variants),
		cmocka_unit_test(agrees_with_sse2_variants),
#endif
		cmocka_unit_test(who_calls_through_it_uses_it),
		cmocka_unit_test(lowest_and_highest_hide_the_other),
		cmocka_unit_test(bmi_flags_are_as_defined),
	};

	(void)argv;
	if (argc > 1)
		return cmocka_run_group_tests(alone, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
