/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stalls and conflicts; see stall.h.
 */
#include "tracer/stall.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/perfwatch.h"
#include "sys/procfs.h"
#include "sys/trace.h"
#include "tracee/breakpoint.h"
#include "tracee/parking.h"
#include "tracee/resume.h"
#include "tracee/snapshot.h"
#include "tracee/thread.h"
#include "tracee/watch-update.h"
#include "tracer/arm.h"
#include "tracer/conflict.h"
#include "tracer/engine.h"
#include "tracer/freeze.h"
#include "tracer/replays.h"
#include "tracer/startup.h"
#include "tracer/waiting.h"
#include "x86/effective.h"

enum {
	/* threads that take longer than this to stop for the watch are waited
	 * for no more: the stall's time begins */
	STALL_ARMING_MAX_NS = 20 * 1000 * 1000,
	/* between looks at whether anybody else can run */
	STALL_LOOK_NS = 250 * 1000,
	/* and looks take at most one part in this many of the time */
	STALL_LOOK_SHARE = 16,
	/* between reads of bytes that no register watches */
	STALL_READ_NS = 50 * 1000,
	/* a changed value waits this long for the trap that explains it */
	STALL_GRACE_NS = 5 * 1000 * 1000,
	/* between looks at whether another thread still waits at the loader */
	STALL_LOADER_NS = 1000 * 1000,
	/* a location that was waited for may be held for such a part of that */
	STALL_WAIT_PART = 8,
	/* what rest is measured in */
	STALL_REST = 16,
	/* no system call is larger; the rest of orig_rax is a vector number */
	SYSCALL_MAX = 4096,
};

static struct stall *stall_at(const struct engine *engine, size_t i)
{
	return *(struct stall **)vec_at(&engine->stalls.list, i);
}

static bool stall_thread_may_run(const struct thread *thread)
{
	return !thread->hold && thread->state != THREAD_LISTENING &&
	       thread->state != THREAD_GONE;
}

static bool stall_runner_runs(struct stalls *stalls,
			      const struct thread *runner)
{
	if (!runner || !stall_thread_may_run(runner))
		return false;
	if (stalls->runner_call < 0)
		stalls->runner_call = procfs_open_call(runner->tid);
	return procfs_call_awaited(stalls->runner_call) == PROCFS_NOBODY;
}

void stalls_forget_runner(struct stalls *stalls)
{
	if (stalls->runner_call >= 0)
		close(stalls->runner_call);
	stalls->runner_call = -1;
	stalls->runner = 0;
}

static const struct thread *stall_find_runner(const struct engine *engine)
{
	for (size_t i = 0; i < engine->core.tracees.processes.count; i++) {
		const struct process *process =
			tracees_process_at(&engine->core.tracees, i);

		if (process->role == PROCESS_COPY)
			continue;
		for (size_t j = process->threads.count; j-- > 0;) {
			const struct thread *thread =
				process_thread(process, j);

			if (stall_thread_may_run(thread) &&
			    !waiting_for_traced(&engine->core.tracees, thread))
				return thread;
		}
	}
	return NULL;
}

/*
 * The thread that could run last time is asked first; a look at all of them is
 * timed, so that looks at many sleepers become rare. One that waits for the front
 * end (startup.h) goes on soon.
 */
bool stalls_others_run(struct engine *engine)
{
	struct stalls *stalls = &engine->stalls;
	const struct thread *runner =
		tracees_thread(&engine->core.tracees, stalls->runner);
	uint64_t begun;

	stalls->look_cost_ns = 0;
	if (engine->startups.waiting > 0 || stall_runner_runs(stalls, runner))
		return true;
	stalls_forget_runner(stalls);
	begun = clock_now_ns();
	runner = stall_find_runner(engine);
	stalls->look_cost_ns = clock_now_ns() - begun;
	stalls->runner = runner ? runner->tid : 0;
	return runner;
}

/*
 * Several threads may be stalled at once, but half of them must stay free to
 * run into those that are.
 */
static bool stall_has_room(const struct engine *engine)
{
	return (engine->stalls.list.count + 1) * 2 <=
	       tracees_thread_count(&engine->core.tracees);
}

/* Can any other thread reach the bytes? Private ones only those of a process.
 */
static bool stall_has_partners(const struct engine *engine,
			       const struct stall *stall)
{
	const struct process *process = stall->hold.thread->process;
	struct shared_place place;

	if (process->threads.count > 1 || process->space->users > 1)
		return true;
	for (int i = 0; i < stall->access_count; i++) {
		const struct mem_access *access = &stall->accesses[i].access;

		if (sharing_place(process->space, access->address, access->size,
				  &place))
			return tracees_thread_count(&engine->core.tracees) > 1;
	}
	return false;
}

/* Was another thread able to run while the thread was held? */
static bool stall_counts(const struct stall *stall, enum wire_outcome outcome)
{
	return outcome == WIRE_ALONE
		       ? stall->begun
		       : outcome != WIRE_PASSED && outcome != WIRE_PRIVATE;
}

