/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which variants of its memory and string functions glibc chooses. It has several
 * of each, for what processors can do, and a recorder shows the program another
 * processor than ours: a side in memcpy(3) would be an instruction that never runs
 * without the recorder. So the recorded run and those that follow it are told to
 * do without everything that not all x86-64 processors have: then all of them run
 * the same variants, on every machine. That is what the tunable glibc.cpu.hwcaps
 * does, in the environment variable GLIBC_TUNABLES (The GNU C Library Reference
 * Manual, "Hardware Capability Tunables"). Functions of libm are chosen in the same
 * way. The musl C library has one variant of each.
 */
#ifndef HUNT_VARIANTS_H
#define HUNT_VARIANTS_H

struct error;

/*
 * The value for GLIBC_TUNABLES; given: its value so far, which is kept but for what
 * ours says otherwise; NULL: none.
 * For the caller to free; NULL: out of memory.
 */
char *variants_tunables(const char *given);

/* Set it in our environment, for the commands that are started from now on. */
struct error *variants_choose(void);

#endif
