/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the short tests share. Each is one program in the manner of the public
 * suites of tests for race detectors: 1 to 50 ms long, with one race, whose
 * accesses can meet. With -DTWIN it is free of races. truth.tab says which
 * functions and which variable race.
 */
#ifndef SHORT_H
#define SHORT_H

/* How many times as long as the other tests: long_*.c include one of them. */
#ifndef LONGER
#define LONGER 1
#endif

/* A function the compiler must call, knowing nothing of its body. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

/* Work between two accesses: N steps in registers, which X depends on. */
static NOINLINE unsigned work(unsigned x, unsigned n)
{
	__asm__ volatile("" : "+r"(x));
	while (n--)
		x = x * 1664525 + 1013904223;
	return x;
}

/* What the racy program leaves out, and what it does in its place. */
#ifdef TWIN
#define ONLY_TWIN(statement) statement
#define ONLY_RACY(statement)
#else
#define ONLY_TWIN(statement)
#define ONLY_RACY(statement) statement
#endif

#endif
