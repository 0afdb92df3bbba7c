/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies of instructions: each is executed at its own address and at another one,
 * and leaves the same registers, flags and memory. What cannot be copied is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "x86/decode.h"
#include "x86/effective.h"
#include "x86/relocate.h"

enum { DATA = 256, PAGE = 4096, VECTOR = 64, VECTORS = 4, FLAGS = 0x8d5 };

/* What an instruction is executed with, and what it leaves. */
struct machine {
	uint64_t gpr[16];
	uint64_t flags;
	uint64_t top; /* of its stack: what is pushed */
	_Alignas(64) uint8_t vectors[VECTORS][VECTOR];
};

/* The operand of all that are relative to rip; others get it by registers. */
_Alignas(64) uint8_t form_data[DATA];
struct machine *form_machine;
uint64_t form_stack;
int form_wide; /* 0: xmm, 1: ymm, 2: zmm */

#define GPR(n, name) "movq " #n "*8(%rax), %" #name "\n"
#define GPR_BACK(n, name) "movq %" #name ", " #n "*8(%rax)\n"
#define EACH_VECTOR(insn, reg)                                             \
	insn " 192(%rax), %" reg "0\n" insn " 256(%rax), %" reg "1\n" insn \
	     " 320(%rax), %" reg "2\n" insn " 384(%rax), %" reg "3\n"
#define EACH_VECTOR_BACK(insn, reg)                                        \
	insn " %" reg "0, 192(%rax)\n" insn " %" reg "1, 256(%rax)\n" insn \
	     " %" reg "2, 320(%rax)\n" insn " %" reg "3, 384(%rax)\n"

_Static_assert(offsetof(struct machine, vectors) == 192, "as in the code");

/*
 * form_run(address): with the registers of form_machine; the instruction there is
 * followed by a jump to form_over. rsp: 512 bytes below the caller's.
 */
void form_run(const void *address);
__asm__(".pushsection .text\n"
	"form_run:\n"
	"pushq %rbx\npushq %rbp\npushq %r12\npushq %r13\npushq %r14\n"
	"pushq %r15\n"
	"movq %rsp, form_stack(%rip)\n"
	"subq $512, %rsp\n"
	"movq $0, (%rsp)\nmovq $0, 8(%rsp)\n"
	"movq %rdi, form_address(%rip)\n"
	"movq form_machine(%rip), %rax\n"
	"movq %rsp, 32(%rax)\n"
	"cmpl $1, form_wide(%rip)\n"
	"je 1f\n"
	"ja 2f\n" EACH_VECTOR(
		"movdqu",
		"xmm") "jmp 3f\n"
		       "1:\n" EACH_VECTOR(
			       "vmovdqu",
			       "ymm") "jmp 3f\n"
				      "2:\n" EACH_VECTOR("vmovdqu64", "zmm") "3: pushq 128(%rax)\npopfq\n" GPR(
					      1,
					      rcx) GPR(2,
						       rdx) GPR(3,
								rbx) GPR(5,
									 rbp) GPR(6,
										  rsi)
					      GPR(7, rdi) GPR(8, r8) GPR(9, r9) GPR(10, r10) GPR(
						      11,
						      r11) GPR(12,
							       r12) GPR(13,
									r13) GPR(14,
										 r14) GPR(15,
											  r15)
						      GPR(0,
							  rax) "jmp *form_address(%rip)\n"
							       "form_over:\n"
							       "movq %rax, form_rax(%rip)\n"
							       "movq %rsp, form_rsp(%rip)\n"
							       "pushfq\n"
							       "popq form_flags(%rip)\n"
							       "pushq (%rsp)\n"
							       "popq form_top(%rip)\n"
							       "movq form_machine(%rip), %rax\n" GPR_BACK(
								       1,
								       rcx) GPR_BACK(2,
										     rdx) GPR_BACK(3, rbx)
								       GPR_BACK(5, rbp) GPR_BACK(6, rsi) GPR_BACK(
									       7,
									       rdi) GPR_BACK(8,
											     r8) GPR_BACK(9, r9)
									       GPR_BACK(10, r10) GPR_BACK(11, r11) GPR_BACK(
										       12,
										       r12) GPR_BACK(13,
												     r13)
										       GPR_BACK(14, r14) GPR_BACK(
											       15,
											       r15) "movq form_rax(%rip), %rcx\nmovq %rcx, (%rax)\n"
												    "movq form_rsp(%rip), %rcx\nmovq %rcx, 32(%rax)\n"
												    "movq form_flags(%rip), %rcx\nmovq %rcx, 128(%rax)\n"
												    "movq form_top(%rip), %rcx\nmovq %rcx, 136(%rax)\n"
												    "cmpl $1, form_wide(%rip)\n"
												    "je 1f\n"
												    "ja 2f\n" EACH_VECTOR_BACK(
													    "movdqu",
													    "xmm") "jmp 3f\n"
														   "1:\n" EACH_VECTOR_BACK(
															   "vmovdqu",
															   "ymm") "vzeroupper\n"
																  "jmp 3f\n"
																  "2:\n" EACH_VECTOR_BACK(
																	  "vmovdqu64",
																	  "zmm") "vzeroupper\n"
																		 "3: cld\n"
																		 "movq form_stack(%rip), %rsp\n"
																		 "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbp\npopq %rbx\n"
																		 "ret\n"
																		 ".popsection\n"
																		 ".pushsection .bss\n"
																		 ".balign 8\n"
																		 "form_address: .skip 8\n"
																		 "form_rax: .skip 8\n"
																		 "form_rsp: .skip 8\n"
																		 "form_flags: .skip 8\n"
																		 "form_top: .skip 8\n"
																		 ".popsection\n");

