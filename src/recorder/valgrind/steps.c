/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A step takes its room in the buffer when it begins, and then writes each word
 * to its place. What the code writes of it that is known only at the superblock's
 * end, the id and the number of words, are constants that are filled in then.
 */
#include "recorder/valgrind/steps.h"

#include <stddef.h>

#include <libvex_guest_amd64.h>
#include <pub_tool_machine.h>

#include "hunt/trace-stream.h"
#include "recorder/os.h"
#include "recorder/recorder.h"
#include "recorder/stream.h"

/* A temporary is another one plus an offset; root itself: nothing is known. */
struct sum {
	IRTemp root;
	uint64_t offset;
};

/* A root's value is an operand of a slot, plus an offset. */
struct known {
	uint64_t offset;
	uint16_t slot;
	uint8_t source; /* enum trace_source; TRACE_FROM_NOTHING: it is not */
};

struct steps {
	struct recorder *recorder;
	const IRSB *in;
	IRSB *out;
	IRTemp base; /* address of the step in the buffer */
	IRConst *size; /* in bytes */
	IRConst *exits[SUPERBLOCK_EXITS]; /* words of head */
	struct sum *sums; /* of each temporary of `in' */
	struct known *known;
	struct superblock_draft draft;
};

static VG_REGPARM(1) void on_full(struct recorder *recorder)
{
	stream_drain(recorder);
}