static void stall_tell(struct engine *engine, const struct stall *stall,
		       const struct thread *thread, enum wire_outcome outcome,
		       uint64_t stalled_ns)
{
	struct wire_sample sample = {
		.id = stall->site.id,
		.program = stall->site.program,
		.pid = thread ? thread->process->pid : 0,
		.tid = thread ? thread->tid : 0,
		.outcome = outcome,
		.stalled = stall_counts(stall, outcome),
		.access = stall->accesses[0].access,
		.stalled_ns = stalled_ns,
	};

	if (!channel_send(&engine->core.channel, WIRE_SAMPLE, &sample,
			  sizeof(sample)))
		engine->core.stats.dropped++;
}

/* A hit without a stall: only something for those who learn. */
static void stall_pass(struct engine *engine, const struct stall *stall,
		       const struct thread *thread)
{
	if (engine->pool.params.learns)
		stall_tell(engine, stall, thread, WIRE_PASSED, 0);
}

static void stall_report_sample(struct engine *engine,
				const struct stall *stall,
				const struct thread *thread,
				enum wire_outcome outcome, uint64_t stalled_ns)
{
	engine->core.stats.samples++;
	engine->core.stats.stalled += stall_counts(stall, outcome);
	if (outcome == WIRE_QUIET || outcome == WIRE_RACED)
		lengths_note(&engine->lengths,
			     wire_site_key(stall->site.program,
					   WIRE_ID(stall->site.id)),
			     outcome == WIRE_RACED, stalled_ns);
	if (outcome == WIRE_ALONE || outcome == WIRE_QUIET ||
	    outcome == WIRE_RACED)
		pool_found_alone(&engine->pool, outcome == WIRE_ALONE,
				 clock_now_ns());
	stall_tell(engine, stall, thread, outcome, stalled_ns);
}

static void stall_unlist(struct engine *engine, const struct stall *stall,
			 uint64_t now)
{
	struct stalls *stalls = &engine->stalls;

	for (size_t i = 0; i < stalls->list.count; i++) {
		if (stall_at(engine, i) == stall) {
			vec_remove_swap(&stalls->list, i);
			break;
		}
	}
	if (stalls->list.count == 0) {
		engine->core.stats.stalled_ns += now - stalls->busy_since_ns;
		load_stall_ends(&engine->load, now);
	}
}

/* Of a long stall that has ended early. */
static void stall_return_long(struct engine *engine, const struct stall *stall,
			      uint64_t held_ns)
{
	uint64_t left_ns =
		held_ns < stall->length_ns ? stall->length_ns - held_ns : 0;

	budget_return_long(&engine->load.budget,
			   left_ns < stall->long_ns ? left_ns : stall->long_ns);
}

/* held: the thread that it held; NULL: lost. */
static uint64_t stall_moved(const struct engine *engine,
			    const struct stall *stall,
			    const struct thread *held, uint64_t now)
{
	return stall->delays.begun
		       ? delays_moved(&stall->delays, &engine->core.tracees,
				      held, stall->seen_ns - stall->begun_ns,
				      now)
		       : 0;
}

/*
 * Take the watch away and free the stall. Returns its thread, stopped and not
 * held; NULL if that has been lost.
 */
static struct thread *stall_close(struct engine *engine, struct stall *stall,
				  enum wire_outcome outcome)
{
	struct thread *thread = stall->hold.thread;
	uint64_t now = clock_now_ns();

	stall_unlist(engine, stall, now);
	for (int i = 0; i < stall->access_count; i++) {
		if (stall->accesses[i].claimed)
			watch_release(&engine->core.tracees.watch,
				      &stall->accesses[i].claim);
	}
	stall_return_long(engine, stall, now - stall->begun_ns);
	stall_report_sample(engine, stall, thread, outcome,
			    now - stall->begun_ns);
	if (thread) {
		thread->rests_until_ns =
			now + (now - stall->begun_ns) *
				      engine->pool.params.rest / STALL_REST;
		thread_park(thread, stall->site.address, &stall->regs);
		hold_drop(&stall->hold);
	}
	if (stall->young && outcome == WIRE_QUIET)
		pool_rearm_stalled(&engine->pool, &stall->site, now);
	if (stall->terms.over)
		stall->terms.over(engine, outcome, now - stall->begun_ns,
				  stall_moved(engine, stall, thread, now));
	delays_deinit(&stall->delays);
	free(stall);
	return thread;
}

/* Its thread goes on. */
static void stall_end(struct engine *engine, struct stall *stall,
		      enum wire_outcome outcome)
{
	struct thread *thread = stall_close(engine, stall, outcome);

	if (thread)
		thread_resume(&engine->core.tracees, thread);
	load_handled(&engine->load);
	watch_retire(&engine->core.tracees);
}

/*
 * It gives way to another stall: its thread goes on when that one watches, so
 * that nothing it does next is missed.
 */
