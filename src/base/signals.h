/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a process was told to do about signals by whoever started it.
 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * As SIGHUP under nohup(1). To be asked before it is blocked for a signalfd: an
 * ignored signal comes through one all the same.
 */
bool signal_is_ignored(int number);

/*
 * The signals that end a process by default, and are sent to it: none that tell
 * of its own faults (SIGSEGV, SIGABRT, SIGPIPE, SIGXFSZ, ...), and neither
 * SIGKILL. Those that were ignored before are left out, as SIGHUP under
 * nohup(1), but not those that a shell ignores for what it runs in the
 * background.
 */
void signals_terminating(sigset_t *ret);

/*
 * Block every signal that can be, those that the C library keeps for itself
 * too, in the calling thread. before: NULL, or what was blocked.
 */
void signals_block_all(sigset_t *before);

#endif
