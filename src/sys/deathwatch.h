/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Being woken by the death of a process, as early as the kernel tells of it.
 *
 * The watched process owns a word in shared memory through its robust list
 * (set_robust_list(2)). The kernel marks the word and wakes the watcher where
 * the dying process gives its memory up: before its files are closed, and well
 * before its tracees are let go. It must be single-threaded, and use no robust
 * mutex besides.
 *
 * The watcher is a child of it, forked after deathwatch_own(), so that a
 * signal at the parent's death (prctl(2), PR_SET_PDEATHSIG) stands behind the
 * word.
 */
#ifndef SYS_DEATHWATCH_H
#define SYS_DEATHWATCH_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In memory that both share, at the same address; zeroed. */
struct deathwatch {
	/* the kernel follows these in the dying process */
	struct robust_list_head head;
	struct robust_list node;
	pid_t pid; /* of the watched */
	uint32_t word; /* its pid; 0: it needs no watcher any more */
	uint32_t news; /* counted up to wake the watcher */
};

struct error;

/* The caller's death is to be told. */
struct error *deathwatch_own(struct deathwatch *watch);

/* It is no longer; the watcher is woken. */
void deathwatch_disown(struct deathwatch *watch);

/* Wake the watcher for news. */
void deathwatch_wake(struct deathwatch *watch);

/* In the watcher: have the signal sent. Other signals may all be blocked. */
struct error *deathwatch_prepare(void);

/*
 * In the watcher: sleep until the watched one has died or disowned the word,
 * there is news other than *seen, or it is until_ns (clock_now_ns()). False for
 * the first two. *seen is brought up to date. Before Linux 5.16 news does not
 * wake.
 */
bool deathwatch_wait(struct deathwatch *watch, uint32_t *seen,
		     uint64_t until_ns);

/* In the watcher: has it died? Else the word was disowned. */
bool deathwatch_died(const struct deathwatch *watch);

#endif
