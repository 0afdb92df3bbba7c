/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scan forward for registers that are read; see liveness.h.
 */
#include "dataflow/liveness.h"

#include <string.h>

#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

enum {
	SCAN_STEPS = 512, /* instructions, of all ways */
	SCAN_WAYS = 32,
	SCAN_JOINTS = 128,
	SCAN_CALLEE_STEPS = 48,
	/* functions within one another; a function may call itself */
	SCAN_CALLEES = 4,
	SCAN_DEPTH = 4, /* callers */
	WORD = 8,
	SCAN_CALLEE_WAYS = 8,
	CALL_SIZE = 5, /* of call rel32 */
	CALL_OPCODE = 0xe8,
	/* all but rbx, rsp, rbp and r12 to r15 (psABI 3.2.1) */
	CALL_LOSES = LIVENESS_ALL & ~(1 << X86_RBX | 1 << X86_RSP |
				      1 << X86_RBP | 0xf << X86_R12),
	CALL_KEEPS = LIVENESS_ALL & ~CALL_LOSES,
	/* of functions (psABI 3.2.3), and of system calls (A.2.1) */
	ARGUMENTS = 1 << X86_RDI | 1 << X86_RSI | 1 << X86_RDX | 1 << X86_RCX |
		    1 << X86_R8 | 1 << X86_R9,
	SYSCALL_READS = 1 << X86_RAX | 1 << X86_RDI | 1 << X86_RSI |
			1 << X86_RDX | 1 << X86_R10 | 1 << X86_R8 | 1 << X86_R9,
	SYSCALL_WRITES = 1 << X86_RAX | 1 << X86_RCX | 1 << X86_R11,
	RESULTS = 1 << X86_RAX | LIVENESS_XMM0,
	/* the second word of a result: there seldom is one */
	SECOND_RESULTS = 1 << X86_RDX | LIVENESS_XMM1,
	/* what the caller does not expect of a function that returns */
	RETURN_LOSES = CALL_LOSES & ~(RESULTS | SECOND_RESULTS),
	VECTORS = LIVENESS_XMM0 | LIVENESS_XMM1,
};

/* A number, if it is known. */
struct scan_value {
	bool known;
	uint64_t value;
};

/* One way that is still to be followed. */
struct way {
	uint64_t address;
	uint32_t left; /* not decided on this way */
	uint32_t low; /* of these the lowest byte has been written */
	uint32_t
		lost; /* by a call or a return: dead if nothing is seen to read it */
	struct scan_value rsp, rbp;
	unsigned int depth; /* functions left */
};

struct scan {
	const struct liveness_thread *thread;
	struct way ways[SCAN_WAYS];
	unsigned int count;
	/* behind jumps and branches: ways that were or will be followed */
	struct way joints[SCAN_JOINTS];
	unsigned int joint_count;
	unsigned int steps; /* left */
	unsigned int callees; /* whose calls have led here */
	uint32_t live;
	uint32_t undecided; /* when the scan ended, on some way */
};

/* One instruction; insn lasts until the next is decoded. */
struct scan_insn {
	struct insn_access access;
	const struct cs_insn *insn; /* NULL: Capstone does not know it */
	uint32_t reads, writes;
	/* the lowest byte alone is read; it is written, and others are not */
	uint32_t low_reads, low_writes;
};

/* What a name has of a register. */
enum scan_part { SCAN_WHOLE, SCAN_WORD, SCAN_LOWEST, SCAN_HIGH };

/* Of eax and rax all, since eax clears the rest; but not of ax, al and ah. */
static enum scan_part scan_part(const char *name)
{
	char last = name[strlen(name) - 1];

	if (last == 'l' || last == 'b')
		return SCAN_LOWEST;
	if (last == 'h')
		return SCAN_HIGH;
	return name[0] == 'e' || (name[0] == 'r' && last != 'w') ? SCAN_WHOLE
								 : SCAN_WORD;
}

/* The bits of a register in our sets; 0: none. */
static uint32_t scan_register(const struct decoder *decoder, unsigned int name,
			      enum scan_part *ret_part)
{
	uint8_t reg = decode_register(name);

