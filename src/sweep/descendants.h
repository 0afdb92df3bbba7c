/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processes that descend from this one, which must be a subreaper
 * (PR_SET_CHILD_SUBREAPER): so none can leave the set, whatever it forks.
 */
#ifndef SWEEP_DESCENDANTS_H
#define SWEEP_DESCENDANTS_H

#include <stdint.h>
#include <sys/types.h>

struct error;
struct vec;

enum { DESCENDANTS_NAMES = 64 };

struct descendants {
	uint32_t count; /* that have not ended */
	uint32_t away; /* of them in another session than this process */
	char names[DESCENDANTS_NAMES]; /* of the first few, between blanks */
};

/* Who is there. */
struct descendants descendants_look(void);

/* Reap those that have ended, but not `except' (0: all). */
void descendants_reap(pid_t except);

/*
 * The children (pid_t) of this process. Before we fork any, these are children
 * from before exec, such as a shell's for `2> >(tee log)'.
 */
struct error *descendants_children(struct vec *ret);

/*
 * End them all, except the children `strangers' (NULL: none): send SIGTERM, and
 * after grace_ns SIGKILL, also to children that they create meanwhile. Gives up
 * after a few seconds on processes that SIGKILL does not end.
 */
void descendants_end(uint64_t grace_ns, const struct vec *strangers);

#endif