static void stall_relieve(struct engine *engine, struct stall *stall)
{
	struct thread *thread = stall_close(engine, stall, WIRE_QUIET);

	if (thread)
		hold_begin(&engine->core.tracees, &engine->stalls.relieved,
			   thread);
}

bool stalls_lose(struct engine *engine, const struct hold *hold)
{
	for (size_t i = 0; i < engine->stalls.list.count; i++) {
		struct stall *stall = stall_at(engine, i);

		if (&stall->hold != hold)
			continue;
		stall_end(engine, stall, WIRE_ABANDONED);
		return true;
	}
	return false;
}

static struct stall *stall_create(struct thread *thread,
				  const struct wire_site *site,
				  const struct x86_registers *regs)
{
	struct mem_access accesses[X86_OPERANDS_MAX];
	struct stall *stall = calloc(1, sizeof(*stall));

	if (!stall)
		return NULL;
	stall->site = *site;
	stall->regs = *regs;
	stall->hold.thread = thread;
	stall->access_count = effective_accesses(&site->insn, regs, accesses);
	for (int i = 0; i < stall->access_count; i++) {
		struct stall_access *access = &stall->accesses[i];

		access->access = accesses[i];
	}
	return stall;
}

static bool stall_fully_watched(const struct stall *stall)
{
	for (int i = 0; i < stall->access_count; i++) {
		const struct stall_access *access = &stall->accesses[i];

		if (!access->claimed || access->unseen ||
		    access->claim.claim.covered < access->access.size)
			return false;
	}
	return true;
}

bool stalls_see_all(const struct engine *engine)
{
	const struct vec *list = &engine->stalls.list;

	for (size_t i = 0; i < list->count; i++) {
		const struct stall *stall =
			*(struct stall *const *)vec_at(list, i);

		if (!stall->watched || !stall_fully_watched(stall))
			return false;
	}
	return engine->core.tracees.watch.pending == 0;
}

/* Bytes that no register watches would have changed without a trap. */
static enum stall_meeting stall_meeting(struct engine *engine,
					const struct stall *stall,
					const struct thread *thread,
					const struct x86_registers *regs,
					uint64_t after)
{
	return stall->terms.met && stall_fully_watched(stall)
		       ? stall->terms.met(engine, thread, regs, after)
		       : STALL_ENDS;
}

/* Tell the conflict, and end the stall if it is to end. */
static void stall_tell_meeting(struct engine *engine, struct stall *stall,
			       enum stall_meeting meeting,
			       struct conflict_message *conflict)
{
	if (meeting == STALL_ENDS)
		stall_end(engine, stall, WIRE_RACED);
	conflict_finish(&engine->core, &engine->replays, conflict);
	if (meeting == STALL_STAYS)
		stall->terms.told(engine);
}

/* The thread that conflicts is stopped. */
static void stall_capture(struct engine *engine, struct stall *stall,
			  enum stall_meeting meeting, struct thread *other,
			  struct conflict_message *conflict)
{
	replays_capture(&engine->replays, stall, other, &conflict->wire);
	conflict_look(&engine->core, stall, other, conflict);
	if (meeting == STALL_ENDS)
		freeze_take(&engine->freeze, stall, other, &conflict->wire);
}

/* A thread about to make the accesses of `arrival` met a stalled one. */
static void stall_collide(struct engine *engine, struct stall *stall, int i,
			  const struct stall *arrival, int j, uint64_t shift)
{
	const struct wire_site *site = &arrival->site;
	enum stall_meeting meeting =
		stall_meeting(engine, stall, arrival->hold.thread,
			      &arrival->regs, wire_site_end(site));
	struct conflict_message *conflict;

	if (meeting == STALL_KNOWS)
		return;
	conflict = conflict_create(stall, i, WIRE_COLLISION, NULL);
	if (conflict) {
		struct wire_side *side = &conflict->wire.sides[1];

		conflict->wire.shift = shift;
		snapshot_thread(arrival->hold.thread, &arrival->regs, side,
				conflict->stacks[1]);
		side->before = true;
		side->site = site->id;
		side->access = arrival->accesses[j].access;
		snapshot_machine(&arrival->hold.thread->process->space->memory,
				 arrival->hold.thread, side->access.address,
				 side, conflict->machines[1]);
		stall_capture(engine, stall, meeting, arrival->hold.thread,
			      conflict);
	}
	engine->core.stats.collisions++;
	stall_tell_meeting(engine, stall, meeting, conflict);
}

/* Does access j of the arrival, where the stall has those bytes, meet it? */
static bool stall_meets(struct engine *engine, struct stall *stall,
			const struct stall *arrival, int j)
{
	const struct mem_access *own = &arrival->accesses[j].access;
	struct mem_access there = *own;

	if (!sharing_translate(arrival->hold.thread->process->space,
			       own->address, own->size,
			       stall->hold.thread->process->space,
			       &there.address))
		return false;
	for (int i = 0; i < stall->access_count; i++) {
		if (mem_access_conflict(&stall->accesses[i].access, &there)) {
			stall_collide(engine, stall, i, arrival, j,
				      own->address - there.address);
			return true;
		}
	}
	return false;
}