/* The instructions, each followed by a jump, and a table of them. */
#define FORM(wide, text)                               \
	".pushsection .text\n"                         \
	"771: " text "\njmp form_over\n"               \
	".popsection\n"                                \
	".pushsection form_table, \"aw\"\n.balign 8\n" \
	".quad 771b, " #wide "\n"                      \
	".popsection\n"
#define NARROW(text) FORM(0, text)

struct form {
	const uint8_t *code;
	uint64_t wide;
};

extern const struct form form_first[], form_end[];

__asm__(".pushsection form_table, \"aw\"\n.balign 8\nform_first:\n"
	".popsection\n"
	/* relative to rip: moves, with immediates of all sizes behind it */
	NARROW("movq %rbx, form_data(%rip)") NARROW("movl %r9d, form_data(%rip)") NARROW(
		"movw %r9w, form_data+2(%rip)") NARROW("movb %sil, form_data+3(%rip)")
		NARROW("movb %ah, form_data+3(%rip)") NARROW(
			"movb $7, form_data(%rip)") NARROW("movw $0x1234, form_data+2(%rip)")
			NARROW("movl $0x12345678, form_data+4(%rip)") NARROW(
				"movq $-5, form_data+8(%rip)") NARROW("movq form_data(%rip), %r9")
				NARROW("movl form_data(%rip), %eax") NARROW(
					"movzbl form_data(%rip), %r15d")
					NARROW("movswq form_data(%rip), %rcx") NARROW(
						"movslq form_data(%rip), %rdx")
						NARROW("movbe form_data(%rip), %rdx")
							NARROW("leaq form_data(%rip), %r12")
	/* and arithmetic */
	NARROW("addq %r10, form_data(%rip)") NARROW("adcb form_data(%rip), %dl") NARROW(
		"subl $1, form_data(%rip)") NARROW("subl $0x12345, form_data(%rip)") NARROW("cmpb $1, form_data+5(%rip)")
		NARROW("testl $0x7f000000, form_data(%rip)") NARROW("testb $3, form_data(%rip)") NARROW(
			"notq form_data(%rip)") NARROW("negw form_data(%rip)") NARROW("mulq form_data(%rip)")
			NARROW("incb form_data(%rip)") NARROW("decq form_data(%rip)") NARROW(
				"imull $1000, form_data(%rip), %r11d") NARROW("imulq $5, form_data(%rip), %rbp")
				NARROW("imulq form_data(%rip), %rbp") NARROW("shll $3, form_data(%rip)") NARROW(
					"sarq form_data(%rip)") NARROW("rolw %cl, form_data(%rip)")
					NARROW("shldq $9, %rdx, form_data(%rip)") NARROW(
						"btsl $3, form_data(%rip)") NARROW("btcq %rcx, form_data+64(%rip)")
						NARROW("bsrq form_data(%rip), %rdi") NARROW(
							"popcntq form_data(%rip), %rdi")
							NARROW("crc32q form_data(%rip), %rdi") NARROW(
								"cmovneq form_data(%rip), %rdi")
								NARROW("setbe form_data(%rip)")
									NARROW("pushq form_data(%rip)")
										NARROW("popq form_data(%rip)")
	/* atomic ones */
	NARROW("lock incl form_data(%rip)") NARROW(
		"lock addq $0x1234567, form_data(%rip)")
		NARROW("lock xaddq %r13, form_data(%rip)") NARROW(
			"lock cmpxchgl %r13d, form_data(%rip)")
			NARROW("lock cmpxchg16b form_data(%rip)") NARROW(
				"lock btrq $63, form_data(%rip)")
				NARROW("xchgq %r8, form_data(%rip)") NARROW(
					"xacquire lock orb $1, form_data(%rip)")
	/* vectors */
	NARROW("movaps %xmm1, form_data(%rip)") NARROW("movdqu form_data+1(%rip), %xmm2") NARROW(
		"movsd form_data(%rip), %xmm3") NARROW("movq %xmm1, form_data(%rip)") NARROW("addpd form_data(%rip), %xmm1")
		NARROW("cvtsi2sdq form_data(%rip), %xmm1") NARROW("pshufd $27, form_data(%rip), %xmm1") NARROW(
			"shufps $27, form_data(%rip), %xmm1") NARROW("cmpps $2, form_data(%rip), %xmm1")
			NARROW("pinsrw $3, form_data(%rip), %xmm1") NARROW("palignr $5, form_data(%rip), %xmm1") NARROW(
				"pshufb form_data(%rip), %xmm1") NARROW("pextrq $1, %xmm2, form_data(%rip)")
				NARROW("pcmpistri $0, form_data(%rip), %xmm2") NARROW("movntdq %xmm2, form_data(%rip)") NARROW(
					"stmxcsr form_data(%rip)") NARROW("prefetcht0 form_data(%rip)")
					NARROW("nopl form_data(%rip)") FORM(1, "vmovdqu %ymm1, form_data(%rip)") FORM(
						1,
						"vmovdqa form_data(%rip), %xmm2") FORM(1,
										       "vpaddd form_data(%rip), %ymm1, %ymm2")
						FORM(1, "vpshufd $27, form_data(%rip), %ymm3") FORM(
							1,
							"vpalignr $5, form_data(%rip), %ymm1, %ymm2") FORM(1, "vpblendvb %ymm1, form_data(%rip), %ymm2, %ymm3")
							FORM(1, "vinserti128 $1, form_data(%rip), %ymm2, %ymm3") FORM(
								1,
								"vbroadcastss form_data(%rip), %ymm3")
								FORM(1, "vextracti128 $1, %ymm2, form_data(%rip)") FORM(
									1,
									"vzeroupper") FORM(2, "vmovdqu64 %zmm1, form_data(%rip)")
									FORM(2, "vmovdqu64 %zmm1, form_data+64(%rip)") FORM(
										2,
										"vmovdqa32 form_data+64(%rip), %zmm2")
										FORM(2, "vpaddd form_data(%rip){1to16}, %zmm1, %zmm2") FORM(
											2,
											"vpternlogd $0x96, form_data(%rip), %zmm1, %zmm2")
											FORM(2,
											     "vpternlogd $0x96, form_data+4(%rip){1to8}, %ymm1, %ymm2")
												FORM(2,
												     "vextracti64x4 $1, %zmm2, form_data(%rip)")
	/* by registers: rsi and rdi are of form_data, rcx is 5 */
	NARROW("movq 8(%rsi), %rax") NARROW("movl %edx, 200(%rdi)") NARROW(
		"movb %dl, (%rdi,%rcx,4)") NARROW("movq %fs:0, %rax")
		NARROW("addq $7, -8(%rsp)") NARROW("pushq %rax") NARROW(
			"pushq $-3") NARROW("popq %rdx") NARROW("pushfq")
			NARROW("leal 5(%esi,%ecx,2), %eax") NARROW("movl $5, %eax") NARROW(
				"movabsq $0x1234567890abcdef, %rax") NARROW("xlatb")
				NARROW("cqo") NARROW("bswapq %r9") NARROW(
					"endbr64") NARROW("mfence") NARROW("xorl %eax, %eax")
					NARROW("movdqu 16(%rsi), %xmm1") FORM(
						1,
						"vpmaskmovd %ymm1, %ymm2, (%rdi)")
						FORM(1,
						     "vpgatherdd %xmm3, (%rsi,%xmm0,1), %xmm2")
	/* strings, repeated and not */
	NARROW("movsb") NARROW("movsq") NARROW("rep movsb") NARROW(
		"rep movsl") NARROW("rep stosq") NARROW("repe cmpsb")
		NARROW("repne scasb") NARROW(
			"lodsw") "\n.pushsection form_table, \"aw\"\nform_end:\n.popsection\n");

