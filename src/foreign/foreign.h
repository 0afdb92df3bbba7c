/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports of other race detectors, as races that racewatch has not seen itself
 * (EVIDENCE_REPORTED): candidates. Read are
 *
 *	ThreadSanitizer's text, of gcc, clang and Go;
 *	Helgrind's and DRD's text;
 *	their XML (Valgrind's --xml=yes, protocol version 4).
 *
 * What a program prints in between is passed over. Of a candidate is known what
 * the report says: DRD has no stack of the second access, and Helgrind not always.
 * Functions get the form that racewatch gives them, without parameters, so that a
 * candidate and a race on the same lines have the same fingerprint by names.
 */
#ifndef FOREIGN_FOREIGN_H
#define FOREIGN_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct error;
struct strbuf;

enum foreign_tool {
	FOREIGN_AUTO, /* by what is in the file */
	FOREIGN_TSAN,
	FOREIGN_HELGRIND,
	FOREIGN_DRD,
	FOREIGN_XML, /* of Helgrind or DRD */
};

struct foreign_report {
	struct vec races; /* of struct race *, owned; numbered from 1 */
	uint64_t malformed; /* reports left out, each told (base/log) */
	uint64_t others; /* reports of what is no race, such as leaked locks */
};

/* Larger files are refused. */
enum { FOREIGN_SIZE_MAX = 512 << 20 };

/*
 * Read the file; "-" is standard input. A report that is malformed is left out,
 * and so is one that the end of the file cuts short: each is told with the line
 * where it begins. Reports of the same two places and variable become one, which
 * is counted. Errors name the file, and the line where one is at fault:
 * ERROR_FORMAT for XML that is none, or a file without a report that is known.
 */
struct error *foreign_read(enum foreign_tool tool, const char *path,
			   struct foreign_report *ret);

/* What messages call the file. */
const char *foreign_name(const char *path);

/* The same of bytes in memory; `name' is for messages. */
struct error *foreign_parse(enum foreign_tool tool, const char *name,
			    const char *text, size_t size,
			    struct foreign_report *ret);

/* One that is all zero is fine. */
void foreign_report_deinit(struct foreign_report *report);

/* FOREIGN_AUTO: it is none of theirs. */
enum foreign_tool foreign_detect(const char *text, size_t size);

/* "Expat 2.5.0" */
void foreign_add_version(struct strbuf *out);

#endif