/* Look for a collision of the arrival with any stall; end that stall. */
static bool stall_collisions(struct engine *engine, const struct stall *arrival)
{
	for (size_t n = 0; n < engine->stalls.list.count; n++) {
		struct stall *stall = stall_at(engine, n);

		for (int j = 0; j < arrival->access_count; j++) {
			if (stall_meets(engine, stall, arrival, j))
				return true;
		}
	}
	return false;
}

static void stall_watch(struct engine *engine, struct stall *stall)
{
	if (engine->core.tracees.execpoints.watch)
		execpoints_suspend(&engine->core.tracees.execpoints);
	for (int i = 0; i < stall->access_count; i++) {
		struct stall_access *access = &stall->accesses[i];
		bool writes = access->access.kind & ACCESS_WRITE;

		access->claimed =
			watch_claim(&engine->core.tracees.watch,
				    stall->hold.thread->process->space,
				    access->access.address, access->access.size,
				    writes ? DREGS_READ_WRITE : DREGS_WRITE,
				    &access->claim);
		if (!engine->core.tracees.watch.ops->blind &&
		    (!access->claimed ||
		     access->claim.claim.covered < access->access.size))
			engine->core.stats.out_of_registers++;
		access->unseen =
			access->claimed &&
			!watch_sees_all(&engine->core.tracees, &access->claim);
	}
	watch_publish(&engine->core.tracees);
}

static void stall_plan_look(const struct engine *engine, struct stall *stall,
			    uint64_t now)
{
	uint64_t gap = engine->stalls.look_cost_ns * STALL_LOOK_SHARE;

	stall->next_look_ns = now + (gap > STALL_LOOK_NS ? gap : STALL_LOOK_NS);
}

/*
 * A look that would take about as long as the stall is not worth it. Each one
 * left out makes the next more likely: the cost may have fallen.
 */
static bool stall_look_pays(struct engine *engine, const struct stall *stall)
{
	uint64_t *cost = &engine->stalls.look_cost_ns;

	if (*cost < stall->length_ns / 4)
		return true;
	*cost -= *cost / STALL_LOOK_SHARE;
	return false;
}

/*
 * The threads have the watch: what was written before that leaves no trap, and
 * is no change that would have to be explained.
 */
static void stall_begin_values(struct stall *stall)
{
	for (int i = 0; i < stall->access_count; i++) {
		struct stall_access *access = &stall->accesses[i];
		uint8_t bytes[X86_ACCESS_MAX];
		uint32_t size;

		stall_read(stall, i, bytes, &size);
		if (size == access->readable)
			memcpy(access->before, bytes, size);
	}
}

static void stall_read_held(struct stall *stall)
{
	for (int i = 0; i < stall->access_count; i++) {
		struct stall_access *access = &stall->accesses[i];

		stall_read(stall, i, access->held, &access->readable);
		memcpy(access->before, access->held, access->readable);
	}
}

static bool stall_readable(const struct stall *stall)
{
	for (int i = 0; i < stall->access_count; i++) {
		if (stall->accesses[i].readable !=
		    stall->accesses[i].access.size)
			return false;
	}
	return stall->access_count > 0;
}

static bool stall_may_begin(struct stall *stall)
{
	stall_read_held(stall);
	return stall_readable(stall);
}

/* The longest, whatever it was waited for. */
static uint64_t stall_most(const struct engine *engine,
			   const struct wire_site *site)
{
	const struct wire_params *params = &engine->pool.params;
	const struct governor *governor = &engine->govern.governor;
	double max_ns = (double)params->stall_max_ns;
	uint64_t length_ns = params->stall_max_ns;

	if (site->seldom)
		return (uint64_t)(max_ns * params->stretch_max);
	if (!(site->id & (WIRE_AIMED | WIRE_GUIDED)))
		length_ns = lengths_of(
			&engine->lengths,
			wire_site_key(site->program, WIRE_ID(site->id)),
			params->stall_max_ns, governor_spends_all(governor));
	if (length_ns < params->stall_max_ns)
		return length_ns;
	return (uint64_t)(max_ns * governor->stretch);
}

/* The same while its program begins. */
static uint64_t stall_most_young(const struct stall *stall)
{
	const struct program_text *text =
		stall->hold.thread->process->space->text;

	return stall->site.once ? startup_stall_ns(text, stall->begun_ns)
				: UINT64_MAX;
}

/*
 * Drawn anew for each, up to the longest. Where a location was waited for, its
 * partner may be as seldom, and there will be few such stalls: up to a part of
 * that time, as far as the budget for long stalls allows.
 */
