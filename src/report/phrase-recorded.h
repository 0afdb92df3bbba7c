/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a hunt's recording knows of a race (report/recorded.h) in words, for every
 * format that people read. As in phrase.h, foreign text comes out visible.
 */
#ifndef REPORT_PHRASE_RECORDED_H
#define REPORT_PHRASE_RECORDED_H

struct race_side;
struct recorded;
struct recorded_access;
struct recorded_block;
struct recorded_lock;
struct strbuf;

/* "mutex shards[3].lock", "rwlock at 0x4c0c0 (for reading)" */
void phrase_add_lock(struct strbuf *line, const struct recorded_lock *lock);
/* All of its locks, separated by commas; or "no known lock", or "locks unknown" */
void phrase_add_locks(struct strbuf *line,
		      const struct recorded_access *access);

/*
 * The locks of a side of a race that has a recording; "unknown, as it does not
 * show this access"; "no lock that the recorder knows"; "locks unknown, as they
 * were not recorded".
 */
void phrase_add_held(struct strbuf *line, const struct race_side *side);

/*
 * "history of these bytes in the recording, by number of the access", from its
 * second word on; where it is not known, that the order of threads is not.
 */
void phrase_add_history(struct strbuf *line, const struct recorded *recorded);

/* "of 48 bytes, allocated in the recording by thread 0"; its size is not 0 */
void phrase_add_block(struct strbuf *line, const struct recorded_block *block);

/* "thread 0.1"; "wrote, atomic" */
void phrase_add_recorded_thread(struct strbuf *line,
				const struct recorded_access *access);
void phrase_add_recorded_verb(struct strbuf *line,
			      const struct recorded_access *access);

/* "3 times up to 4 000; stalled here"; nothing of one that came once */
void phrase_add_recorded_rest(struct strbuf *line,
			      const struct recorded_access *access);

#endif
