/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths of files as URI references (RFC 3986, RFC 8089).
 */
#ifndef REPORT_URI_H
#define REPORT_URI_H

struct strbuf;

/*
 * "file:///home/src/a%20b.c" of an absolute path; a relative one stays
 * relative. Every byte but the unreserved ones and "/" is percent-encoded.
 */
void uri_add_path(struct strbuf *buf, const char *path);

#endif
