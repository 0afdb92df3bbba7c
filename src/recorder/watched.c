/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A lock is held from the successful return of its function to the entry of the
 * one that releases it. A block exists from the return of the allocator to the
 * entry of free. What an allocator does inside is not recorded: memory that it
 * hands out again is ordered by it.
 */
#include "recorder/watched.h"

#include "hunt/trace-events.h"
#include "hunt/trace-format.h"
#include "recorder/emit.h"
#include "recorder/recorder.h"
#include "recorder/stream.h"

static bool is_memory(enum watched kind)
{
	return kind >= WATCH_ALLOCATE && kind <= WATCH_FREE;
}

static struct trace_lock lock_of(uint64_t address, uint8_t kind, bool shared)
{
	return (struct trace_lock){ .address = address,
				    .kind = kind,
				    .shared = shared };
}

static void acquire(struct recorder *recorder, const struct watched_call *call,
		    uint64_t address, uint8_t kind, bool shared)
{
	struct trace_lock lock = lock_of(address, kind, shared);
	struct thread *thread = recorder->current;

	thread->lockset =
		locksets_add(&recorder->locksets, thread->lockset, &lock);
	thread->held = holds_take(&recorder->holds, thread->held, &lock,
				  call->context);
	emit_event(recorder, TRACE_ACQUIRED, &lock);
}

static void release(struct recorder *recorder, uint64_t address, uint8_t kind)
{
	struct trace_lock lock = lock_of(address, kind, false);
	struct thread *thread = recorder->current;

	emit_event(recorder, TRACE_RELEASED, &lock);
	thread->lockset =
		locksets_remove(&recorder->locksets, thread->lockset, address);
	thread->held = holds_release(&recorder->holds, thread->held, address);
	/* after too many, it is known again */
	if (thread->lockset == 0)
		thread->held = 0;
}

static void event(struct recorder *recorder, uint32_t kind, uint64_t address,
		  uint8_t lock_kind)
{
	struct trace_lock lock = lock_of(address, lock_kind, false);

	emit_event(recorder, kind, &lock);
}

static void end_block(struct recorder *recorder, struct block *block)
{
	emit_forgotten(recorder, block->address, block->size, block);
	if (block->number != 0)
		emit_free(recorder, block, recorder->current);
	heap_remove(&recorder->heap, block);
}

static void end_block_at(struct recorder *recorder, uint64_t address)
{
	struct block *block = heap_find(&recorder->heap, address);

	if (block)
		end_block(recorder, block);
}

static void begin_block(struct recorder *recorder,
			const struct watched_call *call, uint64_t address,
			uint64_t size)
{
	struct block *block;

	if (address == 0 || address + size < address)
		return;
	end_block_at(recorder, address);
	emit_forgotten(recorder, address, size, NULL);
	block = heap_add(&recorder->heap, address, size);
	if (!block)
		return;
	block->sequence = recorder->sequence;
	block->thread = recorder->current->id;
	block->context = call->context;
}

static void enter(struct recorder *recorder, enum watched kind,
		  const uint64_t arguments[3])
{
	switch ((int)kind) {
	case WATCH_FREE:
		end_block_at(recorder, arguments[0]);
		break;
	case WATCH_UNLOCK:
	case WATCH_CRITICAL_END:
	case WATCH_KMP_UNLOCK:
		release(recorder, arguments[0], TRACE_MUTEX);
		break;
	case WATCH_RWLOCK_UNLOCK:
		release(recorder, arguments[0], TRACE_RWLOCK);
		break;
	case WATCH_SPIN_UNLOCK:
		release(recorder, arguments[0], TRACE_SPIN);
		break;
	case WATCH_WAIT:
		release(recorder, arguments[1], TRACE_MUTEX);
		break;
	case WATCH_SIGNAL:
		event(recorder, TRACE_SIGNALLED, arguments[0], TRACE_CONDITION);
		break;
	case WATCH_BARRIER:
		event(recorder, TRACE_SIGNALLED, arguments[0], TRACE_BARRIER);
		break;
	case WATCH_SEMAPHORE_POST:
		event(recorder, TRACE_SIGNALLED, arguments[0], TRACE_SEMAPHORE);
		break;
	default:
		break;
	}
}

