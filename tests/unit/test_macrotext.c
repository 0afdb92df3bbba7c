/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/macrotext.c: macros that are an atomic load or store, those that
 * have other accesses beside it, and those that are not found.
 */
#include "image/macrotext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "image/macrofile.h"

static const char text[] =
	"#define LOAD(p) __atomic_load_n((p), __ATOMIC_RELAXED)\n"
	"#define STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)\n"
	"#define ALIAS LOAD\n"
	"#define NOW LOAD(&now)\n"
	"#define ONCE(p) ({ typeof(*(p)) v; const type_t *q = (p); \\\n"
	"	__atomic_load(q, &v, __ATOMIC_ACQUIRE); v; })\n"
	"#define CLEAR(o) do { STORE(&(o)->member, 0); } while (0)\n"
	"#define atomic_read(v) LOAD(&(v)->counter)\n"
	"#define LIKELY(x) __builtin_expect(!!(x), 1)\n"
	"#define CHECK(x) ((x) ? (void)0 : failed(#x, __LINE__))\n"
	"#define ASM(p) ({ int v; asm volatile(\"movl %1, %0\" \\\n"
	"	: \"=r\"(v) : \"m\"(*(p))); v; })\n"
	"#define ADD(p, n) __atomic_fetch_add((p), (n), __ATOMIC_SEQ_CST)\n"
	"#define BARRIER() asm volatile(\"\" ::: \"memory\")\n"
	"#define PLAIN(p) (*(p))\n"
	"#define VOLATILE(x) (*(volatile int *)&(x))\n"
	"#define FENCED(p, x) do { *(p) = (x); BARRIER(); } while (0)\n"
	"#define ATOMIC_INIT(p, v) atomic_init(p, v)\n"
	"#define BOTH(p, q) (LOAD(p) + *(q))\n"
	"#define MEMBER(o) (LOAD(&(o)->a) + (o)->b)\n"
	"#define TOTAL() (LOAD(&a) + total)\n"
	"#define COUNTED(p) (count++, LOAD(p))\n"
	"#define ITSELF(p) ITSELF(p)\n"
	"#define LOST(p) LOST_MACRO(p)\n"
	"#define EITHER(p) __atomic_load_n(p, 0)\n"
	"#define EITHER(p) (*(p))\n"
	"#define DEFINE(name, type) static type name(const type *p) { \\\n"
	"	type v; asm volatile(INSN : \"=r\"(v) : \"m\"(*p)); return v; }\n"
	"void failed(const char *what, int line);\n"
	"long my_load(long *p);\n";

static bool definition(void *arg, const struct ctoken *name, size_t n,
		       struct macro_definition *ret)
{
	return macro_file_find(arg, name, n, ret);
}

static enum macro_kind kind(void *arg, const struct ctoken *name)
{
	if (ctoken_is(name, "hook"))
		return MACRO_VARIABLE;
	return macro_file_has_function(arg, name) ? MACRO_FUNCTION
						  : MACRO_UNKNOWN;
}

enum { LOADS = MACRO_LOADS, STORES = MACRO_STORES, PLAIN = 4, UNKNOWN = 8 };

static unsigned int meaning_of(const char *line)
{
	struct macro_meaning meaning;
	struct macro_file file;
	const struct macro_names names = { definition, kind, &file };
	struct ctokens tokens = { line, line + strlen(line) };
	struct ctoken name = ctoken_next(&tokens);

	macro_file_init(&file);
	assert_true(macro_file_read(&file, text, strlen(text)));
	macro_meaning_at(&names, &name, tokens, &meaning);
	macro_file_deinit(&file);
	return meaning.marks | (meaning.plain && meaning.marks ? PLAIN : 0) |
	       (meaning.unknown ? UNKNOWN : 0);
}

