/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls: the memory that they move data to and from, and those that
 * Valgrind cannot run as the kernel does.
 */
#ifndef RECORDER_VALGRIND_TRANSFERS_H
#define RECORDER_VALGRIND_TRANSFERS_H

#include <stdbool.h>
#include <stdint.h>

struct recorder;
struct thread;

/* The system call that a thread is in. */
struct transfer {
	int number; /* -1: none that moves data */
	int fd; /* -1: none */
};

/* A thread enters a system call; count: how many arguments are known. */
struct transfer transfer_begin(struct recorder *recorder, uint32_t number,
			       const unsigned long *arguments, uint32_t count);

/*
 * The kernel accesses memory for the thread, whose next instruction is at ip;
 * writes: it has written there.
 */
void transfer_access(struct recorder *recorder, struct thread *thread,
		     const struct transfer *transfer, uint64_t ip,
		     uint64_t address, uint64_t size, bool writes);

#endif
