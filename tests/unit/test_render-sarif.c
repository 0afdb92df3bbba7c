/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/render-sarif.c: see document-tests.h. */
#include "report/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "document-tests.h"

int main(void)
{
	const struct CMUnitTest tests[] = { DOCUMENT_TESTS };

	document.ops = &render_sarif;
	document.suffix = "sarif";
	document.strip = NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
