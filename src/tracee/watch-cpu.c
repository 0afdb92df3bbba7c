/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The "perf-cpu" back-end: one breakpoint event per CPU and slot, which
 * records the toucher's registers and stack in a ring. Arming costs the same
 * for one thread and for a thousand; the racing thread is not held.
 *
 * An event of a CPU is moved in some 10 us, but to give it another type takes 10
 * ms, where that was not done a moment ago: the kernel waits for every processor
 * (modify_bp_slot() in kernel/events/hw_breakpoint.c, a percpu_rw_semaphore,
 * Linux 6.2). So half of the slots are for each type, and what does not fit is
 * read again and again. To open one takes as long for the same reason, and so
 * would a stall in which it is opened: where it takes the place of perf, a thread
 * of the tracer opens one of each type before, and others when a stall has lacked
 * them.
 */
#include "tracee/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/signals.h"
#include "sys/perfwatch.h"
#include "tracee/process.h"
#include "tracee/tracees.h"
#include "wire/stats.h"

enum {
	CPU_MAX = 256,
	/*
	 * the kernel's limit is a 16-bit record size, of which a part is ours
	 */
	CPU_STACK = 32 << 10,
	/* what the thread that opens events needs, and more */
	CPU_OPENER_STACK = 64 << 10,
	/* one for each type */
	CPU_FIRST_SLOTS = 1 | 1 << (DREGS_SLOTS - 1),
	/* a register that others have is not asked for again before then */
	CPU_REFUSED_NS = 1000 * 1000 * 1000,
};

struct cpu_slot {
	struct perfring rings[CPU_MAX]; /* fd -1: not open */
	uint64_t generation; /* of the watch they serve; 0: disabled */
	uint64_t refused_ns; /* when one could not be opened last; 0: never */
	bool taken; /* the opener's: others have it, of some processor */
};

struct cpu_watch {
	int cpus;
	struct cpu_slot slots[DREGS_SLOTS];
	struct perfring_sample sample; /* being looked at */
	uint8_t lacked; /* bit set of slots that a stall would have had */
	bool has_opener;
	pthread_t opener;
	uint8_t opens; /* the slots that it opens */
	/* the opener's, until it is done */
	bool done; /* atomic */
	struct error *err; /* why none could be opened, or NULL */
};

/*
 * Those of the slot that are not open. Which bytes they are to watch is not known
 * yet: nothing happens there.
 */
static struct error *cpu_open_slot(struct cpu_watch *state, int i)
{
	static uint64_t nowhere;
	const struct perfwatch_spec spec = {
		.address = (uint64_t)(uintptr_t)&nowhere,
		.length = sizeof(nowhere),
		/* as dregs_claim() hands them out */
		.write_only = i < DREGS_SLOTS / 2,
		.kernel = true,
		.disabled = true,
	};
	struct error *first = NULL;
	bool any = false, lacking = false;

	for (int cpu = 0; cpu < state->cpus; cpu++) {
		struct perfring *ring = &state->slots[i].rings[cpu];
		struct error *err = NULL;

		if (ring->fd < 0)
			err = perfring_open(cpu, &spec, CPU_STACK, ring);
		any |= !err;
		/* somebody else has the registers of that processor */
		lacking |= err && err->kind == ERROR_UNSUPPORTED;
		if (!first)
			first = err;
		else
			error_free(err);
	}
	state->slots[i].taken = lacking;
	/* a processor that does not run has no event */
	if (lacking || !any)
		return first;
	error_free(first);
	return NULL;
}