static void macros_have_operations(void **state)
{
	(void)state;
	assert_int_equal(meaning_of("LOAD(&v);"), LOADS);
	assert_int_equal(meaning_of("LOAD (o->p[i]) + *x;"), LOADS);
	assert_int_equal(meaning_of("STORE(&v, x)"), STORES);
	assert_int_equal(meaning_of("ALIAS(&v)"), LOADS);
	assert_int_equal(meaning_of("NOW + x"), LOADS);
	assert_int_equal(meaning_of("ONCE(&o->v)"), LOADS);
	assert_int_equal(meaning_of("CLEAR(o);"), STORES);
	assert_int_equal(meaning_of("atomic_read(o)"), LOADS);
	assert_int_equal(meaning_of("ASM(&v)"), LOADS | STORES);
	assert_int_equal(meaning_of("DEFINE(my_load, long)"), LOADS | STORES);
}

static void arguments_have_operations(void **state)
{
	(void)state;
	assert_int_equal(meaning_of("LIKELY(LOAD(&v) == 1)"), LOADS);
	assert_int_equal(meaning_of("CHECK(LOAD(&v) == 1)"), LOADS);
	assert_int_equal(meaning_of("CHECK(v == 1); LOAD(&v)"), 0);
	assert_int_equal(meaning_of("CHECK(LOAD(&v) == w)"), LOADS | PLAIN);
	assert_int_equal(meaning_of("CHECK(LOAD(&v) == *w)"), LOADS | PLAIN);
	assert_int_equal(meaning_of("CHECK(LOAD(&v) == o->w)"), LOADS | PLAIN);
	assert_int_equal(meaning_of("CHECK(my_load(&v) == 2)"), 0);
	assert_int_equal(meaning_of("CHECK(is_lost(&v) == 2)"), UNKNOWN);
}

static void locked_ones_and_plain_ones_have_none(void **state)
{
	(void)state;
	assert_int_equal(meaning_of("ADD(&v, 1)"), 0);
	assert_int_equal(meaning_of("BARRIER()"), 0);
	assert_int_equal(meaning_of("PLAIN(&v)"), 0);
	assert_int_equal(meaning_of("VOLATILE(v)"), 0);
	assert_int_equal(meaning_of("FENCED(&v, 1)"), 0);
	assert_int_equal(meaning_of("ATOMIC_INIT(&v, 1)"), 0);
	assert_int_equal(meaning_of("atomic_fetch_add(&v, 1)"), 0);
}

static void other_accesses_beside_them_are_seen(void **state)
{
	(void)state;
	assert_int_equal(meaning_of("BOTH(&v, &w)"), LOADS | PLAIN);
	assert_int_equal(meaning_of("MEMBER(&o)"), LOADS | PLAIN);
	assert_int_equal(meaning_of("TOTAL()"), LOADS | PLAIN);
	assert_int_equal(meaning_of("COUNTED(&v)"), LOADS | PLAIN);
	assert_int_equal(meaning_of("EITHER(&v)"), LOADS | PLAIN);
}

static void what_is_not_found_is_unknown(void **state)
{
	(void)state;
	assert_int_equal(meaning_of("NOWHERE(&v)"), UNKNOWN);
	assert_int_equal(meaning_of("LOST(&v)"), UNKNOWN);
	assert_int_equal(meaning_of("ITSELF(&v)"), UNKNOWN);
	assert_int_equal(meaning_of("variable = x"), 0);
	assert_int_equal(meaning_of("hook(v)"), 0);
	assert_int_equal(meaning_of("my_load(&v)"), 0);
	assert_int_equal(meaning_of("if (v)"), 0);
	assert_int_equal(meaning_of("sizeof(v)"), 0);
	assert_int_equal(meaning_of("__builtin_memcpy(&v, &w, 4)"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(macros_have_operations),
		cmocka_unit_test(arguments_have_operations),
		cmocka_unit_test(locked_ones_and_plain_ones_have_none),
		cmocka_unit_test(other_accesses_beside_them_are_seen),
		cmocka_unit_test(what_is_not_found_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
