/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live status line; see status.h.
 */
#include "report/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/decimal.h"
#include "base/log.h"

enum { STATUS_FIELDS = 5, STATUS_FIELD = 64, STATUS_WIDTH_DEFAULT = 80 };

/* Join the fields of rank `rank' and lower; false if they do not fit. */
static bool join_fields(char fields[][STATUS_FIELD], int rank, size_t width,
			char *out, size_t size)
{
	/* what is left out first has the highest rank */
	static const int ranks[STATUS_FIELDS] = { 1, 4, 3, 2, 0 };
	size_t length = 0;

	out[0] = '\0';
	for (int i = 0; i < STATUS_FIELDS; i++) {
		int n;

		if (ranks[i] > rank)
			continue;
		n = snprintf(out + length, size - length, "%s%s",
			     length ? ", " : "", fields[i]);
		if (n < 0 || (size_t)n >= size - length)
			return false;
		length += (size_t)n;
	}
	return length <= width;
}

void status_format(const struct status_counts *counts, size_t width, char *out,
		   size_t size)
{
	char fields[STATUS_FIELDS][STATUS_FIELD];
	char elapsed[CLOCK_ELAPSED_SIZE];
	char budget[DECIMAL_SIZE];

	if (size == 0)
		return;
	clock_format_elapsed(counts->elapsed_ns, elapsed);
	decimal_format(counts->budget_pct, budget);
	snprintf(fields[0], STATUS_FIELD, "racewatch: %s", elapsed);
	snprintf(fields[1], STATUS_FIELD, "%.0f stalls/s",
		 counts->stalls_per_s);
	snprintf(fields[2], STATUS_FIELD, "%" PRIu64 " of %" PRIu64 " sites",
		 counts->sites_sampled, counts->sites_seen);
	if (counts->budget_pct > 0)
		snprintf(fields[3], STATUS_FIELD, "overhead %.1f of %s %%",
			 counts->overhead_pct, budget);
	else
		snprintf(fields[3], STATUS_FIELD, "overhead %.1f %%",
			 counts->overhead_pct);
	snprintf(fields[4], STATUS_FIELD, "%" PRIu64 " race%s", counts->races,
		 counts->races == 1 ? "" : "s");
	for (int rank = STATUS_FIELDS - 1; rank >= 0; rank--) {
		if (join_fields(fields, rank, width, out, size))
			return;
	}
	out[0] = '\0';
}

void status_init(struct status *status, int fd)
{
	const char *term = getenv("TERM");

	status->fd = fd;
	status->enabled = isatty(fd) && term && *term &&
			  strcmp(term, "dumb") != 0;
	status->shown = false;
}

static size_t terminal_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return STATUS_WIDTH_DEFAULT;
	return size.ws_col;
}

/* One write(2), so that no other output comes between; it may fail. */
static void status_write(const struct status *status, const char *text)
{
	if (write(status->fd, text, strlen(text)) < 0)
		return;
}

static void show_line(struct status *status, const char *text)
{
	char line[STATUS_FIELDS * STATUS_FIELD + 8];

	snprintf(line, sizeof(line), "\r%.*s\033[K",
		 (int)(terminal_width(status->fd) - 1), text);
	status_write(status, line);
	status->shown = true;
	log_stands_on_line(status->fd == STDERR_FILENO);
}

void status_show(struct status *status, const struct status_counts *counts)
{
	char text[STATUS_FIELDS * STATUS_FIELD];

	if (!status->enabled)
		return;
	/* a character in the last column would move to the next line */
	status_format(counts, terminal_width(status->fd) - 1, text,
		      sizeof(text));
	show_line(status, text);
}

void status_show_text(struct status *status, const char *text)
{
	char line[STATUS_FIELDS * STATUS_FIELD];

	if (!status->enabled)
		return;
	snprintf(line, sizeof(line), "racewatch: %s", text);
	show_line(status, line);
}

void status_erase(struct status *status)
{
	if (!status->shown)
		return;
	status_write(status, "\r\033[K");
	status->shown = false;
	log_stands_on_line(false);
}
