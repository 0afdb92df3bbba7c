/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signal dispositions and masks that a process inherits from its parent. */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Is it ignored, as SIGHUP under nohup(1)? Call this before the signal is
 * blocked for a signalfd: that delivers an ignored signal all the same.
 */
bool signal_is_ignored(int number);

/* May an instruction raise it: a fault, a trap, a system call that is refused? */
bool signal_is_raised(int number);

/*
 * The signals that end a process by default and that others send to it: not
 * those of its own faults (SIGSEGV, SIGABRT, SIGPIPE, SIGXFSZ, ...), and not
 * SIGKILL. Those that were ignored before are left out, as SIGHUP under
 * nohup(1), but not those that a shell ignores for what it runs in the
 * background.
 */
void signals_terminating(sigset_t *ret);

/*
 * Block every signal that can be blocked in the calling thread, also those that
 * the C library reserves. before: NULL, or what was blocked.
 */
void signals_block_all(sigset_t *before);

#endif
