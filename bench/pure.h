/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the sources of bench/pure share: its parts, each of which does one thing
 * N times over, and how they end when something is wrong.
 */
#ifndef BENCH_PURE_H
#define BENCH_PURE_H

#include <stdbool.h>
#include <stddef.h>

struct error;

enum { PURE_PATH_MAX = 4096, PURE_TEXT_MAX = 16384 };

void pure_require(bool fact, const char *what);
void pure_must(struct error *err);

/* The path of `name' below the folder that a variable of the environment has. */
const char *pure_path(const char *variable, const char *name,
		      char path[PURE_PATH_MAX]);

/* What a file of the corpus holds; returns how much. */
size_t pure_corpus(const char *name, void *ret, size_t room);

void pure_decode(unsigned long n);
void pure_capstone(unsigned long n);
void pure_trapped(unsigned long n);
void pure_address(unsigned long n);
void pure_draw(unsigned long n);
void pure_draw_first(unsigned long n);
void pure_table(unsigned long n);
void pure_learn(unsigned long n);
void pure_lengths(unsigned long n);
void pure_map(unsigned long n);
void pure_elf(unsigned long n);
void pure_state(unsigned long n);
void pure_parse(unsigned long n);
void pure_fingerprint(unsigned long n);
void pure_dedupe(unsigned long n);
void pure_json(unsigned long n);
void pure_text(unsigned long n);
void pure_merge(unsigned long n);

#endif