	*ret_part = SCAN_WHOLE;
	if (reg < X86_RIP) {
		*ret_part = scan_part(cs_reg_name(decoder->capstone, name));
		return UINT32_C(1) << reg;
	}
	switch (name) {
	case X86_REG_XMM0:
	case X86_REG_YMM0:
	case X86_REG_ZMM0:
		return LIVENESS_XMM0;
	case X86_REG_XMM1:
	case X86_REG_YMM1:
	case X86_REG_ZMM1:
		return LIVENESS_XMM1;
	default:
		return 0;
	}
}

/* xor %eax, %eax and the like make a number of nothing. */
static bool scan_clears(const struct cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	switch (insn->id) {
	case X86_INS_XOR:
	case X86_INS_SUB:
	case X86_INS_PXOR:
	case X86_INS_XORPS:
	case X86_INS_XORPD:
		return x86->op_count == 2 && x86->operands[0].size >= 4 &&
		       x86->operands[0].type == X86_OP_REG &&
		       x86->operands[1].type == X86_OP_REG &&
		       x86->operands[0].reg == x86->operands[1].reg;
	default:
		return false;
	}
}

static void scan_sets(const struct decoder *decoder, struct scan_insn *it)
{
	cs_regs read, write;
	uint8_t reads = 0, writes = 0;
	enum scan_part part;

	it->reads = it->writes = 0;
	/* of which Capstone knows no operands */
	if (it->insn->id == X86_INS_SYSCALL) {
		it->reads = SYSCALL_READS;
		it->writes = SYSCALL_WRITES;
		return;
	}
	/* nopl (%rax) has an operand that nobody reads */
	if (it->insn->id == X86_INS_NOP)
		return;
	if (cs_regs_access(decoder->capstone, it->insn, read, &reads, write,
			   &writes) != CS_ERR_OK) {
		it->reads = LIVENESS_ALL;
		return;
	}
	for (int i = 0; i < reads; i++) {
		uint32_t set = scan_register(decoder, read[i], &part);

		if (part == SCAN_LOWEST)
			it->low_reads |= set;
		else
			it->reads |= set;
	}
	for (int i = 0; i < writes; i++) {
		uint32_t set = scan_register(decoder, write[i], &part);

		if (part == SCAN_WHOLE)
			it->writes |= set;
		else if (part != SCAN_HIGH)
			it->low_writes |= set;
	}
	if (scan_clears(it->insn))
		it->reads &= ~it->writes;
}

/* False: there is no code. What nothing is known of may read all. */
static bool scan_decode(const struct scan *scan, uint64_t address,
			struct scan_insn *ret)
{
	struct decoder *decoder = scan->thread->decoder;
	uint8_t bytes[X86_INSN_MAX];
	size_t size = scan->thread->code(scan->thread->context, address, bytes,
					 sizeof(bytes));
	const uint8_t *at = bytes;
	uint64_t place = address;

	if (size == 0)
		return false;
	decoder_decode(decoder, bytes, size, address, &ret->access);
	ret->insn = NULL;
	ret->reads = LIVENESS_ALL;
	ret->writes = ret->low_reads = ret->low_writes = 0;
	if (!cs_disasm_iter(decoder->capstone, &at, &size, &place,
			    decoder->insn))
		return ret->access.refusal != X86_REFUSED_UNDECODABLE;
	ret->insn = decoder->insn;
	scan_sets(decoder, ret);
	return true;
}

static struct scan_value scan_word(const struct scan *scan,
				   struct scan_value at)
{
	struct scan_value ret = { .known = at.known };
	uint8_t bytes[WORD];

	ret.known = at.known &&
		    scan->thread->memory(scan->thread->context, at.value, bytes,
					 sizeof(bytes));
	if (ret.known)
		memcpy(&ret.value, bytes, sizeof(bytes));
	return ret;
}

static struct scan_value scan_plus(struct scan_value value, int64_t by)
{
	value.value += (uint64_t)by;
	return value;
}

