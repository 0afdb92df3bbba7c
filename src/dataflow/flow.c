/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of registers and cells and the locks held at an instruction, on
 * all paths from the function's entry together. See flow-parts.h.
 */
#include "dataflow/flow-parts.h"

#include "base/map.h"
#include "base/vec.h"
#include "x86/decode-capstone.h"
#include "x86/decode-parts.h"
#include "x86/decode.h"

enum {
	STEPS = 20000, /* instructions looked at, repetitions included */
	LEADERS = 500,
};

static void call_step(const struct function_code *code, struct values *values,
		      uint64_t address, const struct insn_access *access)
{
	enum lock_call call = code->call(code->context, address, access);
	struct value lock =
		values->regs[call == LOCK_CALL_LOCK_SECOND ? X86_RSI : X86_RDI];
	unsigned int kept = 0;

	switch (call) {
	case LOCK_CALL_LOCK:
	case LOCK_CALL_LOCK_SECOND:
		if (values->lock_count == VALUES_LOCKS)
			values->overflow = true;
		else
			values->locks[values->lock_count++] = lock;
		break;
	case LOCK_CALL_UNLOCK:
		for (unsigned int i = 0; i < values->lock_count; i++) {
			if (!values_equal(&values->locks[i], &lock))
				values->locks[kept++] = values->locks[i];
		}
		/* one that looks like none of them may be any */
		values->lock_count = kept < values->lock_count ? kept : 0;
		break;
	case LOCK_CALL_UNLOCK_ALL:
		values->lock_count = 0;
		break;
	case LOCK_CALL_OTHER:
		break;
	}
}

bool flow_step(const struct function_code *code, const struct follow *follow,
	       struct values *values, uint64_t address,
	       struct insn_access *access)
{
	const struct cs_insn *insn;

	if (address - follow->start >= follow->size)
		return false;
	pattern_access(follow, address, access);
	insn = pattern_decode(follow, address);
	if (!insn)
		return false;
	if (access->flow == X86_FLOW_CALL)
		call_step(code, values, address, access);
	values_step(values, follow->decoder, insn, access);
	return true;
}

/* The ways to the instruction at `query'. */
struct flow {
	const struct function_code *code;
	struct follow follow; /* for the decoder */
	struct map leaders; /* an address where ways meet: its index */
	struct vec states; /* of struct values, by that index */
	struct vec addresses; /* of uint64_t, by that index */
	struct vec work; /* of uint64_t: indices */
	struct map reached; /* indices */
	unsigned int steps;
	bool failed;
	uint64_t query;
	bool found;
	struct values at_query;
	flow_observer *see;
	void *context;
};

static bool inside(const struct flow *flow, uint64_t address)
{
	return address - flow->code->start < flow->code->size;
}

static bool flow_add_leader(struct flow *flow, uint64_t address)
{
	struct values none = { 0 };
	uint64_t index = flow->addresses.count;

	if (!inside(flow, address) || map_get(&flow->leaders, address))
		return true;
	return index < LEADERS && vec_push(&flow->addresses, &address) &&
	       vec_push(&flow->states, &none) &&
	       map_set(&flow->leaders, address, index);
}

/* Through a slot of the loader's, as a tail call without a stub is. */
static bool is_stub_jump(const struct insn_access *access)
{
	return access->operand_count == 1 &&
	       access->operands[0].base == X86_RIP &&
	       access->operands[0].index == X86_REG_NONE;
}

/* It has taken something from the stack, as the end of a function does. */
static bool pops(const struct insn_access *access)
{
	return access->flow == X86_FLOW_NEXT && access->operand_count > 0 &&
	       access->operands[0].stack &&
	       access->operands[0].kind == ACCESS_READ;
}

/*
 * Does the jump lead out of the function: "jmp *slot(%rip)", or, where the
 * registers of the caller have just been restored, "jmp *%rax"? Others go
 * through a table of places in the function.
 */
static bool is_tail_call(const struct insn_access *access,
			 const struct insn_access *before)
{
	return is_stub_jump(access) || pops(before);
}

