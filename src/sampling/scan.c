/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decoding and judging a function; see scan.h. It is one linear pass. Where an
 * instruction cannot be decoded the next one's start is not known, so nothing
 * is believed until an address that an earlier branch leads to: a breakpoint
 * in the middle of an instruction would change the program.
 */
#include "sampling/scan.h"

#include <string.h>

#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"
#include "x86/decode.h"

enum {
	/* instructions between "push %rbp" and "mov %rsp, %rbp" */
	SCAN_PROLOGUE = 8,
};

/* Where the scan of a function stands. */
struct scan {
	struct module *module;
	enum rule whole;
	bool all; /* sites has every instruction, with its rule */
	struct vec *sites;
	size_t first; /* of the function, in sites */
	struct scan_counts *counts;
	uint64_t end; /* of the function */
	bool locals; /* accesses of the stack are looked at more closely */
	bool frame_pointer;
	unsigned int since_push; /* of rbp; 0: not seen */
	/* the last two instructions, for the guard's pattern */
	uint64_t lea_target; /* "lea x, %rdi" or "mov $x, %edi" just before */
	uint64_t called_with; /* ... and then a call */
};

struct error *scanner_init(struct scanner *scanner, struct image *image,
			   const struct rules *rules)
{
	struct error *err;

	memset(scanner, 0, sizeof(*scanner));
	scanner->image = image;
	scanner->rules = rules;
	scanner->targets = (struct vec)VEC_INIT(uint64_t);
	scanner->guards = (struct vec)VEC_INIT(uint64_t);
	err = decoder_create(&scanner->decoder);
	locals_init(&scanner->locals, scanner->decoder);
	return err;
}

void scanner_deinit(struct scanner *scanner)
{
	decoder_destroy(scanner->decoder);
	vec_deinit(&scanner->targets);
	vec_deinit(&scanner->guards);
	locals_deinit(&scanner->locals);
	scanner->decoder = NULL;
}

static bool bytes_are(const uint8_t *bytes, size_t size, const char *pattern,
		      size_t length)
{
	return size >= length && memcmp(bytes, pattern, length) == 0;
}

/* push %rbp; [a few more;] mov %rsp, %rbp: rbp is the frame pointer. */
static void scan_prologue(struct scan *scan, const uint8_t *bytes, size_t size)
{
	if (bytes_are(bytes, size, "\x55", 1)) {
		scan->since_push = 1;
		return;
	}
	if (scan->since_push == 0 || scan->since_push > SCAN_PROLOGUE)
		return;
	scan->since_push++;
	if (bytes_are(bytes, size, "\x48\x89\xe5", 3) ||
	    bytes_are(bytes, size, "\x48\x8b\xec", 3))
		scan->frame_pointer = true;
}

/* "lea x(%rip), %rdi" and "mov $x, %edi": the first argument's address. */
static uint64_t scan_argument(const uint8_t *bytes, size_t size,
			      uint64_t address)
{
	int32_t value;

	if (bytes_are(bytes, size, "\x48\x8d\x3d", 3) && size >= 7) {
		memcpy(&value, bytes + 3, sizeof(value));
		return address + 7 + (uint64_t)(int64_t)value;
	}
	if (bytes_are(bytes, size, "\xbf", 1) && size >= 5) {
		memcpy(&value, bytes + 1, sizeof(value));
		return (uint32_t)value;
	}
	return 0;
}

/*
 * A static local's initialization without symbols: the address of a byte goes
 * to a function whose answer is tested at once ("lea guard, %rdi; call
 * __cxa_guard_acquire; test %eax, %eax"; Itanium C++ ABI, 3.3.3). Whether the
 * byte is also read alone, as a guard is before that, is seen in
 * scan_settle().
 */
static bool scan_guard(struct scanner *scanner, struct scan *scan,
		       const uint8_t *bytes, size_t size, uint64_t address,
		       const struct insn_access *insn)
{
	uint64_t guard = scan->called_with;

	scan->called_with = insn->flow == X86_FLOW_CALL ? scan->lea_target : 0;
	scan->lea_target = scan_argument(bytes, size, address);
	if (guard && bytes_are(bytes, size, "\x85\xc0", 2))
		return vec_push(&scanner->guards, &guard);
	return true;
}

