/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks around accesses; see locks.h.
 */
#include "conflict/locks.h"

#include <string.h>

#include "conflict/conflict.h"
#include "conflict/evidence.h"
#include "dataflow/nearby.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/dynamic.h"
#include "sampling/scan.h"

struct lock_function {
	const char *name; /* underscores before it aside */
	enum lock_call call;
};

static const struct lock_function lock_functions[] = {
	{ "pthread_mutex_lock", LOCK_CALL_LOCK },
	{ "pthread_mutex_unlock", LOCK_CALL_UNLOCK },
	{ "pthread_rwlock_wrlock", LOCK_CALL_LOCK },
	{ "pthread_rwlock_rdlock", LOCK_CALL_LOCK },
	{ "pthread_rwlock_unlock", LOCK_CALL_UNLOCK },
	{ "pthread_spin_lock", LOCK_CALL_LOCK },
	{ "pthread_spin_unlock", LOCK_CALL_UNLOCK },
	{ "mtx_lock", LOCK_CALL_LOCK },
	{ "mtx_unlock", LOCK_CALL_UNLOCK },
	{ "g_mutex_lock", LOCK_CALL_LOCK },
	{ "g_mutex_unlock", LOCK_CALL_UNLOCK },
	{ "g_rec_mutex_lock", LOCK_CALL_LOCK },
	{ "g_rec_mutex_unlock", LOCK_CALL_UNLOCK },
	{ "g_rw_lock_writer_lock", LOCK_CALL_LOCK },
	{ "g_rw_lock_writer_unlock", LOCK_CALL_UNLOCK },
	{ "g_rw_lock_reader_lock", LOCK_CALL_LOCK },
	{ "g_rw_lock_reader_unlock", LOCK_CALL_UNLOCK },
	{ "uv_mutex_lock", LOCK_CALL_LOCK },
	{ "uv_mutex_unlock", LOCK_CALL_UNLOCK },
	{ "SDL_LockMutex", LOCK_CALL_LOCK },
	{ "SDL_UnlockMutex", LOCK_CALL_UNLOCK },
	/* libstdc++'s way to the above, where it is not inlined */
	{ "ZL20__gthread_mutex_lockP15pthread_mutex_t", LOCK_CALL_LOCK },
	{ "ZL22__gthread_mutex_unlockP15pthread_mutex_t", LOCK_CALL_UNLOCK },
	{ "ZNSt5mutex4lockEv", LOCK_CALL_LOCK },
	{ "ZNSt5mutex6unlockEv", LOCK_CALL_UNLOCK },
	{ "ZNSt15recursive_mutex4lockEv", LOCK_CALL_LOCK },
	{ "ZNSt15recursive_mutex6unlockEv", LOCK_CALL_UNLOCK },
	{ "ZNSt12shared_mutex4lockEv", LOCK_CALL_LOCK },
	{ "ZNSt12shared_mutex6unlockEv", LOCK_CALL_UNLOCK },
	{ "ZNSt12shared_mutex11lock_sharedEv", LOCK_CALL_LOCK },
	{ "ZNSt12shared_mutex13unlock_sharedEv", LOCK_CALL_UNLOCK },
	{ "ZNSt10lock_guardISt5mutexEC1ERS0_", LOCK_CALL_LOCK_SECOND },
	{ "ZNSt10lock_guardISt5mutexEC2ERS0_", LOCK_CALL_LOCK_SECOND },
	{ "ZNSt10lock_guardISt5mutexED1Ev", LOCK_CALL_UNLOCK_ALL },
	{ "ZNSt10lock_guardISt5mutexED2Ev", LOCK_CALL_UNLOCK_ALL },
	{ "ZNSt11unique_lockISt5mutexEC1ERS0_", LOCK_CALL_LOCK_SECOND },
	{ "ZNSt11unique_lockISt5mutexEC2ERS0_", LOCK_CALL_LOCK_SECOND },
	{ "ZNSt11unique_lockISt5mutexED1Ev", LOCK_CALL_UNLOCK_ALL },
	{ "ZNSt11unique_lockISt5mutexED2Ev", LOCK_CALL_UNLOCK_ALL },
	{ "ZNSt11unique_lockISt5mutexE6unlockEv", LOCK_CALL_UNLOCK_ALL },
	{ "ZNSt11scoped_lockIJSt5mutexEEC1ERS0_", LOCK_CALL_LOCK_SECOND },
	{ "ZNSt11scoped_lockIJSt5mutexEEC2ERS0_", LOCK_CALL_LOCK_SECOND },
	{ "ZNSt11scoped_lockIJSt5mutexEED1Ev", LOCK_CALL_UNLOCK_ALL },
	{ "ZNSt11scoped_lockIJSt5mutexEED2Ev", LOCK_CALL_UNLOCK_ALL },
	{ "ZN6QMutex4lockEv", LOCK_CALL_LOCK },
	{ "ZN6QMutex6unlockEv", LOCK_CALL_UNLOCK },
};

