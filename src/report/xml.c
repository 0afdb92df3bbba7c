/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text for XML; see xml.h.
 */
#include "report/xml.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"

static const char *reference(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;"; /* for the sake of "]]>" */
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* XML 1.0, section 2.2; HTML forbids no more than it. */
static bool is_character(const char *text, size_t length)
{
	const unsigned char *at = (const unsigned char *)text;

	if (length == 1)
		return (at[0] >= 0x20 && at[0] != 0x7f) || at[0] == '\t' ||
		       at[0] == '\n';
	/* C1 is legal, and nothing but trouble */
	if (length == 2)
		return at[0] != 0xc2 || at[1] >= 0xa0;
	return length != 3 || at[0] != 0xef || at[1] != 0xbf || at[2] < 0xbe;
}

void xml_add(struct strbuf *buf, const char *text)
{
	while (text && *text) {
		size_t length = utf8_length(text);

		if (length == 1 && reference(*text)) {
			strbuf_add(buf, reference(*text++));
			continue;
		}
		if (length && is_character(text, length)) {
			strbuf_add_bytes(buf, text, length);
			text += length;
			continue;
		}
		for (length = length ? length : 1; length > 0; length--)
			strbuf_addf(buf, "\\x%02x", (unsigned char)*text++);
	}
}

void xml_add_attribute(struct strbuf *buf, const char *name, const char *value)
{
	if (!value)
		return;
	strbuf_addf(buf, " %s=\"", name);
	xml_add(buf, value);
	strbuf_add(buf, "\"");
}
