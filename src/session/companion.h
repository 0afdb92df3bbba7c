/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The client of a program that does not end by itself, as a server does
 * (--until-exit-of): started when the program runs, it ends the run when it ends.
 * A child watches over both, so that this process need not, and so that both end
 * with it, even when it is killed. It needs pidfd_open(2): Linux 5.3.
 */
#ifndef SESSION_COMPANION_H
#define SESSION_COMPANION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

struct companion_config {
	const char *command; /* for `sh -c' */
	bool silent; /* it has no standard streams but /dev/null */
	/* from SIGTERM to SIGKILL for the program; 0: COMPANION_GRACE_MS */
	uint64_t grace_ms;
	/*
	 * What a client has whose program has ended, and then again from SIGTERM
	 * to SIGKILL; 0: COMPANION_CLIENT_MS
	 */
	uint64_t client_ms;
};

enum { COMPANION_GRACE_MS = 30000, COMPANION_CLIENT_MS = 2000 };

/* One that is all zero is none. */
struct companion {
	pid_t pid; /* the child that watches */
	int fd; /* it is asked, and answers */
	bool decided; /* by companion_end(): the client's status is the run's */
};

/*
 * Start the client of a running program, which need not be a child of this
 * process, with its id in RACEWATCH_PID. The client's standard input is
 * /dev/null. Where the program has ended already, none is started. End with
 * companion_end().
 */
struct error *companion_start(const struct companion_config *config,
			      pid_t program, struct companion *ret);

/*
 * When the program has ended, whose status `status' is, as of a shell: the client
 * is gone after this call. A program that has not ended is ended, too. What is to
 * be said of how they ended is told to note; NULL: another reason for the end is
 * known. The status of the run: that of the client, where this ended by itself and
 * the program as well, with 0, or by the signal that it was sent; else `status'. An
 * all-zero companion has that status, too.
 */
int companion_end(struct companion *companion, int status,
		  void (*note)(void *context, const char *text), void *context);

#endif
