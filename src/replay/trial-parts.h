/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions that are tried in the copy before the schedules are run: does a
 * thread get from there to where it was captured? Private to
 * src/replay/instance*.c and trial*.c.
 */
#ifndef REPLAY_TRIAL_PARTS_H
#define REPLAY_TRIAL_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct instance;
struct processor;
struct replay_context;
struct replay_outcome;

/*
 * The captured memory of the thread's process: change bytes of it. False: they are
 * not there.
 */
bool trial_set_memory(struct processor *processor, int thread, uint64_t address,
		      const void *bytes, uint32_t size, struct error **ret_err);

/*
 * Run `count' instructions of one thread, from these registers and the captured
 * memory, which stays as it is.
 */
struct error *trial_run(struct processor *processor, int thread,
			const struct replay_context *from, unsigned int count,
			struct replay_outcome *ret);

/* General registers, what arithmetic does to flags, and vectors. */
bool trial_same_registers(const struct replay_context *a,
			  const struct replay_context *b);

/*
 * trial-redo.c: a thread that has made its access: put it, and the memory, back
 * before it. *ret: it could be.
 */
struct error *trial_redo(struct instance *instance, int thread, bool *ret);

/*
 * trial-rewind.c: a thread that is about to store: if the value was made of one
 * that it loaded from there, by the instructions right before, put it back before
 * that load. *ret: it was.
 */
struct error *trial_rewind(struct instance *instance, int thread, bool *ret);

#endif
