/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the watching costs, measured; see load.h.
 */
#include "tracer/load.h"

#include <stddef.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "sys/procfs.h"
#include "tracee/process.h"
#include "tracer/core.h"
#include "tracer/stall.h"

enum {
	/*
	 * reading the program's clock takes at most one part in this many of the
	 * time, and about one part in LOAD_BUDGET_PARTS of the budget
	 */
	LOAD_SHARE = 200,
	LOAD_SHARE_MAX = 1000, /* it is read at least as often as this allows */
	LOAD_BUDGET_PARTS = 20,
	/*
	 * and that of one stall in so long is enough. It makes the stall longer:
	 * not many of few are to be
	 */
	LOAD_MEASURE_NS = 10 * 1000 * 1000,
	LOAD_MEASURE_LOW_NS = 100 * 1000 * 1000,
	LOAD_WINDOW_NS = 100 * 1000 * 1000,
	/* reading /proc/stat takes some 50 us where there are two processors */
	LOAD_MACHINE_NS = 500 * 1000 * 1000,
	/* but soon after the start, when most is computed */
	LOAD_MACHINE_FIRST_NS = 100 * 1000 * 1000,
};

void load_init(struct load *load, struct core *core,
	       const struct stalls *stalls)
{
	*load = (struct load){ .core = core, .stalls = stalls };
	budget_init(&load->budget);
}

/* At least this many times as long as it takes passes before it is read again. */
static uint64_t load_rest(const struct load *load)
{
	double share = load->budget.share;
	double rest = share > 0 ? LOAD_BUDGET_PARTS / share : LOAD_SHARE;

	if (rest < LOAD_SHARE)
		return LOAD_SHARE;
	return rest < LOAD_SHARE_MAX ? (uint64_t)rest : LOAD_SHARE_MAX;
}

static uint64_t load_gap(const struct load *load)
{
	return budget_is_small(&load->budget) ? LOAD_MEASURE_LOW_NS
					      : LOAD_MEASURE_NS;
}

/* Of all watched processes; it takes time in proportion to the threads. */
static struct load_program load_read_program(struct load *load)
{
	struct load_program sum = { .cpu_ns = 0 };
	uint64_t begun = clock_now_ns(), end;

	for (size_t i = 0; i < load->core->tracees.processes.count; i++) {
		struct process *process =
			tracees_process_at(&load->core->tracees, i);
		uint64_t calls;

		if (process->role != PROCESS_WATCHED ||
		    !procfs_process_cpu(process->pid, &process->cpu_ns))
			continue;
		sum.cpu_ns += process->cpu_ns;
		if (procfs_process_calls(process->pid, &process->calls_file,
					 &calls))
			sum.calls += calls;
	}
	end = clock_now_ns();
	load->measure_ns =
		end + load_gap(load) + (end - begun) * load_rest(load);
	return sum;
}

/* Nothing was undone: none of the processes has ended since then. */
static bool load_grew(const struct load_program *then,
		      const struct load_program *now)
{
	return now->cpu_ns >= then->cpu_ns && now->calls >= then->calls;
}

/* What the tracer has computed meanwhile is counted with that. */
static void load_handled_by(struct load *load, uint64_t now)
{
	uint64_t took;

	if (load->handling_ns == 0)
		return;
	took = now > load->handling_ns ? now - load->handling_ns : 0;
	budget_spend_handling(&load->budget, took);
	load->own_held_ns += took;
	load->handling_ns = 0;
}

void load_stall_begins(struct load *load, uint64_t now)
{
	load_handled_by(load, now);
	load->begun_own_ns = clock_process_cpu_ns();
	load->measured = now >= load->measure_ns;
	if (load->measured)
		load->begun = load_read_program(load);
}

static void load_end_window(struct load *load, uint64_t now,
			    const struct load_program *program)
{
	processes_find_quiet(&load->core->tracees.processes);
	if (load->window_ns != 0 && load_grew(&load->window_begun, program)) {
		load->window.wall_ns = now - load->window_ns;
		load->window.cpu_ns =
			program->cpu_ns - load->window_begun.cpu_ns;
		load->window.calls = program->calls - load->window_begun.calls;
		budget_learn_loss(&load->budget, &load->window);
	}
	load->window = (struct budget_window){ .wall_ns = 0 };
	load->window_ns = now;
	load->window_begun = *program;
}

void load_stall_ends(struct load *load, uint64_t now)
{
	uint64_t held = now - load->stalls->busy_since_ns;
	struct load_program program;

	load->own_held_ns += clock_process_cpu_ns() - load->begun_own_ns;
	load->window.held_ns += held;
	load->stood_ns += (double)held * load->budget.loss;
	budget_earn(&load->budget, now);
	budget_spend_held(&load->budget, held);
	/* until its thread goes on */
	load->handling_ns = now;
	if (!load->measured)
		return;
	program = load_read_program(load);
	if (!load_grew(&load->begun, &program))
		return;
	load->window.measured_ns += held;
	load->window.measured_cpu_ns += program.cpu_ns - load->begun.cpu_ns;
	load->window.measured_calls += program.calls - load->begun.calls;
	if (now - load->window_ns >= 2 * LOAD_WINDOW_NS)
		load_end_window(load, now, &program);
}

