/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Atomic operations in macros; see macrotext.h. Where the text leaves open what
 * is accessed, the answer is `plain': a race is then reported with a doubt.
 */
#include "image/macrotext.h"

#include <string.h>

enum {
	DEPTH_MAX = 8,
	/* definitions looked at for one answer, and their locals kept */
	LOOKS_MAX = 200,
	LOCALS_MAX = 16,
};

static const char *const loads[] = {
	"atomic_load",
	"atomic_load_explicit",
	"__atomic_load",
	"__atomic_load_n",
	"__c11_atomic_load",
	"READ_ONCE",
	"smp_load_acquire",
	"CMM_LOAD_SHARED",
	"uatomic_read",
	"rcu_dereference",
	"g_atomic_int_get",
	"g_atomic_pointer_get",
	NULL,
};

static const char *const stores[] = {
	"atomic_store",		"atomic_store_explicit",
	"atomic_flag_clear",	"atomic_flag_clear_explicit",
	"__atomic_store_n",	"__atomic_store",
	"__atomic_clear",	"__sync_lock_release",
	"__c11_atomic_store",	"WRITE_ONCE",
	"smp_store_release",	"CMM_STORE_SHARED",
	"uatomic_set",		"rcu_assign_pointer",
	"rcu_set_pointer",	"g_atomic_int_set",
	"g_atomic_pointer_set", NULL,
};

/* What is between their brackets is not evaluated. */
static const char *const unevaluated[] = {
	"sizeof",
	"typeof",
	"__typeof__",
	"__typeof",
	"typeof_unqual",
	"_Alignof",
	"__alignof__",
	"offsetof",
	"__builtin_offsetof",
	"__builtin_types_compatible_p",
	"__builtin_constant_p",
	"_Alignas",
	"__attribute__",
	"_Static_assert",
	"static_assert",
	NULL,
};

static const char *const types[] = {
	"void",	   "char",	    "short",	"int",		"long",
	"float",   "double",	    "signed",	"unsigned",	"_Bool",
	"bool",	   "const",	    "volatile", "__volatile__", "struct",
	"union",   "enum",	    "register", "static",	"__auto_type",
	"_Atomic", "inline",	    "restrict", "__inline",	"__inline__",
	"__const", "extern",	    "typeof",	"__typeof__",	"__typeof",
	"auto",	   "__extension__", NULL,
};

static const char *const statements[] = {
	"if",	    "else",	"for",	"while",  "do",	     "return",
	"break",    "continue", "goto", "switch", "case",    "default",
	"_Generic", "NULL",	"true", "false",  "alignof", NULL,
};

/* Templates of assembly that accesses nothing; "" is a compiler's barrier. */
static const char *const no_accesses[] = {
	"\"\"",	   "\"pause\"",	   "\"mfence\"",  "\"lfence\"",	 "\"sfence\"",
	"\"nop\"", "\"rep; nop\"", "\"rep;nop\"", "\"rep nop\"", NULL,
};

struct scan {
	const struct macro_names *names;
	struct ctokens tokens;
	struct ctokens params;
	struct ctoken before; /* the token before the present one */
	bool declares; /* that one may be a type, or its '*' */
	struct ctoken locals[LOCALS_MAX];
	size_t local_count;
	unsigned int depth;
	unsigned int *looks; /* left */
	struct macro_meaning *ret;
};

bool macro_name_loads(const struct ctoken *name)
{
	return ctoken_is_one_of(name, loads);
}

bool macro_name_stores(const struct ctoken *name)
{
	return ctoken_is_one_of(name, stores);
}

static bool begins(const struct ctoken *word, const char *prefix)
{
	return word->size >= strlen(prefix) &&
	       memcmp(word->text, prefix, strlen(prefix)) == 0;
}

static bool ends(const struct ctoken *word, const char *suffix)
{
	size_t size = strlen(suffix);

	return word->size >= size &&
	       memcmp(word->text + word->size - size, suffix, size) == 0;
}

/* Their instructions show them, and atomic_init() is none: whatever a header
 * makes of them does not count. */
static bool is_locked_name(const struct ctoken *word)
{
	static const char *const prefixes[] = {
		"__atomic_",	       "__sync_",
		"__c11_atomic_",       "atomic_fetch_",
		"atomic_exchange",     "atomic_compare_exchange_",
		"atomic_flag_",	       "atomic_thread_fence",
		"atomic_init",	       "atomic_signal_fence",
		"atomic_is_lock_free",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (begins(word, prefixes[i]))
			return true;
	}
	return false;
}

/* A constant by custom, or one of an operation's order. */
static bool is_constant(const struct ctoken *word)
{
	if (begins(word, "memory_order"))
		return true;
	for (size_t i = 0; i < word->size; i++) {
		if (word->text[i] >= 'a' && word->text[i] <= 'z')
			return false;
	}
	return true;
}

static bool same(const struct ctoken *a, const struct ctoken *b)
{
	return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

static bool is_param(const struct scan *scan, const struct ctoken *word)
{
	struct ctokens params = scan->params;
	struct ctoken token;

	while (params.at && (token = ctoken_next(&params)).kind != CTOKEN_END) {
		if (same(&token, word))
			return true;
	}
	return params.at && ctoken_is(word, "__VA_ARGS__");
}

static bool is_local(const struct scan *scan, const struct ctoken *word)
{
	for (size_t i = 0; i < scan->local_count; i++) {
		if (same(&scan->locals[i], word))
			return true;
	}
	return false;
}

static bool bracket_follows(const struct scan *scan)
{
	struct ctoken next = ctoken_peek(&scan->tokens);

	return ctoken_is(&next, "(");
}

/* Volatile assembly has accesses that the compiler must not touch. */
static void scan_assembly(struct scan *scan)
{
	bool is_volatile = false;
	struct ctokens inside;
	struct ctoken token;

	while ((token = ctoken_peek(&scan->tokens)).kind == CTOKEN_WORD) {
		is_volatile |= ctoken_is(&token, "volatile") ||
			       ctoken_is(&token, "__volatile__") ||
			       ctoken_is(&token, "__volatile");
		ctoken_next(&scan->tokens);
	}
	if (!ctoken_skip_brackets(&scan->tokens, &inside))
		return;
	token = ctoken_next(&inside);
	if (!is_volatile)
		scan->ret->plain = true;
	else if (!ctoken_is_one_of(&token, no_accesses))
		scan->ret->marks |= MACRO_LOADS | MACRO_STORES;
}

/* Names of operations, known without a definition. */
static bool scan_operation(struct scan *scan, const struct ctoken *word)
{
	if (macro_name_loads(word))
		scan->ret->marks |= MACRO_LOADS;
	else if (macro_name_stores(word))
		scan->ret->marks |= MACRO_STORES;
	else if (!is_locked_name(word) || !bracket_follows(scan))
		return false;
	ctoken_skip_brackets(&scan->tokens, NULL);
	return true;
}

static bool meaning_of_name(const struct macro_names *names,
			    const struct ctoken *name, unsigned int depth,
			    unsigned int *looks, struct macro_meaning *ret);

/* What it is called with counts as far as its definition uses it. */
static bool scan_macro(struct scan *scan, const struct ctoken *word)
{
	struct macro_meaning meaning = { 0 };

	if (!meaning_of_name(scan->names, word, scan->depth + 1, scan->looks,
			     &meaning))
		return false;
	scan->ret->marks |= meaning.marks;
	scan->ret->plain |= meaning.plain;
	scan->ret->unknown |= meaning.unknown;
	if (!meaning.arguments)
		ctoken_skip_brackets(&scan->tokens, NULL);
	return true;
}

static void scan_call(struct scan *scan, const struct ctoken *word)
{
	if (!begins(word, "__builtin_") &&
	    scan->names->kind(scan->names->arg, word) == MACRO_UNKNOWN)
		scan->ret->unknown = true;
}

/* Words of the language; true: there is no more to it. */
static bool scan_keyword(struct scan *scan, const struct ctoken *word)
{
	bool is_type = ctoken_is_one_of(word, types);

	if (ctoken_is_one_of(word, unevaluated)) {
		ctoken_skip_brackets(&scan->tokens, NULL);
		scan->declares = is_type;
		return true;
	}
	if (ctoken_is(word, "asm") || ctoken_is(word, "__asm__") ||
	    ctoken_is(word, "__asm")) {
		scan_assembly(scan);
		return true;
	}
	if (is_type || ends(word, "_t") || ctoken_is(&scan->before, "struct") ||
	    ctoken_is(&scan->before, "union") ||
	    ctoken_is(&scan->before, "enum")) {
		scan->declares = true;
		return true;
	}
	return ctoken_is_one_of(word, statements);
}

static void scan_variable(struct scan *scan, const struct ctoken *word,
			  bool declared)
{
	struct ctoken next = ctoken_peek(&scan->tokens);

	if (is_local(scan, word) || ctoken_is(&scan->before, "."))
		return;
	if (declared || next.kind == CTOKEN_WORD) {
		scan->declares = !declared;
		if (declared && scan->local_count < LOCALS_MAX)
			scan->locals[scan->local_count++] = *word;
	} else if (!is_constant(word) &&
		   scan->names->kind(scan->names->arg, word) !=
			   MACRO_FUNCTION) {
		scan->ret->plain = true;
	}
}

/* "TYPE v" and "const TYPE *p" access nothing. */
static void scan_param(struct scan *scan, bool declared)
{
	struct ctoken next = ctoken_peek(&scan->tokens);

	scan->declares = declared || next.kind == CTOKEN_WORD;
	scan->ret->arguments = true;
}

static void scan_word(struct scan *scan, const struct ctoken *word)
{
	bool declared = scan->declares;

	scan->declares = false;
	if (ctoken_is(&scan->before, "#"))
		return;
	if (is_param(scan, word))
		scan_param(scan, declared);
	else if (!ctoken_is(&scan->before, "->") && !scan_keyword(scan, word) &&
		 !scan_operation(scan, word) && !scan_macro(scan, word)) {
		if (bracket_follows(scan))
			scan_call(scan, word);
		else
			scan_variable(scan, word, declared);
	}
}

/* "&" that begins an operand: what it is applied to is not accessed. */
static bool takes_address(const struct scan *scan, const struct ctoken *mark)
{
	return ctoken_is(mark, "&") && scan->before.kind != CTOKEN_WORD &&
	       scan->before.kind != CTOKEN_NUMBER &&
	       !ctoken_is(&scan->before, ")") &&
	       !ctoken_is(&scan->before, "]") && !ctoken_is(&scan->before, "&");
}

/* "&v", "&o->m.n"; brackets are looked into, as what they have may be read. */
static void skip_operand(struct scan *scan)
{
	struct ctoken next = ctoken_peek(&scan->tokens);

	if (next.kind != CTOKEN_WORD || is_param(scan, &next))
		return;
	do {
		scan->before = ctoken_next(&scan->tokens);
		next = ctoken_peek(&scan->tokens);
	} while (
		ctoken_is(&next, "->") || ctoken_is(&next, ".") ||
		(next.kind == CTOKEN_WORD && scan->before.kind == CTOKEN_MARK));
}

/* "*" that may be no product, nor the mark of a pointer's type. */
static bool may_dereference(const struct scan *scan, const struct ctoken *mark)
{
	if (!ctoken_is(mark, "*") || scan->declares ||
	    scan->before.kind == CTOKEN_NUMBER || ctoken_is(&scan->before, "]"))
		return false;
	return scan->before.kind != CTOKEN_WORD ||
	       ctoken_is_one_of(&scan->before, statements);
}

static void scan_mark(struct scan *scan, const struct ctoken *mark)
{
	if (takes_address(scan, mark))
		skip_operand(scan);
	else if (ctoken_is(mark, "->") || ctoken_is(mark, "[") ||
		 may_dereference(scan, mark))
		scan->ret->plain = true;
	scan->declares = scan->declares && ctoken_is(mark, "*");
}

static void scan_text(struct scan *scan)
{
	struct ctoken token;

	while ((token = ctoken_next(&scan->tokens)).kind != CTOKEN_END) {
		if (token.kind == CTOKEN_WORD)
			scan_word(scan, &token);
		else if (token.kind == CTOKEN_MARK)
			scan_mark(scan, &token);
		scan->before = token;
	}
}

/* Of all its definitions; false: it has none, or too much was looked at. */
static bool meaning_of_name(const struct macro_names *names,
			    const struct ctoken *name, unsigned int depth,
			    unsigned int *looks, struct macro_meaning *ret)
{
	struct macro_definition definition;
	size_t n = 0;

	while (depth <= DEPTH_MAX && *looks > 0 &&
	       names->definition(names->arg, name, n, &definition)) {
		struct macro_meaning one = { 0 };
		struct scan scan = {
			.names = names,
			.tokens = definition.body,
			.params = definition.params,
			.depth = depth,
			.looks = looks,
			.ret = &one,
		};

		--*looks;
		scan_text(&scan);
		one.plain |= n > 0 && one.marks != ret->marks;
		ret->marks |= one.marks;
		ret->plain |= one.plain;
		ret->unknown |= one.unknown;
		ret->arguments |= one.arguments;
		n++;
	}
	return n > 0;
}

void macro_meaning_at(const struct macro_names *names,
		      const struct ctoken *name, struct ctokens arguments,
		      struct macro_meaning *ret)
{
	unsigned int looks = LOOKS_MAX;
	struct macro_meaning found = { 0 };
	struct scan scan = { .names = names, .looks = &looks, .ret = &found };
	bool called = ctoken_skip_brackets(&arguments, &scan.tokens);

	*ret = found;
	if (ctoken_is_one_of(name, types) ||
	    ctoken_is_one_of(name, unevaluated) ||
	    ctoken_is_one_of(name, statements) || is_locked_name(name))
		return;
	if (!meaning_of_name(names, name, 0, &looks, &found)) {
		ret->unknown = called && !begins(name, "__builtin_") &&
			       names->kind(names->arg, name) == MACRO_UNKNOWN;
		return;
	}
	if (called && found.arguments)
		scan_text(&scan);
	*ret = found;
}
