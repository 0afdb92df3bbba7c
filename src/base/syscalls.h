/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of the x86-64 system calls, and whether they read or write the caller's
 * memory, for conflicts in which the kernel made one of the accesses.
 */
#ifndef BASE_SYSCALLS_H
#define BASE_SYSCALLS_H

enum syscall_direction {
	SYSCALL_UNKNOWN, /* none, both, or not known here */
	SYSCALL_READS, /* only reads the caller's memory: write(2) */
	SYSCALL_WRITES, /* fills it: read(2) */
};

/* "read"; NULL for a number without a name here. */
const char *syscall_name(int number);

enum syscall_direction syscall_direction(int number);

#endif
