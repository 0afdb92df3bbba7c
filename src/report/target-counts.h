/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many sides of a hunt have which outcome (report/target-record.h). */
#ifndef REPORT_TARGET_COUNTS_H
#define REPORT_TARGET_COUNTS_H

#include <stdint.h>

#include "report/target-record.h"

struct run_summary;
struct strbuf;

struct target_counts {
	uint64_t results[TARGET_RESULTS]; /* by enum target_result */
	uint64_t sides;
};

void target_counts_add(struct target_counts *counts,
		       const struct target_record *record);

/* "200 sides: 3 provoked, 190 ordered, 7 not tried to the end" */
void target_counts_say(struct strbuf *line, const struct target_counts *counts);

/* The same of a whole hunt: "...; recorded by valgrind" */
void target_counts_say_hunt(struct strbuf *line,
			    const struct target_counts *counts,
			    const struct run_summary *summary);

/* "provoked", "not reached again" */
const char *target_counts_word(unsigned int result);

#endif