enum lock_call locks_function(const char *name)
{
	if (!name)
		return LOCK_CALL_OTHER;
	name += strspn(name, "_");
	for (size_t i = 0;
	     i < sizeof(lock_functions) / sizeof(lock_functions[0]); i++) {
		if (strcmp(lock_functions[i].name, name) == 0)
			return lock_functions[i].call;
	}
	return LOCK_CALL_OTHER;
}

/* What a jump or call through a slot at a fixed address leads to. */
static const char *slot_function(const struct locks_caller *caller,
				 uint64_t address,
				 const struct insn_access *insn)
{
	uint64_t slot;

	if (!insn->indirect || insn->operand_count == 0 ||
	    !rules_fixed_address(address, insn, &insn->operands[0], &slot))
		return NULL;
	return dynamic_slot_name(caller->module, slot);
}

/* A stub of the PLT: at most endbr64, and a jump through a slot. */
static const char *stub_function(const struct locks_caller *caller,
				 uint64_t address)
{
	for (int i = 0; i < 2; i++) {
		struct insn_access insn;

		scan_instruction(caller->scanner, caller->module, address,
				 &insn);
		if (insn.flow == X86_FLOW_JUMP)
			return slot_function(caller, address, &insn);
		if (insn.length == 0)
			break;
		address += insn.length;
	}
	return NULL;
}

static enum lock_call caller_calls(void *context, uint64_t address,
				   const struct insn_access *insn)
{
	const struct locks_caller *caller = context;
	const struct elf_function *function;
	uint64_t bias = caller->module->bias;

	if (insn->indirect)
		return locks_function(
			slot_function(caller, address - bias, insn));
	if (elftext_in_plt(caller->module->text, insn->target - bias))
		return locks_function(
			stub_function(caller, insn->target - bias));
	function =
		elftext_function_at(caller->module->text, insn->target - bias);
	return function && function->start == insn->target - bias
		       ? locks_function(function->name)
		       : LOCK_CALL_OTHER;
}

bool locks_code(const struct conflict_side *side, uint64_t pc,
		struct locks_caller *caller, struct function_code *ret)
{
	struct module *module = image_module_at(side->home->image, pc);
	const struct elf_function *function;

	if (!module || !module->text)
		return false;
	function = elftext_function_at(module->text, pc - module->bias);
	if (!function)
		return false;
	*caller = (struct locks_caller){ side->home->scanner, module };
	*ret = (struct function_code){
		.decoder = side->home->scanner->decoder,
		.start = function->start + module->bias,
		.call = caller_calls,
		.context = caller,
	};
	ret->bytes = elftext_bytes(module->text, function->start, &ret->size);
	if (ret->size > function->size)
		ret->size = function->size;
	return ret->bytes;
}

static uint64_t stack_word(const struct conflict_side *side, uint64_t address)
{
	uint64_t offset = address - side->wire->stack_address, word;

	if (side->wire->stack_size < sizeof(word) ||
	    offset > side->wire->stack_size - sizeof(word))
		return 0;
	memcpy(&word, side->stack + offset, sizeof(word));
	return word;
}

