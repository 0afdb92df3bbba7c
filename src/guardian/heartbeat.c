/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer's sign of life; see heartbeat.h.
 */
#include "guardian/heartbeat.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/error.h"
#include "sys/procfs.h"

struct error *heartbeat_create(struct heartbeat **ret)
{
	struct heartbeat *heartbeat = mmap(NULL, sizeof(*heartbeat),
					   PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (heartbeat == MAP_FAILED)
		return error_os(errno, "map memory to share with the tracer");
	*ret = heartbeat;
	return NULL;
}

void heartbeat_destroy(struct heartbeat *heartbeat)
{
	if (heartbeat)
		munmap(heartbeat, sizeof(*heartbeat));
}

void heartbeat_beat(struct heartbeat *heartbeat)
{
	uint32_t next = heartbeat->beats + 1;

	__atomic_store_n(&heartbeat->beats, next ? next : 1, __ATOMIC_RELAXED);
}

void heartbeat_end(struct heartbeat *heartbeat)
{
	__atomic_store_n(&heartbeat->beats, 0, __ATOMIC_RELAXED);
}

static void heartbeat_forget(struct heartbeat_watch *watch)
{
	watch->stopped = watch->blocked = watch->starved = 0;
}

/* One more look without a beat. */
static void heartbeat_count(struct heartbeat_watch *watch, char state, bool ran)
{
	if (state == 'T') {
		watch->stopped++;
	} else if (state == 'R' || ran) {
		watch->starved++;
		watch->blocked = 0;
	} else {
		watch->blocked++;
	}
}

enum heartbeat_verdict heartbeat_judge(struct heartbeat_watch *watch,
				       uint32_t beats, char state,
				       uint64_t ran_ns)
{
	bool ran = ran_ns != watch->ran_ns;

	watch->ran_ns = ran_ns;
	if (beats == 0 || beats != watch->beats) {
		watch->beats = beats;
		heartbeat_forget(watch);
		return HEARTBEAT_WELL;
	}
	heartbeat_count(watch, state, ran);
	if (watch->stopped >= HEARTBEAT_STOPPED) {
		heartbeat_forget(watch);
		return HEARTBEAT_CONTINUE;
	}
	return watch->blocked >= HEARTBEAT_BLOCKED ||
			       watch->starved >= HEARTBEAT_STARVED
		       ? HEARTBEAT_STUCK
		       : HEARTBEAT_WELL;
}

enum heartbeat_verdict heartbeat_look(struct heartbeat_watch *watch,
				      const struct heartbeat *heartbeat,
				      pid_t tracer, uint64_t now)
{
	struct thread_status status = { .state = 'R' };
	uint64_t ran_ns = 0;

	if (now < watch->due_ns)
		return HEARTBEAT_WELL;
	watch->due_ns = now + HEARTBEAT_LOOK_NS;
	error_free(procfs_status(tracer, &status));
	/* its end is somebody else's to see */
	if (status.state == 'Z' || status.state == 'X')
		return HEARTBEAT_WELL;
	/* where the kernel does not tell, its state must do */
	error_free(procfs_cpu_time(tracer, tracer, &ran_ns));
	return heartbeat_judge(
		watch, __atomic_load_n(&heartbeat->beats, __ATOMIC_RELAXED),
		status.state, ran_ns);
}
