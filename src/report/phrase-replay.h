/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What replays of a race came to, in words, for every format that people read.
 * As in phrase.h, all append to `line'.
 */
#ifndef REPORT_PHRASE_REPLAY_H
#define REPORT_PHRASE_REPLAY_H

#include "base/strbuf.h"

struct race_replay;
struct race_replay_fault;
struct vec;

/*
 * "in 12 of 12 instances the order changed `used`: 100 (ab), 99 (a(b)a)",
 * "no effect in 40 of 40 instances (...)", "SIGSEGV at 0x0 in order ba in 3 of 5
 * instances". Nothing if there is no instance.
 */
void phrase_add_replay(struct strbuf *line, const struct race_replay *replay);

/* "not possible: system-call 4, rdtsc 1". Nothing if there is none. */
void phrase_add_replay_failures(struct strbuf *line,
				const struct race_replay *replay);

/* Both of these, with "; " between them. */
void phrase_add_replay_all(struct strbuf *line,
			   const struct race_replay *replay);

/*
 * "SIGSEGV at 0x0 in order ba", "SIGSEGV, for which there is a handler, at ...",
 * "SIGSEGV on a jump to what is no code at ..."
 */
void phrase_add_replay_fault(struct strbuf *line,
			     const struct race_replay_fault *fault);

#endif