static void stall_set_length(struct engine *engine, struct stall *stall)
{
	const struct wire_params *params = &engine->pool.params;
	uint64_t most = stall_most(engine, &stall->site);
	uint64_t longest = stall->waited_ns / STALL_WAIT_PART;
	uint64_t lent = 0, young = stall_most_young(stall);

	stall->length_ns = stall->terms.length_ns;
	if (stall->terms.over)
		return;
	stall->young = young < most;
	if (stall->young)
		most = young;
	if (longest > params->stall_long_ns)
		longest = params->stall_long_ns;
	if (longest > most && !stall->young)
		lent = budget_take_long(&engine->load.budget, longest - most);
	stall->length_ns = 1 + rng_below(&engine->core.rng, most + lent);
	if (stall->length_ns > most)
		stall->long_ns = stall->length_ns - most;
	budget_return_long(&engine->load.budget, lent - stall->long_ns);
}

/* Hold the thread, watch its bytes, and let the others run. */
static void stall_begin(struct engine *engine, struct stall *stall)
{
	struct thread *thread = stall->hold.thread;
	uint64_t now = clock_now_ns();

	if (!vec_push(&engine->stalls.list, &stall)) {
		if (stall->terms.over)
			stall->terms.over(engine, WIRE_ABANDONED, 0, 0);
		free(stall);
		/* that of a stall which has given way to this one */
		watch_retire(&engine->core.tracees);
		thread_resume(&engine->core.tracees, thread);
		return;
	}
	if (engine->stalls.list.count == 1) {
		engine->stalls.busy_since_ns = now;
		load_stall_begins(&engine->load, now);
	}
	pool_stalled(&engine->pool, &stall->site, now);
	hold_begin(&engine->core.tracees, &stall->hold, thread);
	stall->begun_ns = now;
	stall_set_length(engine, stall);
	stall->deadline_ns = now + stall->length_ns;
	if (!engine->stalls.relieved.thread && stall_look_pays(engine, stall) &&
	    !stalls_others_run(engine)) {
		stall_end(engine, stall, WIRE_ALONE);
		return;
	}
	stall->begun = true;
	stall->seen_ns = now;
	stall_watch(engine, stall);
	if (engine->core.tracees.watch.ops->live)
		stall_begin_values(stall);
	/* not before: reading it takes time in which the others run */
	if (stall->terms.over)
		delays_begin(&stall->delays, &engine->core.tracees, thread,
			     now);
	if (stall->site.pair != 0)
		arm_pair(engine, stall->site.pair);
	stall_plan_look(engine, stall, now);
	stall->next_read_ns = stall_fully_watched(stall) ? UINT64_MAX
							 : now + STALL_READ_NS;
}

/*
 * The stall that ends for the thread's sample, or NULL. Code that runs only once,
 * and what the user asked for, take precedence over what can be met again. Where
 * everything runs for the first time, in threads that often do the same, the oldest
 * stall has had its time when another thread gets somewhere new, at once or after a
 * little while.
 */
static struct stall *stall_lesser(const struct engine *engine,
				  const struct thread *thread,
				  const struct wire_site *site, uint64_t now)
{
	const struct program_text *text = thread->process->space->text;
	bool beginning = site->once && startup_is_recent(text, now);

	for (size_t i = 0;
	     wire_site_apart(site) && i < engine->stalls.list.count; i++) {
		struct stall *stall = stall_at(engine, i);

		if (!wire_site_apart(&stall->site) ||
		    (beginning && stall->site.once &&
		     now >= stall->begun_ns + startup_patience_ns(text)))
			return stall;
	}
	return NULL;
}

/*
 * To set a breakpoint that is reached costs more than its stall: what may be lost
 * is lent for that. Not to end another stall.
 */
static unsigned int stall_loans(const struct breakpoint *breakpoint,
				const struct stall *lesser, uint64_t now)
{
	unsigned int loans = lesser ? 0 : POOL_LENDS_TIME;

	return pool_is_seldom(breakpoint->armed_ns, now)
		       ? loans | POOL_LENDS_TOKEN
		       : loans;
}

/*
 * While the program begins: is a hit without a stall of its own to come again?
 * Where none gives way to it, and where it is the maker's of the program's
 * threads, for which none is to.
 */
static bool stall_comes_again(const struct thread *thread,
			      const struct wire_site *site,
			      const struct stall *lesser, uint64_t now)
{
	return site->once &&
	       (lesser ? startup_makes(thread, now)
		       : startup_is_recent(thread->process->space->text, now));
}

/*
 * Is there a stall for the hit? Counts what keeps it from one; *ret_rests: that
 * the thread rests.
 */
static bool stall_affords(struct engine *engine, const struct thread *thread,
			  const struct breakpoint *breakpoint, bool *ret_rests)
{
	const struct wire_site *site = &breakpoint->site;
	bool room = stall_has_room(engine);
	uint64_t now = clock_now_ns();
	struct stall *lesser = room ? NULL
				    : stall_lesser(engine, thread, site, now);

	if (watch_is_changing(&engine->core.tracees.watch)) {
		engine->core.stats.unaffordable++;
		return false;
	}
	if (pool_passes(&engine->pool, site, breakpoint->armed_ns, now) ||
	    (!room && stall_comes_again(thread, site, lesser, now) &&
	     pool_rearm_passed(&engine->pool, site, now)))
		return false;
	*ret_rests = now < thread->rests_until_ns;
	if (*ret_rests) {
		engine->core.stats.resting++;
		return false;
	}
	if ((!room && !lesser) ||
	    !pool_take_token(&engine->pool, site,
			     stall_loans(breakpoint, lesser, now), now)) {
		engine->core.stats.unaffordable++;
		return false;
	}
	if (lesser)
		stall_relieve(engine, lesser);
	return true;
}

