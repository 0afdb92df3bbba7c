/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why an instruction is sampled or left out: every exclusion is a named rule,
 * so that it can be counted, listed, and switched off. The same rules are
 * applied to the instructions of a conflict: some of them mean "this is
 * synchronization".
 */
#ifndef SAMPLING_RULES_H
#define SAMPLING_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "sampling/glob.h"
#include "x86/access.h"

struct elf_function;
struct image;
struct module;

enum rule {
	RULE_SITE, /* may be sampled */
	RULE_NO_ACCESS, /* touches no memory, or only computes an address */
	RULE_IMPLICIT_STACK, /* push, pop, call, ret */
	RULE_STACK, /* through rsp */
	RULE_FRAME_POINTER, /* through rbp where it is the frame pointer */
	RULE_SEGMENT, /* fs or gs: thread-local */
	RULE_READ_ONLY, /* at a fixed address in memory nobody writes */
	RULE_SYNCHRONIZING, /* lock prefix, or xchg with memory */
	RULE_ATOMIC_CODE, /* body of an atomic operation, by debug information */
	RULE_ATOMIC_TYPE, /* the variable is _Atomic or std::atomic */
	RULE_GUARD, /* guard variable of a C++ static local */
	RULE_GO_CHECK, /* Go's, of a pointer for nil, of the stack for room */
	RULE_PLT, /* procedure linkage stub: the loader writes its slot */
	RULE_RSEQ, /* restartable sequence */
	RULE_MODULE, /* in a module left out by default */
	/* the same, linked statically, or another library's lock: by name */
	RULE_RUNTIME,
	/*
	 * A processor-specific variant of a string function of libc's, which
	 * is not the one chosen here, as far as is known.
	 */
	RULE_VARIANT,
	RULE_GLOB, /* --exclude */
	RULE_AFTER_UNDECODABLE, /* where instructions start is not certain */
	RULE_REFUSED, /* + enum x86_refusal: the decoder's refusals by name */
	RULES = RULE_REFUSED + X86_REFUSALS,
};

/* "stack", "read-only", "refused-gather", ... */
const char *rule_name(enum rule rule);

/* A conflict with such an instruction or datum is synchronization. */
bool rule_is_synchronization(enum rule rule);

struct rules {
	struct globs globs;
	bool include_stack; /* RULE_STACK and RULE_FRAME_POINTER are off */
};

/* Which part of a module is sampled by default. */
enum module_part {
	PART_ALL, /* but locks known by name */
	PART_NONE, /* loader, vDSO, threading and unwinding runtimes */
	PART_STRINGS, /* libc: its mem*, str* and wcs* functions only */
	PART_NAMED, /* a static program: all but the runtime's known names */
};

enum module_part rules_module_part(const struct module *module);

/*
 * The i-th pattern (fnmatch(3)) of the names of runtime modules, and which part
 * of them is sampled; NULL behind the last one.
 */
const char *rules_runtime(size_t i, enum module_part *ret);

/*
 * Is it the program's own: the executable, or a module that lies in none of the
 * folders of the system's libraries and is no runtime by its name?
 */
bool rules_module_own(const struct module *module);

/* The same, or a module that a pattern of --include names. */
bool rules_module_meant(const struct rules *rules, const struct module *module);

/*
 * RULE_SITE if the rules for instructions decide; RULE_MODULE, RULE_RUNTIME or
 * RULE_GLOB if the whole function is left out. part is the module's.
 */
enum rule rules_function(const struct rules *rules, struct image *image,
			 struct module *module, enum module_part part,
			 const struct elf_function *function);

enum {
	/* rbp is known to be the frame pointer there */
	RULES_FRAME_POINTER = 1 << 0,
	/* do not look for atomics in debug information (libc has none) */
	RULES_NO_MARKS = 1 << 1,
	/* nor in macros, which are read when a race needs them */
	RULES_NO_MACROS = 1 << 2,
};

/*
 * The rule for one instruction at a file address of the module, with flags of
 * the above.
 */
enum rule rules_classify(const struct rules *rules, struct image *image,
			 struct module *module, uint64_t address,
			 const struct insn_access *insn, unsigned int flags);

/*
 * The rule for data at a run-time address: RULE_ATOMIC_TYPE, RULE_GUARD, or
 * RULE_SITE for anything else.
 */
enum rule rules_data(struct image *image, uint64_t address);

/*
 * File address of an operand that does not depend on registers (RIP-relative
 * or absolute); false otherwise.
 */
bool rules_fixed_address(uint64_t address, const struct insn_access *insn,
			 const struct mem_operand *operand, uint64_t *ret);

#endif