static uint8_t *area; /* a page that can be executed, near the code */
static struct decoder *decoder;

static int set_up(void **state)
{
	uint64_t near = ((uintptr_t)form_run & ~UINT64_C(0xfff)) - (64 << 20);

	(void)state;
	area = mmap((void *)(uintptr_t)near, PAGE,
		    PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(area, MAP_FAILED);
	assert_null(decoder_create(&decoder));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	decoder_destroy(decoder);
	munmap(area, PAGE);
	return 0;
}

static struct insn_access decode(const uint8_t *code)
{
	struct insn_access insn;

	decoder_decode(decoder, code, X86_INSN_MAX, (uintptr_t)code, &insn);
	return insn;
}

static void prepare(struct machine *machine)
{
	memset(machine, 0, sizeof(*machine));
	for (size_t i = 0; i < 16; i++)
		machine->gpr[i] = 0x1122334455667788 * (i + 3);
	for (size_t i = 0; i < DATA; i++)
		form_data[i] = (uint8_t)(i * 37 + 1);
	machine->gpr[X86_RCX] = 5;
	machine->gpr[X86_RBX] = (uintptr_t)form_data;
	machine->gpr[X86_RSI] = (uintptr_t)form_data;
	machine->gpr[X86_RDI] = (uintptr_t)form_data + 96;
	machine->flags = 0x202;
	for (size_t i = 0; i < VECTORS * VECTOR; i++)
		((uint8_t *)machine->vectors)[i] = (uint8_t)(i * 11 + 3);
	/* the indices of a gather */
	for (size_t i = 0; i < VECTOR; i++)
		machine->vectors[0][i] = i % 4 == 0 ? (uint8_t)i : 0;
}

static void execute(const void *address, int wide, struct machine *machine,
		    uint8_t data[DATA])
{
	prepare(machine);
	form_machine = machine;
	form_wide = wide;
	form_run(address);
	machine->flags &= FLAGS;
	memcpy(data, form_data, DATA);
}

static int widest(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512vl"))
		return 2;
	return __builtin_cpu_supports("avx2") ? 1 : 0;
}

/* Whoever says another length would have a part of it executed, or more. */
static void lengths_are_true(const struct insn_access *insn,
			     const uint8_t *code)
{
	struct insn_access other = *insn;

	for (other.length = 1; other.length <= X86_INSN_MAX; other.length++) {
		if (other.length != insn->length &&
		    relocate(&other, code, (uintptr_t)code, (uintptr_t)area,
			     area))
			fail_msg("%02x %02x %02x %02x %02x: %d bytes, not %d",
				 code[0], code[1], code[2], code[3], code[4],
				 other.length, insn->length);
	}
}

static void copies_do_what_the_originals_do(void **state)
{
	struct machine machine[2];
	uint8_t data[2][DATA];
	int executed = 0;

	(void)state;
	for (const struct form *form = form_first; form < form_end; form++) {
		struct insn_access insn = decode(form->code);
		int wide = (int)form->wide;

		/* vpmaskmov and gathers are no sites, and copied all the same */
		insn.refusal = X86_OK;
		lengths_are_true(&insn, form->code);
		if (!relocate(&insn, form->code, (uintptr_t)form->code,
			      (uintptr_t)area, area))
			fail_msg("form %td is not copied", form - form_first);
		if (wide > widest())
			continue;
		execute(form->code, wide, &machine[0], data[0]);
		execute(area, wide, &machine[1], data[1]);
		executed++;
		if (memcmp(&machine[0], &machine[1], sizeof(machine[0])) != 0 ||
		    memcmp(data[0], data[1], DATA) != 0)
			fail_msg("the copy of form %td does something else",
				 form - form_first);
	}
	assert_in_range(executed, 100, form_end - form_first);
}

/*
 * All of the test's own text: what the decoder reads of the copy is the same, and
 * its operands are at the same addresses.
 */
static void copies_have_the_same_operands(void **state)
{
	extern const uint8_t etext[];
	struct x86_registers here = { .gpr = { 1, 2, 3, 4, 5 } }, there = here;
	int copied = 0, relative = 0;

	(void)state;
	there.rip = (uintptr_t)area;
	for (const uint8_t *code = (const uint8_t *)(uintptr_t)form_run;
	     code + X86_INSN_MAX < etext; code += decode(code).length) {
		struct insn_access insn = decode(code), copy;

		lengths_are_true(&insn, code);
		if (!relocate(&insn, code, (uintptr_t)code, (uintptr_t)area,
			      area))
			continue;
		copied++;
		copy = decode(area);
		here.rip = (uintptr_t)code;
		assert_int_equal(copy.length, insn.length);
		assert_int_equal(copy.operand_count, insn.operand_count);
		for (int i = 0; i < insn.operand_count; i++) {
			const struct mem_operand *operand = &insn.operands[i];

			relative += operand->base == X86_RIP;
			assert_int_equal(
				effective_address(&copy, &copy.operands[i],
						  &there),
				effective_address(&insn, operand, &here));
			assert_int_equal(copy.operands[i].size, operand->size);
			assert_int_equal(copy.operands[i].kind, operand->kind);
		}
		/* and behind it is the way back */
		copy = decode(area + insn.length);
		assert_int_equal(copy.flow, X86_FLOW_JUMP);
		assert_int_equal(copy.target, (uintptr_t)code + insn.length);
	}
	assert_true(copied > 1000);
	assert_true(relative > 50);
}

#define CODE(...)                                                   \
	{                                                           \
		{ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }) \
	}

