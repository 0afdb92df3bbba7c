/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line of JSON to a record; see record.h. What a record has is in the tables of
 * fields (field.h).
 */
#include "report/record.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/field.h"
#include "report/members.h"

static const struct {
	const struct fields *fields;
	size_t offset; /* in struct report_record */
} types[] = {
	[REPORT_RUN] = { &run_fields, offsetof(struct report_record, run) },
	[REPORT_RACE] = { &race_fields, offsetof(struct report_record, race) },
	[REPORT_CRASH] = { &crash_fields,
			   offsetof(struct report_record, crash) },
	[REPORT_PROGRESS] = { &progress_fields,
			      offsetof(struct report_record, summary) },
	[REPORT_SUMMARY] = { &summary_fields,
			     offsetof(struct report_record, summary) },
	[REPORT_TARGET] = { &target_fields,
			    offsetof(struct report_record, target) },
	[REPORT_CANDIDATE] = { &candidate_fields,
			       offsetof(struct report_record, candidate) },
};

enum { TYPES = sizeof(types) / sizeof(types[0]) };

static void *part(struct report_record *record, unsigned int type)
{
	return (char *)record + types[type].offset;
}

void report_record_init(struct report_record *record)
{
	record->type = REPORT_OTHER;
	for (unsigned int type = REPORT_RUN; type < TYPES; type++)
		fields_init(types[type].fields, part(record, type));
}

void report_record_deinit(struct report_record *record)
{
	if (record->type != REPORT_OTHER)
		fields_deinit(types[record->type].fields,
			      part(record, record->type));
	record->type = REPORT_OTHER;
}

static void read_record(struct members *in, const json_t *object,
			struct report_record *record)
{
	const char *name;

	if (!json_is_object(object)) {
		members_fail(
			in, error_create(ERROR_FORMAT,
					 "this is %s, not a JSON object: it is "
					 "no line of a racewatch report",
					 members_type_name(object)));
		return;
	}
	name = members_string(in, object, "type");
	if (!name)
		members_fail(in, error_create(ERROR_FORMAT,
					      "there is no 'type': this is no "
					      "line of a racewatch report"));
	for (unsigned int type = REPORT_RUN; name && type < TYPES; type++) {
		if (strcmp(name, types[type].fields->type) != 0)
			continue;
		record->type = (enum report_type)type;
		fields_read(in, types[type].fields, object, part(record, type));
	}
}

/*
 * Is it wrong in this record alone? Without its run a file is none that can be
 * understood.
 */
static bool is_one_record(const struct report_record *record)
{
	return record->type != REPORT_OTHER && record->type != REPORT_RUN;
}

/* What jansson says may quote the line, which can hold anything. */
static struct error *not_json(const json_error_t *error)
{
	struct strbuf text = { 0 };
	struct error *err;

	if (json_error_code(error) == json_error_out_of_memory)
		return error_nomem;
	utf8_add_visible(&text, error->text);
	err = error_create(ERROR_FORMAT, "column %d: this is not JSON: %s",
			   error->position, strbuf_text(&text));
	strbuf_deinit(&text);
	if (err != error_nomem)
		err->code = EBADMSG;
	return err;
}

struct error *report_record_parse(const char *line, size_t length,
				  struct report_record *record)
{
	struct members in = { .err = NULL };
	json_error_t error;
	json_t *object;

	report_record_deinit(record);
	object = json_loadb(line, length,
			    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (!object)
		return not_json(&error);
	read_record(&in, object, record);
	json_decref(object);
	if (in.err && in.err != error_nomem && is_one_record(record))
		in.err->code = EINVAL;
	if (in.err)
		report_record_deinit(record);
	return in.err;
}
