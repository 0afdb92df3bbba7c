/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What Helgrind and DRD say, in text and in XML alike: the sentences, and the
 * addresses of their frames.
 */
#ifndef FOREIGN_VALGRIND_H
#define FOREIGN_VALGRIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gather;
struct scan;

enum valgrind_tools { VALGRIND_HELGRIND = 1, VALGRIND_DRD = 2 };

/*
 * A sentence of a report, which begins one or continues it. tools: of those whose
 * reports are asked for. False: it is none that is known.
 */
bool valgrind_sentence(struct gather *gather, unsigned int tools,
		       const struct scan *text, size_t line);

/*
 * The offset in its file of an instruction that Valgrind names by its address, 0
 * if that cannot be told: on amd64, Valgrind 3 maps a position-independent program
 * at 0x108000, and its libraries from 0x4000000 on, each somewhere.
 */
uint64_t valgrind_offset(uint64_t address);

#endif
