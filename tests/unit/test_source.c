/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/report/source.c: source lines, and files that are none. */
#include "report/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sample-race.h"

struct place {
	char directory[64];
	struct vec directories;
	struct race race;
	struct sources sources;
};

static const char *path_of(const struct place *place, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", place->directory, name);
	return path;
}

static void write_file(const struct place *place, const char *name,
		       const char *text, size_t size)
{
	FILE *file = fopen(path_of(place, name), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	fclose(file);
}

#define WRITE(place, name, text) write_file(place, name, text, strlen(text))

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	if (!place)
		return -1;
	snprintf(place->directory, sizeof(place->directory),
		 "/tmp/racewatch-source.XXXXXX");
	if (!mkdtemp(place->directory))
		return -1;
	place->directories = (struct vec)VEC_INIT(const char *);
	sources_init(&place->sources, &place->directories);
	sample_race(&place->race);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "a.c", "sub/a.c", "sub", "fifo" };
	struct place *place = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		remove(path_of(place, names[i]));
	rmdir(place->directory);
	sources_deinit(&place->sources);
	vec_deinit(&place->directories);
	race_deinit(&place->race);
	free(place);
	return 0;
}

static struct race_frame *frame_of(struct place *place)
{
	return vec_at(&place->race.sides[0].frames, 0);
}

/* The line that is found for this file and number. */
static const char *line_of(struct place *place, const char *file, int number)
{
	static const struct rights *const own[2] = { NULL, NULL };
	struct race_frame *frame = frame_of(place);

	sample_set(&frame->file, file);
	sample_set(&frame->source, NULL);
	frame->line = number;
	sources_describe(&place->sources, &place->race, own);
	return frame->source;
}

static void lines_are_found_by_number(void **state)
{
	struct place *place = *state;

	WRITE(place, "a.c", "one\n\ttwo\r\n\nlast");
	assert_string_equal(line_of(place, path_of(place, "a.c"), 1), "one");
	assert_string_equal(line_of(place, path_of(place, "a.c"), 2), "\ttwo");
	assert_string_equal(line_of(place, path_of(place, "a.c"), 3), "");
	assert_string_equal(line_of(place, path_of(place, "a.c"), 4), "last");
	assert_null(line_of(place, path_of(place, "a.c"), 5));
	assert_null(line_of(place, path_of(place, "a.c"), 0));
	assert_null(line_of(place, path_of(place, "none.c"), 1));
}

static void directories_are_searched_by_ends_of_paths(void **state)
{
	struct place *place = *state;
	const char *directory = place->directory;

	assert_int_equal(mkdir(path_of(place, "sub"), 0700), 0);
	WRITE(place, "a.c", "above\n");
	WRITE(place, "sub/a.c", "below\n");
	assert_true(vec_push(&place->directories, &directory));
	assert_string_equal(line_of(place, "/build/x/sub/a.c", 1), "below");
	assert_string_equal(line_of(place, "/build/other/a.c", 1), "above");
	assert_string_equal(line_of(place, "../sub/a.c", 1), "below");
	assert_null(line_of(place, "/build/x/b.c", 1));
}

static void relative_files_are_where_they_were_compiled(void **state)
{
	struct place *place = *state;
	struct race_frame *frame = frame_of(place);

	assert_int_equal(mkdir(path_of(place, "sub"), 0700), 0);
	WRITE(place, "sub/a.c", "below\n");
	assert_null(line_of(place, "sub/a.c", 1));
	sample_set(&frame->folder, place->directory);
	assert_string_equal(line_of(place, "sub/a.c", 1), "below");
	/* that of another unit, with a file of the same name */
	sample_set(&frame->folder, "/nowhere");
	assert_null(line_of(place, "sub/a.c", 1));
	sample_set(&frame->folder, NULL);
}

/* Would stop a reader that waits, or fill its memory. */
static void what_is_no_source_is_passed_over(void **state)
{
	struct place *place = *state;
	char *line = malloc(1000);

	assert_int_equal(mkfifo(path_of(place, "fifo"), 0600), 0);
	assert_null(line_of(place, path_of(place, "fifo"), 1));
	assert_null(line_of(place, "/dev/zero", 1));
	assert_null(line_of(place, "/", 1));
	assert_null(line_of(place, "", 1));
	write_file(place, "a.c", "\177ELF\0x\n", 7);
	assert_null(line_of(place, path_of(place, "a.c"), 1));
	assert_int_equal(mkdir(path_of(place, "sub"), 0700), 0);
	assert_non_null(line);
	memset(line, 'x', 1000);
	write_file(place, "sub/a.c", line, 1000);
	assert_null(line_of(place, path_of(place, "sub/a.c"), 1));
	/* a file of holes, larger than any source; by another name */
	assert_int_equal(truncate(path_of(place, "a.c"), 1 << 30), 0);
	assert_null(line_of(place, path_of(place, "./a.c"), 1));
	free(line);
}

static void newer_sources_are_told(void **state)
{
	struct place *place = *state;
	struct race_frame *frame = frame_of(place);
	static const struct timespec old[2] = { { .tv_sec = 1000 },
						{ .tv_sec = 1000 } };

	WRITE(place, "a.c", "one\n");
	WRITE(place, "fifo", "the program\n");
	sample_set(&frame->module, path_of(place, "fifo"));
	/* both are of now */
	assert_non_null(line_of(place, path_of(place, "a.c"), 1));
	assert_int_equal(place->sources.newer.count, 0);
	assert_int_equal(utimensat(AT_FDCWD, frame->module, old, 0), 0);
	assert_non_null(line_of(place, path_of(place, "./a.c"), 1));
	assert_int_equal(place->sources.newer.count, 1);
	assert_string_equal(*(char **)vec_at(&place->sources.newer, 0),
			    path_of(place, "./a.c"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_are_found_by_number,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			directories_are_searched_by_ends_of_paths, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			relative_files_are_where_they_were_compiled, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_no_source_is_passed_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(newer_sources_are_told, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
