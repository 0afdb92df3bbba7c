/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Idioms of memory accesses; see idiom.h. A load is followed through the
 * registers its value goes to, along both ways of each branch, until the value
 * is dead, written back, or used as a whole.
 */
#include "dataflow/idiom.h"

#include "dataflow/idiom-parts.h"
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
		idiom_use_form(follow, &path->forms[i]);
	for (int i = 0; i < PATH_SLOTS; i++)
		idiom_use_form(follow, &path->kept[i].form);
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
		idiom_use_form(follow, &path->forms[X86_RAX]);
		idiom_use_form(follow, &path->forms[X86_RDX]);
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
		struct cs_insn *insn = idiom_decode(follow, path.address);
		struct insn_access access;

		if (!insn || follow->steps++ > STEPS ||
		    path.branches > BRANCHES) {
			use_all(follow, &path);
			return;
		}
		if (path.flags && reads_flags(insn))
			idiom_use(follow, path.flag_bits);
		idiom_access(follow, path.address, &access);
		if (path.flags && tests_zero(insn))
			follow->idiom->tests_zero = true;
		if (path.flags && access.flow == X86_FLOW_BRANCH)
			follow->idiom->compared = true;
		if (path_leaves(follow, &path, &access))
			return;
		path.address = idiom_next(insn);
		if (access.flow == X86_FLOW_BRANCH) {
			struct path taken = path;

			taken.address = access.target;
			taken.branches = ++path.branches;
			follow_path(follow, taken);
		} else if (access.flow == X86_FLOW_JUMP) {
			path.address = access.target;
			path.branches++;
		} else {
			idiom_step(follow, &path, insn);
		}
	}
}

/*
 * Follow a load into a general register, or what it is added to there; false if
 * it is something else.
 */
static bool follow_load(struct follow *follow, const struct cs_insn *insn)
{
	uint8_t to = idiom_register(insn, 0), base;
	struct path path = { .address = idiom_next(insn) };
	bool adds = insn->id == X86_INS_ADD && follow->place.size >= 4;

	if ((insn->id != X86_INS_MOV && insn->id != X86_INS_MOVZX &&
	     insn->id != X86_INS_MOVSX && insn->id != X86_INS_MOVSXD &&
	     !adds) ||
	    to >= X86_RIP || idiom_high_byte(insn, 0))
		return false;
	base = decode_register(insn->detail->x86.operands[1].mem.base);
	if (base < X86_RIP && base != to)
		path.bases = UINT32_C(1) << base;
	path.place_lost = follow->place.index == to;
	path.forms[to] =
		(struct form){ .live = true,
			       .kept = idiom_mask(follow->place.size) };
	if (adds) {
		path.forms[to].change = IDIOM_ADD;
		path.flags = true;
		path.flag_bits = path.forms[to].kept;
	}
	follow_path(follow, path);
	return true;
}

/* test, cmp and bt with memory: what they look at. */
static void look_at_memory(struct follow *follow, const struct cs_insn *insn)
{
	uint64_t mask = idiom_mask(follow->place.size);
	int64_t imm;

	follow->idiom->compared = insn->id == X86_INS_TEST ||
				  insn->id == X86_INS_CMP ||
				  insn->id == X86_INS_BT;
	if (insn->id == X86_INS_TEST && idiom_immediate(insn, 1, &imm))
		idiom_use(follow, (uint64_t)imm & mask);
	else if (insn->id == X86_INS_BT && idiom_immediate(insn, 1, &imm))
		idiom_use(follow, UINT64_C(1)
					  << ((unsigned int)imm &
					      (8u * follow->place.size - 1)));
	else
		idiom_use(follow, mask);
}

/* Is the flag for zero looked at there? Moves in between leave it as it is. */
static bool zero_is_tested(const struct follow *follow, uint64_t address)
{
	for (int i = 0; i < 5; i++) {
		const struct cs_insn *insn = idiom_decode(follow, address);

		if (!insn)
			return false;
		if (tests_zero(insn))
			return true;
		if (insn->id != X86_INS_MOV && insn->id != X86_INS_LEA &&
		    insn->id != X86_INS_NOP)
			return false;
		address = idiom_next(insn);
	}
	return false;
}

/* One instruction that reads and writes the place. */
static void look_at_change(struct follow *follow, const struct cs_insn *insn)
{
	struct form form = { .live = true,
			     .kept = idiom_mask(follow->place.size) };
	struct path path = { .address = idiom_next(insn) };
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
		known = idiom_immediate(insn, 1, &imm);
		form.change = IDIOM_BITS;
		form.changed = UINT64_C(1) << ((unsigned int)imm &
					       (8u * follow->place.size - 1));
		break;
	case X86_INS_ADD:
	case X86_INS_SUB:
		known = idiom_immediate(insn, 1, &imm);
		if (!known)
			form.change = insn->id == X86_INS_ADD ? IDIOM_ADD
							      : IDIOM_DERIVED;
		break;
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
		known = idiom_immediate(insn, 1, &imm);
		break;
	default:
		break;
	}
	if (known && form.change == IDIOM_UNKNOWN)
		idiom_step_constant(&path, insn, &form, follow->place.size,
				    imm);
	else if (form.change == IDIOM_UNKNOWN)
		form.change = IDIOM_DERIVED;
	form.kept =
		idiom_mask(follow->place.size); /* the rest stays in memory */
	idiom_note_store(follow, &form);
	if (form.change == IDIOM_ADD)
		follow->idiom->tests_zero =
			zero_is_tested(follow, path.address);
}

