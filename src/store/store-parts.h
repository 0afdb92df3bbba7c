/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What store.c and query.c share. Not for other folders. */
#ifndef STORE_STORE_PARTS_H
#define STORE_STORE_PARTS_H

#include <sqlite3.h>

struct error;

enum { STORE_WAIT_MS = 60000 };

struct store {
	sqlite3 *database;
	char *path;
};

/* An error for SQLite's result code, with the file's name. */
struct error *store_failed(const struct store *store, int code);

#endif
