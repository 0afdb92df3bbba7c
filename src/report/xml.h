/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text for XML 1.0 and HTML.
 */
#ifndef REPORT_XML_H
#define REPORT_XML_H

struct strbuf;

/*
 * Append text as character data or as part of an attribute's value: markup
 * becomes character references; what may not be in a document at all (control
 * characters, bytes that are no UTF-8, U+FFFE and U+FFFF) becomes visible, as
 * \xNN. Tabs and newlines stay. NULL: nothing.
 */
void xml_add(struct strbuf *buf, const char *text);

/* Append ` name="value"', or nothing when the value is NULL. */
void xml_add_attribute(struct strbuf *buf, const char *name, const char *value);

#endif