static IRExpr *number(uint64_t value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *pointer(const void *value)
{
	return number((uint64_t)(uintptr_t)value);
}

static IRExpr *keep(const struct steps *steps, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(steps->out->tyenv, type);

	addStmtToIRSB(steps->out, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

static IRExpr *load(const struct steps *steps, const uint64_t *from)
{
	return keep(steps, Ity_I64,
		    IRExpr_Load(Iend_LE, Ity_I64, pointer(from)));
}

static void store(const struct steps *steps, IRExpr *address, IRExpr *value)
{
	addStmtToIRSB(steps->out, IRStmt_Store(Iend_LE, address, value));
}

/* The address of a word of the step in the buffer. */
static IRExpr *place(const struct steps *steps, uint32_t word)
{
	return keep(steps, Ity_I64,
		    IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(steps->base),
				 number((uint64_t)word * sizeof(uint64_t))));
}

static void put_word(struct steps *steps, IRExpr *value)
{
	store(steps, place(steps, STREAM_HEAD + steps->draft.head.words),
	      value);
	steps->draft.head.words++;
}

struct steps *steps_create(struct recorder *recorder, const IRSB *in, IRSB *out)
{
	size_t count = (size_t)in->tyenv->types_used;
	struct steps *steps;

	if (!recorder->stream.on)
		return NULL;
	steps = LibVEX_Alloc(sizeof(*steps));
	*steps = (struct steps){ .recorder = recorder, .in = in, .out = out };
	steps->sums = LibVEX_Alloc(count * sizeof(*steps->sums));
	steps->known = LibVEX_Alloc(count * sizeof(*steps->known));
	for (size_t i = 0; i < count; i++) {
		steps->sums[i] = (struct sum){ .root = (IRTemp)i };
		steps->known[i] = (struct known){ 0 };
	}
	return steps;
}

/* Room in the buffer: its address, when there is enough. */
static void reserve(struct steps *steps)
{
	const struct stream *stream = &steps->recorder->stream;
	IRExpr *full = keep(steps, Ity_I1,
			    IRExpr_Binop(Iop_CmpLT64U, number(stream->limit),
					 load(steps, &stream->cursor)));
	IRDirty *dirty = unsafeIRDirty_0_N(
		1, "on_full", VG_(fnptr_to_fnentry)((void *)on_full),
		mkIRExprVec_1(pointer(steps->recorder)));

	dirty->guard = full;
	addStmtToIRSB(steps->out, IRStmt_Dirty(dirty));
	steps->base = load(steps, &stream->cursor)->Iex.RdTmp.tmp;
}

/* The three first arguments of a function. */
static void put_arguments(struct steps *steps)
{
	static const Int registers[] = {
		offsetof(VexGuestAMD64State, guest_RDI),
		offsetof(VexGuestAMD64State, guest_RSI),
		offsetof(VexGuestAMD64State, guest_RDX),
	};

	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		put_word(steps, keep(steps, Ity_I64,
				     IRExpr_Get(registers[i], Ity_I64)));
}

static void name(struct steps *steps, uint32_t function)
{
	const struct modules *modules = &steps->recorder->modules;

	os_copy(steps->draft.head.name, function_at(modules, function)->name,
		sizeof(steps->draft.head.name));
}

static void locate(struct steps *steps, uint64_t address)
{
	struct modules *modules = &steps->recorder->modules;
	struct trace_superblock *head = &steps->draft.head;

	head->address = address;
	head->place.module = modules_find(modules, address);
	head->place.offset =
		head->place.module
			? address - module_at(modules, head->place.module)->bias
			: address;
}

void steps_begin(struct steps *steps, uint64_t address, uint32_t function)
{
	const struct stream *stream;

	if (!steps)
		return;
	stream = &steps->recorder->stream;
	locate(steps, address);
	reserve(steps);
	steps->size = IRConst_U64(0);
	steps->exits[0] = IRConst_U64(0);
	store(steps, IRExpr_RdTmp(steps->base), IRExpr_Const(steps->exits[0]));
	store(steps, place(steps, 1), load(steps, &steps->recorder->sequence));
	store(steps, pointer(&stream->cursor),
	      keep(steps, Ity_I64,
		   IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(steps->base),
				IRExpr_Const(steps->size))));
	if (function != 0) {
		name(steps, function);
		put_arguments(steps);
	}
}

void steps_instruction(struct steps *steps, uint32_t length)
{
	struct trace_superblock *head;

	if (!steps)
		return;
	head = &steps->draft.head;
	if (head->instructions < SUPERBLOCK_INSTRUCTIONS)
		steps->draft.lengths[head->instructions++] = (uint8_t)length;
	head->size += length;
}

/* What an atom is. A constant has no root. */
static struct sum sum_of(const struct steps *steps, const IRExpr *atom)
{
	if (atom->tag == Iex_RdTmp)
		return steps->sums[atom->Iex.RdTmp.tmp];
	if (atom->Iex.Const.con->tag == Ico_U64)
		return (struct sum){ IRTemp_INVALID,
				     atom->Iex.Const.con->Ico.U64 };
	return (struct sum){ IRTemp_INVALID, atom->Iex.Const.con->Ico.U32 };
}

static bool is_constant(const IRExpr *expression)
{
	return expression->tag == Iex_Const &&
	       expression->Iex.Const.con->tag == Ico_U64;
}

static void assign_binary(struct steps *steps, IRTemp temp, const IRExpr *data)
{
	const IRExpr *left = data->Iex.Binop.arg1;
	const IRExpr *right = data->Iex.Binop.arg2;
	struct sum sum;

	if (left->tag != Iex_RdTmp || !is_constant(right))
		return;
	sum = steps->sums[left->Iex.RdTmp.tmp];
	if (data->Iex.Binop.op == Iop_Add64)
		sum.offset += right->Iex.Const.con->Ico.U64;
	else if (data->Iex.Binop.op == Iop_Sub64)
		sum.offset -= right->Iex.Const.con->Ico.U64;
	else
		return;
	steps->sums[temp] = sum;
}

void steps_assign(struct steps *steps, IRTemp temp, const IRExpr *data)
{
	const IRExpr *from = data;

	if (!steps)
		return;
	if (data->tag == Iex_Binop)
		assign_binary(steps, temp, data);
	/* values are extended with zeros, too */
	if (data->tag == Iex_Unop && data->Iex.Unop.op == Iop_32Uto64)
		from = data->Iex.Unop.arg;
	if (from->tag == Iex_RdTmp)
		steps->sums[temp] = steps->sums[from->Iex.RdTmp.tmp];
}

/* The operand that is `sum' of the slot that is being added; word: as an I64. */
static struct trace_operand operand_of(struct steps *steps, struct sum sum,
				       enum trace_source self, IRExpr *word)
{
	struct trace_operand operand = { .offset = sum.offset,
					 .source = TRACE_FROM_CONSTANT };
	struct known *known;

	if (sum.root == IRTemp_INVALID)
		return operand;
	known = &steps->known[sum.root];
	if (known->source != TRACE_FROM_NOTHING) {
		operand.source = known->source;
		operand.of = known->slot;
		operand.offset += known->offset;
		return operand;
	}
	*known = (struct known){ .source = (uint8_t)self,
				 .slot = steps->draft.head.slots,
				 .offset = 0 - sum.offset };
	put_word(steps, word);
	return (struct trace_operand){ .source = TRACE_FROM_WORD };
}

static IRExpr *wide(const struct steps *steps, IRExpr *value)
{
	switch ((int)typeOfIRExpr(steps->out->tyenv, value)) {
	case Ity_I1:
		return keep(steps, Ity_I64, IRExpr_Unop(Iop_1Uto64, value));
	case Ity_I32:
		return keep(steps, Ity_I64, IRExpr_Unop(Iop_32Uto64, value));
	default:
		return value;
	}
}

static struct trace_operand address_of(struct steps *steps,
				       const struct steps_access *access)
{
	struct sum sum = sum_of(steps, access->address);
	IRExpr *word = access->address;

	sum.offset += access->displacement;
	if (access->displacement != 0)
		word = keep(steps, Ity_I64,
			    IRExpr_Binop(Iop_Add64, word,
					 number(access->displacement)));
	return operand_of(steps, sum, TRACE_FROM_ADDRESS, word);
}

static struct trace_operand value_of(struct steps *steps,
				     const struct steps_access *access)
{
	IRType type;

	if (!access->value)
		return (struct trace_operand){ 0 };
	type = typeOfIRExpr(steps->out->tyenv, access->value);
	if (type != Ity_I64 && type != Ity_I32)
		return (struct trace_operand){ 0 };
	return operand_of(steps, sum_of(steps, access->value), TRACE_FROM_VALUE,
			  wide(steps, access->value));
}

void steps_access(struct steps *steps, const struct steps_access *access)
{
	struct trace_superblock *head;
	struct trace_slot *slot;

	if (!steps)
		return;
	head = &steps->draft.head;
	if (head->cut || head->slots == SUPERBLOCK_SLOTS ||
	    head->words + 3 > SUPERBLOCK_WORDS) {
		head->cut = 1;
		return;
	}
	slot = &steps->draft.slots[head->slots];
	*slot = (struct trace_slot){
		.instruction = (uint16_t)(head->instructions - 1),
		.size = (uint16_t)access->size,
		.flags = (uint8_t)access->flags,
		.conditional = access->done != NULL,
	};
	slot->address = address_of(steps, access);
	slot->value = value_of(steps, access);
	if (access->done)
		put_word(steps, wide(steps, access->done));
	head->slots++;
}

static void add_exit(struct steps *steps)
{
	struct trace_superblock *head = &steps->draft.head;

	steps->draft.exits[head->exits++] = (struct trace_exit){
		.instructions = head->instructions,
		.slots = head->slots,
		.words = head->words,
	};
	steps->exits[head->exits] = IRConst_U64(0);
	store(steps, IRExpr_RdTmp(steps->base),
	      IRExpr_Const(steps->exits[head->exits]));
}

void steps_exit(struct steps *steps)
{
	/* one place is the end's */
	if (steps && steps->draft.head.exits < SUPERBLOCK_EXITS - 2)
		add_exit(steps);
}

static enum trace_superblock_ends ends_of(IRJumpKind kind)
{
	switch ((int)kind) {
	case Ijk_Boring:
		return TRACE_ENDS_JUMP;
	case Ijk_Call:
		return TRACE_ENDS_CALL;
	case Ijk_Ret:
		return TRACE_ENDS_RETURN;
	case Ijk_Sys_syscall:
		return TRACE_ENDS_SYSCALL;
	default:
		return TRACE_ENDS_OTHER;
	}
}

void steps_end(struct steps *steps)
{
	struct trace_superblock *head;
	const struct superblock *superblock;
	uint64_t id;

	/* without an instruction */
	if (!steps || !steps->size)
		return;
	head = &steps->draft.head;
	head->ends = (uint8_t)ends_of(steps->in->jumpkind);
	add_exit(steps);
	superblock = superblocks_find(&steps->recorder->stream.superblocks,
				      &steps->draft,
				      (const void *)(uintptr_t)head->address);
	/* otherwise the next step takes its place in the buffer */
	if (!superblock)
		return;
	id = (uint64_t)superblock->id << 16;
	steps->size->Ico.U64 =
		((uint64_t)STREAM_HEAD + head->words) * sizeof(uint64_t);
	steps->exits[0]->Ico.U64 = id | STREAM_BROKEN;
	for (uint32_t i = 0; i < head->exits; i++)
		steps->exits[i + 1]->Ico.U64 = id | i;
}