static bool scan_is_guard(const struct scanner *scanner,
			  const struct scan_site *site)
{
	uint64_t target;

	if (scanner->guards.count == 0 || site->rule != RULE_SITE ||
	    site->insn.operand_count != 1 ||
	    site->insn.operands[0].kind != ACCESS_READ ||
	    site->insn.operands[0].size != 1 ||
	    !rules_fixed_address(site->address, &site->insn,
				 &site->insn.operands[0], &target))
		return false;
	for (size_t i = 0; i < scanner->guards.count; i++) {
		if (*(uint64_t *)vec_at(&scanner->guards, i) == target)
			return true;
	}
	return false;
}

static bool scan_on_stack(enum rule rule)
{
	return rule == RULE_STACK || rule == RULE_FRAME_POINTER;
}

/* The rule for an access to the stack that is not left out for that. */
static enum rule scan_judge_local(struct scanner *scanner,
				  const struct scan *scan,
				  const struct scan_site *site)
{
	struct rules rules = *scanner->rules;

	rules.include_stack = true;
	return rules_classify(&rules, scanner->image, scan->module,
			      site->address, &site->insn,
			      scanner->module_flags | RULES_NO_MACROS);
}

/* What the whole function tells of one of its instructions. */
static enum rule scan_judge_again(struct scanner *scanner,
				  const struct scan *scan,
				  const struct scan_site *site, size_t *cursor)
{
	if (scan_is_guard(scanner, site))
		return RULE_GUARD;
	if (scan_on_stack(site->rule) && scan->locals &&
	    locals_shared(&scanner->locals, site->address, cursor))
		return scan_judge_local(scanner, scan, site);
	return site->rule;
}

static void scan_recount(struct scan *scan, enum rule from, enum rule to)
{
	if (!scan->counts || from == to)
		return;
	scan->counts->rules[from]--;
	scan->counts->rules[to]++;
	if (to == RULE_SITE)
		scan->counts->locals++;
}

/*
 * When all of the function is known: take the one-byte reads of guards out of
 * the sites found, and leave accesses to locals in that others may reach.
 */
static void scan_settle(struct scanner *scanner, struct scan *scan)
{
	size_t kept = scan->first, cursor = 0;

	if (!scan->sites || (scanner->guards.count == 0 && !scan->locals))
		return;
	locals_settle(&scanner->locals);
	for (size_t i = scan->first; i < scan->sites->count; i++) {
		struct scan_site *site = vec_at(scan->sites, i);
		enum rule rule = scan_judge_again(scanner, scan, site, &cursor);

		scan_recount(scan, site->rule, rule);
		site->rule = rule;
		if (rule != RULE_SITE && !scan->all)
			continue;
		if (kept != i)
			memcpy(vec_at(scan->sites, kept), site, sizeof(*site));
		kept++;
	}
	scan->sites->count = kept;
}

static bool scan_count(struct scan *scan, uint64_t address,
		       const struct insn_access *insn, enum rule rule)
{
	struct scan_site *site;

	if (rule == RULE_SITE)
		rule = scan->whole;
	if (scan->counts)
		scan->counts->rules[rule]++;
	if (!scan->sites || (rule != RULE_SITE && !scan->all &&
			     !(scan->locals && scan_on_stack(rule))))
		return true;
	site = vec_append(scan->sites);
	if (!site)
		return false;
	site->address = address;
	site->rule = rule;
	site->insn = *insn;
	return true;
}

static bool scan_note_target(struct scanner *scanner, const struct scan *scan,
			     uint64_t address, const struct insn_access *insn)
{
	if (insn->target <= address || insn->target >= scan->end ||
	    insn->flow == X86_FLOW_CALL)
		return true;
	return vec_push(&scanner->targets, &insn->target);
}

/* The nearest known branch target at or after address, or the end. */
static uint64_t scan_resume(const struct scanner *scanner,
			    const struct scan *scan, uint64_t address)
{
	uint64_t nearest = scan->end;

	for (size_t i = 0; i < scanner->targets.count; i++) {
		uint64_t target = *(uint64_t *)vec_at(&scanner->targets, i);

		if (target >= address && target < nearest)
			nearest = target;
	}
	return nearest;
}

