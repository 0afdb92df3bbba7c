/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inherited dispositions; see signals.h.
 */
#include "base/signals.h"

#include <signal.h>
#include <stddef.h>

bool signal_is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN;
}
