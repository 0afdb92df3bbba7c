/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unwinding by libdwfl, which also knows .debug_frame, and follows frame
 * pointers where there is no unwind information. Private to src/image.
 */
#ifndef IMAGE_UNWINDDWFL_H
#define IMAGE_UNWINDDWFL_H

struct error;
struct strbuf;
struct unwind_walk;

/* Fill walk from its image, input, frames and max. */
struct error *unwind_by_dwfl(struct unwind_walk *walk);

/* "elfutils 0.188" */
void unwinddwfl_add_version(struct strbuf *out);

#endif