/* Are there other threads, of which none can reach the bytes? */
static bool stall_is_private(const struct engine *engine,
			     const struct stall *stall)
{
	return stall->access_count > 0 &&
	       tracees_thread_count(&engine->core.tracees) > 1 &&
	       !stall_has_partners(engine, stall);
}

static void stall_forgo(struct engine *engine, const struct stall *stall,
			const struct thread *thread)
{
	engine->core.stats.hits_private += !wire_site_apart(&stall->site) &&
					   !(stall->site.id & WIRE_PROBE);
	pool_found_private(&engine->pool, clock_now_ns());
	stall_tell(engine, stall, thread, WIRE_PRIVATE, 0);
}

enum pool_hit stall_hit(struct engine *engine, struct thread *thread,
			const struct breakpoint *breakpoint,
			const struct x86_registers *regs)
{
	struct stall *stall = stall_create(thread, &breakpoint->site, regs);
	enum pool_hit hit = POOL_HIT_DONE;
	bool rests = false;

	/* what the bytes are does not matter then */
	if (stall && stall_is_private(engine, stall)) {
		stall_forgo(engine, stall, thread);
	} else if (stall && stall_may_begin(stall)) {
		if (stall_collisions(engine, stall)) {
			stall_report_sample(engine, stall, thread, WIRE_RACED,
					    0);
		} else if (!stall_has_partners(engine, stall)) {
			stall_report_sample(engine, stall, thread, WIRE_ALONE,
					    0);
		} else if (stall_affords(engine, thread, breakpoint, &rests)) {
			stall->waited_ns =
				clock_now_ns() - breakpoint->armed_ns;
			stall_begin(engine, stall);
			hold_release(&engine->core.tracees,
				     &engine->stalls.relieved);
			return POOL_HIT_DONE;
		} else {
			stall_pass(engine, stall, thread);
			hit = rests && pool_waits_for(&engine->pool,
						      &stall->site,
						      thread->rests_until_ns,
						      clock_now_ns())
				      ? POOL_HIT_RESTED
				      : POOL_HIT_MISSED;
		}
	}
	free(stall);
	thread_park(thread, breakpoint->site.address, regs);
	thread_resume(&engine->core.tracees, thread);
	return hit;
}

bool stall_hold(struct engine *engine, struct thread *thread,
		const struct wire_site *site, const struct x86_registers *regs,
		const struct stall_terms *terms)
{
	struct stall *stall = stall_create(thread, site, regs);

	if (!stall || !stall_may_begin(stall)) {
		free(stall);
		return false;
	}
	stall->terms = *terms;
	stall_begin(engine, stall);
	return true;
}

bool stall_meet(struct engine *engine, struct thread *thread,
		const struct wire_site *site, const struct x86_registers *regs)
{
	struct stall *arrival = stall_create(thread, site, regs);
	bool met = arrival && stall_may_begin(arrival) &&
		   stall_collisions(engine, arrival);

	free(arrival);
	return met;
}

static int stall_access_of(const struct stall *stall, uint8_t slots,
			   const uint64_t gens[DREGS_SLOTS])
{
	for (int i = 0; i < stall->access_count; i++) {
		const struct stall_access *access = &stall->accesses[i];

		if (access->claimed &&
		    watch_claim_traps(&access->claim, slots, gens))
			return i;
	}
	return -1;
}

/* The stall and its access that this trap belongs to; NULL: of the past. */
static struct stall *stall_of_trap(const struct engine *engine, uint8_t slots,
				   const uint64_t gens[DREGS_SLOTS],
				   int *ret_access)
{
	for (size_t n = 0; n < engine->stalls.list.count; n++) {
		struct stall *stall = stall_at(engine, n);

		*ret_access = stall_access_of(stall, slots, gens);
		if (*ret_access >= 0)
			return stall;
	}
	return NULL;
}

/* Where the stalled thread has the bytes, and how far from there the other. */
static void stall_place_trap(const struct engine *engine, uint8_t slots,
			     const struct thread *thread,
			     struct wire_conflict *ret)
{
	struct watch_view view;

	watch_view(&engine->core.tracees.watch, thread->process->space, &view);
	for (int i = 0; i < DREGS_SLOTS; i++) {
		if (!(slots & (1u << i)))
			continue;
		ret->trap_address =
			watch_slot_address(&engine->core.tracees.watch, i);
		if (view.generation[i] != 0)
			ret->shift =
				view.dregs.slots[i].address - ret->trap_address;
		return;
	}
}

