/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer before the program; see priority.h.
 */
#include "tracer/priority.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "guardian/fortify.h"
#include "tracer/core.h"

void priority_init(struct priority *priority, const struct core *core)
{
	*priority = (struct priority){ .core = core };
}

static void priority_take(struct priority *priority)
{
	priority->nice = getpriority(PRIO_PROCESS, 0);
	fortify_priority(FORTIFY_PRIORITY);
	log_debug(LOG_TARGET, "has the processor before the program");
	priority->first = true;
	priority->wall_ns = 0;
}

static void priority_leave(struct priority *priority)
{
	priority->first = !fortify_yield(priority->nice);
}

void priority_guard(struct priority *priority)
{
	priority->guarded = true;
	priority_take(priority);
}

/* Has it computed for half of the time since the last look, when one is due? */
static bool priority_is_busy(struct priority *priority, uint64_t now)
{
	uint64_t wall = now - priority->wall_ns, cpu;
	uint64_t look = priority->guarded ? PRIORITY_LOAD_GUARDED_NS
					  : PRIORITY_LOAD_NS;
	bool busy;

	if (wall < look)
		return false;
	cpu = clock_process_cpu_ns();
	busy = priority->wall_ns != 0 && cpu - priority->cpu_ns > wall / 2;
	priority->wall_ns = now;
	priority->cpu_ns = cpu;
	return busy;
}

/*
 * Are the program's threads so numerous that the tracer waits for a processor?
 * While the tracer has priority, half as many threads are enough to keep it.
 */
static bool priority_has_many(const struct priority *priority)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t many =
		PRIORITY_MANY * (processors < 1 ? 1 : (uint32_t)processors);
	uint32_t threads = tracees_thread_count(&priority->core->tracees);

	return priority->first ? threads > many / 2 : threads > many;
}

static void priority_rest(struct priority *priority, uint64_t now)
{
	priority_leave(priority);
	if (priority->pause_ns == 0)
		priority->pause_ns = PRIORITY_PAUSE_NS;
	priority->until_ns = now + priority->pause_ns;
	log_debug(LOG_TARGET, "busy: shares the processors for %.2f s",
		  (double)priority->pause_ns / CLOCK_NS_PER_S);
	priority->pause_ns *= 2;
}

void priority_tick(struct priority *priority, uint64_t now)
{
	if (priority->first && priority_is_busy(priority, now))
		priority_rest(priority, now);
	else if (priority->guarded || now < priority->until_ns)
		return;
	else if (priority->first && !priority_has_many(priority))
		priority_leave(priority);
	else if (!priority->first && priority->core->phase == PHASE_WATCHING &&
		 priority_has_many(priority))
		priority_take(priority);
}