/* The address of a lock as it is seen from one of the side's frames. */
static uint64_t lock_address(const struct conflict_side *side, size_t frame,
			     const struct lock_place *lock)
{
	const struct frame_registers *registers =
		&side->frames[frame].registers;
	bool known = lock->reg < 16 &&
		     (registers->known & UINT32_C(1) << lock->reg);
	uint64_t word;

	switch ((enum lock_where)lock->where) {
	case LOCK_AT_FIXED:
		return (uint64_t)lock->disp;
	case LOCK_AT_BESIDE:
		return frame == 0 ? side->access.address + (uint64_t)lock->disp
				  : 0;
	case LOCK_AT_REGISTER:
		return known ? registers->gpr[lock->reg] + (uint64_t)lock->disp
			     : 0;
	case LOCK_AT_CELL:
		if (!known)
			return 0;
		word = stack_word(side, registers->gpr[lock->reg] +
						(uint64_t)lock->offset);
		return word ? word + (uint64_t)lock->disp : 0;
	case LOCK_AT_UNKNOWN:
		break;
	}
	return 0;
}

static void read_again(const struct conflict_side *side,
		       struct code_pattern *pattern)
{
	struct function_code code;
	struct lock_place lock;
	struct locks_caller caller;
	bool idle;

	if (!pattern->compared ||
	    !locks_code(side, side->insn_address, &caller, &code) ||
	    !lockset_rereads(&code, side->insn_address, evidence_operand(side),
			     &lock, &idle))
		return;
	pattern->double_check = idle ? PATTERN_REREAD_ONLY : PATTERN_REREAD;
	pattern->lock = lock_address(side, 0, &lock);
}

/* Callers that are looked into for the lock a write is made under. */
enum { LOCKS_CALLERS = 4 };

/* Of the locks held, the wanted one, else the first that is known. */
static uint64_t choose_lock(const struct conflict_side *side, size_t frame,
			    const struct lockset *held, uint64_t wanted)
{
	uint64_t chosen = 0;

	for (unsigned int i = 0; i < held->count; i++) {
		uint64_t lock = lock_address(side, frame, &held->locks[i]);

		if (lock == wanted && lock != 0)
			return lock;
		if (chosen == 0)
			chosen = lock;
	}
	return chosen;
}

static void written_under(const struct conflict_side *side, uint64_t wanted,
			  struct code_pattern *pattern)
{
	bool early = false;

	for (size_t i = 0; i < side->frame_count && i < LOCKS_CALLERS; i++) {
		uint64_t pc = i == 0 ? side->insn_address : side->frames[i].pc;
		struct function_code code;
		struct lockset held;
		struct locks_caller caller;

		if ((i > 0 && !side->frames[i].is_return) ||
		    !locks_code(side, pc, &caller, &code))
			return;
		lockset_at(&code, pc, evidence_operand(side), i > 0, &held);
		early |= held.early;
		if (held.count == 0)
			continue;
		pattern->double_check = early ? PATTERN_EARLY : PATTERN_LAST;
		pattern->lock = choose_lock(side, i, &held, wanted);
		return;
	}
}

bool locks_can_tell(const struct conflict_side *side)
{
	return side->wire->present && !side->kernel && side->module &&
	       side->module->text && side->insn_address != 0 &&
	       side->frame_count > 0;
}

void locks_nearby(const struct conflict_side *side,
		  struct code_pattern *pattern)
{
	struct function_code code;
	struct locks_caller caller;

	if (locks_can_tell(side) &&
	    locks_code(side, side->insn_address, &caller, &code))
		nearby_find(&code, side->insn_address, evidence_operand(side),
			    pattern);
}

void locks_of_sides(const struct conflict *conflict,
		    struct code_pattern *patterns[2])
{
	const struct conflict_side *sides = conflict->sides;
	int reads = sides[0].access.kind == ACCESS_READ ? 0 : 1;

	if (sides[reads].access.kind != ACCESS_READ ||
	    !(sides[1 - reads].access.kind & ACCESS_WRITE) ||
	    !locks_can_tell(&sides[reads]) ||
	    !locks_can_tell(&sides[1 - reads]))
		return;
	read_again(&sides[reads], patterns[reads]);
	if (patterns[reads]->double_check != PATTERN_UNCHECKED)
		written_under(&sides[1 - reads], patterns[reads]->lock,
			      patterns[1 - reads]);
}
