/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages to the user on stderr, and debug output by domain. The mask and the
 * state of the terminal's last line are the only mutable globals of the
 * program. Each message is one write(2), so that lines of several processes do
 * not mix.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_domain {
	LOG_IMAGE = 1 << 0,
	LOG_SYS = 1 << 1,
	LOG_TARGET = 1 << 2,
	LOG_WATCH = 1 << 3,
	LOG_DETECT = 1 << 4,
	LOG_REPORT = 1 << 5,
};

/*
 * Enable the debug domains named in a comma-separated list ("target,watch",
 * "all"); false if a name is unknown.
 */
bool log_enable(const char *domains);
bool log_enabled(enum log_domain domain);

/* "racewatch: note: ..." */
void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "racewatch: warning: ..." */
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "racewatch: error: ..." */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "racewatch[DOMAIN] seconds: ..." when the domain is enabled. */
void log_debug(enum log_domain domain, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Whether the last line on stderr, a terminal, is an unfinished status line
 * (report/status.h). If so, the next message clears it first.
 */
void log_stands_on_line(bool stands);

#endif
