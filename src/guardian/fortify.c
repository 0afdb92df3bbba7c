/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Making a process last; see fortify.h.
 */
#include "guardian/fortify.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	/* lower than anything but what may not be killed at all, -1000 */
	FORTIFY_OOM_SCORE = -900,
	FORTIFY_NICE = -20,
};

static bool fortify_lock_unlimited(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
	    limit.rlim_cur == RLIM_INFINITY)
		return true;
	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &
		CAP_TO_MASK(CAP_IPC_LOCK));
}

static void fortify_oom_score(void)
{
	cleanup_close int fd =
		open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	char text[16] = "";
	int length;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 ||
	    strtol(text, NULL, 10) <= FORTIFY_OOM_SCORE)
		return;
	length = snprintf(text, sizeof(text), "%d\n", FORTIFY_OOM_SCORE);
	/* refused without CAP_SYS_RESOURCE */
	if (pwrite(fd, text, (size_t)length, 0) < 0)
		return;
}

void fortify_memory(void)
{
	if (fortify_lock_unlimited())
		mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
	else
		mlockall(MCL_CURRENT | MCL_ONFAULT);
	fortify_oom_score();
}

void fortify_priority(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) < 0)
		setpriority(PRIO_PROCESS, 0, FORTIFY_NICE);
}

bool fortify_yield(int nice)
{
	const struct sched_param param = { .sched_priority = 0 };

	/* to take the flag away again needs CAP_SYS_NICE */
	if (sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &param) <
	    0)
		return false;
	setpriority(PRIO_PROCESS, 0, nice);
	return true;
}