/* add, sub and lea of the stack pointer with a number. */
static struct scan_value scan_moved(const struct way *way,
				    const struct cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *from = &x86->operands[1];
	struct scan_value lost = { .known = false };

	if (x86->op_count != 2 || x86->operands[0].type != X86_OP_REG ||
	    x86->operands[0].reg != X86_REG_RSP)
		return lost;
	if (insn->id == X86_INS_ADD && from->type == X86_OP_IMM)
		return scan_plus(way->rsp, from->imm);
	if (insn->id == X86_INS_SUB && from->type == X86_OP_IMM)
		return scan_plus(way->rsp, -from->imm);
	if (insn->id == X86_INS_MOV && from->type == X86_OP_REG &&
	    from->reg == X86_REG_RBP)
		return way->rbp;
	if (insn->id != X86_INS_LEA || from->mem.index != X86_REG_INVALID)
		return lost;
	if (from->mem.base == X86_REG_RSP)
		return scan_plus(way->rsp, from->mem.disp);
	if (from->mem.base == X86_REG_RBP)
		return scan_plus(way->rbp, from->mem.disp);
	return lost;
}

/* rsp and rbp after the instruction, which is no branch. */
static void scan_stack(const struct scan *scan, struct way *way,
		       const struct scan_insn *it)
{
	const struct mem_operand *operand = &it->access.operands[0];
	bool stack = it->access.operand_count > 0 && operand->stack;
	unsigned int id = it->insn ? it->insn->id : 0;

	if (id == X86_INS_LEAVE) {
		way->rsp = scan_plus(way->rbp, WORD);
		way->rbp = scan_word(scan, way->rbp);
	} else if (id == X86_INS_PUSH && stack) {
		way->rsp = scan_plus(way->rsp, -(int64_t)operand->size);
	} else if (id == X86_INS_POP && stack) {
		if (it->writes >> X86_RBP & 1)
			way->rbp = scan_word(scan, way->rsp);
		way->rsp = scan_plus(way->rsp, operand->size);
	} else {
		if (!it->insn || it->writes >> X86_RSP & 1)
			way->rsp = it->insn ? scan_moved(way, it->insn)
					    : (struct scan_value){ false, 0 };
		if (!it->insn || it->writes >> X86_RBP & 1)
			way->rbp.known = false;
	}
}

/* Nothing more is known of what is left on this way. */
static void scan_give_up(struct scan *scan, const struct way *way)
{
	scan->undecided |= way->left & ~way->lost;
}

static void scan_push(struct scan *scan, const struct way *way)
{
	if (way->left == 0)
		return;
	if (scan->count == SCAN_WAYS)
		scan_give_up(scan, way);
	else
		scan->ways[scan->count++] = *way;
}

static bool scan_same_value(struct scan_value a, struct scan_value b)
{
	return a.known == b.known && (!a.known || a.value == b.value);
}

/* All that is found on the way `which' is found on `as' too. */
static bool scan_covers(const struct way *as, const struct way *which)
{
	return as->address == which->address && as->depth == which->depth &&
	       scan_same_value(as->rsp, which->rsp) &&
	       scan_same_value(as->rbp, which->rbp) &&
	       (which->left & ~as->left) == 0 &&
	       (as->low & which->left & ~which->low) == 0 &&
	       (as->lost & which->left & ~which->lost) == 0;
}

/*
 * To where a jump or a branch leads from there. Loops and ways that meet again are
 * followed once: else a loop takes all steps, and nothing is decided. But a loop may
 * be left in a way that is not seen, by an exception or longjmp(3): what such a one
 * finds as it was, the registers that calls keep, is not decided by a loop.
 */
static void scan_push_joint(struct scan *scan, const struct way *way,
			    uint64_t from)
{
	for (unsigned int i = 0; i < scan->joint_count; i++) {
		if (!scan_covers(&scan->joints[i], way))
			continue;
		if (way->address <= from)
			scan->undecided |= way->left & ~way->lost & CALL_KEEPS;
		return;
	}
	if (scan->joint_count < SCAN_JOINTS)
		scan->joints[scan->joint_count++] = *way;
	scan_push(scan, way);
}

static void scan_walk(struct scan *scan);

