/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * After each load and store of the program, its site and address go to the
 * recorder. By then the memory is known to be readable, and no other thread has
 * run. Left out are addresses of thread-local variables and, unless another thread
 * has accessed the stack, those that the instruction itself computes from the stack
 * pointer by adding a constant.
 *
 * An instruction that loads and stores at one address is one access. VEX
 * translates locked instructions to a compare-and-swap, which of them all can
 * fail for `cmpxchg' alone; then it only reads.
 */
#include "recorder/valgrind/instrument.h"

#include <stddef.h>
#include <stdint.h>

#include <pub_tool_basics.h>

#include <pub_tool_machine.h>
#include <pub_tool_tooliface.h>

#include <libvex_guest_amd64.h>

#include "hunt/trace-format.h"
#include "recorder/emit.h"
#include "recorder/recorder.h"
#include "recorder/valgrind/operands.h"
#include "recorder/valgrind/steps.h"
#include "recorder/watched.h"

/* What an address was computed from. */
enum origin { ORIGIN_OTHER = 0, ORIGIN_STACK, ORIGIN_TLS };

/* A superblock that is being copied. */
struct work {
	struct recorder *recorder;
	struct steps *steps; /* NULL: not recorded */
	IRSB *in, *out;
	uint8_t *origins; /* enum origin, of each temporary of `in' */
	Int first, end; /* statements of the instruction */
	uint64_t address; /* of it */
	uint32_t function; /* WATCH_STRING; or 0 */
	bool recorded; /* its accesses are */
	bool on_stack; /* operands_on_stack() */
	bool locked; /* it has a compare-and-swap */
};

/*
 * Valgrind calls these from translated code, with what was known at
 * translation; the recorder is one for a process.
 */
static VG_REGPARM(3) void on_swap(struct recorder *recorder, struct site *site,
				  Addr address, UWord success)
{
	/* the site of a failure is the next one */
	if (!success)
		site = site_at(&recorder->uses, site->other);
	recorder_access(recorder, site, address);
}

static VG_REGPARM(3) void on_call(struct recorder *recorder, Addr sp,
				  Addr address)
{
	recorder_call(recorder, sp, address);
}

static VG_REGPARM(3) void on_return(struct recorder *recorder, Addr sp,
				    UWord result)
{
	recorder_return(recorder, sp, result);
}

static VG_REGPARM(1) void on_evex(struct recorder *recorder)
{
	emit_unable(recorder,
		    "AVX-512: Valgrind does not run its instructions");
}

static void on_enter(struct recorder *recorder, UWord function, Addr sp,
		     UWord first, UWord second, UWord third)
{
	const uint64_t arguments[3] = { first, second, third };

	watched_enter(recorder, (uint32_t)function, sp, arguments);
}

