/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The "value" back-end: no watchpoints at all; the bytes are read again and
 * again (DataCollider 3.2.2). Sees only writes that change the value, and not
 * who made them; disturbs nobody.
 */
#include "tracee/watch.h"

#include <stddef.h>

static void value_nothing(struct tracees *tracees, struct thread *thread)
{
	(void)tracees;
	(void)thread;
}

static uint8_t value_trapped(struct thread *thread,
			     const struct trap_info *info,
			     uint64_t gens[DREGS_SLOTS])
{
	(void)thread;
	(void)info;
	(void)gens;
	return 0;
}

const struct watch_ops watch_by_value = {
	.name = "value",
	.live = true,
	.blind = true,
	.update = value_nothing,
	.prepare = value_nothing,
	.clear = value_nothing,
	.trapped = value_trapped,
};
