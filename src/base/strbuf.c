/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growable string; see strbuf.h.
 */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRBUF_FIRST_CAPACITY = 64 };

void strbuf_deinit(struct strbuf *buf)
{
	free(buf->text);
	memset(buf, 0, sizeof(*buf));
}

void strbuf_clear(struct strbuf *buf)
{
	buf->length = 0;
	buf->failed = false;
	if (buf->text)
		buf->text[0] = '\0';
}

/* Room for n more bytes and the terminating NUL. */
static bool strbuf_grow(struct strbuf *buf, size_t n)
{
	size_t capacity = buf->capacity ? buf->capacity : STRBUF_FIRST_CAPACITY;
	char *text;

	if (buf->failed)
		return false;
	/* so that neither the sum nor the doubling below overflows */
	if (n > SIZE_MAX / 4 || buf->length > SIZE_MAX / 4) {
		buf->failed = true;
		return false;
	}
	if (buf->length + n + 1 <= buf->capacity)
		return true;
	while (capacity < buf->length + n + 1)
		capacity *= 2;
	text = realloc(buf->text, capacity);
	if (!text) {
		buf->failed = true;
		return false;
	}
	buf->text = text;
	buf->capacity = capacity;
	return true;
}

void strbuf_add_bytes(struct strbuf *buf, const void *bytes, size_t n)
{
	if (!strbuf_grow(buf, n))
		return;
	memcpy(buf->text + buf->length, bytes, n);
	buf->length += n;
	buf->text[buf->length] = '\0';
}

void strbuf_add_hex(struct strbuf *buf, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *byte = bytes;

	/* too many are too many as they are */
	if (!strbuf_grow(buf, n > SIZE_MAX / 2 ? SIZE_MAX : 2 * n))
		return;
	for (size_t i = 0; i < n; i++) {
		buf->text[buf->length++] = digits[byte[i] >> 4];
		buf->text[buf->length++] = digits[byte[i] & 15];
	}
	buf->text[buf->length] = '\0';
}

void strbuf_truncate(struct strbuf *buf, size_t length)
{
	if (length >= buf->length)
		return;
	buf->length = length;
	buf->text[length] = '\0';
}

void strbuf_add(struct strbuf *buf, const char *text)
{
	strbuf_add_bytes(buf, text, strlen(text));
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0) {
		buf->failed = true;
		return;
	}
	if (!strbuf_grow(buf, (size_t)n))
		return;
	va_start(args, format);
	vsnprintf(buf->text + buf->length, (size_t)n + 1, format, args);
	va_end(args);
	buf->length += (size_t)n;
}

const char *strbuf_text(const struct strbuf *buf)
{
	return buf->text ? buf->text : "";
}

char *strbuf_steal(struct strbuf *buf)
{
	char *text = buf->text;

	if (buf->failed) {
		strbuf_deinit(buf);
		return NULL;
	}
	if (!text)
		return calloc(1, 1);
	memset(buf, 0, sizeof(*buf));
	return text;
}
