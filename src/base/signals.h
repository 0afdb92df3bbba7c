/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a process was told to do about signals by whoever started it.
 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <stdbool.h>

/*
 * As SIGHUP under nohup(1). To be asked before it is blocked for a signalfd: an
 * ignored signal comes through one all the same.
 */
bool signal_is_ignored(int number);

#endif
