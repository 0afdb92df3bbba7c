/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growable string. Zero-initialized is empty. When memory runs out, `failed`
 * is set and later appends do nothing, so that the caller checks once, at the
 * end.
 */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
	char *text;
	size_t length;
	size_t capacity;
	bool failed;
};

/* Free the storage; the buffer is empty and usable afterwards. */
void strbuf_deinit(struct strbuf *buf);
void strbuf_clear(struct strbuf *buf);
/* Cut it to that length, if it is longer. */
void strbuf_truncate(struct strbuf *buf, size_t length);
void strbuf_add(struct strbuf *buf, const char *text);
void strbuf_add_bytes(struct strbuf *buf, const void *bytes, size_t n);
/* Two lower-case digits for each byte. */
void strbuf_add_hex(struct strbuf *buf, const void *bytes, size_t n);
void strbuf_addf(struct strbuf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The NUL-terminated text, "" when empty; valid until the next change. */
const char *strbuf_text(const struct strbuf *buf);

/* Hand the text over to the caller (free()); NULL if an append failed. */
char *strbuf_steal(struct strbuf *buf);

#endif
