/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * src/hunt/reported.c: whether a race that was met is on the variable that another
 * tool has reported by its address.
 */
#include "hunt/reported.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "conflict/symbolize.h"
#include "image/elftext.h"
#include "image/image.h"
#include "report/race.h"
#include "sample-race.h"
#include "sample.h"

/* Where Valgrind maps a position-independent program. */
enum { BIAS = 0x108000 };

static void set_reported(struct race *race, const char *tool, uint64_t address)
{
	race_init(race);
	race->evidence = EVIDENCE_REPORTED;
	sample_set(&race->backend, tool);
	race->address = address;
	race->size = 8;
}

static void only_valgrind_maps_a_program_where_it_is_known(void **state)
{
	struct race race;

	(void)state;
	set_reported(&race, "drd", BIAS + 0x4080);
	assert_int_equal(reported_offset(&race), 0x4080);
	sample_set(&race.backend, "helgrind");
	assert_int_equal(reported_offset(&race), 0x4080);
	/* linked at a fixed address */
	race.address = 0x404080;
	assert_int_equal(reported_offset(&race), 0x404080);
	sample_set(&race.backend, "tsan");
	assert_int_equal(reported_offset(&race), 0);
	sample_set(&race.backend, "drd");
	race.evidence = EVIDENCE_PROVOKED;
	assert_int_equal(reported_offset(&race), 0);
	race_deinit(&race);
}