/* Which of the registers that may hold its arguments does a function read soon? */
static uint32_t scan_callee(const struct scan *scan, const struct way *way,
			    const struct scan_insn *it)
{
	struct scan callee = { .thread = scan->thread,
			       .steps = SCAN_CALLEE_STEPS,
			       .callees = scan->callees + 1 };
	struct way first = { .address = it->access.target,
			     .left = way->left & (VECTORS | ARGUMENTS),
			     .depth = SCAN_DEPTH };

	if (it->access.indirect || it->access.target == 0 ||
	    callee.callees > SCAN_CALLEES)
		return 0;
	scan_push(&callee, &first);
	scan_walk(&callee);
	return callee.live;
}

/* A function, as far as it has been followed. */
struct callee {
	uint64_t seen[SCAN_CALLEE_STEPS];
	unsigned int seen_count;
	uint64_t ways[SCAN_CALLEE_WAYS];
	unsigned int way_count;
	uint32_t writes;
};

static bool callee_saw(const struct callee *callee, uint64_t address)
{
	for (unsigned int i = 0; i < callee->seen_count; i++) {
		if (callee->seen[i] == address)
			return true;
	}
	return false;
}

/* False: the function is too long, or it is not known where it goes. */
static bool callee_step(const struct scan *scan, struct callee *callee,
			uint64_t address)
{
	uint64_t next[2];
	unsigned int count = 0;
	struct scan_insn it;

	if (callee->seen_count == SCAN_CALLEE_STEPS ||
	    !scan_decode(scan, address, &it) || !it.insn ||
	    it.access.flow == X86_FLOW_CALL || it.access.indirect)
		return false;
	callee->seen[callee->seen_count++] = address;
	callee->writes |= it.writes | it.low_writes;
	if (it.access.flow == X86_FLOW_BRANCH ||
	    it.access.flow == X86_FLOW_JUMP)
		next[count++] = it.access.target;
	if (it.access.flow == X86_FLOW_BRANCH ||
	    it.access.flow == X86_FLOW_NEXT)
		next[count++] = address + it.access.length;
	while (count-- > 0) {
		if (callee_saw(callee, next[count]))
			continue;
		if (callee->way_count == SCAN_CALLEE_WAYS)
			return false;
		callee->ways[callee->way_count++] = next[count];
	}
	return true;
}

/*
 * What a call of this function loses. Compilers keep values in registers that the
 * psABI gives to callees where they know that this one leaves them alone (gcc's
 * -fipa-ra): of a short function that calls none, what it writes; else all.
 */
static uint32_t scan_loses(const struct scan *scan, uint64_t start)
{
	struct callee callee = { .ways = { start }, .way_count = 1 };

	while (callee.way_count > 0) {
		uint64_t address = callee.ways[--callee.way_count];

		if (!callee_saw(&callee, address) &&
		    !callee_step(scan, &callee, address))
			return CALL_LOSES;
	}
	return callee.writes & CALL_LOSES;
}

/* The same of the function that returns to there. */
static uint32_t scan_loses_before(const struct scan *scan, uint64_t to)
{
	uint8_t bytes[CALL_SIZE];
	int32_t distance;

	if (scan->thread->code(scan->thread->context, to - CALL_SIZE, bytes,
			       sizeof(bytes)) != sizeof(bytes) ||
	    bytes[0] != CALL_OPCODE)
		return CALL_LOSES;
	memcpy(&distance, bytes + 1, sizeof(distance));
	return scan_loses(scan, to + (uint64_t)distance);
}

static void scan_call(struct scan *scan, struct way *way,
		      const struct scan_insn *it)
{
	uint64_t next = way->address + it->access.length;
	bool direct = !it->access.indirect && it->access.target != 0;

	/* a target in a register or in memory */
	scan->live |= way->left & it->reads & ~(UINT32_C(1) << X86_RSP);
	if (way->left & (VECTORS | ARGUMENTS))
		scan->live |= scan_callee(scan, way, it);
	way->left &= ~scan->live;
	way->left &= direct && way->left & CALL_LOSES
			     ? ~scan_loses(scan, it->access.target)
			     : ~(uint32_t)CALL_LOSES;
	way->lost |= CALL_LOSES;
	way->address = next;
	scan_push(scan, way);
}

