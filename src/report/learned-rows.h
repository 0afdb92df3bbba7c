/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs have learned, in the tables of a database: racewatch-state(5). */
#ifndef REPORT_LEARNED_ROWS_H
#define REPORT_LEARNED_ROWS_H

struct error;
struct learned;
struct store;
struct store_kind;

extern const struct store_kind learned_kind;

/* As learned_read(), and as learned_save(), in a transaction of the caller. */
struct error *learned_read_rows(struct learned *learned, struct store *store);
struct error *learned_add_rows(const struct learned *learned,
			       struct store *store);

#endif
