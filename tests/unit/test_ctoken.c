/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/image/ctoken.c: the tokens of C, and of what is none. */
#include "image/ctoken.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct ctokens tokens_of(const char *text)
{
	return (struct ctokens){ text, text + strlen(text) };
}

static void assert_next(struct ctokens *tokens, enum ctoken_kind kind,
			const char *text)
{
	struct ctoken probed = ctoken_peek(tokens);
	struct ctoken token = ctoken_next(tokens);

	assert_int_equal(token.kind, kind);
	assert_true(ctoken_is(&token, text));
	assert_ptr_equal(probed.text, token.text);
}

static void takes_one_after_the_other(void **state)
{
	struct ctokens tokens = tokens_of(
		"a->b_1 /* not * this */ + 0x1f \\\n \"t\\\"(\" // \"\n'c'++");

	(void)state;
	assert_next(&tokens, CTOKEN_WORD, "a");
	assert_next(&tokens, CTOKEN_MARK, "->");
	assert_next(&tokens, CTOKEN_WORD, "b_1");
	assert_next(&tokens, CTOKEN_MARK, "+");
	assert_next(&tokens, CTOKEN_NUMBER, "0x1f");
	assert_next(&tokens, CTOKEN_TEXT, "\"t\\\"(\"");
	assert_next(&tokens, CTOKEN_TEXT, "'c'");
	assert_next(&tokens, CTOKEN_MARK, "++");
	assert_next(&tokens, CTOKEN_END, "");
	assert_next(&tokens, CTOKEN_END, "");
}

static void brackets_are_skipped_to_their_end(void **state)
{
	struct ctokens tokens = tokens_of("(a, (b), \")\") c");
	struct ctokens inside;

	(void)state;
	assert_true(ctoken_skip_brackets(&tokens, &inside));
	assert_int_equal(inside.end - inside.at, strlen("a, (b), \")\""));
	assert_next(&tokens, CTOKEN_WORD, "c");
	assert_false(ctoken_skip_brackets(&tokens, &inside));
}

/* Every beginning of a text, and with bytes that C does not have. */
static void ends_with_what_is_cut_off(void **state)
{
	static const char text[] = "f(\"x\\\" /* */ \\\n '\\'' @ \x80 ((a)/*";

	(void)state;
	for (size_t size = 0; size < sizeof(text); size++) {
		struct ctokens tokens = { text, text + size };
		struct ctokens call = tokens;
		size_t count = 0;

		while (ctoken_next(&tokens).kind != CTOKEN_END)
			assert_true(++count <= size);
		assert_true(tokens.at == text + size);
		ctoken_next(&call);
		ctoken_skip_brackets(&call, NULL);
		assert_true(call.at <= text + size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_one_after_the_other),
		cmocka_unit_test(brackets_are_skipped_to_their_end),
		cmocka_unit_test(ends_with_what_is_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
