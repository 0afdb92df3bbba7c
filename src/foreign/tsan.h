/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ThreadSanitizer's text: of gcc, clang and Rust, and of Go's race detector.
 * Lines that are neither are the program's output, and passed over.
 */
#ifndef FOREIGN_TSAN_H
#define FOREIGN_TSAN_H

#include <stddef.h>

struct foreign_report;
struct gather;
struct scan;

struct tsan {
	struct gather *gather;
	/* Go: the function whose file comes in the next line; "": none */
	char function[1024];
};

/* One line, without its end; `number' counts from 1. */
void tsan_line(struct tsan *tsan, struct scan line, size_t number);

#endif
