/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of parts of C++ and Rust library types, as one would write them: what the
 * type's own code has inside is left out, or said by the function that tells it.
 * Private to src/image.
 */
#ifndef IMAGE_PLAINNAME_H
#define IMAGE_PLAINNAME_H

/*
 * "row._M_impl._M_start[3]" becomes "row[3]", "row._M_impl._M_finish" "row.end()".
 * The name only becomes shorter.
 */
void plain_name(char *name);

#endif
