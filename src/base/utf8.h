/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text of the watched program: names of threads, files and symbols may be any
 * bytes. These functions convert it for JSON, which must be UTF-8, and for a
 * terminal, which must not get control characters.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

#include "base/strbuf.h"

/*
 * Bytes of the well-formed character at text (1..4); 0 at the terminating NUL
 * and where there is none (RFC 3629: no surrogates, nothing overlong).
 */
size_t utf8_length(const char *text);

/* Append text with U+FFFD for each byte that is part of no character. */
void utf8_add(struct strbuf *buf, const char *text);

/* Append text with \xNN for such bytes and for control characters. */
void utf8_add_visible(struct strbuf *buf, const char *text);

/*
 * Columns on a terminal of the first `length' bytes of well-formed text, or of
 * all when it is shorter, for alignment: each character is taken for one
 * column wide; SGR sequences ("\033[1m") take none.
 */
size_t utf8_columns(const char *text, size_t length);

#endif
