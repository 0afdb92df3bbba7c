/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clocks of threads' CPU time, in place of the kernel's: tracer/profile.c opens
 * them and reads where threads were. A sample is of a location as likely as it
 * runs often; its cost and that of switches is the program's.
 */
#include <sys/resource.h>

#include "base/error.h"
#include "machine.h"
#include "sys/cpuclock.h"
#include "sys/perfwatch.h"
#include "sys/policy.h"
#include "tracer/profile.h"

_Static_assert((int)MACHINE_CLOCKS == (int)PROFILE_CLOCKS,
	       "each that is opened has one here");

/* Files that a process may have open. */
enum { CLOCKS_FILES = 1024 };

struct error *__wrap_cpuclock_open(pid_t tid, uint64_t period_ns,
				   struct cpuclock *ret);
void __wrap_cpuclock_close(struct cpuclock *clock);
bool __wrap_cpuclock_next(struct cpuclock *clock, uint64_t *ret_address);
uint32_t __wrap_cpuclock_switches(const struct cpuclock *clock);
struct error *__wrap_perfwatch_keep_ready(int *ret_fd);
void __wrap_policy_linux(int *ret_major, int *ret_minor);
int __real_getrlimit(int resource, struct rlimit *ret);

/* A sanitizer linked into the program asks too, before its shadow exists. */
__attribute__((no_sanitize("address", "undefined"))) int
__wrap_getrlimit(int resource, struct rlimit *ret);

/* What each thread has computed; they are as busy as each other. */
static double clocks_thread_cpu(void)
{
	return machine->program_cpu_ns / machine_threads();
}

static void clock_bring(struct machine_clock *clock)
{
	double ran = clocks_thread_cpu() - clock->cpu_ns;
	double switches = (double)(machine->now_ns - clock->read_ns) *
			  machine->program.plan->switches / 1e9;

	clock->cpu_ns += ran;
	clock->read_ns = machine->now_ns;
	clock->switches += switches;
	machine->interrupted_ns += switches * MACHINE_SWITCH_NS;
	for (clock->left_ns -= ran; clock->left_ns <= 0;
	     clock->left_ns += clock->period_ns) {
		clock->samples++;
		machine->interrupted_ns += MACHINE_SAMPLE_NS;
	}
}

static struct error *clocks_refused(void)
{
	if (!machine->program.plan->refuses_perf)
		return NULL;
	return error_create(ERROR_REFUSED, "perf is refused");
}

struct error *__wrap_cpuclock_open(pid_t tid, uint64_t period_ns,
				   struct cpuclock *ret)
{
	struct error *err = clocks_refused();
	int i = 0;

	if (err)
		return err;
	while (machine->clocks[i].open)
		i++;
	machine->clocks[i] = (struct machine_clock){
		.open = true,
		.period_ns = (double)period_ns,
		.left_ns =
			(double)period_ns * program_random(&machine->program),
		.cpu_ns = clocks_thread_cpu(),
		.read_ns = machine->now_ns,
	};
	machine->spent_ns += MACHINE_OPEN_NS;
	*ret = (struct cpuclock){ .fd = i,
				  .pages = &machine->clocks[i],
				  .tid = tid };
	return NULL;
}

void __wrap_cpuclock_close(struct cpuclock *clock)
{
	struct machine_clock *own = clock->pages;

	clock_bring(own);
	own->open = false;
	machine->spent_ns += MACHINE_OPEN_NS;
	*clock = (struct cpuclock){ .fd = -1 };
}

bool __wrap_cpuclock_next(struct cpuclock *clock, uint64_t *ret_address)
{
	struct machine_clock *own = clock->pages;

	if (own->samples == 0)
		return false;
	own->samples--;
	*ret_address =
		MACHINE_TEXT +
		machine_slot(program_draw(&machine->program)) * PROGRAM_SLOT;
	return true;
}

uint32_t __wrap_cpuclock_switches(const struct cpuclock *clock)
{
	struct machine_clock *own = clock->pages;

	clock_bring(own);
	return (uint32_t)own->switches;
}

struct error *__wrap_perfwatch_keep_ready(int *ret_fd)
{
	(void)ret_fd;
	return clocks_refused();
}

void __wrap_policy_linux(int *ret_major, int *ret_minor)
{
	*ret_major = 6;
	*ret_minor = 1;
}

int __wrap_getrlimit(int resource, struct rlimit *ret)
{
	if (resource != RLIMIT_NOFILE)
		return __real_getrlimit(resource, ret);
	*ret = (struct rlimit){ .rlim_cur = CLOCKS_FILES,
				.rlim_max = CLOCKS_FILES };
	return 0;
}
