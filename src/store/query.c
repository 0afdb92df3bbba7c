/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prepared statements; see query.h.
 */
#include "store/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/store-parts.h"

/* The errno behind it, or 0. */
static int store_errno(const struct store *store, int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return sqlite3_system_errno(store->database);
	default:
		return 0;
	}
}

struct error *store_failed(const struct store *store, int code)
{
	const char *text = store->database ? sqlite3_errmsg(store->database)
					   : sqlite3_errstr(code);
	int number = store_errno(store, code);

	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return error_nomem;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return error_create(ERROR_FORMAT, "%s: %s", store->path, text);
	case SQLITE_BUSY:
		return error_create(ERROR_OTHER,
				    "%s: %s by others for more than %d s",
				    store->path, text, STORE_WAIT_MS / 1000);
	default:
		break;
	}
	if (number)
		return error_os(number, "%s: %s", store->path, text);
	return error_create(ERROR_OTHER, "%s: %s", store->path, text);
}

struct query {
	struct store *store;
	sqlite3_stmt *statement;
	struct error *err; /* to be returned by the next step */
};

struct error *query_prepare(struct store *store, const char *sql,
			    struct query **ret)
{
	struct query *query = calloc(1, sizeof(*query));
	int code;

	if (!query)
		return error_nomem;
	query->store = store;
	code = sqlite3_prepare_v2(store->database, sql, -1, &query->statement,
				  NULL);
	if (code != SQLITE_OK) {
		free(query);
		return store_failed(store, code);
	}
	*ret = query;
	return NULL;
}

void query_free(struct query *query)
{
	if (!query)
		return;
	sqlite3_finalize(query->statement);
	error_free(query->err);
	free(query);
}

static void query_fail(struct query *query, struct error *err)
{
	if (query->err)
		error_free(err);
	else
		query->err = err;
}

static void query_bound(struct query *query, int code)
{
	if (code != SQLITE_OK)
		query_fail(query, store_failed(query->store, code));
}

void query_bind(struct query *query, int parameter, uint64_t value)
{
	query_bound(query, sqlite3_bind_int64(query->statement, parameter,
					      (sqlite3_int64)value));
}

void query_bind_text(struct query *query, int parameter, const char *text)
{
	query_bound(query, sqlite3_bind_text(query->statement, parameter, text,
					     -1, SQLITE_STATIC));
}

/* After an error, too, it can be run again. */
static struct error *query_stop(struct query *query, struct error *err)
{
	sqlite3_reset(query->statement);
	query->err = NULL;
	return err;
}

struct error *query_next(struct query *query, bool *ret_row)
{
	int code;

	if (query->err)
		return query_stop(query, query->err);
	code = sqlite3_step(query->statement);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return query_stop(query, store_failed(query->store, code));
	*ret_row = code == SQLITE_ROW;
	return code == SQLITE_DONE ? query_stop(query, NULL) : NULL;
}

struct error *query_run(struct query *query)
{
	struct error *err;
	bool row = false;

	do {
		err = query_next(query, &row);
	} while (!err && row);
	return err;
}

uint64_t query_number(struct query *query, int column, uint64_t max)
{
	int type = sqlite3_column_type(query->statement, column);
	sqlite3_int64 value = sqlite3_column_int64(query->statement, column);

	if (type == SQLITE_NULL)
		return 0;
	if (type == SQLITE_INTEGER && value >= 0 && (uint64_t)value <= max)
		return (uint64_t)value;
	query_fail(query,
		   error_create(ERROR_FORMAT, "%s: column '%s' is out of range",
				query->store->path,
				sqlite3_column_name(query->statement, column)));
	return 0;
}

struct error *query_ask(struct store *store, const char *sql, uint64_t max,
			uint64_t *ret)
{
	struct query *query;
	bool row;
	struct error *err = query_prepare(store, sql, &query);

	if (err)
		return err;
	err = query_next(query, &row);
	if (!err)
		*ret = row ? query_number(query, 0, max) : 0;
	query_free(query);
	return err;
}

uint64_t query_bits(struct query *query, int column)
{
	return (uint64_t)sqlite3_column_int64(query->statement, column);
}

const char *query_text(struct query *query, int column)
{
	return (const char *)sqlite3_column_text(query->statement, column);
}

char *query_copy(struct query *query, int column)
{
	const char *text = query_text(query, column);
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		query_fail(query, error_nomem);
	return copy;
}
