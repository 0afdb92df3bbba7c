/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which race; see scenario.h.
 */
#include "provoke/scenario.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"
#include "report/read.h"
#include "sampling/where.h"

struct error *scenario_parse(const char *word, char **ret_path,
			     uint64_t *ret_id)
{
	const char *hash = strrchr(word, '#');
	char *end = NULL, *path;
	uint64_t id = 0;

	errno = 0;
	if (hash && isdigit((unsigned char)hash[1]))
		id = strtoull(hash + 1, &end, 10);
	if (!hash || hash == word || !end || *end || errno || id == 0)
		return error_create(ERROR_USAGE,
				    "%s: the race must be given as REPORT#ID, "
				    "such as out.jsonl#1",
				    word);
	path = strndup(word, (size_t)(hash - word));
	if (!path)
		return error_nomem;
	*ret_path = path;
	*ret_id = id;
	return NULL;
}

/* Keep the last that has the number; *ret_last: the highest number there is. */
static struct error *scenario_read(struct scenario *scenario,
				   uint64_t *ret_last)
{
	struct report_record record;
	struct reader *reader;
	bool more = true;
	struct error *err = reader_open(scenario->path, &reader);

	if (err)
		return err;
	report_record_init(&record);
	reader_skip_malformed(reader);
	*ret_last = 0;
	while (!err && !(err = reader_next(reader, &record, &more)) && more) {
		if (record.type != REPORT_RACE)
			continue;
		if (record.race.id > *ret_last)
			*ret_last = record.race.id;
		if (record.race.id != scenario->id)
			continue;
		race_deinit(&scenario->race);
		scenario->race = record.race;
		race_init(&record.race);
	}
	report_record_deinit(&record);
	reader_close(reader);
	return err;
}

static struct error *scenario_missing(const struct scenario *scenario,
				      uint64_t last)
{
	if (last == 0)
		return error_create(ERROR_OTHER, "%s has no race",
				    scenario->path);
	return error_create(ERROR_OTHER,
			    "%s has no race #%" PRIu64
			    ": its last is #%" PRIu64,
			    scenario->path, scenario->id, last);
}

/* Why the side is no instruction of the program; NULL: it is one. */
static const char *side_problem(const struct race_side *side)
{
	const struct race_frame *frame;

	if (side->syscall)
		return "the kernel made the access, in a system call";
	if (side->role == RACE_UNKNOWN || side->frames.count == 0)
		return "nobody saw who made the access (only that the value "
		       "had changed)";
	frame = vec_at(&side->frames, 0);
	if (!frame->module || frame->offset == 0 || frame->module[0] == '[')
		return "it is in no file that could be found again";
	return NULL;
}

static struct error *scenario_add_side(struct scenario *scenario, int i)
{
	const struct race_side *side = &scenario->race.sides[i];
	const char *problem = side_problem(side);
	const struct race_frame *frame;
	struct where where = { .kind = WHERE_OFFSET };

	if (problem)
		return error_create(ERROR_OTHER,
				    "race #%" PRIu64 " cannot be provoked: of "
				    "its side %c %s",
				    scenario->id, 'a' + i, problem);
	frame = vec_at(&side->frames, 0);
	where.text = i == 0 ? "side a" : "side b";
	where.offset = frame->offset;
	where.build_id = frame->build_id;
	where.name = strdup(race_frame_module(frame));
	if (where.name && vec_push(&scenario->places, &where))
		return NULL;
	free(where.name);
	return error_nomem;
}

/* Its instructions may be those of another build, as ThreadSanitizer's are. */
static struct error *scenario_refuse_reported(const struct scenario *scenario)
{
	if (scenario->race.evidence != EVIDENCE_REPORTED)
		return NULL;
	return error_create(ERROR_OTHER,
			    "race #%" PRIu64
			    " cannot be provoked, since another "
			    "tool has reported it: hunt --candidates can",
			    scenario->id);
}

struct error *scenario_load(const char *word, struct scenario *ret)
{
	struct error *err;
	uint64_t last = 0;

	*ret = (struct scenario){ .places = VEC_INIT(struct where) };
	race_init(&ret->race);
	err = scenario_parse(word, &ret->path, &ret->id);
	if (!err)
		err = scenario_read(ret, &last);
	if (!err && ret->race.id == 0)
		err = scenario_missing(ret, last);
	if (!err)
		err = scenario_refuse_reported(ret);
	for (int i = 0; !err && i < 2; i++)
		err = scenario_add_side(ret, i);
	return err;
}

void scenario_deinit(struct scenario *scenario)
{
	for (size_t i = 0; i < scenario->places.count; i++)
		where_deinit(vec_at(&scenario->places, i));
	vec_deinit(&scenario->places);
	race_deinit(&scenario->race);
	free(scenario->path);
}

/* The build-id of a file; NULL: it has none, or cannot be read. */
static char *file_build_id(const char *path)
{
	struct image *image;
	struct error *err = image_create_file(path, &image);
	char *build_id = NULL;

	if (!err) {
		const struct vec *modules = image_modules(image);
		const struct module *module =
			modules->count > 0
				? *(struct module *const *)vec_at(modules, 0)
				: NULL;
		const char *found = module && module->text
					    ? elftext_build_id(module->text)
					    : NULL;

		build_id = found ? strdup(found) : NULL;
		image_destroy(image);
	}
	error_free(err);
	return build_id;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct error *scenario_check_builds(const struct scenario *scenario,
				    const char *command)
{
	for (int i = 0; i < 2; i++) {
		const struct race_frame *frame =
			vec_at(&scenario->race.sides[i].frames, 0);
		const char *path = frame->module;
		char *build_id;
		bool other;

		if (command && strcmp(last_part(command), last_part(path)) == 0)
			path = command;
		build_id = frame->build_id ? file_build_id(path) : NULL;
		other = build_id && strcmp(build_id, frame->build_id) != 0;
		free(build_id);
		if (other)
			return error_create(
				ERROR_OTHER,
				"%s is another build than the one that %s is "
				"of: report the race anew",
				path, scenario->path);
	}
	return NULL;
}
