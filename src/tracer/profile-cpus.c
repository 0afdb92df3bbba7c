/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which code runs, by clocks of processors; see profile-cpus.h.
 */
#include "tracer/profile-cpus.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "schedule/pool.h"
#include "tracee/breakpoint.h"
#include "tracer/core.h"
#include "tracer/load.h"
#include "tracer/profile-parts.h"

enum {
	/* of one interrupt; the timer is a virtual machine's */
	CPUS_SAMPLE_NS = 4000,
	/* no multiple of any timer's period */
	CPUS_PERIOD_NS = 4987 * 1000,
};

bool profile_by_cpus(const struct profile *profile)
{
	const struct profile_cpus *cpus = &profile->cpus;

	return profile_is_low(profile) && !profile->refused && !cpus->refused &&
	       tracees_thread_count(&profile->core->tracees) >=
		       (cpus->count > 0
				? cpus->count
				: (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static uint64_t cpus_period(const struct profile *profile, uint32_t count)
{
	double part = profile->pool->params.share / PROFILE_PART;
	double period = count * CPUS_SAMPLE_NS / part;

	return period > CPUS_PERIOD_NS ? (uint64_t)period : CPUS_PERIOD_NS;
}

/* All of them, or none. One that is not running has none, and is left out. */
static struct error *cpus_open(struct profile *profile)
{
	struct profile_cpus *cpus = &profile->cpus;
	uint32_t count = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t last = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	struct error *err = NULL;

	cpus->clocks = calloc(last, sizeof(*cpus->clocks));
	if (!cpus->clocks)
		return error_nomem;
	cpus->period_ns = cpus_period(profile, count);
	for (uint32_t i = 0; i < last && cpus->count < count; i++) {
		error_free(err);
		err = cpuclock_open_cpu((int)i, cpus->period_ns,
					&cpus->clocks[cpus->count]);
		cpus->count += !err;
		if (err && err->kind == ERROR_REFUSED)
			break;
	}
	if (cpus->count == 0 || (err && err->kind == ERROR_REFUSED))
		return err;
	error_free(err);
	return NULL;
}

void profile_cpus_deinit(struct profile *profile)
{
	struct profile_cpus *cpus = &profile->cpus;

	for (uint32_t i = 0; i < cpus->count; i++)
		cpuclock_close(&cpus->clocks[i]);
	free(cpus->clocks);
	cpus->clocks = NULL;
	cpus->count = 0;
	cpus->on = false;
}

static bool cpus_prepare(struct profile *profile)
{
	struct profile_cpus *cpus = &profile->cpus;
	struct error *err = cpus->count > 0 ? NULL : cpus_open(profile);

	if (!err)
		return true;
	log_debug(LOG_TARGET, "profile: %s", error_message(err));
	error_free(err);
	profile_cpus_deinit(profile);
	cpus->refused = true;
	return false;
}

bool profile_cpus_begin(struct profile *profile, uint64_t now)
{
	struct profile_cpus *cpus = &profile->cpus;

	if (cpus->on)
		return true;
	if (!cpus_prepare(profile))
		return false;
	for (uint32_t i = 0; i < cpus->count; i++)
		cpuclock_run(&cpus->clocks[i], true);
	cpus->on = true;
	cpus->read_ns = now;
	return true;
}

/* Of a process that is not watched, or cannot race, nothing is of use. */
static void cpus_note(struct profile *profile, pid_t pid, uint64_t address,
		      uint64_t now)
{
	const struct process *process =
		tracees_process(&profile->core->tracees, pid);

	if (process && process->role == PROCESS_WATCHED &&
	    core_may_race(profile->core, process))
		profile_note(profile, process->space->text->program, address,
			     now);
}

void profile_cpus_read(struct profile *profile, uint64_t now)
{
	struct profile_cpus *cpus = &profile->cpus;
	uint64_t address, cost;
	pid_t pid;

	if (!cpus->on || now <= cpus->read_ns)
		return;
	for (uint32_t i = 0; i < cpus->count; i++) {
		while (cpuclock_next_of(&cpus->clocks[i], &address, &pid))
			cpus_note(profile, pid, address, now);
	}
	/* those that found somebody else, or the kernel, leave no sample */
	cost = (now - cpus->read_ns) / cpus->period_ns * cpus->count *
	       CPUS_SAMPLE_NS;
	cpus->read_ns +=
		(now - cpus->read_ns) / cpus->period_ns * cpus->period_ns;
	profile->credit_ns -= (double)cost;
	budget_spend_interrupts(&profile->load->budget, cost);
}

void profile_cpus_discard(struct profile *profile)
{
	uint64_t address;
	pid_t pid;

	for (uint32_t i = 0; i < profile->cpus.count; i++) {
		while (cpuclock_next_of(&profile->cpus.clocks[i], &address,
					&pid))
			;
	}
}

void profile_cpus_rest(struct profile *profile)
{
	struct profile_cpus *cpus = &profile->cpus;

	for (uint32_t i = 0; cpus->on && i < cpus->count; i++)
		cpuclock_run(&cpus->clocks[i], false);
	cpus->on = false;
}