static void indices_make_no_other_variable(void **state)
{
	static const struct {
		const char *one, *two;
		bool same;
	} names[] = {
		{ "counter", "counter", true },
		{ "counter", "counters", false },
		{ "heat[0][2048]", "heat[1][7]", true },
		{ "heat[0]", "heat[1][7]", true },
		{ "heat", "heat[1][7]", true },
		{ "ring[3].text[0..15]", "ring[7].text[16..31]", true },
		{ "ring[3].text[0]", "ring[3].serial", false },
		{ "ring[3]", "ring[0].serial", true },
		{ "ring[3].serial", "ring", true },
		{ "state.busy", "state.level", false },
		{ "state.{busy,level}", "state.level", true },
		{ "ring+8", "ring+16", true },
		{ "ring+8", "ring", true },
		{ "ring+8", "rings+8", false },
		{ "a.b.c", "a.b", true },
		{ "a.b.c", "a.d.c", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(reported_same_name(names[i].one, names[i].two),
				 names[i].same);
		assert_int_equal(reported_same_name(names[i].two, names[i].one),
				 names[i].same);
	}
}

struct scene {
	struct symbolizer *symbolizer;
	struct race reported, met;
	uint64_t shards;
};

/* 8 bytes of shards[1].used were reported, and met were those of shards[2].used. */
static void set_up(struct scene *scene)
{
	char *path = sample_path("data.O0");
	struct race_frame *frame;
	struct image *image;

	assert_null(symbolizer_create(NULL, &scene->symbolizer));
	assert_null(image_create_file(path, &image));
	scene->shards = sample_symbol(path, "shards").st_value;
	set_reported(&scene->reported, "drd", scene->shards + BIAS + 56);
	race_init(&scene->met);
	scene->met.size = 8;
	scene->met.variable.region = REGION_GLOBAL;
	scene->met.variable.module_offset = scene->shards + 104;
	scene->met.variable.offset = 104;
	sample_set(&scene->met.variable.module, path);
	sample_set(&scene->met.variable.name, "shards[2].used");
	frame = sample_frame(&scene->met.sides[1], "f", 1, 1);
	sample_set(&frame->module, path);
	sample_set(&frame->build_id,
		   elftext_build_id(
			   (*(struct module **)vec_at(image_modules(image), 0))
				   ->text));
	image_destroy(image);
	free(path);
}

static void tear_down(struct scene *scene)
{
	symbolizer_destroy(scene->symbolizer);
	race_deinit(&scene->reported);
	race_deinit(&scene->met);
}

static bool asked(const struct scene *scene, bool by_line)
{
	bool elsewhere;

	assert_null(reported_elsewhere(scene->symbolizer, &scene->reported,
				       &scene->met, by_line, &elsewhere));
	return elsewhere;
}

static bool is_elsewhere(const struct scene *scene)
{
	return asked(scene, false);
}

static void another_element_of_the_variable_is_the_variable(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	assert_false(is_elsewhere(&scene));
	/* of another variable of that name */
	scene.met.variable.offset = 8;
	assert_true(is_elsewhere(&scene));
	scene.met.variable.offset = 104;
	/* shards[1].capacity */
	scene.reported.address -= 8;
	assert_true(is_elsewhere(&scene));
	tear_down(&scene);
}

static void what_overlaps_needs_no_name(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	sample_set(&scene.met.variable.name, NULL);
	assert_true(is_elsewhere(&scene));
	scene.met.variable.module_offset = scene.shards + 63;
	assert_false(is_elsewhere(&scene));
	scene.met.variable.module_offset = scene.shards + 64;
	assert_true(is_elsewhere(&scene));
	scene.met.variable.module_offset = scene.shards + 48;
	scene.met.size = 9;
	assert_false(is_elsewhere(&scene));
	tear_down(&scene);
}

static void of_another_build_nothing_is_named(void **state)
{
	struct scene scene;
	struct race_frame *frame;

	(void)state;
	set_up(&scene);
	frame = vec_at(&scene.met.sides[1].frames, 0);
	sample_set(&frame->build_id, "00aa11bb");
	assert_true(is_elsewhere(&scene));
	tear_down(&scene);
}

static void what_is_not_known_is_not_elsewhere(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.reported.address = 0x4a00040;
	assert_false(is_elsewhere(&scene));
	scene.reported.address = scene.shards + BIAS;
	assert_true(is_elsewhere(&scene));
	scene.met.variable.region = REGION_UNKNOWN;
	assert_false(is_elsewhere(&scene));
	tear_down(&scene);
}

/* ThreadSanitizer and Helgrind name it: addresses are those of their build. */
static void the_name_of_a_variable_tells(void **state)
{
	static const struct {
		const char *reported, *met;
		bool same;
	} names[] = {
		{ "shards", "shards", true },
		{ "shard", "shards", false },
		{ "shards.2", "shards.0", true },
		{ "run()::shards", "run::shards", true },
		{ "_ZN5cacheL6shardsE", "cache::shards", true },
		{ "_ZN5cacheL6shardsE", "cache::shard", false },
		{ "cache::names[abi:cxx11]", "cache::names", true },
		{ "run(std::vector<int>&) const::names", "run::names", true },
		{ "(anonymous namespace)::names",
		  "(anonymous namespace)::names", true },
		{ "Second::count", "First::count", false },
		{ "_ZN6Second5countE", "First::count", false },
		{ "count", "First::count", true },
		{ "First::count", "count", true },
		{ "account", "count", false },
		{ "shards (.1)", "shards", true },
	};
	struct scene scene;

	(void)state;
	set_up(&scene);
	sample_set(&scene.reported.backend, "tsan");
	assert_false(asked(&scene, true));
	scene.reported.variable.region = REGION_GLOBAL;
	scene.reported.variable.offset = 56;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		sample_set(&scene.reported.variable.symbol, names[i].reported);
		sample_set(&scene.met.variable.symbol, names[i].met);
		assert_int_equal(asked(&scene, true), !names[i].same);
		assert_int_equal(asked(&scene, false), !names[i].same);
	}
	/* of a part whose place is not known */
	scene.reported.variable.offset = 48;
	assert_false(asked(&scene, true));
	/* shards[1].capacity */
	sample_set(&scene.reported.variable.symbol, "shards");
	assert_true(asked(&scene, false));
	assert_true(asked(&scene, true));
	/* the report has several members */
	scene.reported.address = 0;
	assert_false(asked(&scene, true));
	tear_down(&scene);
}