static void what_depends_on_its_address_is_not_copied(void **state)
{
	static const struct {
		uint8_t bytes[X86_INSN_MAX];
		size_t size;
	} codes[] = {
		CODE(0xe8, 0, 0, 0, 0), /* call */
		CODE(0xff, 0x15, 0, 0, 0, 0), /* call *0(%rip) */
		CODE(0xff, 0x25, 0, 0, 0, 0), /* jmp *0(%rip) */
		CODE(0xff, 0xd0), /* call *%rax */
		CODE(0xff, 0x18), /* lcall *(%rax) */
		CODE(0xe9, 0, 0, 0, 0), /* jmp */
		CODE(0xeb, 0),
		CODE(0x74, 0), /* je */
		CODE(0x0f, 0x84, 0, 0, 0, 0),
		CODE(0xe2, 0), /* loop */
		CODE(0xe3, 0), /* jrcxz */
		CODE(0xc3), /* ret */
		CODE(0xcf), /* iret */
		CODE(0xcc), /* int3 */
		CODE(0xcd, 0x80), /* int */
		CODE(0xf1), /* icebp */
		CODE(0xf4), /* hlt */
		CODE(0x0f, 0x05), /* syscall */
		CODE(0x0f, 0x34), /* sysenter */
		CODE(0x0f, 0x0b), /* ud2 */
		CODE(0x0f, 0x01, 0xd5), /* xend */
		CODE(0xc7, 0xf8, 0, 0, 0, 0), /* xbegin */
		CODE(0xc6, 0xf8, 0), /* xabort */
		CODE(0xdb, 0x2d, 0, 0, 0, 0), /* fldt 0(%rip) */
		CODE(0xd9, 0x18), /* fstps (%rax) */
		CODE(0x8e, 0x10), /* mov (%rax), %ss */
		CODE(0x67, 0x8b, 0x05, 0, 0, 0, 0), /* mov 0(%eip), %eax */
		CODE(0x8f, 0xe8, 0x78, 0xa2, 0xc1, 0x10), /* XOP */
		CODE(0x0f, 0x0f, 0xc1, 0x9e), /* 3DNow */
		CODE(0x06), /* not valid */
	};
	uint8_t copy[RELOCATE_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct insn_access insn = decode(codes[i].bytes);

		if (relocate(&insn, codes[i].bytes, 0x400000, 0x500000, copy))
			fail_msg("code %zu is copied", i);
		/* nor where the decoder does not say what it does */
		insn = (struct insn_access){ .length = (uint8_t)codes[i].size };
		if (relocate(&insn, codes[i].bytes, 0x400000, 0x500000, copy))
			fail_msg("code %zu is copied by its length", i);
	}
}