/* With the step stream: what a function of memory did, in place of its steps. */
static void tell_memory(struct recorder *recorder, enum watched kind,
			const struct watched_call *call, uint64_t result)
{
	const uint64_t *arguments = call->arguments;
	uint64_t sizes[] = {
		[WATCH_ALLOCATE] = arguments[0],
		[WATCH_ALLOCATE_SECOND] = arguments[1],
		[WATCH_CALLOC] = arguments[0] * arguments[1],
		[WATCH_REALLOC] = arguments[1],
		[WATCH_MEMALIGN] = arguments[2],
		[WATCH_FREE] = 0,
	};
	uint64_t numbers[3] = { 0, result, sizes[kind] };
	bool failed = result == 0 || result == UINT64_MAX;

	if (kind == WATCH_MEMALIGN && result != UINT64_MAX) {
		failed = (uint32_t)result != 0;
		if (!failed)
			numbers[1] = *(uint64_t *)(uintptr_t)arguments[0];
	}
	if (kind == WATCH_FREE ||
	    (kind == WATCH_REALLOC && (!failed || arguments[1] == 0)))
		numbers[0] = arguments[0];
	if (failed)
		numbers[1] = numbers[2] = 0;
	stream_event(recorder, TRACE_HEAP, numbers);
}

static void hide(struct recorder *recorder, enum watched kind,
		 const struct watched_call *call)
{
	if (!recorder->stream.on || recorder->current->muted != 0)
		return;
	if (kind == WATCH_FREE)
		tell_memory(recorder, kind, call, 0);
	stream_hide(recorder, true);
}

static void show(struct recorder *recorder, enum watched kind,
		 const struct watched_call *call, uint64_t result)
{
	if (!recorder->stream.on || recorder->current->muted != 0)
		return;
	stream_hide(recorder, false);
	if (kind != WATCH_FREE)
		tell_memory(recorder, kind, call, result);
}

/*
 * `omp critical' without a name has one lock, whose address no argument tells: that of
 * its library, then.
 */
static uint64_t lock_of_library(struct recorder *recorder,
				const struct function *function)
{
	struct modules *modules = &recorder->modules;
	uint32_t module = modules_find(modules, function->entry);

	return module ? module_at(modules, module)->bias : function->entry;
}

/* Each function's lock is its first argument from here on. */
static void place_lock(struct recorder *recorder,
		       const struct function *function,
		       struct watched_call *call)
{
	switch ((int)function->kind) {
	case WATCH_CRITICAL:
	case WATCH_CRITICAL_END:
		call->arguments[0] = lock_of_library(recorder, function);
		break;
	case WATCH_KMP_LOCK:
	case WATCH_KMP_TEST:
	case WATCH_KMP_UNLOCK:
		call->arguments[0] = call->arguments[2];
		break;
	default:
		break;
	}
}

void watched_enter(struct recorder *recorder, uint32_t function, uint64_t sp,
		   const uint64_t arguments[3])
{
	struct thread *thread = recorder->current;
	const struct function *watched =
		function_at(&recorder->modules, function);
	struct watched_call *call;

	watched_return(recorder, thread, sp, UINT64_MAX);
	if (thread->calls_count == CALLS_MAX)
		return;
	call = &thread->calls[thread->calls_count++];
	*call = (struct watched_call){
		.sp = sp,
		.arguments = { arguments[0], arguments[1], arguments[2] },
		.function = function,
		.context = thread->context,
		.muted = is_memory(watched->kind) && !watched->resolver,
	};
	place_lock(recorder, watched, call);
	if (!watched->resolver && thread->muted == 0)
		enter(recorder, watched->kind, call->arguments);
	if (call->muted)
		hide(recorder, watched->kind, call);
	thread->muted += call->muted;
}

static void join(struct recorder *recorder, uint64_t pointer)
{
	for (uint32_t id = recorder->threads.count; id > 0; id--) {
		struct thread *thread = records_at(&recorder->threads, id);

		if (thread->pointer != pointer || thread->joiner != 0 ||
		    thread->ended == TRACE_NEVER)
			continue;
		thread->joined = recorder->sequence;
		thread->joiner = recorder->current->id;
		emit_thread(recorder, thread);
		return;
	}
}

static void reallocate(struct recorder *recorder,
		       const struct watched_call *call, uint64_t result)
{
	if (result == 0 && call->arguments[1] > 0)
		return;
	end_block_at(recorder, call->arguments[0]);
	begin_block(recorder, call, result, call->arguments[1]);
}

