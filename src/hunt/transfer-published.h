/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stores of addresses in memory that other threads read. A hand-over orders an
 * access of its sender only if the receiver cannot have the address from elsewhere:
 * if the sender had stored it before its access, where another thread looks, that
 * one may have it from there in another run.
 *
 * Limits: the word in which the sender has received the address is not looked at where
 * it was stored by another thread, nor are others' vectors; an address of these may be
 * taken from there all the same.
 *
 * What a thread had stored before it gave the object away, and what is there still when
 * it has it back, counts though nobody reads it in this run: a link of an element that
 * was taken out of a list, a slot of a ring. In another run somebody may read it before
 * it is overwritten. That hand-overs put all accesses of such a word in order is not
 * enough. It says that two of them never are at the same time, not which is first: an
 * element that is free again may be taken by who only loads the link.
 */
#ifndef HUNT_TRANSFER_PUBLISHED_H
#define HUNT_TRANSFER_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct executed;
struct recording;
struct transfer_published;
struct translated;
struct translated_access;
struct unpacked_step;
struct vec;

/*
 * With more of them, or with more in question whose values are not known, any may
 * be what is asked for.
 */
enum {
	TRANSFER_PUBLISHED_MAX = 1 << 20,
	TRANSFER_PUBLISHED_UNKNOWN = 1 << 14,
	/* writes to words that are looked at for one question; then any may be */
	TRANSFER_PUBLISHED_WRITES = 1 << 12,
};

/*
 * Of the heap blocks and the other bytes that the cells (uint32_t, places in the
 * recording's) are of.
 */
struct error *transfer_published_create(const struct recording *recording,
					const struct vec *cells,
					struct transfer_published **ret);
/* NULL is fine. */
void transfer_published_destroy(struct transfer_published *published);

/* May one of the superblock's instructions store an address there? */
bool transfer_published_has(const struct transfer_published *published,
			    const struct translated *translated);

/*
 * The accesses of a step of the thread. Those of 8 bytes or more whose value the
 * recorder does not know, as of vector registers, count as of any address.
 */
struct error *transfer_published_take(struct transfer_published *published,
				      uint32_t thread,
				      const struct unpacked_step *step,
				      const struct translated_access *accesses,
				      size_t count);

/* All steps have been taken. */
void transfer_published_sort(struct transfer_published *published);

struct transfer_published_question {
	uint32_t thread;
	uint64_t low, size; /* of the addresses */
	/* stored in steps from `since' on, before the access of step `number' */
	uint64_t since, number;
	/*
	 * the access of step `since' that has replaced the address as it took it, of
	 * an atomic instruction; SIZE_MAX: there is none
	 */
	size_t taken;
	uint64_t from; /* the word that it was received in; 0: none */
	uint64_t born; /* before this step there was no such address */
	size_t access;
	/*
	 * Counted accesses before the hand-over. Memory that is no variable, and
	 * that others read after it only, may have been handed over with it.
	 */
	uint64_t sent;
};

/*
 * Has the thread stored one, or what may be one, where another one may have read
 * it?
 */
bool transfer_published_find(
	const struct transfer_published *published,
	const struct transfer_published_question *question);

/* Had other threads stored one before the access, where others than its thread read? */
bool transfer_published_by_others(
	const struct transfer_published *published,
	const struct transfer_published_question *question);

/*
 * Had one of the words in which it or others had stored one before `since', and where
 * another one may have read it, one at any time from then on until the access, whoever has
 * stored it? *ret_instructions: how many instructions the search counts for.
 */
struct error *
transfer_published_stands(const struct transfer_published *published,
			  struct executed *executed,
			  const struct transfer_published_question *question,
			  bool *ret, uint64_t *ret_instructions);

#endif
