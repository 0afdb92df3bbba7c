/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code patterns of memory accesses; see pattern.h. A load is followed through
 * the registers its value goes to, along both ways of each branch, until the
 * value is dead, written back, or used as a whole.
 */
#include "dataflow/pattern.h"

#include "dataflow/pattern-parts.h"
#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

enum {
	WINDOW = 48, /* loads before a store that may be its own */
	STEPS = 300, /* instructions followed, on all paths */
	BRANCHES = 8, /* of one path */
	VALUE_MAX = 8, /* bytes */
};

static void use_all(struct follow *follow, const struct path *path)
{
	for (int i = 0; i < 16; i++)
		pattern_use_form(follow, &path->forms[i]);
	for (int i = 0; i < PATH_SLOTS; i++)
		pattern_use_form(follow, &path->kept[i].form);
}

static bool tests_zero(const struct cs_insn *insn)
{
	return insn->id == X86_INS_JE || insn->id == X86_INS_JNE ||
	       insn->id == X86_INS_SETE || insn->id == X86_INS_SETNE ||
	       insn->id == X86_INS_JLE || insn->id == X86_INS_JG;
}

/* Branches, setcc, cmovcc and arithmetic with carry. */
static bool reads_flags(const struct cs_insn *insn)
{
	return insn->detail->x86.eflags &
	       (X86_EFLAGS_TEST_CF | X86_EFLAGS_TEST_ZF | X86_EFLAGS_TEST_SF |
		X86_EFLAGS_TEST_OF | X86_EFLAGS_TEST_PF);
}

/* Arguments and results end the knowledge of what a register is used for. */
static bool path_leaves(struct follow *follow, const struct path *path,
			const struct insn_access *access)
{
	if (access->flow == X86_FLOW_RET) {
		pattern_use_form(follow, &path->forms[X86_RAX]);
		pattern_use_form(follow, &path->forms[X86_RDX]);
		return true;
	}
	if (access->flow == X86_FLOW_NEXT || access->flow == X86_FLOW_BRANCH)
		return false;
	if (access->flow == X86_FLOW_JUMP && !access->indirect)
		return false;
	if (access->flow != X86_FLOW_STOP)
		use_all(follow, path);
	return true;
}

static bool any_live(const struct path *path)
{
	for (int i = 0; i < 16; i++) {
		if (path->forms[i].live)
			return true;
	}
	for (int i = 0; i < PATH_SLOTS; i++) {
		if (path->kept[i].form.live)
			return true;
	}
	return false;
}

static void follow_path(struct follow *follow, struct path path)
{
	while (any_live(&path)) {
		struct cs_insn *insn = pattern_decode(follow, path.address);
		struct insn_access access;

		if (!insn || follow->steps++ > STEPS ||
		    path.branches > BRANCHES) {
			use_all(follow, &path);
			return;
		}
		if (path.flags && reads_flags(insn))
			pattern_use(follow, path.flag_bits);
		pattern_access(follow, path.address, &access);
		if (path.flags && tests_zero(insn))
			follow->pattern->tests_zero = true;
		if (path.flags && access.flow == X86_FLOW_BRANCH)
			follow->pattern->compared = true;
		if (path_leaves(follow, &path, &access))
			return;
		path.address = pattern_next(insn);
		if (access.flow == X86_FLOW_BRANCH) {
			struct path taken = path;

			taken.address = access.target;
			taken.branches = ++path.branches;
			follow_path(follow, taken);
		} else if (access.flow == X86_FLOW_JUMP) {
			path.address = access.target;
			path.branches++;
		} else {
			pattern_step(follow, &path, insn);
		}
	}
}

/*
 * Follow a load into a general register, or what it is added to there; false if
 * it is something else.
 */
