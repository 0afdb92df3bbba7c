/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decoder and the effective addresses against hand-written tables: every
 * tests/decode/NAME.tab. A line is
 *
 *	bytes | registers | what is expected  # instruction
 *
 * bytes and register values in hexadecimal (registers not named are 0; fs and
 * gs are the segment bases), and expected, joined by "; ", any of
 *
 *	read|write|rmw SIZE @ADDRESS	an access, in the order of the operands
 *	stack read|write SIZE @ADDRESS	an implicit stack slot
 *	none				no operand at all
 *	sync				lock or xchg
 *	branch|jump|call|ret|stop	flow, with " @TARGET" if it is direct
 *	refused NAME
 *
 * Everything else is expected to be absent. All bytes of the line belong to
 * the instruction.
 */
#include <ctype.h>
#include <glob.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "refusal-name.h"
#include "x86/decode.h"
#include "x86/effective.h"

enum { LINE_MAX_BYTES = 512, TEXT_MAX = 256 };

struct golden {
	uint8_t bytes[X86_INSN_MAX];
	size_t size;
	struct x86_registers regs;
	char expected[TEXT_MAX];
};

static uint64_t *find_register(struct x86_registers *regs, const char *name)
{
	static const char *const names[16] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
		"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
	};

	for (int i = 0; i < 16; i++) {
		if (strcmp(name, names[i]) == 0)
			return &regs->gpr[i];
	}
	if (strcmp(name, "rip") == 0)
		return &regs->rip;
	if (strcmp(name, "rflags") == 0)
		return &regs->rflags;
	if (strcmp(name, "fs") == 0)
		return &regs->fs_base;
	return strcmp(name, "gs") == 0 ? &regs->gs_base : NULL;
}

/* Cut blanks off both ends, in place. */
static char *trim(char *text)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

