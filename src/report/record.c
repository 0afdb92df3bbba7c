/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line of JSON to a record; see record.h. Races and crashes, the larger
 * part, are in record-race.c.
 */
#include "report/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/members.h"
#include "report/record-race.h"

enum { RECORD_SCHEMA = 1 };

void report_record_init(struct report_record *record)
{
	memset(record, 0, sizeof(*record));
	record->owned = (struct vec)VEC_INIT(void *);
	race_init(&record->race);
	crash_init(&record->crash);
}

void report_record_deinit(struct report_record *record)
{
	race_deinit(&record->race);
	crash_deinit(&record->crash);
	for (size_t i = 0; i < record->owned.count; i++)
		free(*(void **)vec_at(&record->owned, i));
	vec_deinit(&record->owned);
	report_record_init(record);
}

/* The record frees it at its end; NULL when there is no memory. */
static void *own(struct members *in, struct report_record *record, void *memory)
{
	if (memory && vec_push(&record->owned, &memory))
		return memory;
	free(memory);
	members_fail(in, error_nomem);
	return NULL;
}

static const char *own_text(struct members *in, struct report_record *record,
			    const json_t *object, const char *key)
{
	char *text = members_text(in, object, key);

	return text ? own(in, record, text) : NULL;
}

/* An array of strings, ended by NULL. */
static const char *const *own_list(struct members *in,
				   struct report_record *record,
				   const json_t *object, const char *key)
{
	const json_t *array = members_array(in, object, key);
	size_t count = json_array_size(array);
	const char **list;

	if (!array)
		return NULL;
	list = own(in, record, calloc(count + 1, sizeof(*list)));
	for (size_t i = 0; list && i < count; i++) {
		const char *text = json_string_value(json_array_get(array, i));

		if (text)
			list[i] = own(in, record, strdup(text));
		else
			members_fail(in,
				     error_create(ERROR_FORMAT,
						  "'%s' has something in it "
						  "that is no string",
						  key));
		if (!list[i])
			break;
	}
	return list;
}

static void read_modules(struct members *in, const json_t *object,
			 struct report_record *record)
{
	const json_t *array = members_array(in, object, "modules");
	size_t count = json_array_size(array);
	struct run_module *modules;

	if (count == 0)
		return;
	modules = own(in, record, calloc(count, sizeof(*modules)));
	if (!modules)
		return;
	for (size_t i = 0; i < count && !in->err; i++) {
		const json_t *item = members_item(in, array, i, "modules");

		modules[i].path = own_text(in, record, item, "path");
		modules[i].build_id = own_text(in, record, item, "build_id");
		modules[i].base = members_address(in, item, "base");
	}
	record->run.modules = modules;
	record->run.module_count = count;
}

static void check_schema(struct members *in, const json_t *object)
{
	static const char *const required[] = { "schema", NULL };
	uint64_t schema = members_uint(in, object, "schema", UINT64_MAX);

	members_require(in, object, required);
	if (!in->err && schema != RECORD_SCHEMA)
		in->err = error_create(ERROR_FORMAT,
				       "schema version %llu is not known here, "
				       "only %d",
				       (unsigned long long)schema,
				       RECORD_SCHEMA);
}

static void read_run(struct members *in, const json_t *object,
		     struct report_record *record)
{
	struct run_record *run = &record->run;

	record->type = REPORT_RUN;
	check_schema(in, object);
	run->version = own_text(in, record, object, "version");
	run->command = own_list(in, record, object, "command");
	run->options = own_list(in, record, object, "options");
	for (; run->options && run->options[run->option_count];)
		run->option_count++;
	run->host = own_text(in, record, object, "host");
	run->pid = members_int(in, object, "pid");
	run->backend = own_text(in, record, object, "backend");
	run->seed = members_uint(in, object, "seed", UINT64_MAX);
	run->start = members_time(in, object, "start");
	read_modules(in, object, record);
	run->runs = members_uint(in, object, "runs", UINT64_MAX);
	run->hosts = own_list(in, record, object, "hosts");
}

static void read_race(struct members *in, const json_t *object,
		      struct report_record *record)
{
	record->type = REPORT_RACE;
	record_read_race(in, object, &record->race);
}

static void read_crash(struct members *in, const json_t *object,
		       struct report_record *record)
{
	record->type = REPORT_CRASH;
	record_read_crash(in, object, &record->crash);
}

