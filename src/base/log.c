/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages and debug output; see log.h.
 */
#include "base/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static unsigned int log_mask;
static bool log_wipes;

static const char *const log_names[] = {
	"image", "sys", "target", "watch", "detect", "report",
};

enum { LOG_DOMAINS = sizeof(log_names) / sizeof(log_names[0]) };

static bool log_enable_one(const char *name, size_t length)
{
	if (length == strlen("all") && strncmp(name, "all", length) == 0) {
		log_mask = ~0u;
		return true;
	}
	for (unsigned int i = 0; i < LOG_DOMAINS; i++) {
		if (strlen(log_names[i]) == length &&
		    strncmp(log_names[i], name, length) == 0) {
			log_mask |= 1u << i;
			return true;
		}
	}
	return false;
}

bool log_enable(const char *domains)
{
	while (*domains) {
		size_t length = strcspn(domains, ",");

		if (!log_enable_one(domains, length))
			return false;
		domains += length + (domains[length] == ',');
	}
	return true;
}

bool log_enabled(enum log_domain domain)
{
	return log_mask & domain;
}

static __attribute__((format(printf, 2, 0))) void
log_write(const char *prefix, const char *format, va_list args)
{
	char line[1024];
	int start = snprintf(line, sizeof(line), "%s%s",
			     log_wipes ? "\r\033[K" : "", prefix);
	int n = vsnprintf(line + start, sizeof(line) - (size_t)start - 1,
			  format, args);
	size_t length;

	if (n < 0)
		return;
	length = strlen(line);
	line[length++] = '\n';
	log_wipes = false;
	if (write(STDERR_FILENO, line, length) < 0)
		return;
}

void log_stands_on_line(bool stands)
{
	log_wipes = stands;
}

void log_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_write("racewatch: note: ", format, args);
	va_end(args);
}

void log_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_write("racewatch: warning: ", format, args);
	va_end(args);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_write("racewatch: error: ", format, args);
	va_end(args);
}

static const char *log_domain_name(enum log_domain domain)
{
	for (unsigned int i = 0; i < LOG_DOMAINS; i++) {
		if (domain == (enum log_domain)(1u << i))
			return log_names[i];
	}
	return "?";
}

void log_debug(enum log_domain domain, const char *format, ...)
{
	char prefix[64];
	va_list args;
	uint64_t now;

	if (!log_enabled(domain))
		return;
	now = clock_now_ns();
	snprintf(prefix, sizeof(prefix),
		 "racewatch[%s] %" PRIu64 ".%06u: ", log_domain_name(domain),
		 now / CLOCK_NS_PER_S,
		 (unsigned int)(now % CLOCK_NS_PER_S / 1000));
	va_start(args, format);
	log_write(prefix, format, args);
	va_end(args);
}
