/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a thread did while no thread could run but the one held at a side. */
#ifndef SESSION_WAITS_H
#define SESSION_WAITS_H

#include <stdint.h>

#include "base/vec.h"
#include "wire/hunt.h"

/* One of session_side.wire.others. */
struct session_wait {
	uint32_t side; /* as in struct wire_hunted */
	struct wire_place other;
	unsigned int state; /* enum wire_hunt_other */
	int call; /* that it waited in; -1: not known */
	char *variable; /* that its futex(2) is of; NULL: not known */
	struct vec frames; /* of struct race_frame, the innermost first */
};

#endif
