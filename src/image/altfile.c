/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Supplementary files; see altfile.h.
 */
#include "image/altfile.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "image/fileaccess.h"
#include "image/splitunit.h"

int altfile_open(struct file_access *access, const char *referring_path,
		 const char *name)
{
	struct strbuf path = { 0 };
	const char *slash = strrchr(referring_path, '/');
	cleanup_free char *text = NULL;
	struct stat status;
	struct error *err;
	int fd;

	if (name[0] != '/' && slash)
		strbuf_add_bytes(&path, referring_path,
				 (size_t)(slash - referring_path) + 1);
	strbuf_add(&path, name);
	text = strbuf_steal(&path);
	if (!text)
		return -1;
	err = file_access_open_named(access, text, &fd, &status);
	if (!err)
		return fd;
	log_debug(LOG_IMAGE, "%s", error_message(err));
	error_free(err);
	return -1;
}

void altfile_settle(Dwarf *dwarf)
{
	struct rlimit before;
	Dwarf *alt;

	split_units_bar(&before);
	alt = dwarf_getalt(dwarf);
	if (alt)
		dwarf_getalt(alt);
	split_units_allow(&before);
	if (alt)
		split_units_forbid(alt);
}
