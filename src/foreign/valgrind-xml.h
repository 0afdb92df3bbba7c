/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The XML of Helgrind and DRD (docs/internals/xml-output-protocol4.txt of
 * Valgrind).
 */
#ifndef FOREIGN_VALGRIND_XML_H
#define FOREIGN_VALGRIND_XML_H

#include <stddef.h>

struct error;
struct foreign_report;
struct map;

/*
 * ERROR_FORMAT, with the line: it is no XML, or none of Valgrind's. A document that
 * ends early is no error: what it has counts, and that is told.
 */
struct error *valgrind_xml_parse(const char *name, const char *text,
				 size_t size, struct foreign_report *report,
				 struct map *keys);

#endif
