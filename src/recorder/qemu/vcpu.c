/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads, and what they noted; see vcpu.h. A note of an access is its site, the
 * address, and the values of the granules that it touches; of a call or return,
 * the stack pointer and the return address or the result.
 */
#include "recorder/qemu/vcpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/emit.h"
#include "recorder/os.h"
#include "recorder/qemu/maps.h"
#include "recorder/salvage.h"

struct vcpus vcpus;

static pthread_mutex_t vcpus_mutex = PTHREAD_MUTEX_INITIALIZER;

void vcpus_lock(void)
{
	pthread_mutex_lock(&vcpus_mutex);
}

void vcpus_unlock(void)
{
	pthread_mutex_unlock(&vcpus_mutex);
}

static void give_access(struct recorder *recorder, uint64_t *note)
{
	struct site *site = (struct site *)(uintptr_t)(note[0] & ~(uint64_t)7);

	recorder->copy =
		(uint64_t)(uintptr_t)(note + 2) - (note[1] & ~(uint64_t)7);
	recorder_access(recorder, site, note[1]);
}

/* The words of the note, which the recording has then. */
static uint32_t give_note(struct recorder *recorder, uint64_t *note)
{
	const struct site *site;

	switch ((enum vcpu_note)(note[0] & 7)) {
	case NOTE_CALL:
		recorder_call(recorder, note[1], note[2]);
		return 3;
	case NOTE_RETURN:
		recorder_return(recorder, note[1], note[2]);
		return 3;
	case NOTE_ACCESS:
	default:
		site = (const struct site *)(uintptr_t)note[0];
		give_access(recorder, note);
		return 2 + vcpu_granules(note[1], site->size);
	}
}

void vcpu_give(struct vcpu *vcpu)
{
	struct recorder *recorder = &vcpus.recorder;
	uint32_t end = atomic_load_explicit(&vcpu->end, memory_order_acquire);

	if (vcpus.over || !vcpu->thread) {
		vcpu->begin = end;
		return;
	}
	if (recorder->current != vcpu->thread)
		recorder_runs(recorder, vcpu->thread);
	else
		emit_clock(recorder, false);
	while (vcpu->begin < end)
		vcpu->begin += give_note(recorder, vcpu->words + vcpu->begin);
	recorder->copy = 0;
}

void vcpus_give(void)
{
	for (unsigned int i = 0; i < vcpus.count; i++) {
		struct vcpu *vcpu = vcpus.all[i];

		if (vcpu && vcpu->begin < atomic_load(&vcpu->end))
			vcpu_give(vcpu);
	}
}

/*
 * Its stack: from the lowest address that is mapped together with the stack
 * pointer's to the page of that; above are thread-local variables, or the
 * program's arguments.
 */
static void find_stack(struct vcpu *vcpu)
{
	uint64_t high = (vcpu->stack_pointer + 4095) & ~(uint64_t)4095;
	struct map map;

	if (vcpus.stacks || vcpu->stack_pointer == 0 ||
	    !maps_find(vcpu->stack_pointer - 1, &map))
		return;
	vcpu->thread->stack_low = map.low;
	vcpu->thread->stack_size =
		(high < map.high ? high : map.high) - map.low;
}

/* The thread is about to execute its first instruction that makes a note. */
static void begin(struct vcpu *vcpu)
{
	vcpu->limit = VCPU_WORDS - VCPU_NOTE_MAX;
	if (!vcpu->thread || vcpus.over)
		return;
	vcpu->thread->tid = (int32_t)syscall(SYS_gettid);
	find_stack(vcpu);
	recorder_thread_begins(&vcpus.recorder, vcpu->thread);
}

void vcpu_make_room(struct vcpu *vcpu)
{
	vcpus_lock();
	if (vcpu->limit == 0)
		begin(vcpu);
	vcpu_give(vcpu);
	vcpu->begin = 0;
	atomic_store(&vcpu->end, 0);
	vcpus_unlock();
}