/* One instruction; *address moves to the next. False: out of memory. */
static bool scan_step(struct scanner *scanner, struct scan *scan,
		      const uint8_t *bytes, size_t size, uint64_t *address)
{
	struct insn_access insn;
	uint64_t at = *address;
	enum rule rule;

	decoder_decode(scanner->decoder, bytes, size, at, &insn);
	if (scan->counts)
		scan->counts->instructions++;
	if (insn.refusal == X86_REFUSED_UNDECODABLE) {
		uint64_t resume = scan_resume(scanner, scan, at + 1);

		if (scan->counts)
			scan->counts->rules[RULE_AFTER_UNDECODABLE] +=
				resume - at - 1;
		*address = resume;
		return scan_count(scan, at, &insn,
				  RULE_REFUSED + X86_REFUSED_UNDECODABLE);
	}
	scan_prologue(scan, bytes, size);
	rule = rules_classify(
		scanner->rules, scanner->image, scan->module, at, &insn,
		scanner->module_flags | RULES_NO_MACROS |
			(scan->frame_pointer ? RULES_FRAME_POINTER : 0));
	*address = at + insn.length;
	if (scan->locals && !locals_step(&scanner->locals, bytes, size, at,
					 &insn, scan_on_stack(rule)))
		return false;
	return scan_guard(scanner, scan, bytes, size, at, &insn) &&
	       scan_note_target(scanner, scan, at, &insn) &&
	       scan_count(scan, at, &insn, rule);
}

/* Debug information of libc and its like costs much and tells nothing. */
static void scan_module(struct scanner *scanner, const struct module *module)
{
	enum module_part part;
	bool read;

	if (scanner->module_id == module->id)
		return;
	part = rules_module_part(module);
	read = part == PART_ALL || part == PART_NAMED;
	if (scanner->own_marks)
		read = read && rules_module_meant(scanner->rules, module);
	scanner->module_id = module->id;
	scanner->module_flags = read ? 0 : RULES_NO_MARKS;
}

static struct error *scan_run(struct scanner *scanner, struct scan *scan,
			      const struct elf_function *function)
{
	uint64_t address = function->start;
	size_t size = 0;
	const uint8_t *bytes =
		elftext_bytes(scan->module->text, function->start, &size);

	if (!bytes)
		return NULL;
	if (size > function->size)
		size = function->size;
	scan->end = function->start + size;
	scan_module(scanner, scan->module);
	vec_clear(&scanner->targets);
	vec_clear(&scanner->guards);
	scan->locals = scan->sites && scan->whole == RULE_SITE &&
		       !scanner->rules->include_stack &&
		       frame_takes_address(bytes, size);
	if (scan->locals)
		locals_begin(&scanner->locals, scan->module, function->start,
			     scan->end);
	while (address < scan->end) {
		uint64_t offset = address - function->start;

		if (!scan_step(scanner, scan, bytes + offset, size - offset,
			       &address))
			return error_nomem;
	}
	scan_settle(scanner, scan);
	if (scan->counts) {
		scan->counts->functions++;
		scan->counts->bytes += size;
	}
	return NULL;
}

struct error *scan_function(struct scanner *scanner, struct module *module,
			    const struct elf_function *function,
			    enum rule whole, struct vec *sites,
			    struct scan_counts *counts)
{
	struct scan scan = {
		.module = module,
		.whole = whole,
		.sites = sites,
		.first = sites ? sites->count : 0,
		.counts = counts,
	};

	return scan_run(scanner, &scan, function);
}

struct error *scan_function_all(struct scanner *scanner, struct module *module,
				const struct elf_function *function,
				struct vec *insns)
{
	struct scan scan = {
		.module = module,
		.whole = RULE_SITE,
		.all = true,
		.sites = insns,
		.first = insns->count,
	};

	return scan_run(scanner, &scan, function);
}

void scan_instruction(struct scanner *scanner, const struct module *module,
		      uint64_t address, struct insn_access *ret)
{
	size_t size = 0;
	const uint8_t *bytes = elftext_bytes(module->text, address, &size);

	if (!bytes) {
		memset(ret, 0, sizeof(*ret));
		ret->length = 1;
		ret->refusal = X86_REFUSED_UNDECODABLE;
		return;
	}
	decoder_decode(scanner->decoder, bytes, size, address, ret);
}
