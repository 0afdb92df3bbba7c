/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths; see path.h.
 */
#include "report/path.h"

#include <stddef.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"

/* Cut the last "/name". */
static void cut_last(struct strbuf *path)
{
	const char *text = strbuf_text(path);
	const char *slash = strrchr(text, '/');

	strbuf_truncate(path, slash ? (size_t)(slash - text) : 0);
}

/* "/home/src/a.c" of "/home/build/../src/./a.c" */
static void add_plain(struct strbuf *out, const char *path)
{
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 2 && strncmp(path, "..", 2) == 0) {
			cut_last(out);
		} else if (length > 0 && !(length == 1 && *path == '.')) {
			strbuf_add(out, "/");
			strbuf_add_bytes(out, path, length);
		}
		path += length;
		path += strspn(path, "/");
	}
}

/* What comes after the folder and a slash; the whole path if it is not below. */
static const char *below(const char *path, const char *folder)
{
	size_t length = folder ? strlen(folder) : 0;

	/* of "/" all is below */
	if (length < 2 || strncmp(path, folder, length) != 0 ||
	    path[length] != '/')
		return path;
	return path + length + 1;
}

void path_add(struct strbuf *out, const char *path, const char *folder)
{
	struct strbuf plain = { 0 };

	if (path[0] != '/') {
		utf8_add_visible(out, path);
		return;
	}
	add_plain(&plain, path);
	utf8_add_visible(out, below(strbuf_text(&plain), folder));
	out->failed |= plain.failed;
	strbuf_deinit(&plain);
}
