/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Access to an image's files; see fileaccess.h.
 */
#include "image/fileaccess.h"

#include <stddef.h>

#include "base/error.h"
#include "base/opener.h"

const struct rights *file_access_rights(struct file_access *access)
{
	struct rights rights;
	struct error *err;

	if (!access || access->pid == 0)
		return NULL;
	/* asked for anew: a process may leave user 0 when it has begun */
	err = rights_of(access->pid, &rights);
	if (!err)
		access->rights = rights;
	error_free(err);
	return &access->rights;
}

static struct opener *opener_of(const struct file_access *access)
{
	return access ? access->opener : NULL;
}

struct error *file_access_open_own(struct file_access *access, const char *path,
				   const char *name, int *ret,
				   struct stat *ret_status)
{
	const struct open_request request = { .path = path, .name = name };

	return opener_open(opener_of(access), &request, ret, ret_status);
}

struct error *file_access_open_named(struct file_access *access,
				     const char *path, int *ret,
				     struct stat *ret_status)
{
	const struct open_request request = {
		.path = path,
		.rights = file_access_rights(access),
	};

	return opener_open(opener_of(access), &request, ret, ret_status);
}

struct error *file_access_stat_own(struct file_access *access, const char *path,
				   struct stat *ret)
{
	const struct open_request request = { .path = path };

	return opener_stat(opener_of(access), &request, ret);
}
