/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of Helgrind and DRD: lines that begin with "==PID== ", of one process
 * or several, between those of the program.
 */
#ifndef FOREIGN_VALGRIND_TEXT_H
#define FOREIGN_VALGRIND_TEXT_H

#include <stddef.h>

#include "base/map.h"
#include "base/vec.h"

struct error;
struct foreign_report;
struct scan;

struct valgrind_text {
	const char *name; /* of the file */
	unsigned int tools; /* bits of enum valgrind_tools */
	struct foreign_report *report;
	struct map *keys;
	struct vec processes; /* of struct valgrind_process * */
};

void valgrind_text_init(struct valgrind_text *text, const char *name,
			unsigned int tools, struct foreign_report *report,
			struct map *keys);
void valgrind_text_deinit(struct valgrind_text *text);

/* One line, without its end; `number' counts from 1. ERROR_NOMEM. */
struct error *valgrind_text_line(struct valgrind_text *text, struct scan line,
				 size_t number);

/* After the last line. */
struct error *valgrind_text_finish(struct valgrind_text *text);

#endif
