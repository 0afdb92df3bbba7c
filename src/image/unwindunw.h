/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unwinding by libunwind, from .eh_frame of the modules' files and the bytes of
 * the snapshot. Private to src/image.
 *
 * What it does not do, libdwfl does: .debug_frame (the function of libunwind
 * that reads it opens files by itself, with other rights than image.h's, and
 * Debian's library does not export it), and code without unwind information.
 */
#ifndef IMAGE_UNWINDUNW_H
#define IMAGE_UNWINDUNW_H

struct error;
struct strbuf;
struct unwind_walk;

/* Fill walk from its image, input, frames and max. */
struct error *unwind_by_unw(struct unwind_walk *walk);

/* "libunwind 1.6.2", which racewatch was built with */
void unwindunw_add_version(struct strbuf *out);

#endif
