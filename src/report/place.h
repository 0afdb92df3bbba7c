/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An instruction in a file, as records name it. */
#ifndef REPORT_PLACE_H
#define REPORT_PLACE_H

#include <stdint.h>

struct fields;

/* The strings are its own. */
struct hunt_place {
	char *module; /* path */
	char *build_id; /* hexadecimal digits; NULL: it has none */
	uint64_t offset; /* address in the file, as in a race's frames */
};

extern const struct fields hunt_place_fields;

#endif