static void scan_return(struct scan *scan, struct way *way)
{
	struct scan_value to = scan_word(scan, way->rsp);

	if (!to.known || ++way->depth > SCAN_DEPTH) {
		way->lost |= RETURN_LOSES | SECOND_RESULTS;
		scan_give_up(scan, way);
		return;
	}
	if (way->left & RETURN_LOSES)
		way->left &=
			~(RETURN_LOSES & scan_loses_before(scan, to.value));
	way->lost |= RETURN_LOSES;
	way->rsp = scan_plus(way->rsp, WORD);
	way->address = to.value;
	scan_push(scan, way);
}

/* jmp *GOT(%rip), as of a stub of the PLT. */
static void scan_jump(struct scan *scan, struct way *way,
		      const struct scan_insn *it)
{
	const struct mem_operand *operand = &it->access.operands[0];
	struct scan_value at = { .known = true };

	if (!it->access.indirect) {
		uint64_t from = way->address;

		way->address = it->access.target;
		scan_push_joint(scan, way, from);
		return;
	}
	at.value = way->address + it->access.length + (uint64_t)operand->disp;
	at.known = it->access.operand_count == 1 && operand->base == X86_RIP &&
		   operand->index == X86_REG_NONE;
	at = scan_word(scan, at);
	if (!at.known) {
		scan_give_up(scan, way);
		return;
	}
	/*
	 * Of a callee, by the procedure linkage table: until it is bound, the loader
	 * comes first, which saves all that might be an argument.
	 */
	if (scan->callees > 0)
		way->left &= VECTORS;
	way->address = at.value;
	scan_push(scan, way);
}

static void scan_branch(struct scan *scan, struct way *way,
			const struct scan_insn *it)
{
	struct way other = *way;
	uint64_t from = way->address;

	other.address = it->access.target;
	way->address += it->access.length;
	scan_push(scan, way);
	scan_push_joint(scan, &other, from);
}

static void scan_flow(struct scan *scan, struct way *way,
		      const struct scan_insn *it)
{
	switch (it->access.flow) {
	case X86_FLOW_BRANCH:
		scan_branch(scan, way, it);
		break;
	case X86_FLOW_JUMP:
		scan_jump(scan, way, it);
		break;
	case X86_FLOW_CALL:
		scan_call(scan, way, it);
		break;
	case X86_FLOW_RET:
		scan_return(scan, way);
		break;
	case X86_FLOW_STOP: /* nothing follows: nothing is read */
		break;
	case X86_FLOW_NEXT:
	default:
		way->address += it->access.length;
		scan_push(scan, way);
	}
}

static void scan_step(struct scan *scan, struct way *way)
{
	struct scan_insn it;

	if (!scan_decode(scan, way->address, &it)) {
		scan_give_up(scan, way);
		return;
	}
	if (it.access.flow != X86_FLOW_CALL && it.access.flow != X86_FLOW_RET) {
		uint32_t reads = it.reads | (it.low_reads & ~way->low);

		scan->live |= way->left & reads;
		way->left &= ~(scan->live | it.writes);
		way->low |= it.low_writes;
	}
	if (it.access.flow == X86_FLOW_NEXT)
		scan_stack(scan, way, &it);
	scan_flow(scan, way, &it);
}

static void scan_walk(struct scan *scan)
{
	while (scan->count > 0) {
		struct way way = scan->ways[--scan->count];

		way.left &= ~scan->live;
		if (way.left == 0)
			continue;
		if (scan->steps == 0) {
			scan_give_up(scan, &way);
			continue;
		}
		scan->steps--;
		scan_step(scan, &way);
	}
}

uint32_t liveness_find(const struct liveness_thread *thread, uint32_t asked,
		       uint32_t *ret_undecided)
{
	struct scan scan = { .thread = thread, .steps = SCAN_STEPS };
	struct way first = {
		.address = thread->regs->rip,
		.left = asked,
		.rsp = { true, thread->regs->gpr[X86_RSP] },
		.rbp = { true, thread->regs->gpr[X86_RBP] },
	};

	scan_push(&scan, &first);
	scan_walk(&scan);
	*ret_undecided = scan.undecided & ~scan.live & asked;
	return scan.live & asked;
}