static IRExpr *number(uint64_t value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *pointer(const void *value)
{
	return number((uint64_t)(uintptr_t)value);
}

/* The value of an expression in a new temporary. */
static IRExpr *keep(IRSB *out, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(out->tyenv, type);

	addStmtToIRSB(out, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

static IRExpr *guest_register(IRSB *out, Int offset)
{
	return keep(out, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

#define GUEST(name) ((Int)offsetof(VexGuestAMD64State, guest_##name))

static void call_helper(IRSB *out, const char *name, void *helper,
			Int registers, IRExpr **arguments, IRExpr *guard)
{
	IRDirty *dirty = unsafeIRDirty_0_N(
		registers, name, VG_(fnptr_to_fnentry)(helper), arguments);

	if (guard)
		dirty->guard = guard;
	addStmtToIRSB(out, IRStmt_Dirty(dirty));
}

#define CALL(out, registers, helper, arguments, guard) \
	call_helper(out, #helper, (void *)(helper), registers, arguments, guard)

/* Whether an expression is a register that memory of no other thread is at. */
static enum origin origin_of(const struct work *work, const IRExpr *value)
{
	const IRExpr *left, *right;

	switch ((int)value->tag) {
	case Iex_RdTmp:
		return work->origins[value->Iex.RdTmp.tmp];
	case Iex_Get:
		if (value->Iex.Get.offset == GUEST(RSP))
			return ORIGIN_STACK;
		return value->Iex.Get.offset == GUEST(FS_CONST) ? ORIGIN_TLS
								: ORIGIN_OTHER;
	case Iex_Binop:
		left = value->Iex.Binop.arg1;
		right = value->Iex.Binop.arg2;
		if (value->Iex.Binop.op != Iop_Add64 &&
		    value->Iex.Binop.op != Iop_Sub64 &&
		    value->Iex.Binop.op != Iop_And64)
			return ORIGIN_OTHER;
		if (right->tag == Iex_Const)
			return origin_of(work, left);
		return left->tag == Iex_Const ? origin_of(work, right)
					      : ORIGIN_OTHER;
	default:
		return ORIGIN_OTHER;
	}
}

static bool is_private(const struct work *work, const IRExpr *address)
{
	return origin_of(work, address) != ORIGIN_OTHER;
}

/*
 * The same of what the instruction accesses: one that is given an address by a register
 * may be given that of other memory the next time.
 */
static enum origin access_origin(const struct work *work, const IRExpr *address)
{
	enum origin origin = origin_of(work, address);

	return origin == ORIGIN_STACK && !work->on_stack ? ORIGIN_OTHER
							 : origin;
}

static struct site *get_site(const struct work *work, uint32_t size,
			     uint32_t flags)
{
	return uses_site_in(&work->recorder->uses, work->address,
			    work->function, size, flags);
}

/* Whether accesses to the thread's own stack may be recorded, when it runs. */
static IRExpr *on_stack(const struct work *work)
{
	IRExpr *value = keep(work->out, Ity_I64,
			     IRExpr_Load(Iend_LE, Ity_I64,
					 pointer(&work->recorder->on_stack)));

	return keep(work->out, Ity_I1,
		    IRExpr_Binop(Iop_CmpNE64, value, number(0)));
}

static void add_access(const struct work *work, IRExpr *address, Int size,
		       uint32_t flags, IRExpr *guard)
{
	enum origin origin = access_origin(work, address);
	struct site *site;

	/* a guard and one more are seldom */
	if (!work->recorded || origin == ORIGIN_TLS ||
	    (origin == ORIGIN_STACK && guard))
		return;
	if (origin == ORIGIN_STACK)
		guard = on_stack(work);
	site = get_site(work, (uint32_t)size, flags);
	if (site)
		CALL(work->out, 3, recorder_access,
		     mkIRExprVec_3(pointer(work->recorder), pointer(site),
				   address),
		     guard);
}

static bool is_same(const IRExpr *a, const IRExpr *b)
{
	if (a->tag == Iex_RdTmp && b->tag == Iex_RdTmp)
		return a->Iex.RdTmp.tmp == b->Iex.RdTmp.tmp;
	return a->tag == Iex_Const && b->tag == Iex_Const &&
	       a->Iex.Const.con->Ico.U64 == b->Iex.Const.con->Ico.U64;
}

/* The address that a statement stores to; NULL: it is no plain store. */
static const IRExpr *store_address(const IRStmt *statement)
{
	if (statement->tag == Ist_Store)
		return statement->Ist.Store.addr;
	return NULL;
}

static const IRExpr *load_address(const IRStmt *statement)
{
	if (statement->tag == Ist_WrTmp &&
	    statement->Ist.WrTmp.data->tag == Iex_Load)
		return statement->Ist.WrTmp.data->Iex.Load.addr;
	return NULL;
}

/* Whether the instruction accesses the address in that way, too. */
static bool also(const struct work *work, const IRExpr *address,
		 const IRExpr *(*address_of)(const IRStmt *statement))
{
	for (Int i = work->first; i < work->end; i++) {
		const IRExpr *other = address_of(work->in->stmts[i]);

		if (other && is_same(address, other))
			return true;
	}
	return false;
}

static Int size_of(const struct work *work, const IRExpr *value)
{
	return sizeofIRType(typeOfIRExpr(work->in->tyenv, value));
}

/* The value of memory that is not the thread's own, as far as is known here. */
static IRExpr *shared_value(const struct work *work, const IRExpr *address,
			    IRExpr *value)
{
	return is_private(work, address) ? NULL : value;
}

static void step_load(const struct work *work, const IRStmt *statement)
{
	const IRExpr *data = statement->Ist.WrTmp.data;
	IRExpr *address = data->Iex.Load.addr;

	if (work->steps && !work->locked)
		steps_access(
			work->steps,
			&(struct steps_access){
				.address = address,
				.value = shared_value(
					work, address,
					IRExpr_RdTmp(statement->Ist.WrTmp.tmp)),
				.size = (uint32_t)sizeofIRType(
					data->Iex.Load.ty),
				.flags = TRACE_READS });
}

static void load(const struct work *work, const IRStmt *statement)
{
	const IRExpr *data = statement->Ist.WrTmp.data;
	IRExpr *address = data->Iex.Load.addr;

	step_load(work, statement);
	if (work->locked || also(work, address, store_address))
		return;
	add_access(work, address, sizeofIRType(data->Iex.Load.ty), TRACE_READS,
		   NULL);
}

/* done: NULL, or whether it is. */
static void step_store(const struct work *work, IRExpr *address, IRExpr *data,
		       IRExpr *done)
{
	if (work->steps)
		steps_access(work->steps,
			     &(struct steps_access){
				     .address = address,
				     .value = shared_value(work, address, data),
				     .done = done,
				     .size = (uint32_t)size_of(work, data),
				     .flags = TRACE_WRITES });
}

static void store(const struct work *work, const IRStmt *statement)
{
	IRExpr *address = statement->Ist.Store.addr;
	uint32_t flags = TRACE_WRITES;

	step_store(work, address, statement->Ist.Store.data, NULL);
	if (also(work, address, load_address))
		flags |= TRACE_READS;
	add_access(work, address, size_of(work, statement->Ist.Store.data),
		   flags, NULL);
}

static void guarded_store(const struct work *work, const IRStoreG *guarded)
{
	step_store(work, guarded->addr, guarded->data, guarded->guard);
	add_access(work, guarded->addr, size_of(work, guarded->data),
		   TRACE_WRITES, guarded->guard);
}

/* A step's access of some bytes whose values are not recorded. */
static void step_bytes(const struct work *work, IRExpr *address, IRExpr *done,
		       Int size, uint32_t flags)
{
	if (work->steps)
		steps_access(work->steps,
			     &(struct steps_access){ .address = address,
						     .done = done,
						     .size = (uint32_t)size,
						     .flags = flags });
}

static void guarded_load(const struct work *work, const IRLoadG *guarded)
{
	IRType result, loaded;

	typeOfIRLoadGOp(guarded->cvt, &result, &loaded);
	step_bytes(work, guarded->addr, guarded->guard, sizeofIRType(loaded),
		   TRACE_READS);
	add_access(work, guarded->addr, sizeofIRType(loaded), TRACE_READS,
		   guarded->guard);
}

/* Whether the memory was what the instruction expected: an I64 of 0 or 1. */
static IRExpr *compare(const struct work *work, IRTemp old, IRExpr *expected,
		       Int size)
{
	IROp op = size == 1   ? Iop_CasCmpEQ8
		  : size == 2 ? Iop_CasCmpEQ16
		  : size == 4 ? Iop_CasCmpEQ32
			      : Iop_CasCmpEQ64;
	IRExpr *equal = keep(work->out, Ity_I1,
			     IRExpr_Binop(op, IRExpr_RdTmp(old), expected));

	return keep(work->out, Ity_I64, IRExpr_Unop(Iop_1Uto64, equal));
}

/* One of the two halves of what a compare-and-swap reads and writes. */
static void step_half(const struct work *work, const IRCAS *cas,
		      uint64_t displacement, IRExpr *done)
{
	IRTemp old = displacement > 0 ? cas->oldHi : cas->oldLo;
	struct steps_access access = {
		.address = cas->addr,
		.displacement = displacement,
		.value = shared_value(work, cas->addr, IRExpr_RdTmp(old)),
		.size = (uint32_t)size_of(work, cas->dataLo),
		.flags = TRACE_READS | TRACE_ATOMIC,
	};

	steps_access(work->steps, &access);
	access.value = shared_value(
		work, cas->addr, displacement > 0 ? cas->dataHi : cas->dataLo);
	access.done = done;
	access.flags = TRACE_WRITES | TRACE_ATOMIC;
	steps_access(work->steps, &access);
}

static void step_swap(const struct work *work, const IRCAS *cas,
		      IRExpr *success)
{
	if (!work->steps)
		return;
	step_half(work, cas, 0, success);
	if (cas->oldHi != IRTemp_INVALID)
		step_half(work, cas, (uint64_t)size_of(work, cas->dataLo),
			  success);
}

static void call_swap(const struct work *work, const IRCAS *cas, uint32_t size,
		      IRExpr *success)
{
	struct site *failed, *done;

	failed = get_site(work, size, TRACE_READS | TRACE_ATOMIC);
	done = get_site(work, size, TRACE_READS | TRACE_WRITES | TRACE_ATOMIC);
	if (!failed || !done)
		return;
	done->other = failed->id;
	CALL(work->out, 3, on_swap,
	     mkIRExprVec_4(pointer(work->recorder), pointer(done), cas->addr,
			   success),
	     NULL);
}

static void swap(const struct work *work, const IRCAS *cas)
{
	bool recorded = work->recorded &&
			access_origin(work, cas->addr) == ORIGIN_OTHER;
	bool is_double = cas->oldHi != IRTemp_INVALID;
	Int size = size_of(work, cas->dataLo);
	IRExpr *success;

	if (!recorded && !work->steps)
		return;
	success = compare(work, cas->oldLo, cas->expdLo, size);
	if (is_double)
		success = keep(work->out, Ity_I64,
			       IRExpr_Binop(Iop_And64, success,
					    compare(work, cas->oldHi,
						    cas->expdHi, size)));
	step_swap(work, cas, success);
	if (recorded)
		call_swap(work, cas, (uint32_t)(is_double ? 2 * size : size),
			  success);
}

static void dirty(const struct work *work, const IRDirty *details)
{
	uint32_t flags = 0;

	if (details->mFx == Ifx_None)
		return;
	if (details->mFx != Ifx_Write)
		flags |= TRACE_READS;
	if (details->mFx != Ifx_Read)
		flags |= TRACE_WRITES;
	for (uint32_t bit = TRACE_READS; bit <= TRACE_WRITES; bit <<= 1) {
		if (flags & bit)
			step_bytes(work, details->mAddr, details->guard,
				   details->mSize, bit);
	}
	add_access(work, details->mAddr, details->mSize, flags, details->guard);
}

/* After a statement was copied. */
static void follow(const struct work *work, const IRStmt *statement)
{
	switch ((int)statement->tag) {
	case Ist_WrTmp:
		work->origins[statement->Ist.WrTmp.tmp] =
			origin_of(work, statement->Ist.WrTmp.data);
		steps_assign(work->steps, statement->Ist.WrTmp.tmp,
			     statement->Ist.WrTmp.data);
		if (statement->Ist.WrTmp.data->tag == Iex_Load)
			load(work, statement);
		break;
	case Ist_Store:
		store(work, statement);
		break;
	case Ist_StoreG:
		guarded_store(work, statement->Ist.StoreG.details);
		break;
	case Ist_LoadG:
		guarded_load(work, statement->Ist.LoadG.details);
		break;
	case Ist_CAS:
		swap(work, statement->Ist.CAS.details);
		break;
	case Ist_Dirty:
		dirty(work, statement->Ist.Dirty.details);
		break;
	default:
		break;
	}
}

static void enter(const struct work *work)
{
	uint32_t function =
		modules_entry(&work->recorder->modules, work->address);
	const struct function *watched;

	if (function == 0)
		return;
	watched = function_at(&work->recorder->modules, function);
	if (watched->kind == WATCH_NONE ||
	    (watched->kind == WATCH_STRING && !watched->resolver))
		return;
	CALL(work->out, 0, on_enter,
	     mkIRExprVec_6(pointer(work->recorder), number(function),
			   guest_register(work->out, GUEST(RSP)),
			   guest_register(work->out, GUEST(RDI)),
			   guest_register(work->out, GUEST(RSI)),
			   guest_register(work->out, GUEST(RDX))),
	     NULL);
}

/* After what the recorder notes of a call, which is before the step. */
static void begin_steps(const struct work *work)
{
	const struct modules *modules = &work->recorder->modules;
	uint32_t function = modules_entry(modules, work->address);

	if (function != 0) {
		const struct function *entered = function_at(modules, function);

		if (entered->kind != WATCH_STRING || entered->resolver)
			function = 0;
	}
	steps_begin(work->steps, work->address, function);
}

/* The instruction that begins with statement i. */
static void begin(struct work *work, Int i)
{
	const IRStmt *mark = work->in->stmts[i];
	bool is_first = work->address == 0;

	work->address = mark->Ist.IMark.addr + mark->Ist.IMark.delta;
	work->first = i + 1;
	work->end = i + 1;
	work->locked = false;
	while (work->end < work->in->stmts_used &&
	       work->in->stmts[work->end]->tag != Ist_IMark) {
		work->locked |= work->in->stmts[work->end]->tag == Ist_CAS;
		work->end++;
	}
	work->recorded = modules_recorded(&work->recorder->modules,
					  work->address, &work->function);
	work->on_stack = operands_on_stack(
		(const uint8_t *)(uintptr_t)work->address, mark->Ist.IMark.len);
	enter(work);
	if (is_first)
		begin_steps(work);
	steps_instruction(work->steps, mark->Ist.IMark.len);
}

/* Where the call that ends the block returns to. */
static uint64_t return_address(const IRSB *block)
{
	for (Int i = block->stmts_used - 1; i >= 0; i--) {
		const IRStmt *statement = block->stmts[i];

		if (statement->tag == Ist_IMark)
			return statement->Ist.IMark.addr +
			       statement->Ist.IMark.len;
	}
	return 0;
}

/* Does the block end before an instruction that Valgrind does not know? */
static bool ends_undecoded(const IRSB *block, const uint8_t **ret)
{
	if (block->jumpkind != Ijk_NoDecode || block->next->tag != Iex_Const)
		return false;
	*ret = (const uint8_t *)(uintptr_t)block->next->Iex.Const.con->Ico.U64;
	return true;
}

/* An EVEX prefix (Intel SDM, 2.7); in 64-bit mode the byte begins nothing else. */
bool instrument_is_evex(const uint8_t *code)
{
	return *code == 0x62;
}

static void end(const struct work *work)
{
	IRSB *out = work->out;
	const uint8_t *code;

	steps_end(work->steps);
	if (work->in->jumpkind == Ijk_Call)
		CALL(out, 3, on_call,
		     mkIRExprVec_3(pointer(work->recorder),
				   guest_register(out, GUEST(RSP)),
				   number(return_address(work->in))),
		     NULL);
	else if (work->in->jumpkind == Ijk_Ret)
		CALL(out, 3, on_return,
		     mkIRExprVec_3(pointer(work->recorder),
				   guest_register(out, GUEST(RSP)),
				   guest_register(out, GUEST(RAX))),
		     NULL);
	else if (ends_undecoded(work->in, &code) && instrument_is_evex(code))
		CALL(out, 1, on_evex, mkIRExprVec_1(pointer(work->recorder)),
		     NULL);
}

void *instrument_block(struct recorder *recorder, void *block)
{
	struct work work = { .recorder = recorder, .in = block };
	size_t temporaries = (size_t)work.in->tyenv->types_used;

	work.out = deepCopyIRSBExceptStmts(work.in);
	work.origins = LibVEX_Alloc(temporaries);
	for (size_t i = 0; i < temporaries; i++)
		work.origins[i] = ORIGIN_OTHER;
	work.steps = steps_create(recorder, work.in, work.out);
	for (Int i = 0; i < work.in->stmts_used; i++) {
		IRStmt *statement = work.in->stmts[i];

		if (statement->tag == Ist_Exit)
			steps_exit(work.steps);
		addStmtToIRSB(work.out, statement);
		if (statement->tag == Ist_IMark)
			begin(&work, i);
		else
			follow(&work, statement);
	}
	end(&work);
	return work.out;
}