/* All places that something jumps to; false if they are not known. */
static bool flow_find_leaders(struct flow *flow)
{
	struct insn_access access = { 0 }, before;
	unsigned int count = 0;

	if (!flow_add_leader(flow, flow->code->start))
		return false;
	for (size_t at = 0; at < flow->code->size; at += access.length) {
		before = access;
		pattern_access(&flow->follow, flow->code->start + at, &access);
		if (access.length == 0 || ++count > STEPS ||
		    access.refusal == X86_REFUSED_UNDECODABLE)
			return false;
		if (access.flow == X86_FLOW_JUMP && access.indirect &&
		    !is_tail_call(&access, &before))
			return false;
		if ((access.flow == X86_FLOW_JUMP ||
		     access.flow == X86_FLOW_BRANCH) &&
		    !flow_add_leader(flow, access.target))
			return false;
	}
	return true;
}

/* A way has come to a place where others may. */
static void flow_join(struct flow *flow, uint64_t address,
		      const struct values *values)
{
	uint64_t *index = map_get(&flow->leaders, address);
	struct values *state;

	if (!index)
		return; /* out of the function */
	state = vec_at(&flow->states, *index);
	if (map_get(&flow->reached, *index)) {
		if (!values_merge(state, values, address))
			return;
	} else {
		*state = *values;
		flow->failed |= !map_set(&flow->reached, *index, 1);
	}
	flow->failed |= !vec_push(&flow->work, index);
}

static void flow_block(struct flow *flow, uint64_t address,
		       struct values *values)
{
	uint64_t first = address;
	struct insn_access access;

	while (!flow->failed) {
		if (address != first && map_get(&flow->leaders, address)) {
			flow_join(flow, address, values);
			return;
		}
		if (address == flow->query) {
			flow->at_query = *values;
			flow->found = true;
		}
		if (flow->see && inside(flow, address))
			flow->see(flow->context, address, values);
		flow->failed |= ++flow->steps > STEPS || values->overflow;
		if (!flow_step(flow->code, &flow->follow, values, address,
			       &access))
			return;
		address += access.length;
		if (access.flow == X86_FLOW_BRANCH ||
		    access.flow == X86_FLOW_JUMP)
			flow_join(flow, access.target, values);
		if (access.flow == X86_FLOW_JUMP ||
		    access.flow == X86_FLOW_RET || access.flow == X86_FLOW_STOP)
			return;
	}
}

static void flow_run(struct flow *flow)
{
	struct values values;

	values_enter(&values);
	flow_join(flow, flow->code->start, &values);
	while (flow->work.count > 0 && !flow->failed) {
		uint64_t index =
			*(uint64_t *)vec_at(&flow->work, flow->work.count - 1);

		flow->work.count--;
		values = *(struct values *)vec_at(&flow->states, index);
		flow_block(flow, *(uint64_t *)vec_at(&flow->addresses, index),
			   &values);
	}
}

/* All places reached, with what was found of them in the end. */
static void flow_observe(struct flow *flow, flow_observer *see, void *context)
{
	struct values values;

	flow->steps = 0;
	flow->see = see;
	flow->context = context;
	for (uint64_t i = 0; i < flow->addresses.count && !flow->failed; i++) {
		if (!map_get(&flow->reached, i))
			continue;
		values = *(struct values *)vec_at(&flow->states, i);
		flow_block(flow, *(uint64_t *)vec_at(&flow->addresses, i),
			   &values);
	}
}

bool flow_to(const struct function_code *code, uint64_t address,
	     struct values *ret, flow_observer *see, void *context)
{
	struct flow flow = {
		.code = code,
		.follow = { .decoder = code->decoder,
			    .bytes = code->bytes,
			    .size = code->size,
			    .start = code->start },
		.states = VEC_INIT(struct values),
		.addresses = VEC_INIT(uint64_t),
		.work = VEC_INIT(uint64_t),
		.query = address,
	};
	bool found;

	if (flow_find_leaders(&flow))
		flow_run(&flow);
	found = flow.found && !flow.failed && !flow.at_query.overflow;
	if (found) {
		*ret = flow.at_query;
		if (see)
			flow_observe(&flow, see, context);
	}
	map_deinit(&flow.leaders);
	map_deinit(&flow.reached);
	vec_deinit(&flow.states);
	vec_deinit(&flow.addresses);
	vec_deinit(&flow.work);
	return found;
}