static void read_progress(struct members *in, const json_t *object,
			  struct report_record *record)
{
	static const char *const required[] = { "elapsed_s", "samples", NULL };
	struct run_progress *progress = &record->progress;

	record->type = REPORT_PROGRESS;
	progress->elapsed_ns = members_seconds(in, object, "elapsed_s");
	progress->samples = members_uint(in, object, "samples", UINT64_MAX);
	progress->samples_stalled =
		members_uint(in, object, "samples_stalled", UINT64_MAX);
	progress->samples_own =
		members_uint(in, object, "samples_own", UINT64_MAX);
	progress->sites_sampled =
		members_uint(in, object, "sites_sampled", UINT64_MAX);
	progress->races = members_uint(in, object, "races", UINT64_MAX);
	progress->overhead_pct = members_real(in, object, "overhead_pct");
	members_require(in, object, required);
}

static void read_coverage(struct members *in, const json_t *object,
			  struct report_record *record)
{
	const json_t *array = members_array(in, object, "coverage");
	size_t count = json_array_size(array);
	struct run_coverage *coverage;

	if (count == 0)
		return;
	coverage = own(in, record, calloc(count, sizeof(*coverage)));
	if (!coverage)
		return;
	for (size_t i = 0; i < count && !in->err; i++) {
		const json_t *item = members_item(in, array, i, "coverage");

		coverage[i].path = own_text(in, record, item, "path");
		coverage[i].sites_sampled =
			members_uint(in, item, "sites_sampled", UINT64_MAX);
		coverage[i].sites_eligible =
			members_uint(in, item, "sites_eligible", UINT64_MAX);
	}
	record->summary.coverage = coverage;
	record->summary.coverage_count = count;
}

static void read_sampling(struct members *in, const json_t *object,
			  struct run_sampling *sampling)
{
	const struct {
		const char *key;
		uint64_t *to;
	} counters[] = {
		{ "samples_stalled", &sampling->stalled },
		{ "samples_own", &sampling->own },
		{ "sites_sampled_own", &sampling->sites_sampled_own },
		{ "sites_eligible_own", &sampling->sites_eligible_own },
		{ "threads", &sampling->threads },
		{ "unwatched", &sampling->unwatched },
		{ "looks", &sampling->looks },
		{ "looks_generated", &sampling->generated },
	};

	sampling->known =
		json_is_integer(json_object_get(object, "samples_own"));
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		*counters[i].to =
			members_uint(in, object, counters[i].key, UINT64_MAX);
	sampling->proves_nothing = members_bool(in, object, "proves_nothing");
}

static void read_at(struct members *in, const json_t *object,
		    struct report_record *record)
{
	const json_t *array = members_array(in, object, "at");
	size_t count = json_array_size(array);
	struct run_at *at;

	if (count == 0)
		return;
	at = own(in, record, calloc(count, sizeof(*at)));
	if (!at)
		return;
	for (size_t i = 0; i < count && !in->err; i++) {
		const json_t *item = members_item(in, array, i, "at");

		at[i].where = own_text(in, record, item, "where");
		at[i].sites = members_uint(in, item, "sites", UINT64_MAX);
		at[i].samples = members_uint(in, item, "samples", UINT64_MAX);
		at[i].problem = own_text(in, record, item, "problem");
	}
	record->summary.at = at;
	record->summary.at_count = count;
}

static void read_patterns(struct members *in, const json_t *object,
			  struct report_record *record)
{
	const json_t *array = members_array(in, object, "patterns_unmatched");
	size_t count = json_array_size(array);
	struct run_pattern *patterns;

	if (count == 0)
		return;
	patterns = own(in, record, calloc(count, sizeof(*patterns)));
	if (!patterns)
		return;
	for (size_t i = 0; i < count && !in->err; i++) {
		const json_t *item =
			members_item(in, array, i, "patterns_unmatched");
		const char *option = own_text(in, record, item, "option");

		patterns[i].include = option && strcmp(option, "include") == 0;
		patterns[i].pattern = own_text(in, record, item, "pattern");
	}
	record->summary.patterns = patterns;
	record->summary.pattern_count = count;
}

static void read_programs(struct members *in, const json_t *object,
			  struct report_record *record)
{
	const json_t *array = members_array(in, object, "programs");
	size_t count = json_array_size(array);
	struct run_program *programs;