static bool parse_bytes(char *text, struct golden *ret)
{
	char *save;

	ret->size = 0;
	for (char *word = strtok_r(text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		if (ret->size == X86_INSN_MAX)
			return false;
		ret->bytes[ret->size++] = (uint8_t)strtoul(word, NULL, 16);
	}
	return ret->size > 0;
}

static bool parse_registers(char *text, struct golden *ret)
{
	char *save;

	memset(&ret->regs, 0, sizeof(ret->regs));
	for (char *word = strtok_r(text, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');
		uint64_t *reg;

		if (!equals)
			return false;
		*equals = '\0';
		reg = find_register(&ret->regs, word);
		if (!reg)
			return false;
		*reg = strtoull(equals + 1, NULL, 16);
	}
	return true;
}

static bool parse_line(char *line, struct golden *ret)
{
	char *comment = strchr(line, '#');
	char *registers;
	char *expected;

	if (comment)
		*comment = '\0';
	registers = strchr(line, '|');
	if (!registers)
		return false;
	*registers++ = '\0';
	expected = strchr(registers, '|');
	if (!expected)
		return false;
	*expected++ = '\0';
	snprintf(ret->expected, sizeof(ret->expected), "%s", trim(expected));
	return parse_bytes(line, ret) && parse_registers(registers, ret);
}

/* Append "; " and more to what there is. */
__attribute__((format(printf, 2, 3))) static void add(char *text,
						      const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	if (used != 0)
		used += (size_t)snprintf(text + used, TEXT_MAX - used, "; ");
	va_start(args, format);
	vsnprintf(text + used, TEXT_MAX - used, format, args);
	va_end(args);
}

static const char *kind_name(uint8_t kind)
{
	static const char *const names[] = { "nothing", "read", "write",
					     "rmw" };

	return kind <= ACCESS_RMW ? names[kind] : "?";
}

static void add_accesses(char *text, const struct insn_access *insn,
			 const struct x86_registers *regs)
{
	struct mem_access accesses[X86_OPERANDS_MAX];
	int count = effective_accesses(insn, regs, accesses);

	for (int i = 0; i < count; i++)
		add(text, "%s %u @%llx", kind_name(accesses[i].kind),
		    accesses[i].size, (unsigned long long)accesses[i].address);
	for (int i = 0; i < insn->operand_count; i++) {
		const struct mem_operand *operand = &insn->operands[i];
		uint64_t address = effective_address(insn, operand, regs);

		if (!operand->stack)
			continue;
		add(text, "stack %s %u @%llx", kind_name(operand->kind),
		    operand->size, (unsigned long long)address);
		count++;
	}
	if (insn->synchronizes)
		add(text, "sync");
}

/* What the decoder finds, in the words of the tables. */
static void describe(const struct insn_access *insn,
		     const struct x86_registers *regs, char *text)
{
	static const char *const flows[] = { "next", "branch", "jump",
					     "call", "ret",    "stop" };

	text[0] = '\0';
	if (insn->refusal != X86_OK) {
		add(text, "refused %s",
		    refusal_name((enum x86_refusal)insn->refusal));
		return;
	}
	add_accesses(text, insn, regs);
	if (insn->target != 0)
		add(text, "%s @%llx", flows[insn->flow],
		    (unsigned long long)insn->target);
	else if (insn->flow != X86_FLOW_NEXT)
		add(text, "%s", flows[insn->flow]);
	if (text[0] == '\0')
		add(text, "none");
}

static bool check_line(struct decoder *decoder, struct golden *golden,
		       const char *path, int number)
{
	struct insn_access insn;
	char found[TEXT_MAX];
	/* an undecodable one may be of any length */
	bool whole;

	decoder_decode(decoder, golden->bytes, golden->size, golden->regs.rip,
		       &insn);
	describe(&insn, &golden->regs, found);
	whole = insn.length == golden->size ||
		insn.refusal == X86_REFUSED_UNDECODABLE;
	if (strcmp(found, golden->expected) == 0 && whole)
		return true;
	printf("# %s:%d: expected %zu bytes, %s\n", path, number, golden->size,
	       golden->expected);
	printf("# %s:%d: found    %d bytes, %s\n", path, number, insn.length,
	       found);
	return false;
}

static bool check_table(struct decoder *decoder, const char *path, int test)
{
	char line[LINE_MAX_BYTES];
	FILE *file = fopen(path, "re");
	bool good = file != NULL;
	int checked = 0;

	for (int number = 1; file && fgets(line, sizeof(line), file);
	     number++) {
		struct golden golden;

		if (line[0] == '#' || *trim(line) == '\0')
			continue;
		if (!parse_line(line, &golden)) {
			printf("# %s:%d: cannot be read\n", path, number);
			good = false;
			continue;
		}
		good &= check_line(decoder, &golden, path, number);
		checked++;
	}
	if (file)
		fclose(file);
	good &= checked > 0;
	printf("%s %d - %s: %d lines\n", good ? "ok" : "not ok", test, path,
	       checked);
	return good;
}

int main(int argc, char **argv)
{
	const char *source = getenv("abs_top_srcdir");
	char pattern[4096];
	struct decoder *decoder;
	struct error *err = decoder_create(&decoder);
	glob_t found = { .gl_pathc = 0 };
	bool good;

	if (err) {
		printf("Bail out! %s\n", error_message(err));
		error_free(err);
		return 99;
	}
	snprintf(pattern, sizeof(pattern), "%s/tests/decode/*.tab",
		 argc > 1 ? argv[1]
		 : source ? source
			  : ".");
	good = glob(pattern, 0, NULL, &found) == 0;
	printf("1..%zu\n", found.gl_pathc);
	for (size_t i = 0; i < found.gl_pathc; i++)
		good &= check_table(decoder, found.gl_pathv[i], (int)i + 1);
	globfree(&found);
	decoder_destroy(decoder);
	return good ? 0 : 1;
}