static void a_copy_is_not_too_far_away(void **state)
{
	/* mov %eax, 0x7fffff00(%rip), and without rip */
	static const uint8_t relative[X86_INSN_MAX] = { 0x89, 0x05, 0x00,
							0xff, 0xff, 0x7f };
	static const uint8_t other[X86_INSN_MAX] = { 0x89, 0x00 };
	const uint64_t from = UINT64_C(0x555500000000);
	struct insn_access insn = decode(relative);
	uint8_t copy[RELOCATE_SIZE];
	int32_t displacement;

	(void)state;
	assert_true(relocate(&insn, relative, from, from + 0x1000, copy));
	memcpy(&displacement, copy + 2, sizeof(displacement));
	assert_int_equal(displacement, 0x7fffff00 - 0x1000);
	assert_true(relocate(&insn, relative, from, from - 0xf0, copy));
	assert_false(relocate(&insn, relative, from, from - 0x1000, copy));
	insn = decode(other);
	assert_true(relocate(&insn, other, from, from - 0x1000, copy));
	assert_true(relocate(&insn, other, from, from - 0x7fffff00, copy));
	assert_false(relocate(&insn, other, from, from - 0x80000010, copy));
	assert_false(relocate(&insn, other, from, from + 0x80000010, copy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_do_what_the_originals_do),
		cmocka_unit_test(copies_have_the_same_operands),
		cmocka_unit_test(what_depends_on_its_address_is_not_copied),
		cmocka_unit_test(a_copy_is_not_too_far_away),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
