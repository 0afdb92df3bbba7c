/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Split units: compilation units whose debug information is in a .dwo file.
 * libdw opens that file by itself when it first reads such a unit, and not
 * again. So this module makes libdw read each unit first, and lets it open only
 * a file that base/opener.h has opened and found to be regular and not served
 * by a process (FUSE). Private to src/image.
 */
#ifndef IMAGE_SPLITUNIT_H
#define IMAGE_SPLITUNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

struct file_access;
struct rights;

/* Where units come from. */
struct split_home {
	struct file_access *access; /* NULL: base/opener.h */
	const char *module_path;
	const char *debug_path; /* of its debug file; NULL: it has none */
};

/*
 * Link a skeleton unit with its split unit: *ret is that, or all zero when it is
 * not there. From then on libdw opens nothing for the unit.
 */
void split_unit_find(const struct split_home *home, Dwarf_Die *skeleton,
		     Dwarf_Die *ret);

/* From now on libdw opens nothing for any unit of that file. */
void split_units_forbid(Dwarf *dwarf);

/*
 * Make libdw open the file, with these rights; abandon it if it takes longer
 * than limit_ns. For split_unit_find(), and tests.
 */
void split_unit_link(Dwarf_Die *skeleton, const struct rights *rights,
		     uint64_t limit_ns, Dwarf_Die *ret);

/*
 * Between these two calls libdw cannot open a file: if no descriptor may be
 * allocated, open(2) fails before it reads the path. *ret is for the second
 * call.
 */
void split_units_bar(struct rlimit *ret);
void split_units_allow(const struct rlimit *before);

/* DW_AT_dwo_name, or NULL. */
const char *split_unit_name(Dwarf_Die *skeleton);

#endif