/* NULL: out of memory. */
static struct conflict_message *
stall_describe_trap(const struct engine *engine, const struct stall *stall,
		    int access, uint8_t slots, struct thread *thread,
		    const struct x86_registers *regs)
{
	struct conflict_message *conflict =
		conflict_create(stall, access, WIRE_WATCHPOINT, NULL);
	struct wire_side *side;

	if (!conflict)
		return NULL;
	side = &conflict->wire.sides[1];
	stall_place_trap(engine, slots, thread, &conflict->wire);
	snapshot_thread(thread, regs, side, conflict->stacks[1]);
	snapshot_machine(&thread->process->space->memory, thread,
			 stall->accesses[access].access.address +
				 conflict->wire.shift,
			 side, conflict->machines[1]);
	if (regs->orig_rax < SYSCALL_MAX)
		side->syscall = (int32_t)regs->orig_rax;
	return conflict;
}

bool stall_trap(struct engine *engine, struct thread *thread, uint8_t slots,
		const uint64_t gens[DREGS_SLOTS])
{
	struct conflict_message *conflict;
	struct x86_registers regs;
	enum stall_meeting meeting;
	struct stall *stall;
	int access;

	stall = stall_of_trap(engine, slots, gens, &access);
	if (!stall || !thread_ok(thread, trace_registers(thread->tid, &regs)))
		return false;
	meeting = stall_meeting(engine, stall, thread, &regs, regs.rip);
	if (meeting != STALL_KNOWS) {
		conflict = stall_describe_trap(engine, stall, access, slots,
					       thread, &regs);
		if (conflict)
			stall_capture(engine, stall, meeting, thread, conflict);
		engine->core.stats.watch_traps++;
	}
	if (meeting != STALL_ENDS)
		stall_begin_values(stall);
	if (meeting != STALL_KNOWS)
		stall_tell_meeting(engine, stall, meeting, conflict);
	return true;
}

/* Its vector registers have changed since, its memory hardly. */
static void stall_sample_memory(const struct engine *engine,
				const struct perfring_sample *sample,
				struct conflict_message *conflict)
{
	const struct process *process =
		tracees_process(&engine->core.tracees, sample->pid);

	if (process)
		snapshot_machine(&process->space->memory, NULL, sample->address,
				 &conflict->wire.sides[1],
				 conflict->machines[1]);
}

void stall_sample(struct engine *engine, const struct watch_sample *record)
{
	const struct perfring_sample *sample = record->sample;
	uint64_t gens[DREGS_SLOTS] = { 0 };
	struct conflict_message *conflict;
	struct stall *stall;
	int access;

	gens[record->slot] = record->generation;
	stall = stall_of_trap(engine, (uint8_t)(1u << record->slot), gens,
			      &access);
	if (!stall || stall->hold.thread->tid == sample->tid)
		return;
	conflict = conflict_create(stall, access, WIRE_WATCHPOINT, NULL);
	if (conflict) {
		struct wire_side *side = &conflict->wire.sides[1];

		conflict->wire.trap_address = sample->address;
		snapshot_sample(&engine->core.tracees, sample, side,
				conflict->stacks[1]);
		stall_sample_memory(engine, sample, conflict);
		if (sample->from_kernel)
			side->syscall = -2;
		conflict_look(&engine->core, stall, NULL, conflict);
		freeze_take(&engine->freeze, stall, NULL, &conflict->wire);
	}
	engine->core.stats.watch_traps++;
	stall_end(engine, stall, WIRE_RACED);
	conflict_finish(&engine->core, &engine->replays, conflict);
}

/*
 * Which access has had its bytes changed without a trap (DataCollider
 * 3.2.2); -1: none. Its bytes are left in `bytes', of X86_ACCESS_MAX.
 */
static int stall_changed(const struct stall *stall, uint8_t *bytes)
{
	for (int i = 0; i < stall->access_count; i++) {
		const struct stall_access *access = &stall->accesses[i];
		uint32_t size;

		memset(bytes, 0, X86_ACCESS_MAX);
		stall_read(stall, i, bytes, &size);
		if (size == access->readable &&
		    memcmp(bytes, access->before, size) != 0)
			return i;
	}
	return -1;
}

static void stall_report_change(struct engine *engine, struct stall *stall,
				int i, const uint8_t *changed)
{
	struct conflict_message *conflict =
		conflict_create(stall, i, WIRE_VALUE_CHANGE, changed);

	if (conflict) {
		conflict_look(&engine->core, stall, NULL, conflict);
		freeze_take(&engine->freeze, stall, NULL, &conflict->wire);
	}
	engine->core.stats.value_changes++;
	stall_end(engine, stall, WIRE_RACED);
	conflict_finish(&engine->core, &engine->replays, conflict);
}

