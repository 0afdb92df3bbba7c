/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths of sources as people and editors open them. */
#ifndef REPORT_PATH_H
#define REPORT_PATH_H

struct strbuf;

/*
 * Append the path without "." and "..", relative to the folder where it is below
 * that; as it is, if it is not absolute. folder: absolute; NULL: none. Nothing is
 * looked up, so that a link to a folder counts as a folder of its own.
 */
void path_add(struct strbuf *out, const char *path, const char *folder);

#endif
