/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/xml.c: foreign text in XML. */
#include "report/xml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"

static void text_is(const char *text, const char *expected)
{
	struct strbuf buf = { 0 };

	xml_add(&buf, text);
	assert_string_equal(strbuf_text(&buf), expected);
	strbuf_deinit(&buf);
}

static void markup_becomes_references(void **state)
{
	(void)state;
	text_is("<a b=\"c\" d='e'>&amp;]]>",
		"&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;]]&gt;");
	text_is(NULL, "");
}

static void what_xml_forbids_becomes_visible(void **state)
{
	(void)state;
	text_is("a\tb\nc", "a\tb\nc");
	text_is("\001\033[\r\177", "\\x01\\x1b[\\x0d\\x7f");
	/* no UTF-8; a C1 control character; U+FFFE, U+FFFF, U+D800 */
	text_is("\xff\xc2\x9b", "\\xff\\xc2\\x9b");
	text_is("\xef\xbf\xbe\xef\xbf\xbf", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf");
	text_is("\xed\xa0\x80", "\\xed\\xa0\\x80");
	/* but these are characters */
	text_is("\xc3\xa9\xef\xbf\xbd\xf0\x9f\x90\xb1",
		"\xc3\xa9\xef\xbf\xbd\xf0\x9f\x90\xb1");
}

static void attribute_without_value_is_left_out(void **state)
{
	struct strbuf buf = { 0 };

	(void)state;
	xml_add_attribute(&buf, "a", NULL);
	xml_add_attribute(&buf, "b", "\"");
	assert_string_equal(strbuf_text(&buf), " b=\"&quot;\"");
	strbuf_deinit(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markup_becomes_references),
		cmocka_unit_test(what_xml_forbids_becomes_visible),
		cmocka_unit_test(attribute_without_value_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