static bool follow_load(struct follow *follow, const struct cs_insn *insn)
{
	uint8_t to = pattern_register(insn, 0), base;
	struct path path = { .address = pattern_next(insn) };
	bool adds = insn->id == X86_INS_ADD && follow->place.size >= 4;

	if ((insn->id != X86_INS_MOV && insn->id != X86_INS_MOVZX &&
	     insn->id != X86_INS_MOVSX && insn->id != X86_INS_MOVSXD &&
	     !adds) ||
	    to >= X86_RIP || pattern_high_byte(insn, 0))
		return false;
	base = decode_register(insn->detail->x86.operands[1].mem.base);
	if (base < X86_RIP && base != to)
		path.bases = UINT32_C(1) << base;
	path.place_lost = follow->place.index == to;
	path.forms[to] =
		(struct form){ .live = true,
			       .kept = pattern_mask(follow->place.size) };
	if (adds) {
		path.forms[to].change = PATTERN_ADD;
		path.flags = true;
		path.flag_bits = path.forms[to].kept;
	}
	follow_path(follow, path);
	return true;
}

/* test, cmp and bt with memory: what they look at. */
static void look_at_memory(struct follow *follow, const struct cs_insn *insn)
{
	uint64_t mask = pattern_mask(follow->place.size);
	int64_t imm;

	follow->pattern->compared = insn->id == X86_INS_TEST ||
				    insn->id == X86_INS_CMP ||
				    insn->id == X86_INS_BT;
	if (insn->id == X86_INS_TEST && pattern_immediate(insn, 1, &imm))
		pattern_use(follow, (uint64_t)imm & mask);
	else if (insn->id == X86_INS_BT && pattern_immediate(insn, 1, &imm))
		pattern_use(follow, UINT64_C(1)
					    << ((unsigned int)imm &
						(8u * follow->place.size - 1)));
	else
		pattern_use(follow, mask);
}

/* Is the flag for zero looked at there? Moves in between leave it as it is. */
static bool zero_is_tested(const struct follow *follow, uint64_t address)
{
	for (int i = 0; i < 5; i++) {
		const struct cs_insn *insn = pattern_decode(follow, address);

		if (!insn)
			return false;
		if (tests_zero(insn))
			return true;
		if (insn->id != X86_INS_MOV && insn->id != X86_INS_LEA &&
		    insn->id != X86_INS_NOP)
			return false;
		address = pattern_next(insn);
	}
	return false;
}

/* One instruction that reads and writes the place. */
static void look_at_change(struct follow *follow, const struct cs_insn *insn)
{
	struct form form = { .live = true,
			     .kept = pattern_mask(follow->place.size) };
	struct path path = { .address = pattern_next(insn) };
	int64_t imm = 1;
	bool known = false;

	switch (insn->id) {
	case X86_INS_INC:
	case X86_INS_DEC:
		known = true;
		break;
	case X86_INS_BTS:
	case X86_INS_BTR:
	case X86_INS_BTC:
		known = pattern_immediate(insn, 1, &imm);
		form.change = PATTERN_BITS;
		form.changed = UINT64_C(1) << ((unsigned int)imm &
					       (8u * follow->place.size - 1));
		break;
	case X86_INS_ADD:
	case X86_INS_SUB:
		known = pattern_immediate(insn, 1, &imm);
		if (!known)
			form.change = insn->id == X86_INS_ADD ? PATTERN_ADD
							      : PATTERN_DERIVED;
		break;
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
		known = pattern_immediate(insn, 1, &imm);
		break;
	default:
		break;
	}
	if (known && form.change == PATTERN_UNKNOWN)
		pattern_step_constant(&path, insn, &form, follow->place.size,
				      imm);
	else if (form.change == PATTERN_UNKNOWN)
		form.change = PATTERN_DERIVED;
	form.kept =
		pattern_mask(follow->place.size); /* the rest stays in memory */
	pattern_note_store(follow, &form);
	if (form.change == PATTERN_ADD)
		follow->pattern->tests_zero =
			zero_is_tested(follow, path.address);
}

/* Is it the place, or was its base loaded from the same slot? */
static bool is_like_place(const struct follow *follow, uint64_t address,
			  const struct insn_access *access)
{
	struct mem_operand operand = access->operands[0];
	uint64_t next = address + access->length;
	struct slot slot;

	if (pattern_same_place(&operand, &follow->place, next))
		return true;
	operand.base = follow->place.base;
	return follow->has_slot &&
	       pattern_same_place(&operand, &follow->place, next) &&
	       pattern_find_slot(follow, address, access->operands[0].base,
				 &slot) &&
	       pattern_same_slot(&slot, &follow->slot);
}

