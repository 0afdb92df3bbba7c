/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Choosing the watch back-end; see backend.h.
 */
#include "tracee/backend.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "tracee/selftest.h"
#include "tracee/watch.h"

static struct error *probe_perf(bool *ret_kernel)
{
	return selftest_perf(ret_kernel);
}

static struct error *probe_cpu(bool *ret_kernel)
{
	struct error *err = selftest_cpu();

	*ret_kernel = !err;
	return err;
}

static struct error *probe_registers(bool *ret_kernel)
{
	*ret_kernel = false;
	return selftest_registers();
}

static struct error *probe_value(bool *ret_kernel)
{
	/* the kernel's writes change values as any other */
	*ret_kernel = true;
	return NULL;
}

struct backend {
	const struct watch_ops *ops;
	struct error *(*probe)(bool *ret_kernel);
	bool automatic;
};

/* Best first. */
static const struct backend backends[] = {
	{ &watch_by_perf, probe_perf, true },
	{ &watch_by_registers, probe_registers, true },
	{ &watch_by_cpu, probe_cpu, false },
	{ &watch_by_value, probe_value, true },
};

enum { BACKENDS = sizeof(backends) / sizeof(backends[0]) };

static struct error *backend_take(const struct backend *backend,
				  struct watch *watch)
{
	struct error *err;
	bool kernel;

	err = backend->probe(&kernel);
	if (err)
		return err;
	watch->ops = backend->ops;
	watch->kernel = kernel;
	return NULL;
}

static struct error *backend_automatic(struct watch *watch, char *reason,
				       size_t size)
{
	for (int i = 0; i < BACKENDS; i++) {
		struct error *err;

		if (!backends[i].automatic)
			continue;
		err = backend_take(&backends[i], watch);
		if (!err)
			return NULL;
		if (reason[0] == '\0')
			snprintf(reason, size, "%s", error_message(err));
		error_free(err);
	}
	return error_create(ERROR_UNSUPPORTED, "no watch back-end works");
}

struct error *backend_choose(const char *name, struct watch *watch,
			     char *reason, size_t size)
{
	reason[0] = '\0';
	if (strcmp(name, "auto") == 0)
		return backend_automatic(watch, reason, size);
	for (int i = 0; i < BACKENDS; i++) {
		if (strcmp(name, backends[i].ops->name) == 0)
			return backend_take(&backends[i], watch);
	}
	return error_create(ERROR_USAGE, "there is no back-end '%s'", name);
}
