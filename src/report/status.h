/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live status line: one line at the bottom of a terminal, which each update
 * overwrites. Code that prints anything else there erases it first, which
 * base/log.h does itself; it appears again with the next update.
 */
#ifndef REPORT_STATUS_H
#define REPORT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct status_counts {
	uint64_t elapsed_ns;
	double stalls_per_s; /* samples with a stall */
	uint64_t sites_sampled;
	uint64_t sites_seen; /* known so far */
	double overhead_pct, budget_pct; /* 0: no budget */
	uint64_t races;
};

struct status {
	int fd;
	bool enabled; /* fd is a terminal that knows control sequences */
	bool shown;
};

/*
 * The line's text in at most `width' columns: what does not fit is left out,
 * the number of races and the time last. out is cut at size.
 */
void status_format(const struct status_counts *counts, size_t width, char *out,
		   size_t size);

/* On anything but a terminal the calls below do nothing. */
void status_init(struct status *status, int fd);
void status_show(struct status *status, const struct status_counts *counts);
/* "racewatch: " and a text of one's own, cut where the terminal ends. */
void status_show_text(struct status *status, const char *text);
void status_erase(struct status *status);

#endif
