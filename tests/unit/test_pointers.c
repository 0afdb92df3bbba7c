/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/image/pointers.c, reach.c and location.c: names of memory by the
 * pointers that a stopped program has in its registers, on its stack and in
 * its globals, without and with optimization, by gcc and by clang.
 */
#include "image/pointers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "image/debuginfo.h"
#include "image/image.h"
#include "image/variables.h"
#include "sample.h"
#include "stopped.h"

/* Where the program stops, and what bytes there are to be called. */
struct expected {
	const char *where;
	uint64_t address;
	uint32_t size;
	const char *name;
	const char *type;
	const char *container;
	uint64_t at; /* offset in the object */
};

/* Where they are in samples/pointers.cc. */
enum {
	WORLD = 0x10000000,
	NODES = WORLD,
	NODE = 96,
	INNER = 16,
	WORD = 24,
	BITS = 32,
	ROW = 36,
	CHILDREN = 64,
	ACCOUNT = WORLD + 384,
	NUMBERS = WORLD + 408,
	POOL = WORLD + 472,
	POOL_ITEMS = WORLD + 488,
};

static const struct expected names[] = {
	{ "parameter", NODES + NODE + 8, 8, "node->key", "long int", "Node",
	  8 },
	{ "parameter", NODES + NODE + INNER + 4, 4, "node->inner.second", "int",
	  "Inner", INNER + 4 },
	{ "parameter", NODES + NODE + WORD, 8, "node->word", "uint64_t", "Node",
	  WORD },
	{ "parameter", NODES + NODE + BITS, 1, "node->{busy,level}", "Node",
	  "Node", BITS },
	{ "parameter", NODES + NODE + ROW + 16, 4, "node->row[1][1]", "int",
	  "Node", ROW + 16 },
	{ "parameter", NODES + NODE + CHILDREN + 8, 8, "node->children[1]",
	  "Node *", "Node", CHILDREN + 8 },
	{ "reference", NODES + NODE + 8, 8, "item.key", "long int", "Node", 8 },
	{ "chain", NODES + NODE + 8, 8, "first->next->key", "long int", "Node",
	  8 },
	{ "global", NODES + NODE + 8, 8, "head->next->key", "long int", "Node",
	  8 },
	{ "table", NODES + NODE + 8, 8, "table[5]->key", "long int", "Node",
	  8 },
	{ "this", ACCOUNT + 8, 8, "this->balance_", "long int", "Account", 8 },
	{ "this", ACCOUNT + 0, 8, "this->base_count", "long int", "Base", 0 },
	{ "static", ACCOUNT + 16, 8, "Account::last->limit_", "long int",
	  "Account", 16 },
	{ "template", POOL + 8, 8, "this->spare", "long int", "Pool<long int>",
	  8 },
	{ "template", POOL_ITEMS + 0, 8, "*this->items", "long int", NULL, 0 },
	{ "scalar", NUMBERS + 12, 4, "*number", "int", NULL, 0 },
	{ "caller", NODES + NODE + INNER + 4, 4, "owner->inner.second", "int",
	  "Inner", INNER + 4 },
	{ "unique", NODES + NODE + 8, 8, "owned->key", "long int", "Node", 8 },
};

/* What the stopped program has in its memory. */
static bool read_memory(void *context, uint64_t address, void *bytes,
			size_t size)
{
	const struct stopped *stopped = context;
	struct iovec local = { bytes, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(stopped->pid, &local, 1, &remote, 1, 0) ==
	       (ssize_t)size;
}

struct question {
	struct stopped stopped;
	struct unwind_frame frames[16];
	struct frame_memory memory;
	struct pointer_query query;
};

static void question_begin(struct question *question, const char *sample,
			   const char *where)
{
	stopped_start(&question->stopped, sample, where);
	question->memory =
		(struct frame_memory){ read_memory, &question->stopped };
	question->query = (struct pointer_query){ .frames = question->frames,
						  .memory = &question->memory };
	assert_null(unwind_frames(question->stopped.image,
				  &question->stopped.input, question->frames,
				  16, &question->query.frame_count));
	/* the variables as the breakpoint instruction finds them */
	question->frames[0].pc--;
}

static void assert_text(const char *is, const char *wanted, const char *what)
{
	if (!wanted && !is)
		return;
	if (!wanted || !is || strcmp(is, wanted) != 0)
		fail_msg("%s: '%s' and not '%s'", what, is ? is : "(none)",
			 wanted ? wanted : "(none)");
}

/* clang says "long", gcc "long int" */
static void assert_type(const char *is, const char *wanted, const char *what)
{
	char *plain = is ? strdup(is) : NULL;
	char *at;

	if (wanted && strstr(wanted, "long int") && plain &&
	    !strstr(plain, "long int") && (at = strstr(plain, "long"))) {
		char text[64];

		snprintf(text, sizeof(text), "%.*slong int%s",
			 (int)(at - plain), plain, at + 4);
		free(plain);
		plain = strdup(text);
	}
	assert_text(plain, wanted, what);
	free(plain);
}

static void check_name(struct question *question,
		       const struct expected *expected, const char *sample)
{
	char what[128];
	unsigned int rank = 0;
	struct data_name name = { 0 };
	bool found = false;

	snprintf(what, sizeof(what), "%s, %s", sample, expected->name);
	question->query.address = expected->address;
	question->query.size = expected->size;
	assert_null(pointers_name(question->stopped.image, &question->query,
				  &name, &rank, &found));
	if (!found)
		fail_msg("%s: not found", what);
	assert_text(name.name, expected->name, what);
	assert_type(name.type, expected->type, what);
	assert_type(name.container, expected->container, what);
	assert_int_equal(name.offset, expected->at);
	data_name_deinit(&name);
}

static void check_names(const char *sample)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		static struct question question;

		memset(&question, 0, sizeof(question));
		question_begin(&question, sample, names[i].where);
		check_name(&question, &names[i], sample);
		stopped_end(&question.stopped);
	}
}

