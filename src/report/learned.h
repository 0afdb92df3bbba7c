/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What runs have learned about the locations of programs: which were reached,
 * which accessed memory that several threads access, and which pairs did. A
 * location is a module, by its build id (or its path, without one), and an
 * offset in its file, so that it means the same in another run and on another
 * machine. racewatch-state(5) is its form in a file.
 */
#ifndef REPORT_LEARNED_H
#define REPORT_LEARNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct error;

enum {
	/* what a file keeps, and what is held in memory */
	LEARNED_SITES_MAX = 1 << 17,
	LEARNED_PAIRS_MAX = 1 << 16,
	/* sites that a run may add to what it has read */
	LEARNED_ROOM = LEARNED_SITES_MAX / 8,
	LEARNED_MODULES_MAX = 1 << 16,
};

/* Offsets in files are below this. */
#define LEARNED_OFFSET_MAX (UINT64_C(1) << 44)
/* Counts in a file stop here, so that sums of many fit into 63 bits. */
#define LEARNED_COUNT_MAX ((UINT64_C(1) << 52) - 1)

struct learned_module {
	char *path; /* where it was seen last */
	char *build_id; /* NULL: it has none */
};

/*
 * What is counted of a site, and of a pair. Each is a member of the struct, a
 * column of the table and a member of an old line of JSON, and is merged by its
 * sum; code that does one of these goes by these lists. COUNT is a macro.
 */
#define LEARNED_SITE_COUNTS(COUNT)           \
	COUNT(hits) /* threads seen there */ \
	COUNT(stalls) /* of them */          \
	COUNT(shared) /* hits where another thread had been, one writing */

#define LEARNED_PAIR_COUNTS(COUNT)                           \
	COUNT(seen) /* times, by hits one after the other */ \
	COUNT(races) /* conflicts of the two */

#define LEARNED_MEMBER(name) uint64_t name;

struct learned_site {
	uint32_t module; /* index */
	uint64_t offset; /* the file's own address of the instruction */
	uint8_t kind; /* enum access_kind */
	LEARNED_SITE_COUNTS(LEARNED_MEMBER)
};

/* Two locations, maybe the same, that touched the same bytes in two threads. */
struct learned_pair {
	uint32_t sites[2]; /* indices, ascending */
	LEARNED_PAIR_COUNTS(LEARNED_MEMBER)
};

struct learned {
	uint64_t runs;
	struct vec modules; /* of struct learned_module */
	struct vec sites; /* of struct learned_site */
	struct vec pairs; /* of struct learned_pair */
	struct map site_index, pair_index;
};

void learned_init(struct learned *learned);
void learned_deinit(struct learned *learned);

/*
 * The index of the module, of the site, of the pair, added if it was not there;
 * UINT32_MAX: out of memory, or there are too many. build_id may be NULL.
 */
uint32_t learned_module(struct learned *learned, const char *path,
			const char *build_id);
uint32_t learned_site(struct learned *learned, uint32_t module,
		      uint64_t offset);
uint32_t learned_pair(struct learned *learned, uint32_t site, uint32_t other);

/* The module's index, UINT32_MAX: nothing is known of it. */
uint32_t learned_find_module(const struct learned *learned, const char *path,
			     const char *build_id);

static inline struct learned_module *
learned_module_at(const struct learned *learned, size_t i)
{
	return vec_at(&learned->modules, i);
}

static inline struct learned_site *
learned_site_at(const struct learned *learned, size_t i)
{
	return vec_at(&learned->sites, i);
}

static inline struct learned_pair *
learned_pair_at(const struct learned *learned, size_t i)
{
	return vec_at(&learned->pairs, i);
}

/*
 * Add all counts of the other; beyond the limits, nothing. ERROR_NOMEM: some
 * were added, not all.
 */
struct error *learned_add(struct learned *learned, const struct learned *other);

/*
 * What has been added to `before' to come to this: all counts are less.
 * ERROR_NOMEM as above.
 */
struct error *learned_subtract(struct learned *learned,
			       const struct learned *before);

/*
 * Add what the file says: a database, or JSON lines of an earlier version. One
 * that does not exist, or is empty, says nothing. Of a database with more than
 * LEARNED_SITES_MAX - LEARNED_ROOM sites, those are left out that share nothing,
 * the oldest first. ERROR_FORMAT: it is no such file; the error names it.
 */
struct error *learned_read(struct learned *learned, const char *path);

/*
 * Add to the database, in one transaction, whatever others have added
 * meanwhile. JSON lines at that path are imported: a database takes their place,
 * and the file is kept as it is, as PATH.jsonl, which a message says. On failure
 * what was at the path is as it was.
 */
struct error *learned_save(const struct learned *learned, const char *path);

/*
 * Write a copy of the file at `from', as it is at one moment; none if there is
 * nothing. A file at `to' is replaced.
 */
struct error *learned_copy(const char *from, const char *to);

#endif