/* The watch has just reached every thread: the time counts from now. */
static void stall_check_watched(const struct engine *engine,
				struct stall *stall, uint64_t now)
{
	if (stall->watched)
		return;
	if (engine->core.tracees.watch.pending > 0 &&
	    now < stall->begun_ns + STALL_ARMING_MAX_NS) {
		stall->deadline_ns = now + stall->length_ns;
		return;
	}
	stall->watched = true;
	stall->deadline_ns = now + stall->length_ns;
	if (!engine->core.tracees.watch.ops->live)
		stall_begin_values(stall);
}

/*
 * Others could not run all the time, since they waited for a processor, or for the
 * front end (startup.h): one that was asked for lasts longer.
 */
static bool stall_is_patient(const struct engine *engine, struct stall *stall,
			     uint64_t now)
{
	uint64_t longest = (stall->length_ns + engine->pool.params.startup_ns) *
			   STALL_PATIENCE;
	uint64_t more;

	if (!stall->terms.over || stall->grace)
		return false;
	more = delays_more(&stall->delays, &engine->core.tracees,
			   stall->hold.thread,
			   stall->length_ns * STALL_PATIENCE, now);
	if (engine->startups.waiting > 0 && more < STALL_LOADER_NS &&
	    now - stall->begun_ns < longest)
		more = STALL_LOADER_NS;
	if (more > 0)
		stall->deadline_ns = now + more;
	return more > 0;
}

/*
 * A trap may be on its way for a change that is already in memory: where
 * registers watch the bytes, it is given a little more time.
 */
static void stall_expire(struct engine *engine, struct stall *stall,
			 uint64_t now)
{
	uint8_t bytes[X86_ACCESS_MAX];
	int changed = stall_changed(stall, bytes);

	if (changed < 0 && stall_is_patient(engine, stall, now))
		return;
	if (changed < 0) {
		stall_end(engine, stall, WIRE_QUIET);
	} else if (stall_fully_watched(stall) && !stall->grace) {
		stall->grace = true;
		stall->deadline_ns = now + STALL_GRACE_NS;
	} else {
		stall_report_change(engine, stall, changed, bytes);
	}
}

/* Threads that slept where a stop would be seen may have woken up. */
static void stall_watch_woken(struct engine *engine)
{
	uint64_t begun = clock_now_ns();

	if (engine->core.tracees.watch.ops->live)
		return;
	watch_publish(&engine->core.tracees);
	engine->stalls.look_cost_ns += clock_now_ns() - begun;
}

static void stall_look(struct engine *engine, struct stall *stall, uint64_t now)
{
	if (!stalls_others_run(engine)) {
		stall_end(engine, stall, WIRE_ALONE);
		return;
	}
	stall->seen_ns = now;
	stall_watch_woken(engine);
	stall_plan_look(engine, stall, now);
}

static void stall_reread(struct engine *engine, struct stall *stall,
			 uint64_t now)
{
	uint8_t bytes[X86_ACCESS_MAX];
	int changed = stall_changed(stall, bytes);

	stall->next_read_ns = now + STALL_READ_NS;
	if (changed >= 0)
		stall_report_change(engine, stall, changed, bytes);
}

static void stall_tick(struct engine *engine, struct stall *stall, uint64_t now)
{
	stall_check_watched(engine, stall, now);
	if (now >= stall->deadline_ns)
		stall_expire(engine, stall, now);
	/* the rarer first: reading may be due again at every turn */
	else if (now >= stall->next_look_ns)
		stall_look(engine, stall, now);
	else if (now >= stall->next_read_ns)
		stall_reread(engine, stall, now);
}

void stalls_take_samples(struct engine *engine)
{
	struct watch_sample sample;

	while (watch_next_sample(&engine->core.tracees, &sample))
		stall_sample(engine, &sample);
}

void stalls_tick(struct engine *engine, uint64_t now)
{
	for (size_t i = engine->stalls.list.count; i-- > 0;) {
		if (i < engine->stalls.list.count)
			stall_tick(engine, stall_at(engine, i), now);
	}
}

uint64_t stalls_next_ns(const struct engine *engine)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < engine->stalls.list.count; i++) {
		const struct stall *stall = stall_at(engine, i);
		uint64_t due = stall->deadline_ns;

		if (stall->next_look_ns < due)
			due = stall->next_look_ns;
		if (stall->next_read_ns < due)
			due = stall->next_read_ns;
		if (due < next)
			next = due;
	}
	return next;
}

void stalls_forget(struct engine *engine, const struct wire_range *range)
{
	for (size_t i = 0; i < engine->stalls.list.count; i++) {
		struct stall *stall = stall_at(engine, i);

		if (queue_in_range(&stall->site, range))
			stall->young = false;
	}
}

void stalls_end_all(struct engine *engine)
{
	while (engine->stalls.list.count > 0)
		stall_end(engine, stall_at(engine, 0), WIRE_ABANDONED);
}

void stalls_end_once(struct engine *engine)
{
	for (size_t i = engine->stalls.list.count; i-- > 0;) {
		struct stall *stall = stall_at(engine, i);

		if (stall->site.once)
			stall_end(engine, stall, WIRE_QUIET);
	}
}