	record->summary.processes_single =
		members_uint(in, object, "processes_single", UINT64_MAX);
	if (count == 0)
		return;
	programs = own(in, record, calloc(count, sizeof(*programs)));
	if (!programs)
		return;
	for (size_t i = 0; i < count && !in->err; i++) {
		const json_t *item = members_item(in, array, i, "programs");
		struct run_program *program = &programs[i];

		program->path = own_text(in, record, item, "path");
		if (!program->path)
			program->path = "?";
		program->processes =
			members_uint(in, item, "processes", UINT64_MAX);
		program->threads =
			members_uint(in, item, "threads", UINT64_MAX);
		program->samples =
			members_uint(in, item, "samples", UINT64_MAX);
		program->samples_stalled =
			members_uint(in, item, "samples_stalled", UINT64_MAX);
		program->races = members_uint(in, item, "races", UINT64_MAX);
	}
	record->summary.programs = programs;
	record->summary.program_count = count;
}

static void read_summary(struct members *in, const json_t *object,
			 struct report_record *record)
{
	static const char *const required[] = { "races", "new", "samples",
						"exit", NULL };
	struct run_summary *summary = &record->summary;
	const struct {
		const char *key;
		uint64_t *to;
	} counters[] = {
		{ "races", &summary->races },
		{ "new", &summary->races_new },
		{ "suppressed", &summary->suppressed },
		{ "known", &summary->known },
		{ "unlikely", &summary->unlikely },
		{ "synchronization", &summary->synchronization },
		{ "samples", &summary->samples },
		{ "hits", &summary->hits },
		{ "sites_sampled", &summary->sites_sampled },
		{ "sites_eligible", &summary->sites_eligible },
		{ "watchpoint_traps", &summary->watchpoint_traps },
		{ "collisions", &summary->collisions },
		{ "value_changes", &summary->value_changes },
		{ "out_of_registers", &summary->out_of_registers },
		{ "dropped", &summary->dropped },
		{ "arms_refused", &summary->arms_refused },
		{ "arms", &summary->arms },
		{ "stops", &summary->stops },
		{ "unaffordable", &summary->unaffordable },
		{ "resting", &summary->resting },
	};

	record->type = REPORT_SUMMARY;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		*counters[i].to =
			members_uint(in, object, counters[i].key, UINT64_MAX);
	read_sampling(in, object, &summary->sampling);
	summary->overhead_pct = members_real(in, object, "overhead_pct");
	summary->start_pct = members_real(in, object, "start_pct");
	summary->stops_pct = members_real(in, object, "stops_pct");
	summary->computing_pct = members_real(in, object, "computing_pct");
	summary->budget_pct = members_real(in, object, "budget_pct");
	summary->cpu_ns = members_seconds(in, object, "cpu_s");
	summary->stalled_ns = members_seconds(in, object, "stalled_s");
	summary->elapsed_ns = members_seconds(in, object, "elapsed_s");
	summary->backend = own_text(in, record, object, "backend");
	summary->unsampled.reason =
		own_text(in, record, object, "unsampled_reason");
	summary->unsampled.text =
		own_text(in, record, object, "unsampled_text");
	summary->exit_status = members_int(in, object, "exit");
	read_coverage(in, object, record);
	read_at(in, object, record);
	read_patterns(in, object, record);
	read_programs(in, object, record);
	members_require(in, object, required);
}

static void read_record(struct members *in, const json_t *object,
			struct report_record *record)
{
	static const struct {
		const char *type;
		void (*read)(struct members *, const json_t *,
			     struct report_record *);
	} types[] = {
		{ "run", read_run },	     { "race", read_race },
		{ "crash", read_crash },     { "progress", read_progress },
		{ "summary", read_summary },
	};
	const char *type;

	if (!json_is_object(object)) {
		members_fail(
			in, error_create(ERROR_FORMAT,
					 "this is %s, not a JSON object: it is "
					 "no line of a racewatch report",
					 members_type_name(object)));
		return;
	}
	type = members_string(in, object, "type");
	if (!type)
		members_fail(in, error_create(ERROR_FORMAT,
					      "there is no 'type': this is no "
					      "line of a racewatch report"));
	for (size_t i = 0; type && i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(type, types[i].type) == 0)
			types[i].read(in, object, record);
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
