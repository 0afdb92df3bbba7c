/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors as values; see error.h.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char nomem_message[] = "out of memory";
static char gone_message[] = "the process or thread has gone";
struct error error_sentinel_nomem = { ERROR_NOMEM, ENOMEM, nomem_message };
struct error error_sentinel_gone = { ERROR_GONE, ESRCH, gone_message };

static bool error_is_sentinel(const struct error *err)
{
	return err == error_nomem || err == error_gone;
}

static struct error *error_take(enum error_kind kind, int code, char *message)
{
	struct error *err;

	if (!message)
		return error_nomem;
	err = malloc(sizeof(*err));
	if (!err) {
		free(message);
		return error_nomem;
	}
	err->kind = kind;
	err->code = code;
	err->message = message;
	return err;
}

static __attribute__((format(printf, 1, 0))) char *
message_format(const char *format, va_list args)
{
	char *message;

	if (vasprintf(&message, format, args) < 0)
		return NULL;
	return message;
}

struct error *error_create(enum error_kind kind, const char *format, ...)
{
	va_list args;
	char *message;

	va_start(args, format);
	message = message_format(format, args);
	va_end(args);
	return error_take(kind, 0, message);
}

/* "first: second", freeing first. */
static char *message_join(char *first, const char *second)
{
	char *joined;

	if (!first)
		return NULL;
	if (asprintf(&joined, "%s: %s", first, second) < 0)
		joined = NULL;
	free(first);
	return joined;
}

struct error *error_os(int code, const char *format, ...)
{
	char description[128];
	va_list args;
	char *message;

	if (code == ESRCH)
		return error_gone;
	if (code == ENOMEM)
		return error_nomem;
	va_start(args, format);
	message = message_format(format, args);
	va_end(args);
	message = message_join(message, strerror_r(code, description,
						   sizeof(description)));
	return error_take(ERROR_OTHER, code, message);
}

struct error *error_wrap(struct error *err, const char *format, ...)
{
	va_list args;
	char *message;

	if (!err || error_is_sentinel(err))
		return err;
	va_start(args, format);
	message = message_format(format, args);
	va_end(args);
	message = message_join(message, err->message);
	if (!message) {
		error_free(err);
		return error_nomem;
	}
	free(err->message);
	err->message = message;
	return err;
}

const char *error_message(const struct error *err)
{
	return err ? err->message : "success";
}

void error_free(struct error *err)
{
	if (!err || error_is_sentinel(err))
		return;
	free(err->message);
	free(err);
}

bool error_catch(struct error *err, enum error_kind kind)
{
	if (!err || err->kind != kind)
		return false;
	error_free(err);
	return true;
}
