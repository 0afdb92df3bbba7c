/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A conflict's side as dataflow/uses wants it; see used.h.
 */
#include "conflict/used.h"

#include <string.h>

#include "base/log.h"
#include "conflict/conflict.h"
#include "conflict/evidence.h"
#include "dataflow/uses.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/scan.h"
#include "x86/decode.h"

/* Instructions and constants: what stays as it is in the file. */
static size_t file_bytes(const struct conflict_side *side, uint64_t address,
			 uint8_t *bytes, size_t size)
{
	const struct module *module =
		image_module_at(side->home->image, address);
	const uint8_t *from;
	size_t left = 0;

	if (!module || !module->text)
		return 0;
	from = elftext_bytes(module->text, address - module->bias, &left);
	if (!from)
		return 0;
	if (left < size)
		size = left;
	memcpy(bytes, from, size);
	return size;
}

static size_t side_code(void *context, uint64_t address, uint8_t *bytes,
			size_t size)
{
	return file_bytes(context, address, bytes, size);
}

static bool copy_within(const uint8_t *from, uint64_t start, uint64_t length,
			uint64_t address, uint8_t *bytes, size_t size)
{
	uint64_t offset = address - start;

	if (offset >= length || length - offset < size)
		return false;
	memcpy(bytes, from + offset, size);
	return true;
}

static bool side_windows(const struct conflict_side *side, uint64_t address,
			 uint8_t *bytes, size_t size)
{
	const struct wire_machine *machine = &side->wire->machine;
	const uint8_t *from = side->machine + machine->vectors_size;

	for (uint32_t i = 0; i < machine->window_count; i++) {
		const struct wire_window *window = &machine->windows[i];

		if (copy_within(from, window->address, window->size, address,
				bytes, size))
			return true;
		from += window->size;
	}
	return false;
}

static bool side_memory(void *context, uint64_t address, uint8_t *bytes,
			size_t size)
{
	const struct conflict_side *side = context;
	const struct module *module;

	if (copy_within(side->stack, side->wire->stack_address,
			side->wire->stack_size, address, bytes, size) ||
	    side_windows(side, address, bytes, size))
		return true;
	module = image_module_at(side->home->image, address);
	return module && module->text &&
	       elftext_readonly(module->text, address - module->bias, size) &&
	       file_bytes(side, address, bytes, size) == size;
}

/* Of the bytes that the stalled side is about to access. */
static uint64_t changed_bytes(const struct conflict *conflict)
{
	uint64_t changed = 0;

	for (uint32_t i = 0; i < X86_ACCESS_MAX; i++) {
		if (conflict->wire.before[i] != conflict->wire.after[i])
			changed |= UINT64_C(1) << i;
	}
	return changed;
}

/*
 * What the writing side may have written of the bytes in which the two meet. Of
 * one that nobody saw, what has changed;
 * of a repeated string instruction only the last element is known, so what it
 * has still to do, and what has changed, are taken as well.
 */
static uint64_t asked_bytes(const struct conflict *conflict, int reader)
{
	const struct conflict_side *side = &conflict->sides[reader];
	const struct conflict_side *other = &conflict->sides[1 - reader];
	uint64_t shift = reader == 1 ? conflict->wire.shift : 0;
	uint64_t asked = uses_range(&side->access,
				    conflict->overlap.address + shift,
				    conflict->overlap.size);
	uint64_t left;

	if (!other->wire->present)
		return changed_bytes(conflict);
	if (reader == 1 || other->insn.rep == X86_REP_NONE)
		return asked;
	left = other->wire->regs.gpr[X86_RCX];
	if (left > X86_ACCESS_MAX)
		left = X86_ACCESS_MAX;
	left *= other->access.size;
	asked |= uses_range(&side->access,
			    other->wire->regs.rflags & 1u << 10
				    ? conflict->overlap.address - left
				    : conflict->overlap.address,
			    conflict->overlap.size + left);
	return asked | changed_bytes(conflict);
}

/*
 * It cannot be computed, but is a search: one for the end of a string would
 * end at the first zero.
 */
static bool ends_before(const struct uses_question *question)
{
	for (uint32_t i = 0; i < question->access.size; i++) {
		if (question->asked >> i & 1)
			return false;
		if (question->bytes[i] == 0)
			return true;
	}
	return false;
}

/* The code of the side's function, to what it jumps in the whole of it. */
static void set_body(const struct conflict_side *side, struct uses_thread *ret)
{
	const struct module *module = side->module;
	const struct elf_function *function;
	size_t size = 0;

	if (!module || !module->text)
		return;
	function = elftext_function_at(module->text,
				       side->insn_address - module->bias);
	if (!function)
		return;
	ret->body = elftext_bytes(module->text, function->start, &size);
	ret->body_size = size < function->size ? size : function->size;
	ret->body_start = function->start + module->bias;
}

/* The side as dataflow/uses wants it; its vectors are kept by the caller. */
static struct uses_thread side_thread(const struct conflict_side *side,
				      struct x86_vectors *vectors)
{
	struct uses_thread thread;

	vectors_read(side->machine, side->wire->machine.vectors_size, vectors);
	thread = (struct uses_thread){
		.decoder = side->home->scanner->decoder,
		.regs = &side->wire->regs,
		.vectors = vectors,
		.code = side_code,
		.memory = side_memory,
		.context = (void *)side,
	};
	set_body(side, &thread);
	return thread;
}

static bool side_bytes(const struct conflict *conflict, int i,
		       struct uses_question *question)
{
	const struct conflict_side *side = &conflict->sides[i];

