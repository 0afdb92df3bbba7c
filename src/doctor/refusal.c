/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reasons of a refusal; see refusal.h.
 */
#include "doctor/refusal.h"

#include <errno.h>

#include "base/error.h"
#include "doctor/checks.h"

/* The reason, with what the kernel said behind it. */
static struct error *refusal_join(struct error *reason, struct error *err)
{
	struct error *joined = error_create(ERROR_REFUSED, "%s (%s)",
					    error_message(reason),
					    error_message(err));

	error_free(reason);
	error_free(err);
	return joined;
}

struct error *refusal_explain(struct error *err, int pid)
{
	struct error *reason = NULL;

	if (!err || (err->code != EPERM && err->code != EACCES &&
		     err->kind != ERROR_REFUSED && err->kind != ERROR_GONE))
		return err;
	if (pid)
		reason = checks_refuse_process(pid);
	if (!reason && err->kind != ERROR_GONE)
		reason = checks_refuse_machine();
	if (!reason && err->kind == ERROR_GONE && pid)
		return error_create(ERROR_REFUSED, "process %d has ended", pid);
	if (!reason)
		return err->kind == ERROR_OTHER
			       ? error_wrap(err, "ptrace(2) is refused")
			       : err;
	return err->kind == ERROR_GONE ? reason : refusal_join(reason, err);
}
