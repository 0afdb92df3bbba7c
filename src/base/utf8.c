/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Foreign text made safe; see utf8.h.
 */
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

/*
 * Unicode 15, table 3-7: the well-formed sequences, by first and second byte.
 */
static const struct {
	unsigned char first_min, first_max;
	unsigned char second_min, second_max;
	unsigned char length;
} sequences[] = {
	{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
	{ 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
	{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

size_t utf8_length(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t n;

	if (at[0] < 0x80)
		return at[0] != 0;
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		if (at[0] < sequences[i].first_min ||
		    at[0] > sequences[i].first_max)
			continue;
		if (at[1] < sequences[i].second_min ||
		    at[1] > sequences[i].second_max)
			return 0;
		/* a NUL is no continuation, so that this stays inside */
		for (n = 2; n < sequences[i].length; n++) {
			if (!is_continuation(at[n]))
				return 0;
		}
		return n;
	}
	return 0;
}

void utf8_add(struct strbuf *buf, const char *text)
{
	while (*text) {
		size_t length = utf8_length(text);

		if (length)
			strbuf_add_bytes(buf, text, length);
		else
			strbuf_add(buf, "\xef\xbf\xbd");
		text += length ? length : 1;
	}
}

/* C0, DEL, and C1, which some terminals obey: U+009B begins a sequence. */
static bool is_control(const char *text, size_t length)
{
	const unsigned char *at = (const unsigned char *)text;

	if (length == 1)
		return at[0] < 0x20 || at[0] == 0x7f;
	return length == 2 && at[0] == 0xc2 && at[1] < 0xa0;
}

void utf8_add_visible(struct strbuf *buf, const char *text)
{
	while (*text) {
		size_t length = utf8_length(text);

		if (length && !is_control(text, length)) {
			strbuf_add_bytes(buf, text, length);
			text += length;
			continue;
		}
		for (length = length ? length : 1; length > 0; length--)
			strbuf_addf(buf, "\\x%02x", (unsigned char)*text++);
	}
}

size_t utf8_columns(const char *text, size_t length)
{
	size_t end = strnlen(text, length);
	size_t columns = 0;

	for (size_t i = 0; i < end; i++) {
		if (text[i] == '\033')
			i += strcspn(text + i, "m");
		else
			columns += !is_continuation((unsigned char)text[i]);
	}
	return columns;
}
