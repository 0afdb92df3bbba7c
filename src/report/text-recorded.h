/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a hunt's recording knows of a race (report/recorded.h), as lines of text:
 *
 *	    held in the recording: mutex lock, taken at
 *	      #0  shard_add   cache.c:24
 *	...
 *	  block       of 48 bytes, allocated in the recording by thread 0 at
 *	      #0  make_shard  cache.c:14
 *	  history     of these bytes in the recording, by number of the access
 *	    12  thread 0    wrote           make_shard   cache.c:15  no known lock
 *	    90  thread 0.0  read and wrote  shard_add    cache.c:25  mutex lock; ...
 *	    95  thread 0.1  read and wrote  shard_evict  cache.c:31  no known lock
 */
#ifndef REPORT_TEXT_RECORDED_H
#define REPORT_TEXT_RECORDED_H

struct race;
struct race_side;
struct text;

/* Nothing where there was no recording. */
void text_recorded_side(struct text *text, const struct race *race,
			const struct race_side *side);
void text_recorded_write(struct text *text, const struct race *race);

#endif
