/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process held against the reuse of its id; see pidref.h.
 */
#include "sys/pidref.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/identity.h"

struct error *pidref_open(pid_t pid, struct pidref *ret)
{
	struct pidref ref = { .pid = pid, .fd = -1 };
	struct identity identity;
	struct error *err;

	/* close-on-exec by itself */
	ref.fd = (int)syscall(SYS_pidfd_open, pid, 0U);
	if (ref.fd < 0 && errno == ESRCH)
		return error_gone;
	err = identity_read(pid, &identity);
	if (err) {
		pidref_close(&ref);
		return err;
	}
	ref.start_time = identity.start_time;
	*ret = ref;
	return NULL;
}

void pidref_close(struct pidref *ref)
{
	if (ref->pid > 0 && ref->fd >= 0)
		close(ref->fd);
	*ref = (struct pidref){ .fd = -1 };
}

bool pidref_valid(const struct pidref *ref)
{
	struct identity identity;
	struct error *err;
	bool same;

	/* a process that lives, or was not waited for, keeps its id */
	if (ref->fd >= 0 &&
	    syscall(SYS_pidfd_send_signal, ref->fd, 0, NULL, 0U) < 0 &&
	    errno == ESRCH)
		return false;
	err = identity_read(ref->pid, &identity);
	same = !err && identity.start_time == ref->start_time;
	error_free(err);
	return same;
}

struct error *pidref_signal(const struct pidref *ref, int signal)
{
	long result;

	if (ref->fd >= 0)
		result = syscall(SYS_pidfd_send_signal, ref->fd, signal, NULL,
				 0U);
	else if (pidref_valid(ref))
		result = kill(ref->pid, signal);
	else
		return error_gone;
	return result < 0 ? error_os(errno, "signal process %d", (int)ref->pid)
			  : NULL;
}