/* Of the loads before a store, the one whose value comes back there. */
static void find_load(struct follow *follow, uint64_t store)
{
	uint64_t addresses[WINDOW];
	size_t count = 0, at = 0;
	struct insn_access access;

	while (follow->start + at < store) {
		pattern_access(follow, follow->start + at, &access);
		if (access.operand_count == 1 && access.refusal == X86_OK &&
		    access.operands[0].kind == ACCESS_READ &&
		    is_like_place(follow, follow->start + at, &access))
			addresses[count++ % WINDOW] = follow->start + at;
		at += access.length;
	}
	follow->store = store;
	for (size_t i = count > WINDOW ? count - WINDOW : 0; i < count; i++) {
		struct cs_insn *insn =
			pattern_decode(follow, addresses[i % WINDOW]);

		follow->steps = 0;
		if (insn)
			follow_load(follow, insn);
		if (follow->pattern->change == PATTERN_UNKNOWN &&
		    pattern_comes_back(follow, addresses[i % WINDOW]))
			follow->pattern->change = PATTERN_DERIVED;
	}
}

/* Is the place changed by a locked instruction anywhere in the function? */
static void find_locked(const struct follow *follow)
{
	struct code_pattern *pattern = follow->pattern;
	struct insn_access access;

	for (size_t at = 0; at < follow->size; at += access.length) {
		pattern_access(follow, follow->start + at, &access);
		if (!access.synchronizes || access.operand_count != 1 ||
		    !pattern_same_place(&access.operands[0], &follow->place,
					follow->start + at + access.length))
			continue;
		pattern->locked_beside = true;
		pattern->locked_adds |=
			pattern_adds(follow->decoder, follow->bytes + at,
				     follow->size - at, follow->start + at);
	}
}

static void look_at_store(struct follow *follow, const struct cs_insn *insn)
{
	struct code_pattern *pattern = follow->pattern;
	int64_t imm;

	pattern->used = 0; /* nothing is read here */
	if (insn->id == X86_INS_MOV && pattern_immediate(insn, 1, &imm)) {
		pattern->change = PATTERN_CONSTANT;
		return;
	}
	if (insn->id == X86_INS_MOV)
		find_load(follow, insn->address);
	/* of a counter it matters whether the number goes anywhere else */
	if (pattern->change != PATTERN_ADD)
		pattern->used = 0;
}

void pattern_find(struct decoder *decoder, const uint8_t *bytes, size_t size,
		  uint64_t start, uint64_t address, unsigned int operand,
		  struct code_pattern *ret)
{
	struct follow follow = { .decoder = decoder,
				 .bytes = bytes,
				 .size = size,
				 .start = start,
				 .pattern = ret };
	struct insn_access access;
	struct cs_insn *insn;

	*ret = (struct code_pattern){ .used = UINT64_MAX };
	insn = address >= start ? pattern_decode(&follow, address) : NULL;
	if (!insn)
		return;
	pattern_access(&follow, address, &access);
	if (operand >= access.operand_count ||
	    access.operands[operand].size > VALUE_MAX ||
	    access.operands[operand].string || access.operands[operand].stack ||
	    access.operands[operand].bit_reg != X86_REG_NONE)
		return;
	follow.place = access.operands[operand];
	follow.place.disp = pattern_place(&follow.place, pattern_next(insn));
	ret->used = 0;
	pattern_find_frame(&follow);
	follow.has_slot = pattern_find_slot(&follow, address, follow.place.base,
					    &follow.slot);
	insn = pattern_decode(&follow, address);
	switch (follow.place.kind) {
	case ACCESS_READ:
		if (!follow_load(&follow, insn))
			look_at_memory(&follow, insn);
		if (ret->change == PATTERN_UNKNOWN &&
		    pattern_comes_back(&follow, address))
			ret->change = PATTERN_DERIVED;
		break;
	case ACCESS_RMW:
		look_at_change(&follow, insn);
		break;
	default:
		look_at_store(&follow, insn);
		break;
	}
	find_locked(&follow);
}
