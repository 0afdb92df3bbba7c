/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/render-html.c: see document-tests.h. */
#include "report/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "document-tests.h"
#include "report/html.h"

static void cut_out(char *text, const char *part)
{
	char *at = strstr(text, part);

	assert_non_null(at);
	memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

/* The look may change without these tests. */
static void cut_look(char *text)
{
	cut_out(text, html_style);
	cut_out(text, html_script);
}

int main(void)
{
	const struct CMUnitTest tests[] = { DOCUMENT_TESTS };

	document.ops = &render_html;
	document.suffix = "html";
	document.strip = cut_look;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