static void say_too_many(void)
{
	vcpus_lock();
	if (!vcpus.told_too_many && !vcpus.over)
		emit_unable(&vcpus.recorder,
			    "threads: of more than 4096 at a time, some are "
			    "not recorded");
	vcpus.told_too_many = true;
	vcpus_unlock();
}

void vcpu_create(unsigned int number, struct vcpu *parent, uint64_t stack,
		 uint64_t pointer)
{
	struct thread *from = parent ? parent->thread : NULL;
	struct vcpu *vcpu;

	if (number >= VCPUS_MAX) {
		say_too_many();
		return;
	}
	if (vcpus.all[number])
		return;
	vcpus_lock();
	vcpus_give();
	vcpu = os_alloc(sizeof(*vcpu));
	vcpu->words = os_map(VCPU_WORDS * sizeof(*vcpu->words));
	vcpu->stack_pointer = stack;
	vcpu->watched_sp = UINT64_MAX;
	vcpu->number = -1;
	if (!vcpus.over) {
		vcpu->thread = recorder_thread(&vcpus.recorder, from);
		vcpu->thread->pointer = pointer;
	}
	vcpus.all[number] = vcpu;
	if (vcpus.count <= number)
		vcpus.count = number + 1;
	vcpus_unlock();
}

void vcpu_end(struct vcpu *vcpu)
{
	vcpus_lock();
	vcpus_give();
	if (vcpu->thread && !vcpus.over)
		recorder_thread_ends(&vcpus.recorder, vcpu->thread);
	vcpu->thread = NULL;
	vcpus_unlock();
}

void vcpu_destroy(unsigned int number)
{
	struct vcpu *vcpu = vcpu_at(number);

	if (!vcpu)
		return;
	vcpu_end(vcpu);
	vcpus_lock();
	vcpus.all[number] = NULL;
	vcpus_unlock();
	os_unmap(vcpu->words, VCPU_WORDS * sizeof(*vcpu->words));
	os_free(vcpu);
}

struct vcpu *vcpu_this(void)
{
	int32_t tid = (int32_t)syscall(SYS_gettid);

	for (unsigned int i = 0; i < vcpus.count; i++) {
		struct vcpu *vcpu = vcpus.all[i];

		if (vcpu && vcpu->thread && vcpu->thread->tid == tid)
			return vcpu;
	}
	return NULL;
}

void vcpus_forked(void)
{
	struct recorder *recorder = &vcpus.recorder;

	for (unsigned int i = 0; i < vcpus.count; i++) {
		if (vcpus.all[i] != vcpus.forks)
			vcpus.all[i] = NULL;
	}
	vcpus.over |= !vcpus.forks || !vcpus.forks->thread;
	if (vcpus.over)
		return;
	vcpus.over = !recorder_fork(recorder, vcpus.forks->thread);
	if (!vcpus.over)
		salvage_protect(recorder, vcpus_give);
	vcpus.forks->thread = records_at(&recorder->threads, 1);
}

void vcpu_note_watched(struct vcpu *vcpu)
{
	const struct thread *thread = vcpu->thread;

	vcpu->muted = thread->muted != 0;
	vcpu->watched_sp = thread->calls_count > 0
				   ? thread->calls[thread->calls_count - 1].sp
				   : UINT64_MAX;
}

static bool all_wait(void)
{
	for (unsigned int i = 0; i < vcpus.count; i++) {
		if (vcpus.all[i] && vcpus.all[i]->thread &&
		    !vcpus.all[i]->waits)
			return false;
	}
	return true;
}

void vcpu_waits(struct vcpu *vcpu, bool waits)
{
	struct recorder *recorder = &vcpus.recorder;

	vcpu->waits = waits;
	if (vcpus.over)
		return;
	if (waits && all_wait())
		recorder_runs(recorder, NULL);
	else if (!waits && !recorder->current && vcpu->thread)
		recorder_runs(recorder, vcpu->thread);
}
