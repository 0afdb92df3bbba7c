/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far back what was executed would still be there, if no more than the last
 * bytes of each thread were kept while it runs (ATDetector, MICRO 2011, section
 * 4.3). A trace has all of it; the window is a limit on what is looked at.
 *
 * Bytes are those of the chunks (hunt/trace-stream.h), as a recorder would keep
 * them. Within a chunk they are taken to be shared evenly by its steps.
 */
#ifndef HUNT_TRANSFER_WINDOW_H
#define HUNT_TRANSFER_WINDOW_H

#include <stdint.h>

struct error;
struct executed;

/*
 * *ret: the first step that the window of this thread has of what was executed
 * before step `now'; 0: all. bytes: of it; 0 is no limit. Errors are those of
 * unpacking.
 */
struct error *transfer_window_of(struct executed *executed, uint32_t thread,
				 uint64_t bytes, uint64_t now, uint64_t *ret);

/*
 * *ret: the first step from which on the window of each thread has all that was
 * executed before step `now'; 0: no thread has executed more than the window.
 * bytes: of each thread.
 */
struct error *transfer_window_since(struct executed *executed, uint64_t bytes,
				    uint64_t now, uint64_t *ret);

#endif
