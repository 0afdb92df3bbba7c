/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths as URIs; see uri.h.
 */
#include "report/uri.h"

#include <stdbool.h>
#include <string.h>

#include "base/strbuf.h"

/* RFC 3986, section 2.3; no locale has a say here. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("-._~/", c));
}

void uri_add_path(struct strbuf *buf, const char *path)
{
	if (path[0] == '/')
		strbuf_add(buf, "file://");
	for (; *path; path++) {
		if (is_plain(*path))
			strbuf_add_bytes(buf, path, 1);
		else
			strbuf_addf(buf, "%%%02X", (unsigned char)*path);
	}
}
