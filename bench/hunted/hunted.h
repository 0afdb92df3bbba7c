/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the programs of bench/hunted/run share. Each has one race whose two accesses
 * never overlap by themselves: time, luck or a wrong synchronization puts them in
 * order. With -DTWIN the program is correct. Lines that race are marked RACE and a
 * letter: those with the same letter race with each other or with themselves.
 */
#ifndef HUNTED_H
#define HUNTED_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What the racy program leaves out, and what it does in its place. */
#ifdef TWIN
#define ONLY_TWIN(statement) statement
#define ONLY_RACY(statement)
#else
#define ONLY_TWIN(statement)
#define ONLY_RACY(statement) statement
#endif

static inline void pause_ms(long ms)
{
	const struct timespec time = { 0, ms * 1000000 };

	nanosleep(&time, NULL);
}

/* N steps in registers. */
static inline unsigned long compute(unsigned long x, unsigned long n)
{
	__asm__ volatile("" : "+r"(x));
	while (n--)
		x = x * 1664525 + 1013904223;
	return x;
}

static inline pthread_t start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, arg) != 0)
		abort();
	return thread;
}

/* Two threads, joined. */
static inline void both(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t first = start(one, NULL), second = start(other, NULL);

	pthread_join(first, NULL);
	pthread_join(second, NULL);
}

#endif
