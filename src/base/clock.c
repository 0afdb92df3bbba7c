/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clocks and durations; see clock.h.
 */
#include "base/clock.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

static uint64_t clock_read(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

uint64_t clock_cpu_ns(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_process_cpu_ns(void)
{
	return clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t clock_wall_ns(void)
{
	return clock_read(CLOCK_REALTIME);
}

void clock_format_rfc3339(uint64_t wall_ns, char *out)
{
	time_t seconds = (time_t)(wall_ns / CLOCK_NS_PER_S);
	unsigned int us = (unsigned int)(wall_ns % CLOCK_NS_PER_S / 1000);
	char date[CLOCK_RFC3339_SIZE - 8];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, CLOCK_RFC3339_SIZE, "%.26s.%06uZ", date, us);
}

/* The fraction of a second from its point on, as ns; *end is behind it. */
static uint64_t parse_fraction(const char *text, const char **end)
{
	uint64_t ns = 0, weight = CLOCK_NS_PER_S / 10;

	for (text++; isdigit((unsigned char)*text); text++) {
		ns += (uint64_t)(*text - '0') * weight;
		weight /= 10;
	}
	*end = text;
	return ns;
}

/* "Z" or "+01:00", all that is left: seconds east. */
static bool parse_zone(const char *text, long *ret)
{
	int hours, minutes, length = 0;

	*ret = 0;
	if (strcmp(text, "Z") == 0)
		return true;
	if ((text[0] != '+' && text[0] != '-') ||
	    strspn(text + 1, "0123456789:") != 5 ||
	    sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &length) != 2 ||
	    length != 5 || text[6] || hours > 23 || minutes > 59)
		return false;
	*ret = (hours * 60L + minutes) * 60 * (text[0] == '-' ? -1 : 1);
	return true;
}

bool clock_parse_rfc3339(const char *text, uint64_t *ret_wall_ns)
{
	static const char form[] = "0000-00-00T00:00:00";
	uint64_t fraction = 0;
	struct tm tm = { 0 };
	long zone, seconds;

	for (size_t i = 0; form[i]; i++) {
		if (form[i] == '0' ? !isdigit((unsigned char)text[i])
				   : text[i] != form[i])
			return false;
	}
	if (!strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
		return false;
	text += strlen(form);
	if (*text == '.')
		fraction = parse_fraction(text, &text);
	if (!parse_zone(text, &zone))
		return false;
	seconds = (long)timegm(&tm) - zone;
	if (seconds < 0 || (uint64_t)seconds >= UINT64_MAX / CLOCK_NS_PER_S)
		return false;
	*ret_wall_ns = (uint64_t)seconds * CLOCK_NS_PER_S + fraction;
	return true;
}

void clock_format_elapsed(uint64_t ns, char *out)
{
	uint64_t s = ns / CLOCK_NS_PER_S;

	if (s < 60)
		snprintf(out, CLOCK_ELAPSED_SIZE, "%" PRIu64 ".%u s", s,
			 (unsigned int)(ns / (CLOCK_NS_PER_S / 10) % 10));
	else if (s < 3600)
		snprintf(out, CLOCK_ELAPSED_SIZE, "%" PRIu64 ":%02u", s / 60,
			 (unsigned int)(s % 60));
	else
		snprintf(out, CLOCK_ELAPSED_SIZE, "%" PRIu64 ":%02u:%02u",
			 s / 3600, (unsigned int)(s / 60 % 60),
			 (unsigned int)(s % 60));
}

struct clock_unit {
	const char *name;
	double ns;
};

static const struct clock_unit clock_units[] = {
	{ "", 1e9 },	 { "ns", 1 },	  { "us", 1e3 },
	{ "ms", 1e6 },	 { "s", 1e9 },	  { "m", 6e10 },
	{ "min", 6e10 }, { "h", 3.6e12 }, { "d", 8.64e13 },
};

struct error *clock_parse_duration(const char *text, uint64_t *ret_ns)
{
	char *end;
	double value;

	/* strtod would take "nan", "inf", hexadecimal and a sign */
	if (!isdigit((unsigned char)text[0]) || strpbrk(text, "xXpPeE"))
		goto bad;
	value = strtod(text, &end);
	for (size_t i = 0; i < sizeof(clock_units) / sizeof(clock_units[0]);
	     i++) {
		double ns = value * clock_units[i].ns;

		if (strcmp(end, clock_units[i].name) != 0)
			continue;
		if (ns > 9e18)
			goto bad;
		*ret_ns = (uint64_t)(ns + 0.5);
		return NULL;
	}
bad:
	return error_create(ERROR_USAGE,
			    "'%s' is not a time (such as 200us, 1.5ms, 10s)",
			    text);
}