void load_stopped(struct load *load)
{
	load->core->stats.stops++;
	if (load->stalls->list.count > 0)
		return;
	budget_spend_stop(&load->budget);
	load->handling_ns = clock_now_ns();
}

void load_handled(struct load *load)
{
	if (load->handling_ns != 0)
		load_handled_by(load, clock_now_ns());
}

/*
 * The most that the front end takes of a processor that others want: of what it
 * computes where it is nice, the rest was idle.
 */
static double load_front_part(const struct load *load)
{
	int more = getpriority(PRIO_PROCESS, (id_t)load->front);
	double weight = 1;

	if (more <= 0)
		return 1;
	/* each step of nice makes a thread's weight 1.25 times smaller */
	for (; more > 0; more--)
		weight /= 1.25;
	return weight / (1 + weight);
}

/*
 * The scratch process runs while the front end waits for it, and is as nice. What
 * the front end computes is charged with the rest of that.
 */
void load_replayed(struct load *load, const struct load_replay *replay,
		   uint64_t now)
{
	double took = now > replay->since_ns ? (double)(now - replay->since_ns)
					     : 0;
	uint64_t most = (uint64_t)(load_front_part(load) * took);

	load->core->stats.replay_cpu_ns += replay->cpu_ns;
	budget_spend_cpu(&load->budget,
			 replay->scratch_ns < most ? replay->scratch_ns : most);
	budget_spend_replay(&load->budget, replay->held_ns,
			    replay->cpu_ns < most ? replay->cpu_ns : most);
}

static void load_charge_front(struct load *load, uint64_t wall)
{
	uint64_t front = load->front_ns, most;

	if (load->front != 0)
		procfs_process_cpu(load->front, &front);
	if (load->front_ns != 0 && front > load->front_ns) {
		most = (uint64_t)(load_front_part(load) * (double)wall);
		front -= load->front_ns;
		budget_spend_cpu(&load->budget, front < most ? front : most);
		front += load->front_ns;
	}
	load->front_ns = front;
}

static void load_charge_cpu(struct load *load, uint64_t now)
{
	uint64_t cpu = clock_process_cpu_ns();
	uint64_t own = cpu > load->own_held_ns ? cpu - load->own_held_ns : 0;

	if (load->own_ns != 0 && own > load->own_ns)
		budget_spend_cpu(&load->budget, own - load->own_ns);
	load->own_ns = own;
	load_charge_front(load, load->charged_ns != 0 ? now - load->charged_ns
						      : UINT64_MAX / 2);
	load->charged_ns = now;
}

/* What was done since then. False: too little is known. */
static bool load_since(const struct load_machine *then,
		       const struct load_machine *now, struct load_machine *ret)
{
	/* the set of processors has changed */
	if (now->busy < then->busy || now->idle < then->idle)
		return false;
	ret->busy = now->busy - then->busy;
	ret->idle = now->idle - then->idle;
	ret->own_ns = now->own_ns - then->own_ns;
	ret->stood_ns = now->stood_ns - then->stood_ns;
	return ret->busy + ret->idle > 0;
}

static void load_look_at_machine(struct load *load, uint64_t now)
{
	struct load_machine machine = {
		.own_ns = clock_process_cpu_ns() + load->front_ns,
		.stood_ns = load->stood_ns,
	}, since = { .busy = 0 };
	double wall = (double)(now - load->machine_ns), busy, own;
	uint64_t gap = load->machine_known ? LOAD_MACHINE_NS
					   : LOAD_MACHINE_FIRST_NS;
	int processors;

	if (now - load->machine_ns < gap)
		return;
	load->machine_ns = now;
	if (!procfs_processors(&processors, &machine.busy, &machine.idle))
		return;
	load->machine_known = load->machine.busy + load->machine.idle != 0 &&
			      load_since(&load->machine, &machine, &since);
	load->machine = machine;
	if (!load->machine_known)
		return;
	busy = processors * (double)since.busy /
	       (double)(since.busy + since.idle);
	own = (double)since.own_ns / wall;
	own = own < busy ? own : busy;
	budget_learn_competition(&load->budget, processors, busy - own, own,
				 since.stood_ns / wall);
}

void load_tick(struct load *load, uint64_t now)
{
	struct load_program program;

	budget_earn(&load->budget, now);
	load_look_at_machine(load, now);
	/* what is computed during a stall takes nothing from anybody else */
	if (load->stalls->list.count > 0)
		return;
	load_charge_cpu(load, now);
	if (now - load->window_ns < LOAD_WINDOW_NS || now < load->measure_ns)
		return;
	program = load_read_program(load);
	load_end_window(load, now, &program);
}
