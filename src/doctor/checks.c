/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lists of checks; see checks.h. What is looked at is in checks-machine.c and
 * checks-process.c.
 */
#include "doctor/checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "doctor/checks-list.h"
#include "sys/identity.h"

static void check_deinit(struct check *check)
{
	free(check->finding);
	free(check->remedy);
}

void checks_init(struct checks *checks)
{
	checks->list = (struct vec)VEC_INIT(struct check);
}

void checks_deinit(struct checks *checks)
{
	for (size_t i = 0; i < checks->list.count; i++)
		check_deinit(vec_at(&checks->list, i));
	vec_deinit(&checks->list);
}

const char *check_verdict_name(enum check_verdict verdict)
{
	static const char *const names[] = {
		[CHECK_OK] = "ok",
		[CHECK_NOTE] = "note",
		[CHECK_WARNING] = "warning",
		[CHECK_FAILED] = "failed",
	};

	return names[verdict];
}

enum check_verdict checks_worst(const struct checks *checks)
{
	enum check_verdict worst = CHECK_OK;

	for (size_t i = 0; i < checks->list.count; i++) {
		const struct check *check = vec_at(&checks->list, i);

		if (check->verdict > worst)
			worst = check->verdict;
	}
	return worst;
}

__attribute__((format(printf, 1, 0))) static char *
check_format(const char *format, va_list ap)
{
	char *text;

	return vasprintf(&text, format, ap) < 0 ? NULL : text;
}

void check_find(struct check *check, enum check_verdict verdict,
		const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	free(check->finding);
	check->verdict = verdict;
	check->finding = check_format(format, ap);
	va_end(ap);
}

void check_advise(struct check *check, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	free(check->remedy);
	check->remedy = check_format(format, ap);
	va_end(ap);
}

bool check_capable(const struct identity *identity, int capability)
{
	return identity->capabilities >> capability & 1;
}

struct error *checks_run(const struct check_entry *table, size_t count,
			 struct check_context *context, struct checks *checks)
{
	for (size_t i = 0; i < count && !context->over; i++) {
		struct check check = { .name = table[i].name };

		if (table[i].traces && context->untraceable)
			continue;
		table[i].look(context, &check);
		if (!check.finding)
			continue;
		if (!vec_push(&checks->list, &check)) {
			check_deinit(&check);
			return error_nomem;
		}
	}
	return NULL;
}

struct error *checks_refuse(const struct check_entry *table, size_t count,
			    struct check_context *context, const char *who)
{
	for (size_t i = 0; i < count && !context->over; i++) {
		struct check check = { .name = table[i].name };
		struct error *err = NULL;

		if (!table[i].refuses)
			continue;
		table[i].look(context, &check);
		if (check.finding && check.verdict == CHECK_FAILED)
			err = error_create(ERROR_REFUSED, "%s%s%s%s", who,
					   check.finding,
					   check.remedy ? "; " : "",
					   check.remedy ? check.remedy : "");
		check_deinit(&check);
		if (err)
			return err;
	}
	return NULL;
}
