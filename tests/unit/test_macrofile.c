/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/image/macrofile.c: what a text defines, includes and declares. */
#include "image/macrofile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "#include \"a/b.h\"\n"
			   "#  include <c.h> /* why */\n"
			   "#include NAME\n"
			   "#define NONE\n"
			   "#define ONE (1) /* a comment\n"
			   " that goes on */ + 2\n"
			   "#define CALL(x, y) \\\n"
			   "\tcall(x,\\\n"
			   "\t     y)\n"
			   "# if X\n"
			   "#define ONE 3\n"
			   "#endif\n"
			   "extern int declared(void);\n"
			   "static int\n"
			   "defined(int a)\n"
			   "{\n"
			   "#ifdef X\n"
			   "\tif (a) {\n"
			   "#else\n"
			   "\tif (!a) {\n"
			   "#endif\n"
			   "\t\tcalled(a); }\n"
			   "}\n"
			   "int last(void) { return inner(); }\n"
			   "#define CUT(";

static struct ctoken name_of(const char *name)
{
	return (struct ctoken){ CTOKEN_WORD, name, strlen(name) };
}

static void assert_body(const struct macro_file *file, const char *name,
			size_t n, const char *body)
{
	struct ctoken token = name_of(name);
	struct macro_definition found;

	assert_true(macro_file_find(file, &token, n, &found));
	if (!memmem(found.body.at, found.body.end - found.body.at, body,
		    strlen(body)))
		fail_msg("%s: %.*s", name,
			 (int)(found.body.end - found.body.at), found.body.at);
}

static bool has_function(const struct macro_file *file, const char *name)
{
	struct ctoken token = name_of(name);

	return macro_file_has_function(file, &token);
}

static void finds_definitions(void **state)
{
	struct ctoken one = name_of("ONE"), call = name_of("CALL");
	struct macro_definition found;
	struct macro_file file;

	(void)state;
	macro_file_init(&file);
	assert_true(macro_file_read(&file, text, strlen(text)));
	assert_body(&file, "NONE", 0, "");
	assert_body(&file, "ONE", 0, "3");
	assert_body(&file, "ONE", 1, "(1) /* a comment\n that goes on */ + 2");
	assert_false(macro_file_find(&file, &one, 2, &found));
	assert_body(&file, "CALL", 0, "call(x,\\\n\t     y)");
	assert_true(macro_file_find(&file, &call, 0, &found));
	assert_int_equal(found.params.end - found.params.at, strlen("x, y"));
	assert_body(&file, "CUT", 0, "");
	macro_file_deinit(&file);
}

static void finds_includes(void **state)
{
	const struct macro_include *include;
	struct macro_file file;

	(void)state;
	macro_file_init(&file);
	assert_true(macro_file_read(&file, text, strlen(text)));
	assert_int_equal(file.includes.count, 2);
	include = vec_at(&file.includes, 0);
	assert_true(include->quoted && ctoken_is(&include->name, "a/b.h"));
	include = vec_at(&file.includes, 1);
	assert_true(!include->quoted && ctoken_is(&include->name, "c.h"));
	macro_file_deinit(&file);
}

static void finds_functions(void **state)
{
	struct macro_file file;

	(void)state;
	macro_file_init(&file);
	assert_true(macro_file_read(&file, text, strlen(text)));
	assert_true(has_function(&file, "declared"));
	assert_true(has_function(&file, "defined"));
	assert_true(has_function(&file, "last"));
	assert_false(has_function(&file, "called"));
	assert_false(has_function(&file, "inner"));
	macro_file_deinit(&file);
}

/* Every beginning and every end of it. */
static void stays_inside_of_what_is_cut_off(void **state)
{
	(void)state;
	for (size_t at = 0; at < sizeof(text); at++) {
		struct macro_file file;

		macro_file_init(&file);
		assert_true(macro_file_read(&file, text, at));
		assert_true(
			macro_file_read(&file, text + at, sizeof(text) - at));
		macro_file_deinit(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_definitions),
		cmocka_unit_test(finds_includes),
		cmocka_unit_test(finds_functions),
		cmocka_unit_test(stays_inside_of_what_is_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