/* Is it the place, or was its base loaded from the same slot? */
static bool is_like_place(const struct follow *follow, uint64_t address,
			  const struct insn_access *access)
{
	struct mem_operand operand = access->operands[0];
	uint64_t next = address + access->length;
	struct slot slot;

	if (idiom_same_place(&operand, &follow->place, next))
		return true;
	operand.base = follow->place.base;
	return follow->has_slot &&
	       idiom_same_place(&operand, &follow->place, next) &&
	       idiom_find_slot(follow, address, access->operands[0].base,
			       &slot) &&
	       idiom_same_slot(&slot, &follow->slot);
}

/* Of the loads before a store, the one whose value comes back there. */
static void find_load(struct follow *follow, uint64_t store)
{
	uint64_t addresses[WINDOW];
	size_t count = 0, at = 0;
	struct insn_access access;

	while (follow->start + at < store) {
		idiom_access(follow, follow->start + at, &access);
		if (access.operand_count == 1 && access.refusal == X86_OK &&
		    access.operands[0].kind == ACCESS_READ &&
		    is_like_place(follow, follow->start + at, &access))
			addresses[count++ % WINDOW] = follow->start + at;
		at += access.length;
	}
	follow->store = store;
	for (size_t i = count > WINDOW ? count - WINDOW : 0; i < count; i++) {
		struct cs_insn *insn =
			idiom_decode(follow, addresses[i % WINDOW]);

		follow->steps = 0;
		if (insn)
			follow_load(follow, insn);
		if (follow->idiom->change == IDIOM_UNKNOWN &&
		    idiom_comes_back(follow, addresses[i % WINDOW]))
			follow->idiom->change = IDIOM_DERIVED;
	}
}

/* Is the place changed by a locked instruction anywhere in the function? */
static void find_locked(const struct follow *follow)
{
	struct insn_idiom *idiom = follow->idiom;
	struct insn_access access;

	for (size_t at = 0; at < follow->size; at += access.length) {
		idiom_access(follow, follow->start + at, &access);
		if (!access.synchronizes || access.operand_count != 1 ||
		    !idiom_same_place(&access.operands[0], &follow->place,
				      follow->start + at + access.length))
			continue;
		idiom->locked_beside = true;
		idiom->locked_adds |=
			idiom_adds(follow->decoder, follow->bytes + at,
				   follow->size - at, follow->start + at);
	}
}

static void look_at_store(struct follow *follow, const struct cs_insn *insn)
{
	struct insn_idiom *idiom = follow->idiom;
	int64_t imm;

	idiom->used = 0; /* nothing is read here */
	if (insn->id == X86_INS_MOV && idiom_immediate(insn, 1, &imm)) {
		idiom->change = IDIOM_CONSTANT;
		return;
	}
	if (insn->id == X86_INS_MOV)
		find_load(follow, insn->address);
	/* of a counter it matters whether the number goes anywhere else */
	if (idiom->change != IDIOM_ADD)
		idiom->used = 0;
}

void idiom_find(struct decoder *decoder, const uint8_t *bytes, size_t size,
		uint64_t start, uint64_t address, unsigned int operand,
		struct insn_idiom *ret)
{
	struct follow follow = { .decoder = decoder,
				 .bytes = bytes,
				 .size = size,
				 .start = start,
				 .idiom = ret };
	struct insn_access access;
	struct cs_insn *insn;

	*ret = (struct insn_idiom){ .used = UINT64_MAX };
	insn = address >= start ? idiom_decode(&follow, address) : NULL;
	if (!insn)
		return;
	idiom_access(&follow, address, &access);
	if (operand >= access.operand_count ||
	    access.operands[operand].size > VALUE_MAX ||
	    access.operands[operand].string || access.operands[operand].stack ||
	    access.operands[operand].bit_reg != X86_REG_NONE)
		return;
	follow.place = access.operands[operand];
	follow.place.disp = idiom_place(&follow.place, idiom_next(insn));
	ret->used = 0;
	idiom_find_frame(&follow);
	follow.has_slot = idiom_find_slot(&follow, address, follow.place.base,
					  &follow.slot);
	insn = idiom_decode(&follow, address);
	switch (follow.place.kind) {
	case ACCESS_READ:
		if (!follow_load(&follow, insn))
			look_at_memory(&follow, insn);
		if (ret->change == IDIOM_UNKNOWN &&
		    idiom_comes_back(&follow, address))
			ret->change = IDIOM_DERIVED;
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