/* A function of memory has returned. */
static void leave_memory(struct recorder *recorder, enum watched kind,
			 const struct watched_call *call, uint64_t result)
{
	const uint64_t *arguments = call->arguments;

	switch ((int)kind) {
	case WATCH_ALLOCATE:
		begin_block(recorder, call, result, arguments[0]);
		break;
	case WATCH_ALLOCATE_SECOND:
		begin_block(recorder, call, result, arguments[1]);
		break;
	case WATCH_CALLOC:
		begin_block(recorder, call, result,
			    arguments[0] * arguments[1]);
		break;
	case WATCH_REALLOC:
		reallocate(recorder, call, result);
		break;
	case WATCH_MEMALIGN:
		if ((uint32_t)result == 0)
			begin_block(recorder, call,
				    *(uint64_t *)(uintptr_t)arguments[0],
				    arguments[2]);
		break;
	default:
		break;
	}
}

/* A function that synchronizes has succeeded. */
static void leave_locked(struct recorder *recorder, enum watched kind,
			 const struct watched_call *call)
{
	const uint64_t *arguments = call->arguments;

	switch ((int)kind) {
	case WATCH_JOIN:
		join(recorder, arguments[0]);
		break;
	case WATCH_LOCK:
	case WATCH_OMP_LOCK:
	case WATCH_OMP_TEST:
	case WATCH_KMP_LOCK:
	case WATCH_KMP_TEST:
	case WATCH_CRITICAL:
		acquire(recorder, call, arguments[0], TRACE_MUTEX, false);
		break;
	case WATCH_READ_LOCK:
		acquire(recorder, call, arguments[0], TRACE_RWLOCK, true);
		break;
	case WATCH_WRITE_LOCK:
		acquire(recorder, call, arguments[0], TRACE_RWLOCK, false);
		break;
	case WATCH_SPIN_LOCK:
		acquire(recorder, call, arguments[0], TRACE_SPIN, false);
		break;
	case WATCH_SEMAPHORE_WAIT:
		event(recorder, TRACE_ACQUIRED, arguments[0], TRACE_SEMAPHORE);
		break;
	default:
		break;
	}
}

/* EOWNERDEAD of errno(3): a robust mutex is held, its last owner died. */
enum { OWNER_DIED = 130 };

static bool has_succeeded(enum watched kind, uint32_t status)
{
	switch ((int)kind) {
	case WATCH_OMP_LOCK:
	case WATCH_KMP_LOCK:
	case WATCH_CRITICAL:
		return true;
	case WATCH_OMP_TEST:
	case WATCH_KMP_TEST:
		return status != 0;
	case WATCH_LOCK:
		return status == 0 || status == OWNER_DIED;
	default:
		return status == 0;
	}
}

static void leave(struct recorder *recorder, const struct watched_call *call,
		  uint64_t result)
{
	const struct function *watched =
		function_at(&recorder->modules, call->function);
	uint32_t status = (uint32_t)result;

	if (watched->resolver) {
		modules_resolved(&recorder->modules, call->function, result);
	} else if (is_memory(watched->kind)) {
		leave_memory(recorder, watched->kind, call, result);
	} else if (watched->kind == WATCH_WAIT) {
		acquire(recorder, call, call->arguments[1], TRACE_MUTEX, false);
		event(recorder, TRACE_WAITED, call->arguments[0],
		      TRACE_CONDITION);
	} else if (watched->kind == WATCH_BARRIER) {
		event(recorder, TRACE_WAITED, call->arguments[0],
		      TRACE_BARRIER);
	} else if (has_succeeded(watched->kind, status)) {
		leave_locked(recorder, watched->kind, call);
	}
}

static enum watched kind_of(const struct recorder *recorder,
			    const struct watched_call *call)
{
	return function_at(&recorder->modules, call->function)->kind;
}

/* A result of UINT64_MAX is none: the function was left by longjmp(3). */
void watched_return(struct recorder *recorder, struct thread *thread,
		    uint64_t sp, uint64_t result)
{
	while (thread->calls_count > 0) {
		struct watched_call call =
			thread->calls[thread->calls_count - 1];

		if (call.sp >= sp)
			return;
		thread->calls_count--;
		thread->muted -= call.muted;
		if (call.muted)
			show(recorder, kind_of(recorder, &call), &call,
			     call.sp + 8 == sp ? result : UINT64_MAX);
		if (thread->muted == 0 && call.sp + 8 == sp &&
		    result != UINT64_MAX)
			leave(recorder, &call, result);
	}
}