	if (i == 0) {
		memcpy(question->bytes, conflict->wire.before,
		       sizeof(question->bytes));
		return true;
	}
	return side_memory((void *)side, side->access.address, question->bytes,
			   side->access.size);
}

void used_place_masked(struct conflict_side *side)
{
	struct x86_vectors vectors;
	struct uses_thread thread = side_thread(side, &vectors);
	struct mem_access access;
	uint64_t selected;

	if (!side->wire->present || side->wire->before || side->kernel ||
	    side->insn.refusal != X86_REFUSED_MASKMOV ||
	    !uses_masked(&thread, side->insn_address, &access, &selected))
		return;
	side->masked = true;
	side->guessed = false;
	side->access = access;
	side->selected = selected;
}

/*
 * Does the function look for a zero byte in whole words? It has one of the
 * constants of (word - 0x01...) & ~word & 0x80..., as in musl, or the negative
 * of 0x01..., which is added then, as in glibc's strcpy for SSE2.
 */
static bool searches_words(const struct conflict_side *side)
{
	static const uint64_t constants[] = { UINT64_C(0x8080808080808080),
					      UINT64_C(0x0101010101010101),
					      -UINT64_C(0x0101010101010101) };
	const struct module *module = side->module;
	const struct elf_function *function;
	const uint8_t *bytes;
	uint64_t address;
	size_t size = 0;

	if (!module || !module->text)
		return false;
	address = side->insn_address - module->bias;
	function = elftext_function_at(module->text, address);
	if (!function)
		return false;
	bytes = elftext_bytes(module->text, function->start, &size);
	if (size > function->size)
		size = (size_t)function->size;
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		if (bytes &&
		    memmem(bytes, size, &constants[i], sizeof(constants[i])))
			return true;
	}
	return false;
}

/*
 * By the instructions around it, whatever the values are: of a load that is
 * wider than what it is for, as of a bit-field beside another member, the rest
 * is thrown away.
 */
static bool code_uses(const struct conflict *conflict, int i)
{
	const struct mem_access *access = &conflict->sides[i].access;
	uint64_t asked, bits = 0;
	struct code_pattern pattern;

	if (access->kind != ACCESS_READ || access->size > sizeof(bits))
		return true;
	asked = asked_bytes(conflict, i);
	for (uint32_t byte = 0; byte < access->size; byte++) {
		if (asked >> byte & 1)
			bits |= UINT64_C(0xff) << 8 * byte;
	}
	if (bits == 0 || (asked + 1) >> access->size != 0)
		return true;
	evidence_pattern(&conflict->sides[i], &pattern);
	/* of a value that is not used at all nothing is known */
	return pattern.change != PATTERN_UNKNOWN || pattern.used == 0 ||
	       (pattern.used & bits) != 0;
}

/*
 * Are the values needed to tell what the load is for? Of 8 bytes at most in
 * another register the code alone tells: by the values of now a torn
 * comparison, of which one half decides, would make no use of the other.
 */
static bool is_computed(const struct conflict_side *side)
{
	return side->access.size > sizeof(uint64_t) ||
	       side->insn.rep != X86_REP_NONE || side->insn.vector ||
	       searches_words(side);
}

static bool is_load(const struct conflict_side *side)
{
	return side->wire->present && !side->kernel && !side->guessed &&
	       side->insn_address != 0 && side->insn.length != 0 &&
	       (side->insn.refusal == X86_OK || side->masked) &&
	       side->access.kind == ACCESS_READ && side->access.size > 1 &&
	       side->access.size <= X86_ACCESS_MAX;
}

/* By executing the code that follows, with the thread's values. */
static bool values_use(const struct conflict *conflict, int i)
{
	const struct conflict_side *side = &conflict->sides[i];
	static const char *const answers[] = {
		[USES_NONE] = "not used",
		[USES_SOME] = "used",
		[USES_UNKNOWN] = "cannot be told",
		[USES_UNKNOWN_SEARCH] = "cannot be told, a search",
	};
	struct x86_vectors vectors;
	struct uses_question question = {
		.address = side->insn_address,
		.done = !side->wire->before,
		.access = side->access,
		.asked = asked_bytes(conflict, i),
	};
	struct uses_thread thread = side_thread(side, &vectors);
	enum uses_answer answer;
	uint64_t where;

	if (question.asked == 0 || !is_computed(side) ||
	    !side_bytes(conflict, i, &question))
		return true;
	vectors_read(side->machine, side->wire->machine.vectors_size, &vectors);
	answer = uses_find(&thread, &question, &where);
	log_debug(
		LOG_DETECT, "%s at %s+0x%llx of bytes 0x%llx: %s, at %s+0x%llx",
		question.done ? "load" : "held load",
		side->module ? side->module->path : "?",
		(unsigned long long)(side->insn_address -
				     (side->module ? side->module->bias : 0)),
		(unsigned long long)question.asked, answers[answer],
		side->module ? side->module->path : "?",
		(unsigned long long)(where -
				     (side->module ? side->module->bias : 0)));
	if (answer == USES_UNKNOWN_SEARCH)
		return !ends_before(&question);
	return answer != USES_NONE;
}

static bool side_uses(const struct conflict *conflict, int i)
{
	const struct conflict_side *other = &conflict->sides[1 - i];

	if (!code_uses(conflict, i))
		return false;
	return !is_load(&conflict->sides[i]) ||
	       !(other->access.kind & ACCESS_WRITE) ||
	       (other->access.size == 0 && other->wire->present) ||
	       values_use(conflict, i);
}

bool used_overlap(const struct conflict *conflict)
{
	return side_uses(conflict, 0) && side_uses(conflict, 1);
}
