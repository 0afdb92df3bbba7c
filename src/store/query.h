/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prepared statements of a database (store/store.h). Parameters are numbered
 * from 1, columns from 0, as in SQLite.
 *
 * Binding a parameter cannot fail visibly: a failure is returned by the next
 * query_next() or query_run().
 */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct query;
struct store;

struct error *query_prepare(struct store *store, const char *sql,
			    struct query **ret);
/* Before store_close(). NULL is fine. */
void query_free(struct query *query);

/* SQLite's integers are signed: 2^63 and more are stored as negative numbers. */
void query_bind(struct query *query, int parameter, uint64_t value);
/* Text is borrowed until the query has run; NULL is SQL's NULL. */
void query_bind_text(struct query *query, int parameter, const char *text);

/* The next row; *ret_row is false at the end, and the query can be run again. */
struct error *query_next(struct query *query, bool *ret_row);

/* Run a statement that returns no rows. */
struct error *query_run(struct query *query);

/*
 * The number that a statement without parameters returns. 0: it returns no row,
 * or a number above max.
 */
struct error *query_ask(struct store *store, const char *sql, uint64_t max,
			uint64_t *ret);

/*
 * A column of the row. A NULL is 0. A number that is above max, or no number,
 * is 0 too, and makes the next query_next() fail with ERROR_FORMAT.
 */
uint64_t query_number(struct query *query, int column, uint64_t max);
/* All 64 bits, as query_bind() wrote them. */
uint64_t query_bits(struct query *query, int column);
/* Valid until the next query_next(); NULL for NULL. */
const char *query_text(struct query *query, int column);
/* A copy for the caller to free; out of memory as a bad number above. */
char *query_copy(struct query *query, int column);

#endif
