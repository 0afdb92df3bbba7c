/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time: nanoseconds of CLOCK_MONOTONIC for measurements, RFC 3339 for reports.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_NS_PER_S UINT64_C(1000000000)
#define CLOCK_NS_PER_MS UINT64_C(1000000)
#define CLOCK_NS_PER_US UINT64_C(1000)

struct error;

/* Microseconds, rounded. */
static inline uint64_t clock_round_us(uint64_t ns)
{
	return ns / CLOCK_NS_PER_US +
	       (ns % CLOCK_NS_PER_US >= CLOCK_NS_PER_US / 2);
}

uint64_t clock_now_ns(void);

/*
 * The last multiple of `step' that is not later: what is done at such times, by
 * whatever process, is done at the same time. The step is a multiple of
 * CLOCK_BEAT_NS, which does not divide a second: a look at a program that comes
 * once a second is not to see the same part of each of its seconds.
 */
enum { CLOCK_BEAT_NS = 97 * 1000 * 1000 };

static inline uint64_t clock_align(uint64_t ns, uint64_t step)
{
	return ns - ns % step;
}

/* The CPU time of the calling thread. */
uint64_t clock_cpu_ns(void);
/* That of the process. */
uint64_t clock_process_cpu_ns(void);

/* Wall-clock nanoseconds since 1970-01-01T00:00:00Z. */
uint64_t clock_wall_ns(void);

enum { CLOCK_RFC3339_SIZE = 40 };

/* "2026-01-31T12:34:56.789012Z"; out has CLOCK_RFC3339_SIZE bytes. */
void clock_format_rfc3339(uint64_t wall_ns, char *out);

/*
 * The inverse. The text may have any fraction and offset ("+01:00"). False if
 * it is no such time, or a time before 1970 or after 2554.
 */
bool clock_parse_rfc3339(const char *text, uint64_t *ret_wall_ns);

enum { CLOCK_ELAPSED_SIZE = 32 };

/*
 * "9.8 s", "1:20", "2:01:20": rounded down, so that less than a minute is never
 * "60.0 s". out has CLOCK_ELAPSED_SIZE bytes.
 */
void clock_format_elapsed(uint64_t ns, char *out);

/*
 * Parse a duration: a decimal number, possibly with a fraction, and a unit (ns,
 * us, ms, s, m or min, h, d); no unit means seconds, as in timeout(1). Errors are
 * ERROR_USAGE.
 */
struct error *clock_parse_duration(const char *text, uint64_t *ret_ns);

#endif
