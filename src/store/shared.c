/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A store that many processes work on; see shared.h.
 */
#include "store/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "store/query.h"

/* Where the locks of pieces are: no file is that long. */
static const off_t SHARED_LOCKS = (off_t)1 << 60;

/* The words are compared in order; *ret_new: there are none. */
static struct error *compare(struct query *query, char *const *command,
			     bool *ret_new, bool *ret_same)
{
	bool row = true, same = true;
	size_t words = 0;
	struct error *err = NULL;

	while (same && (err = query_next(query, &row)) == NULL && row) {
		const char *word = query_text(query, 0);

		same = word && command[words] &&
		       strcmp(word, command[words]) == 0;
		words++;
	}
	*ret_new = words == 0;
	*ret_same = same && !command[words];
	return err;
}

static struct error *write_command(struct store *store, char *const *command)
{
	struct query *query;
	struct error *err = query_prepare(
		store, "INSERT INTO command (word) VALUES (?)", &query);

	if (err)
		return err;
	for (; !err && *command; command++) {
		query_bind_text(query, 1, *command);
		err = query_run(query);
	}
	query_free(query);
	return err;
}

struct error *shared_keep_command(struct store *store, char *const *command,
				  const char *elsewhere)
{
	struct query *query;
	bool is_new, same;
	struct error *err = query_prepare(
		store, "SELECT word FROM command ORDER BY place", &query);

	if (err)
		return err;
	err = compare(query, command, &is_new, &same);
	query_free(query);
	if (err)
		return err;
	if (is_new)
		return write_command(store, command);
	if (same)
		return NULL;
	return error_create(ERROR_USAGE,
			    "is of another command; use another %s", elsewhere);
}

void shared_worker_init(struct shared_worker *worker)
{
	char host[HOST_NAME_MAX + 1] = "";

	if (gethostname(host, sizeof(host)) < 0 || host[sizeof(host) - 1])
		host[0] = '\0';
	snprintf(worker->name, sizeof(worker->name), "%s:%d", host,
		 (int)getpid());
}

static struct error *set_lock(int fd, uint64_t piece, short type,
			      bool *ret_done)
{
	struct flock lock = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = SHARED_LOCKS + (off_t)piece,
		.l_len = 1,
	};

	*ret_done = true;
	while (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		if (errno == EINTR)
			continue;
		*ret_done = false;
		if (errno == EAGAIN || errno == EACCES)
			return NULL;
		return error_os(errno, "lock");
	}
	return NULL;
}

struct error *shared_lock(int fd, uint64_t piece, bool *ret_locked)
{
	return set_lock(fd, piece, F_WRLCK, ret_locked);
}

struct error *shared_unlock(int fd, uint64_t piece)
{
	bool done;

	return set_lock(fd, piece, F_UNLCK, &done);
}
