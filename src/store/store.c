/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Databases of ours; see store.h.
 */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "store/query.h"
#include "store/store-parts.h"

/* The first bytes of a database, with the NUL (sqlite.org/fileformat.html). */
static const char STORE_MAGIC[16] = "SQLite format 3";

/* fd is one of a file that was opened with O_NONBLOCK. */
static struct error *look(int fd, const char *path, enum store_content *ret)
{
	char first[sizeof(STORE_MAGIC)];
	struct stat status;
	ssize_t n;

	if (fstat(fd, &status) < 0)
		return error_os(errno, "%s", path);
	if (!S_ISREG(status.st_mode))
		return error_create(ERROR_FORMAT, "%s: this is no regular file",
				    path);
	n = pread(fd, first, sizeof(first), 0);
	if (n < 0)
		return error_os(errno, "%s", path);
	if (n == 0)
		*ret = STORE_NOTHING;
	else if (n == sizeof(first) && memcmp(first, STORE_MAGIC, n) == 0)
		*ret = STORE_DATABASE;
	else
		*ret = STORE_OTHER;
	return NULL;
}

/* flags: O_CREAT or 0. Without it, a missing file is STORE_NOTHING. */
static struct error *look_at(const char *path, int flags,
			     enum store_content *ret)
{
	cleanup_close int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags,
		     0666);

	if (fd >= 0)
		return look(fd, path, ret);
	if (errno != ENOENT || flags)
		return error_os(errno, "%s", path);
	*ret = STORE_NOTHING;
	return NULL;
}

struct error *store_look(const char *path, enum store_content *ret)
{
	return look_at(path, 0, ret);
}

/* No name of a file has a meaning of its own for SQLite, as ":memory:" has. */
static struct error *connect(struct store *store)
{
	cleanup_free char *name = NULL;
	int code;

	if (asprintf(&name, "%s%s", store->path[0] == '/' ? "" : "./",
		     store->path) < 0) {
		name = NULL;
		return error_nomem;
	}
	/* a file that may not be written to is opened for reading */
	code = sqlite3_open_v2(name, &store->database, SQLITE_OPEN_READWRITE,
			       NULL);
	if (code != SQLITE_OK)
		return store_failed(store, code);
	sqlite3_extended_result_codes(store->database, 1);
	sqlite3_busy_timeout(store->database, STORE_WAIT_MS);
	/* the file may come from anybody: what its schema says is not trusted */
	sqlite3_db_config(store->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(store->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0,
			  NULL);
	/* the folder is synced as well: a commit survives a power failure */
	return store_execute(store, "PRAGMA synchronous=EXTRA");
}

struct identity {
	uint64_t application, version, tables;
};

static struct error *identify(struct store *store, struct identity *ret)
{
	struct error *err;

	err = query_ask(store, "PRAGMA application_id", UINT32_MAX,
			&ret->application);
	if (!err)
		err = query_ask(store, "PRAGMA user_version", UINT32_MAX,
				&ret->version);
	if (!err)
		err = query_ask(store, "SELECT count(*) FROM sqlite_schema",
				UINT32_MAX, &ret->tables);
	return err;
}

static bool is_empty(const struct identity *found)
{
	return !found->application && !found->version && !found->tables;
}

static struct error *check_identity(const struct store *store,
				    const struct store_kind *kind,
				    const struct identity *found)
{
	if (found->application != kind->application)
		return error_create(ERROR_FORMAT, "%s: this database is not %s",
				    store->path, kind->name);
	if (found->version > kind->version)
		return error_create(ERROR_FORMAT,
				    "%s: version %" PRIu64 " of %s is newer "
				    "than this racewatch, which knows %" PRIu32,
				    store->path, found->version, kind->name,
				    kind->version);
	return NULL;
}

static struct error *create_tables(struct store *store,
				   const struct store_kind *kind)
{
	cleanup_free char *mark = NULL;
	struct error *err = store_execute(store, kind->schema);

	if (err)
		return err;
	if (asprintf(&mark,
		     "PRAGMA application_id=%d; PRAGMA user_version=%" PRIu32,
		     (int)kind->application, kind->version) < 0) {
		mark = NULL;
		return error_nomem;
	}
	return store_execute(store, mark);
}

/* In a transaction: others may create it at the same time. */
static struct error *prepare(struct store *store, const struct store_kind *kind)
{
	struct identity found;
	struct error *err = identify(store, &found);

	if (err)
		return err;
	return is_empty(&found) ? create_tables(store, kind)
				: check_identity(store, kind, &found);
}

static struct error *store_create(const char *path, struct store **ret)
{
	struct store *store = calloc(1, sizeof(*store));
	struct error *err;

	if (!store)
		return error_nomem;
	store->path = strdup(path);
	err = store->path ? connect(store) : error_nomem;
	if (err)
		store_close(store);
	else
		*ret = store;
	return err;
}

static struct error *refuse_other(const char *path,
				  const struct store_kind *kind)
{
	return error_create(ERROR_FORMAT, "%s: this is not %s", path,
			    kind->name);
}

struct error *store_open(const char *path, const struct store_kind *kind,
			 struct store **ret)
{
	struct store *store = NULL;
	enum store_content content;
	/* SQLite would create it with mode 0644, whatever the umask */
	struct error *err = look_at(path, O_CREAT, &content);

	if (!err && content == STORE_OTHER)
		err = refuse_other(path, kind);
	if (!err)
		err = store_create(path, &store);
	if (!err)
		err = store_begin_write(store);
	if (!err)
		err = store_end(store, prepare(store, kind));
	if (!err && kind->keep_journal)
		err = store_execute(store, "PRAGMA journal_mode=PERSIST");
	if (err)
		store_close(store);
	else
		*ret = store;
	return err;
}

struct error *store_open_existing(const char *path,
				  const struct store_kind *kind,
				  struct store **ret)
{
	struct store *store = NULL;
	struct identity found = { 0 };
	enum store_content content = STORE_NOTHING;
	struct error *err = store_look(path, &content);

	if (!err && content == STORE_OTHER)
		err = refuse_other(path, kind);
	if (!err && content == STORE_DATABASE)
		err = store_create(path, &store);
	if (!err && store)
		err = identify(store, &found);
	if (!err && !is_empty(&found))
		err = check_identity(store, kind, &found);
	if (err || is_empty(&found)) {
		store_close(store);
		store = NULL;
	}
	if (!err)
		*ret = store;
	return err;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	sqlite3_close(store->database);
	free(store->path);
	free(store);
}

struct error *store_execute(struct store *store, const char *sql)
{
	int code = sqlite3_exec(store->database, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? NULL : store_failed(store, code);
}

struct error *store_begin_read(struct store *store)
{
	return store_execute(store, "BEGIN");
}

struct error *store_begin_write(struct store *store)
{
	return store_execute(store, "BEGIN IMMEDIATE");
}

struct error *store_end(struct store *store, struct error *err)
{
	if (!err)
		err = store_execute(store, "COMMIT");
	/* some failures have rolled it back already */
	if (err && !sqlite3_get_autocommit(store->database))
		sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

struct error *store_copy(struct store *store, const char *to)
{
	struct query *query;
	struct error *err = query_prepare(store, "VACUUM INTO ?", &query);

	if (err)
		return err;
	query_bind_text(query, 1, to);
	err = query_run(query);
	query_free(query);
	return err;
}

void store_add_version(struct strbuf *out)
{
	strbuf_addf(out, "SQLite %s", sqlite3_libversion());
}
