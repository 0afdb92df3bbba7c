/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pager for what is printed on a terminal: the command in $PAGER, or less. It
 * gets LESS=FRX unless LESS is set: a text that fits is printed as without it.
 */
#ifndef OUTPUT_PAGER_H
#define OUTPUT_PAGER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct pager {
	FILE *to; /* its standard input */
	bool color; /* does it show SGR sequences? */
	pid_t pid;
	void (*before[3])(int); /* what was done at the signals */
};

/*
 * False: standard output is no terminal, $PAGER is empty or cat, or it cannot be
 * started. While it runs, signals of the keyboard are the pager's, and writing to
 * one that was left is an error (EPIPE).
 */
bool pager_start(struct pager *pager);

/*
 * Close `to', and wait until the user has left. False: the shell found no such
 * command, so that nothing was shown.
 */
bool pager_end(struct pager *pager);

#endif
