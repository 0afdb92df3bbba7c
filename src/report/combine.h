/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two reports of the same race as one. What comes out depends on what goes in,
 * not on the order: combining is commutative and associative, so that reports
 * can be merged in any order and merged again.
 *
 *   counts, runs     are added (they stop at 2^64 - 1)
 *   hosts            of both
 *   times            the first and the last
 *   verdict          the worst, with its reason; merge_judge() judges it anew
 *   replay           the instances of both; of the two lists of changes one,
 *                    see race-replay.h
 *   status           new before unknown before known; gone only if both are
 *   values           the pairs of both, their counts added; of more than fit
 *                    those whose bytes come first; none of another size
 *   changed          the bits of both
 *   missing          of the sighting shown, where both leave a doubt (doubt.h);
 *                    else nothing
 *   all else         of one of the two, so that both stacks are of one moment:
 *                    the wider access, then the one with more lines known on
 *                    top of its stacks, then with the shorter stacks, then
 *                    by an order of the rest
 */
#ifndef REPORT_COMBINE_H
#define REPORT_COMBINE_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct race;
struct strbuf;

enum { COMBINE_KEY_SIZE = 41 };

/*
 * Two races are the same when these bytes are: the fingerprint by names, and
 * whether it is synchronization, and suppressed, as in a single run (dedupe.h);
 * of races of hunts also their places (places.h).
 * Where a race has no fingerprint yet, it gets its fingerprints first.
 */
struct error *race_key(struct race *race, uint8_t key[COMBINE_KEY_SIZE]);

/* Take over what other has; it is then empty. On error both are valid. */
struct error *race_combine(struct race *race, struct race *other);

/* The form that race_combine() gives a race, when nothing is combined. */
struct error *race_normalize(struct race *race);

/* Keep the name among the hosts, which are sorted; NULL is passed over. */
struct error *race_add_host(struct race *race, const char *name);

/*
 * Append bytes that order the races of a merged report: the worst verdict
 * first (of those that are unlikely last where replays had no effect), then what
 * is new, then what most runs saw, then most often; races that
 * differ differ in it.
 */
struct error *race_rank(struct race *race, struct strbuf *key);

/* About what the race takes in memory. */
size_t race_memory(const struct race *race);

#endif
