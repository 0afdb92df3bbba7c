/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors as values. A function that can fail returns a struct error pointer;
 * NULL means success. The caller owns the error: it frees it with error_free(),
 * returns it, or wraps it. Results are stored through the last parameters, and
 * not on failure.
 *
 * Two sentinels need no freeing and may be compared by pointer: error_nomem
 * (out of memory) and error_gone (the tracee has vanished, which can happen at
 * any moment and is routine).
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>

enum error_kind {
	ERROR_OTHER = 0,
	ERROR_NOMEM,
	ERROR_GONE,
	/* bad usage or input of the user: exit status 2 */
	ERROR_USAGE,
	/* CMD exists but cannot be run: exit status 126 */
	ERROR_CANNOT_RUN,
	/* CMD was not found: exit status 127 */
	ERROR_NOT_FOUND,
	/* a file is not what it should be (corrupt ELF, bad JSON) */
	ERROR_FORMAT,
	/* the kernel or its policy refuses; the message names the remedy */
	ERROR_REFUSED,
	/* the host lacks a facility (no watchpoints, no perf) */
	ERROR_UNSUPPORTED,
};

struct error {
	enum error_kind kind;
	/* errno value behind it, or 0 */
	int code;
	char *message;
};

/* Macros, so that the compiler knows that a sentinel is not NULL. */
extern struct error error_sentinel_nomem, error_sentinel_gone;
#define error_nomem (&error_sentinel_nomem)
#define error_gone (&error_sentinel_gone)

/* New error with a formatted message; error_nomem if there is no memory. */
struct error *error_create(enum error_kind kind, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

/* As error_create, with ": strerror(code)" appended. ESRCH gives error_gone. */
struct error *error_os(int code, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

/*
 * Put "context: " before the message; kind and code are kept. Sentinels and
 * NULL are returned unchanged. Takes err over.
 */
struct error *error_wrap(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The message; never NULL; valid while err lives. */
const char *error_message(const struct error *err);

/* Free err, which may be NULL or a sentinel. */
void error_free(struct error *err);

/* True, and err freed, if err is of that kind; false, err kept, otherwise. */
bool error_catch(struct error *err, enum error_kind kind);

#endif