static void pointers_without_optimization(void **state)
{
	(void)state;
	check_names("pointers.O0");
}

static void pointers_with_optimization(void **state)
{
	(void)state;
	check_names("pointers.O2");
}

static void pointers_by_clang(void **state)
{
	(void)state;
	check_names("pointers.clang");
	check_names("pointers.clang4");
}

/* By its own name in the frame that has it, whoever points to it. */
static void check_local(const char *sample)
{
	static struct question question;
	struct data_name name = { 0 };
	unsigned int rank = 1;
	bool found = false;

	memset(&question, 0, sizeof(question));
	question_begin(&question, sample, "local");
	/* the pointer to it is the asm statement's operand */
	for (int i = 0; i < 16 && (!found || rank > 0); i++) {
		question.query.address = question.stopped.input.regs.gpr[i];
		question.query.size = 8;
		if (i == X86_RSP || i == X86_RBP)
			continue;
		data_name_deinit(&name);
		assert_null(pointers_name(question.stopped.image,
					  &question.query, &name, &rank,
					  &found));
	}
	assert_true(found);
	assert_string_equal(name.name, "progress.done");
	assert_string_equal(name.symbol, "progress");
	assert_int_equal(name.offset, 8);
	assert_int_equal(rank, 0);
	assert_true(name.line > 0);
	data_name_deinit(&name);
	stopped_end(&question.stopped);
}

static void a_local_variable_of_a_caller(void **state)
{
	(void)state;
	check_local("pointers.O0");
	check_local("pointers.O2");
}

/* The element that the instruction's base register and the address tell. */
static void an_element_from_the_base_register(void **state)
{
	static struct question question;
	struct data_name name = { 0 };
	unsigned int rank;
	bool found;

	(void)state;
	memset(&question, 0, sizeof(question));
	question_begin(&question, "pointers.O2", "scalar");
	question.query.address = NUMBERS + 20;
	question.query.size = 4;
	assert_null(pointers_name(question.stopped.image, &question.query,
				  &name, &rank, &found));
	assert_false(found);
	question.query.base = NUMBERS + 12;
	assert_null(pointers_name(question.stopped.image, &question.query,
				  &name, &rank, &found));
	assert_true(found);
	assert_string_equal(name.name, "number[2]");
	data_name_deinit(&name);
	stopped_end(&question.stopped);
}

/* The C library's debug information: main() is called from there. */
static bool libc_was_read(struct image *image)
{
	const struct vec *modules = image_modules(image);
	struct debug_module *debug = NULL;

	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);

		if (strstr(module->name, "libc.so"))
			assert_null(debuginfo_unread(image, module, &debug));
	}
	assert_non_null(debug);
	return debug->loaded;
}

static void nothing_points_there(void **state)
{
	static struct question question;
	struct data_name name = { 0 };
	unsigned int rank;
	bool found = true;

	(void)state;
	memset(&question, 0, sizeof(question));
	question_begin(&question, "pointers.O0", "parameter");
	question.query.address = NUMBERS;
	question.query.size = 4;
	assert_null(pointers_name(question.stopped.image, &question.query,
				  &name, &rank, &found));
	assert_false(found);
	assert_null(name.name);
	assert_false(libc_was_read(question.stopped.image));
	stopped_end(&question.stopped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_without_optimization),
		cmocka_unit_test(pointers_with_optimization),
		cmocka_unit_test(pointers_by_clang),
		cmocka_unit_test(a_local_variable_of_a_caller),
		cmocka_unit_test(an_element_from_the_base_register),
		cmocka_unit_test(nothing_points_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
