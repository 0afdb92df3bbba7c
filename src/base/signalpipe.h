/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals as a stream that a loop reads, and an end to the process where the
 * loop does not come to read them. A signalfd(2) would keep them from a process
 * that is busy or waits inside a library: the second SIGINT or SIGTERM ends such
 * a process at once, and so does the first in the end.
 *
 * Handlers need state that they can reach: there is one stream in a process.
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
	 * A signal that comes so soon after another is the same one: timeout(1)
	 * sends each twice, to its child and to their group.
	 */
	SIGNALPIPE_SAME_MS = 250,
	/* How long SIGINT and SIGTERM wait to be read, the first and others. */
	SIGNALPIPE_FIRST_MS = 10000,
	SIGNALPIPE_NEXT_MS = 200,
};

/*
 * From now on these come by the descriptor, which poll(2) tells of. The process
 * ends by SIGINT or SIGTERM if that is not read in time.
 */
struct error *signalpipe_open(const sigset_t *signals, int *ret_fd);
/* The next one; false: none has come. */
bool signalpipe_read(int fd, struct signal_news *ret);
/*
 * What the signals do is then as it was before. *ret_mask is the mask that was
 * before; it is not set.
 */
void signalpipe_close(int fd, sigset_t *ret_mask);

/* End this process by the signal, now. */
void signalpipe_end(int number);

#endif