static void *cpu_opener(void *data)
{
	struct cpu_watch *state = data;

	signals_block_all(NULL);
	for (int i = 0; !state->err && i < DREGS_SLOTS; i++) {
		if (state->opens & (1u << i))
			state->err = cpu_open_slot(state, i);
	}
	__atomic_store_n(&state->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static struct cpu_watch *cpu_state(struct tracees *tracees)
{
	struct cpu_watch *state = tracees->watch.state;

	if (state)
		return state;
	state = calloc(1, sizeof(*state));
	if (!state)
		return NULL;
	state->cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	if (state->cpus > CPU_MAX)
		state->cpus = CPU_MAX;
	for (int i = 0; i < DREGS_SLOTS; i++) {
		for (int cpu = 0; cpu < state->cpus; cpu++)
			state->slots[i].rings[cpu].fd = -1;
	}
	tracees->watch.state = state;
	return state;
}

static void cpu_end_opener(struct cpu_watch *state)
{
	if (state->has_opener)
		pthread_join(state->opener, NULL);
	state->has_opener = false;
	error_free(state->err);
	state->err = NULL;
}

static struct error *cpu_start_opener(struct cpu_watch *state, uint8_t slots)
{
	pthread_attr_t attributes;
	sigset_t before;
	int code;

	cpu_end_opener(state);
	state->opens = slots;
	state->done = false;
	code = pthread_attr_init(&attributes);

	if (code != 0)
		return error_os(code, "start a thread");
	pthread_attr_setstacksize(&attributes, CPU_OPENER_STACK);
	signals_block_all(&before);
	code = pthread_create(&state->opener, &attributes, cpu_opener, state);
	pthread_attr_destroy(&attributes);
	/* of two that the C library keeps for itself too, which it has opened */
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, _NSIG / 8);
	if (code != 0)
		return error_os(code, "start a thread");
	state->has_opener = true;
	return NULL;
}

struct error *watch_cpu_open(struct tracees *tracees)
{
	struct cpu_watch *state = cpu_state(tracees);

	if (!state)
		return error_nomem;
	/* which most stalls need: others may want registers too */
	return state->has_opener ? NULL
				 : cpu_start_opener(state, CPU_FIRST_SLOTS);
}

bool watch_cpu_open_more(struct tracees *tracees)
{
	struct cpu_watch *state = tracees->watch.state;
	uint8_t lacked = state ? state->lacked : 0;
	struct error *err;

	if (lacked == 0)
		return false;
	state->lacked = 0;
	err = cpu_start_opener(state, lacked);
	error_free(err);
	return !err;
}

bool watch_cpu_opens(const struct watch *watch)
{
	const struct cpu_watch *state = watch->state;

	return state && state->has_opener &&
	       !__atomic_load_n(&state->done, __ATOMIC_ACQUIRE);
}

const struct error *watch_cpu_refused(const struct watch *watch)
{
	const struct cpu_watch *state = watch->state;

	return state && !watch_cpu_opens(watch) ? state->err : NULL;
}

static void cpu_close_slot(const struct cpu_watch *state, struct cpu_slot *slot)
{
	for (int cpu = 0; cpu < state->cpus; cpu++) {
		if (slot->rings[cpu].fd >= 0)
			perfring_close(&slot->rings[cpu]);
	}
	slot->generation = 0;
}

static void cpu_disable_slot(const struct cpu_watch *state,
			     struct cpu_slot *slot)
{
	for (int cpu = 0; cpu < state->cpus; cpu++) {
		if (slot->rings[cpu].fd >= 0)
			error_free(perfwatch_disable(slot->rings[cpu].fd));
	}
	slot->generation = 0;
}

/*
 * An offline CPU has no event, and runs nobody; but it may come. Where there is an
 * opener, it opens what is missing, once a second at most.
 */
static void cpu_set_slot(struct tracees *tracees, struct cpu_watch *state,
			 int i, struct cpu_slot *slot)
{
	const struct dregs_slot *want = &tracees->watch.dregs.slots[i];
	struct perfwatch_spec spec = {
		.address = watch_slot_address(&tracees->watch, i),
		.length = want->length,
		.write_only = want->type == DREGS_WRITE,
		.kernel = true,
	};
	uint64_t now = clock_now_ns();
	bool refused = false, any = false;

	for (int cpu = 0; cpu < state->cpus; cpu++) {
		struct perfring *ring = &slot->rings[cpu];
		struct error *err = NULL;

		if (ring->fd >= 0)
			err = perfring_move(ring, &spec);
		else if (!state->has_opener &&
			 now >= slot->refused_ns + CPU_REFUSED_NS)
			err = perfring_open(cpu, &spec, CPU_STACK, ring);
		if (ring->fd < 0)
			refused = true;
		else
			any = true;
		if (err && err->kind == ERROR_UNSUPPORTED)
			tracees->stats->out_of_registers++;
		error_free(err);
	}
	if (refused && now >= slot->refused_ns + CPU_REFUSED_NS) {
		slot->refused_ns = now;
		if (state->has_opener)
			state->lacked |= (uint8_t)(1u << i);
	}
	if (state->has_opener && (!any || slot->taken))
		tracees->stats->out_of_registers++;
	slot->generation = tracees->watch.generation[i];
}

static void cpu_update_all(struct tracees *tracees)
{
	struct cpu_watch *state = cpu_state(tracees);

	for (int i = 0; state && i < DREGS_SLOTS; i++) {
		struct cpu_slot *slot = &state->slots[i];

		if (slot->generation == tracees->watch.generation[i])
			continue;
		if (tracees->watch.generation[i] != 0)
			cpu_set_slot(tracees, state, i, slot);
		else
			cpu_disable_slot(state, slot);
	}
}

/*
 * Is the toucher of a process that is watched, and has that process the bytes
 * at that address? (Others that share them have them at another, which no
 * event of all CPUs can watch as well.)
 */
static bool cpu_concerns(const struct tracees *tracees, int i, pid_t pid)
{
	const struct process *process = tracees_process(tracees, pid);
	struct watch_view view;

	if (!process || process->role != PROCESS_WATCHED)
		return false;
	watch_view(&tracees->watch, process->space, &view);
	return view.generation[i] != 0 &&
	       view.dregs.slots[i].address ==
		       watch_slot_address(&tracees->watch, i);
}

static bool cpu_next_of_slot(const struct tracees *tracees,
			     struct cpu_watch *state, int i,
			     struct watch_sample *ret)
{
	struct cpu_slot *slot = &state->slots[i];

	for (int cpu = 0; slot->generation != 0 && cpu < state->cpus; cpu++) {
		while (slot->rings[cpu].fd >= 0 &&
		       perfring_next(&slot->rings[cpu], &state->sample)) {
			if (!cpu_concerns(tracees, i, state->sample.pid))
				continue;
			*ret = (struct watch_sample){ i, slot->generation,
						      &state->sample };
			return true;
		}
	}
	return false;
}

static bool cpu_next(struct tracees *tracees, struct watch_sample *ret)
{
	struct cpu_watch *state = tracees->watch.state;

	for (int i = 0; state && i < DREGS_SLOTS; i++) {
		if (cpu_next_of_slot(tracees, state, i, ret))
			return true;
	}
	return false;
}

static void cpu_shut(struct tracees *tracees)
{
	struct cpu_watch *state = tracees->watch.state;

	if (!state)
		return;
	cpu_end_opener(state);
	for (int i = 0; i < DREGS_SLOTS; i++)
		cpu_close_slot(state, &state->slots[i]);
	free(state);
	tracees->watch.state = NULL;
}

static void cpu_nothing(struct tracees *tracees, struct thread *thread)
{
	(void)tracees;
	(void)thread;
}

static uint8_t cpu_trapped(struct thread *thread, const struct trap_info *info,
			   uint64_t gens[DREGS_SLOTS])
{
	(void)thread;
	(void)info;
	(void)gens;
	return 0;
}

const struct watch_ops watch_by_cpu = {
	.name = "perf-cpu",
	.live = true,
	.halves = true,
	.update = cpu_nothing,
	.prepare = cpu_nothing,
	.clear = cpu_nothing,
	.trapped = cpu_trapped,
	.update_all = cpu_update_all,
	.next_sample = cpu_next,
	.shut = cpu_shut,
};
