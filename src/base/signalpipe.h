/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals as a stream that an event loop reads. If the loop does not read them,
 * they end the process, which signalfd(2) would not do: the second SIGINT or
 * SIGTERM ends a process that is busy or waits inside a library, and so does
 * the first after a longer time. There is one stream in a process, since signal
 * handlers need global state.
 */
#ifndef BASE_SIGNALPIPE_H
#define BASE_SIGNALPIPE_H

#include <signal.h>
#include <stdbool.h>

struct error;

struct signal_news {
	int number;
	int code; /* si_code of sigaction(2) */
};

/* Both in milliseconds. */
enum {
	/*
	 * Two signals within this time count as one: timeout(1) sends each
	 * twice, to its child and to their process group.
	 */
	SIGNALPIPE_SAME_MS = 250,
	/* How long SIGINT and SIGTERM wait to be read, the first and others. */
	SIGNALPIPE_FIRST_MS = 10000,
	SIGNALPIPE_NEXT_MS = 200,
};

/*
 * From now on these signals are read from the descriptor, for which poll(2)
 * works. SIGINT or SIGTERM ends the process if it is not read in time.
 */
struct error *signalpipe_open(const sigset_t *signals, int *ret_fd);
/* The next one; false: none has come. */
bool signalpipe_read(int fd, struct signal_news *ret);
/*
 * Restore the dispositions of the signals. *ret_mask is the signal mask from
 * before; it is not set.
 */
void signalpipe_close(int fd, sigset_t *ret_mask);

/* End this process by the signal, now. */
void signalpipe_end(int number);

#endif
