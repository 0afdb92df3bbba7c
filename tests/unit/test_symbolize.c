/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/conflict/symbolize.c: a race in stripped samples, as another machine would
 * report it, gets the names that files of the same build have, from every
 * place such a file may be in, and none from another build's.
 */
#include "conflict/symbolize.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/symbols.h"
#include "report/race.h"
#include "sample-race.h"
#include "sample.h"

struct fixture {
	char folder[64];
	char *build_id; /* of stack.O2 and stack.stripped */
	uint64_t inlined; /* where inner is inlined into middle */
	uint64_t outer;
};

static const struct elftext *text_of(const struct image *image)
{
	const struct module *module =
		*(struct module **)vec_at(image_modules(image), 0);

	return module->text;
}

/* An address of the function where something is inlined. */
static uint64_t inlined_in(struct image *image, const Elf64_Sym *function)
{
	struct vec frames = VEC_INIT(struct code_frame);

	for (uint64_t i = 0; i < function->st_size; i++) {
		size_t count;

		assert_null(symbols_frames(image, function->st_value + i, false,
					   &frames));
		count = frames.count;
		code_frames_clear(&frames);
		if (count != 2)
			continue;
		vec_deinit(&frames);
		return function->st_value + i;
	}
	fail_msg("nothing is inlined");
	return 0;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char *path = sample_path("stack.O2");
	Elf64_Sym middle = sample_symbol(path, "middle");
	struct image *image;

	assert_non_null(fixture);
	strcpy(fixture->folder, "/tmp/test_symbolize.XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	assert_null(image_create_file(path, &image));
	fixture->build_id = strdup(elftext_build_id(text_of(image)));
	fixture->inlined = inlined_in(image, &middle);
	fixture->outer = sample_symbol(path, "outer").st_value + 4;
	image_destroy(image);
	free(path);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	rmdir(fixture->folder);
	free(fixture->build_id);
	free(fixture);
	return 0;
}

static void add_frame(const struct fixture *fixture, struct race_side *side,
		      uint64_t offset)
{
	struct race_frame *frame = sample_frame(side, NULL, 0, offset);

	sample_set(&frame->module, "/opt/there/stack.stripped");
	sample_set(&frame->build_id, fixture->build_id);
}

static void make_race(const struct fixture *fixture, struct race *race)
{
	race_init(race);
	race->size = 8;
	for (int i = 0; i < 2; i++) {
		add_frame(fixture, &race->sides[i], fixture->inlined);
		add_frame(fixture, &race->sides[i], fixture->outer);
	}
	assert_true(race_fingerprint(race));
}

static bool symbolize(const char *folder, struct race *race)
{
	struct symbolizer *symbolizer;
	bool changed;

	assert_null(symbolizer_create(folder, &symbolizer));
	assert_null(symbolize_race(symbolizer, race, &changed));
	symbolizer_destroy(symbolizer);
	return changed;
}

static void assert_frame(const struct race *race, size_t i,
			 const char *function, const char *mark, bool inlined)
{
	const struct race_frame *frame = vec_at(&race->sides[0].frames, i);

	assert_string_equal(frame->function, function);
	assert_non_null(strstr(frame->file, "stack.c"));
	if (mark)
		assert_int_equal(frame->line, sample_line("stack.c", mark));
	assert_int_equal(frame->inlined, inlined);
	assert_string_equal(frame->module, "/opt/there/stack.stripped");
}

static void assert_named(const struct race *race)
{
	assert_int_equal(race->sides[0].frames.count, 3);
	assert_frame(race, 0, "inner", NULL, true);
	assert_frame(race, 1, "middle", "middle", false);
	assert_frame(race, 2, "outer", NULL, false);
	assert_int_equal(race->sides[1].frames.count, 3);
}

/* The file at FOLDER/where, in the folders it needs; freed by remove_file(). */
static char *put_file(const struct fixture *fixture, const char *sample,
		      const char *where)
{
	char *from = sample_path(sample);
	char *real = realpath(from, NULL);
	char *to, *slash;

	assert_true(asprintf(&to, "%s/%s", fixture->folder, where) > 0);
	for (slash = strchr(to + strlen(fixture->folder) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(to, 0777);
		*slash = '/';
	}
	assert_int_equal(symlink(real, to), 0);
	free(from);
	free(real);
	return to;
}

static void remove_file(const struct fixture *fixture, char *to)
{
	char *slash;

	unlink(to);
	while ((slash = strrchr(to, '/')) &&
	       (size_t)(slash - to) > strlen(fixture->folder)) {
		*slash = '\0';
		rmdir(to);
	}
	free(to);
}

/* With sample put at FOLDER/where. */
static void check_place(const struct fixture *fixture, const char *sample,
			const char *where, bool found)
{
	char before[33], code[33];
	struct race race;
	char *to = put_file(fixture, sample, where);

	make_race(fixture, &race);
	strcpy(before, race.fingerprint);
	strcpy(code, race.fingerprint_code);
	assert_int_equal(symbolize(fixture->folder, &race), found);
	if (found) {
		assert_named(&race);
		assert_string_not_equal(race.fingerprint, before);
	} else {
		assert_int_equal(race.sides[0].frames.count, 2);
		assert_string_equal(race.fingerprint, before);
	}
	assert_string_equal(race.fingerprint_code, code);
	remove_file(fixture, to);
	race_deinit(&race);
}

static void files_in_all_places(void **state)
{
	const struct fixture *fixture = *state;
	const char *id = fixture->build_id;
	char where[128];

	check_place(fixture, "stack.O2", "stack.stripped", true);
	check_place(fixture, "stack.O2", "opt/there/stack.stripped", true);
	check_place(fixture, ".debug/stack.linked.debug",
		    "stack.stripped.debug", true);
	snprintf(where, sizeof(where), ".build-id/%.2s/%s.debug", id, id + 2);
	check_place(fixture, ".debug/stack.linked.debug", where, true);
	snprintf(where, sizeof(where), ".build-id/%.2s/%s", id, id + 2);
	check_place(fixture, "stack.O2", where, true);
}

static void file_of_another_build(void **state)
{
	check_place(*state, "stack.O0", "stack.stripped", false);
	check_place(*state, "stack.O2", "another.name", false);
}

/* What is stripped too comes earlier, and is enough only alone. */
static void stripped_file_of_the_build(void **state)
{
	const struct fixture *fixture = *state;
	char *stripped =
		put_file(fixture, "stack.stripped", "opt/there/stack.stripped");

	check_place(fixture, "stack.O2", "stack.stripped", true);
	check_place(fixture, "stack.O0", "stack.stripped", false);
	remove_file(fixture, stripped);
}

static void what_is_known_is_kept(void **state)
{
	const struct fixture *fixture = *state;
	struct race_frame *frame;
	struct race race;

	make_race(fixture, &race);
	frame = vec_at(&race.sides[0].frames, 0);
	sample_set(&frame->function, "known");
	assert_false(symbolize(fixture->folder, &race));
	frame = vec_at(&race.sides[0].frames, 0);
	assert_string_equal(frame->function, "known");
	assert_int_equal(race.sides[0].frames.count, 2);
	race_deinit(&race);
}

static void a_global_variable(void **state)
{
	char *path = sample_path("data.O0");
	struct symbolizer *symbolizer;
	struct image *image;
	struct race race;
	bool changed;

	(void)state;
	assert_null(image_create_file(path, &image));
	race_init(&race);
	race.size = 8;
	race.variable.region = REGION_GLOBAL;
	race.variable.module_offset =
		sample_symbol(path, "shards").st_value + 56;
	sample_set(&race.variable.module, path);
	assert_null(symbolizer_create(NULL, &symbolizer));
	assert_null(symbolizer_add_module(symbolizer, path,
					  elftext_build_id(text_of(image))));
	assert_null(symbolize_race(symbolizer, &race, &changed));
	assert_true(changed);
	assert_string_equal(race.variable.name, "shards[1].used");
	assert_string_equal(race.variable.container, "struct shard");
	assert_int_equal(race.variable.offset, 56);
	symbolizer_destroy(symbolizer);
	race_deinit(&race);
	image_destroy(image);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_in_all_places),
		cmocka_unit_test(file_of_another_build),
		cmocka_unit_test(stripped_file_of_the_build),
		cmocka_unit_test(what_is_known_is_kept),
		cmocka_unit_test(a_global_variable),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