static void what_is_in_the_heap_is_no_variable(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene);
	scene.met.variable.region = REGION_HEAP;
	assert_false(asked(&scene, true));
	scene.reported.variable.region = REGION_GLOBAL;
	assert_true(asked(&scene, true));
	scene.met.variable.region = REGION_MAPPING;
	assert_false(asked(&scene, true));
	scene.reported.variable.region = REGION_HEAP;
	assert_false(asked(&scene, true));
	scene.met.variable.region = REGION_GLOBAL;
	assert_true(asked(&scene, true));
	tear_down(&scene);
}

/* struct queue { int items; char text[60]; int head; }, each in a block of its own */
static void members_of_the_heap_are_told_apart(void **state)
{
	struct scene scene;
	struct recorded *recorded = &scene.met.recorded;
	struct race_variable *variable = &scene.met.variable;

	(void)state;
	set_up(&scene);
	scene.reported.variable.region = REGION_HEAP;
	variable->region = REGION_UNKNOWN;
	sample_set(&scene.reported.variable.name,
		   "bytes 64..67 of a block of 68 of main");
	sample_set(&variable->container, "struct queue");
	variable->offset = 0;
	scene.met.size = 4;
	recorded->address = recorded->block.address = 0x4040;
	recorded->block.size = 68;
	assert_true(asked(&scene, true));
	recorded->address += 64;
	/* of an array of these, it may be any */
	assert_false(asked(&scene, true));
	variable->offset = 64;
	assert_false(asked(&scene, true));
	variable->offset = 60;
	recorded->address -= 4;
	assert_true(asked(&scene, true));
	scene.met.size = 8;
	assert_false(asked(&scene, true));
	scene.met.size = 4;
	recorded->block.size = 136;
	assert_false(asked(&scene, true));
	recorded->block.size = 68;
	sample_set(&variable->container, NULL);
	assert_false(asked(&scene, true));
	tear_down(&scene);
}

/* Append a frame of the reported access as the met race's program has it. */
static struct race_frame *add_claimed(struct scene *scene)
{
	struct race_frame *frame =
		sample_frame(&scene->reported.sides[0], "main", 1, 0);
	bool changed;
	const struct race_frame *met = vec_at(&scene->met.sides[1].frames, 0);

	frame->offset =
		sample_symbol(scene->met.variable.module, "main").st_value;
	frame->line = 0;
	sample_set(&frame->file, NULL);
	sample_set(&frame->module, met->module);
	sample_set(&frame->build_id, met->build_id);
	assert_null(symbolize_frames(
		scene->symbolizer, &scene->reported.sides[0].frames, &changed));
	frame = vec_at(&scene->reported.sides[0].frames, 0);
	assert_non_null(frame->file);
	assert_true(frame->line > 0);
	return frame;
}

/* Where lines tell, too. */
static void an_address_tells_of_the_same_build(void **state)
{
	struct scene scene;
	struct race_frame *frame;

	(void)state;
	set_up(&scene);
	scene.reported.address -= 8;
	assert_true(asked(&scene, false));
	assert_false(asked(&scene, true));
	frame = add_claimed(&scene);
	assert_true(asked(&scene, true));
	scene.reported.address += 8;
	assert_false(asked(&scene, true));
	scene.reported.address -= 8;
	frame->line++;
	assert_false(asked(&scene, true));
	frame->line--;
	frame->offset = 0;
	assert_false(asked(&scene, true));
	tear_down(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			only_valgrind_maps_a_program_where_it_is_known),
		cmocka_unit_test(indices_make_no_other_variable),
		cmocka_unit_test(
			another_element_of_the_variable_is_the_variable),
		cmocka_unit_test(what_overlaps_needs_no_name),
		cmocka_unit_test(of_another_build_nothing_is_named),
		cmocka_unit_test(what_is_not_known_is_not_elsewhere),
		cmocka_unit_test(the_name_of_a_variable_tells),
		cmocka_unit_test(what_is_in_the_heap_is_no_variable),
		cmocka_unit_test(members_of_the_heap_are_told_apart),
		cmocka_unit_test(an_address_tells_of_the_same_build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
