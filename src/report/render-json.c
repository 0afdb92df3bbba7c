/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports as JSON lines, schema version 1: racewatch-json(5). Every member is
 * always there; what is unknown is null.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/crash.h"
#include "report/race.h"
#include "report/render.h"
#include "report/run.h"
#include "report/value.h"

enum { JSON_SCHEMA = 1, JSON_DIGITS = 15 };

/*
 * One line. jansson answers a lack of memory, and a NULL member it is given,
 * with an error each time: they are gathered in `failed` and looked at once.
 */
struct record {
	json_t *object;
	bool failed;
};

static void put(struct record *record, const char *key, json_t *value)
{
	if (json_object_set_new_nocheck(record->object, key, value) < 0)
		record->failed = true;
}

static json_t *string_of(struct strbuf *text)
{
	json_t *string = NULL;

	if (!text->failed)
		string = json_string_nocheck(strbuf_text(text));
	strbuf_deinit(text);
	return string;
}

/* A string that need not be UTF-8; NULL: null. */
static json_t *text_of(const char *text)
{
	struct strbuf clean = { 0 };

	if (!text)
		return json_null();
	utf8_add(&clean, text);
	return string_of(&clean);
}

static void put_text(struct record *record, const char *key, const char *text)
{
	put(record, key, text_of(text));
}

/*
 * JSON integers end at 2^63 - 1 here; what is beyond comes as a string of
 * digits instead of a wrong number.
 */
static void put_uint(struct record *record, const char *key, uint64_t n)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, n);
	put(record, key,
	    n <= INT64_MAX ? json_integer((json_int_t)n) : json_string(digits));
}

/* null instead of zero, where zero stands for unknown */
static void put_known(struct record *record, const char *key, uint64_t n)
{
	if (n)
		put_uint(record, key, n);
	else
		put(record, key, json_null());
}

static void put_real(struct record *record, const char *key, double number)
{
	put(record, key, isfinite(number) ? json_real(number) : json_null());
}

static void put_seconds(struct record *record, const char *key, uint64_t ns)
{
	put_real(record, key, (double)ns / 1e9);
}

static void put_us(struct record *record, const char *key, uint64_t ns)
{
	put_uint(record, key, (ns + CLOCK_NS_PER_US / 2) / CLOCK_NS_PER_US);
}

static void put_time(struct record *record, const char *key, uint64_t wall_ns)
{
	char text[CLOCK_RFC3339_SIZE];

	clock_format_rfc3339(wall_ns, text);
	put_text(record, key, text);
}

static void put_address(struct record *record, const char *key,
			uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	put_text(record, key, text);
}

static void put_bytes(struct record *record, const char *key,
		      const uint8_t *bytes, uint32_t size)
{
	struct strbuf text = { 0 };

	value_add_hex(&text, bytes,
		      size < X86_ACCESS_MAX ? size : X86_ACCESS_MAX);
	put(record, key, string_of(&text));
}

static struct record record_begin(const char *type)
{
	struct record record = { json_object(), false };

	if (type)
		put_text(&record, "type", type);
	return record;
}

/* The object, which the caller owns; NULL when out of memory. */
static json_t *record_end(struct record *record)
{
	if (!record->failed)
		return record->object;
	json_decref(record->object);
	return NULL;
}

static void put_record(struct record *record, const char *key,
		       struct record *value)
{
	put(record, key, record_end(value));
}

/* To an array; NULL value: out of memory. */
static void append(struct record *owner, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		owner->failed = true;
}

/* Write a line at once, so that a crash leaves whole ones. */
static struct error *record_write(struct record *record, FILE *out)
{
	json_t *object = record_end(record);
	struct error *err = NULL;
	char *text;

	text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(
								  JSON_DIGITS))
		      : NULL;
	json_decref(object);
	if (!text)
		return error_nomem;
	errno = 0;
	if (fputs(text, out) < 0 || putc('\n', out) < 0 || fflush(out) != 0)
		err = error_os(errno ? errno : EIO, "write the report");
	free(text);
	return err;
}

static json_t *modules_of(const struct run_record *run, struct record *record)
{
	json_t *modules = json_array();

	for (size_t i = 0; i < run->module_count; i++) {
		struct record module = record_begin(NULL);

		put_text(&module, "path", run->modules[i].path);
		put_text(&module, "build_id", run->modules[i].build_id);
		put_address(&module, "base", run->modules[i].base);
		append(record, modules, record_end(&module));
	}
	return modules;
}

/* Ended by NULL. */
static json_t *strings_of(const char *const *list, struct record *record)
{
	json_t *array = json_array();

	for (size_t i = 0; list[i]; i++)
		append(record, array, text_of(list[i]));
	return array;
}

static struct error *json_run(struct renderer *renderer,
			      const struct run_record *run)
{
	struct record record = record_begin("run");

	put_uint(&record, "schema", JSON_SCHEMA);
	put_text(&record, "version", run->version);
	put(&record, "command",
	    run->command ? strings_of(run->command, &record) : json_null());
	put_known(&record, "pid", (uint64_t)run->pid);
	put_text(&record, "host", run->host);
	put_text(&record, "backend", run->backend);
	if (run->runs > 1)
		put(&record, "seed", json_null());
	else
		put_uint(&record, "seed", run->seed);
	put_time(&record, "start", run->start);
	put(&record, "modules", modules_of(run, &record));
	put_uint(&record, "runs", run->runs ? run->runs : 1);
	put(&record, "hosts",
	    run->hosts ? strings_of(run->hosts, &record) : json_array());
	return record_write(&record, renderer->out);
}

static void put_variable(struct record *record,
			 const struct race_variable *variable)
{
	struct record object = record_begin(NULL);

	put_text(&object, "name", variable->name);
	put_text(&object, "symbol", variable->symbol);
	if (variable->symbol)
		put_uint(&object, "offset", variable->offset);
	else
		put(&object, "offset", json_null());
	put_text(&object, "type", variable->type);
	put_text(&object, "container", variable->container);
	put_text(&object, "file", variable->file);
	put_known(&object, "line", (uint64_t)variable->line);
	put_text(&object, "region",
		 variable->region == REGION_UNKNOWN
			 ? NULL
			 : race_region_name(variable->region));
	put_text(&object, "module", variable->module);
	if (variable->module)
		put_address(&object, "module_offset", variable->module_offset);
	else
		put(&object, "module_offset", json_null());
	put_known(&object, "owner", (uint64_t)variable->owner);
	put_text(&object, "owner_thread", variable->owner_thread);
	put_record(record, "variable", &object);
}

static json_t *frame_of(const struct race_frame *frame)
{
	struct record object = record_begin(NULL);

	put_text(&object, "function", frame->function);
	put_text(&object, "file", frame->file);
	put_known(&object, "line", (uint64_t)frame->line);
	put_known(&object, "column", (uint64_t)frame->column);
	put_text(&object, "module", frame->module);
	put_text(&object, "build_id", frame->build_id);
	put_address(&object, "offset", frame->offset);
	put(&object, "inlined", json_boolean(frame->inlined));
	put_text(&object, "source", frame->source);
	return record_end(&object);
}

static json_t *frames_of(const struct vec *frames, struct record *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < frames->count; i++)
		append(record, array, frame_of(vec_at(frames, i)));
	return array;
}

static const char *access_word(unsigned int access)
{
	switch (access) {
	case ACCESS_READ:
		return "read";
	case ACCESS_WRITE:
		return "write";
	case ACCESS_RMW:
		return "rmw";
	default:
		return NULL;
	}
}

static json_t *thread_path_of(const struct race_side *side,
			      struct record *record)
{
	json_t *path;

	if (!side->thread_path)
		return json_null();
	path = json_array();
	for (size_t i = 0; i < side->thread_path_length; i++)
		append(record, path, json_integer(side->thread_path[i]));
	return path;
}

static json_t *side_of(const struct race_side *side)
{
	struct record object = record_begin(NULL);

	put_text(&object, "role", race_role_name(side->role));
	put_text(&object, "access", access_word(side->access));
	put_known(&object, "size", side->size);
	put(&object, "atomic",
	    side->role == RACE_UNKNOWN ? json_null()
				       : json_boolean(side->atomic));
	put_known(&object, "pid", (uint64_t)side->pid);
	put_known(&object, "tid", (uint64_t)side->tid);
	put_text(&object, "thread", side->thread);
	put(&object, "thread_path", thread_path_of(side, &object));
	put_text(&object, "syscall", side->syscall);
	put_text(&object, "insn", side->insn);
	put(&object, "frames", frames_of(&side->frames, &object));
	put(&object, "created",
	    side->created.count ? frames_of(&side->created, &object)
				: json_null());
	put_known(&object, "creator", (uint64_t)side->creator);
	put_text(&object, "creator_thread", side->creator_thread);
	return record_end(&object);
}

static void put_sides(struct record *record, const struct race *race)
{
	json_t *sides = json_array();

	append(record, sides, side_of(&race->sides[0]));
	append(record, sides, side_of(&race->sides[1]));
	put(record, "sides", sides);
}

static json_t *values_of(const struct race *race, struct record *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < race->values.count; i++) {
		const struct race_values *values = vec_at(&race->values, i);
		struct record object = record_begin(NULL);

		put_bytes(&object, "before", values->before, race->size);
		put_bytes(&object, "after", values->after, race->size);
		put_uint(&object, "count", values->count);
		append(record, array, record_end(&object));
	}
	return array;
}

static void put_suppression(struct record *record,
			    const struct race_suppression *suppression)
{
	struct record object;

	if (!suppression->rule) {
		put(record, "suppressed", json_null());
		return;
	}
	object = record_begin(NULL);
	put_text(&object, "rule", suppression->rule);
	put_text(&object, "file", suppression->file);
	put_known(&object, "line", (uint64_t)suppression->line);
	put_text(&object, "reason", suppression->reason);
	put_text(&object, "bug", suppression->bug);
	put_record(record, "suppressed", &object);
}

static json_t *hosts_of(const struct race *race, struct record *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < race->hosts.count; i++)
		append(record, array,
		       text_of(*(char **)vec_at(&race->hosts, i)));
	return array;
}

static struct error *json_race(struct renderer *renderer,
			       const struct race *race)
{
	struct record record = record_begin("race");

	put_uint(&record, "id", race->id);
	put_time(&record, "time", race->time);
	put_time(&record, "last_time",
		 race->last_time ? race->last_time : race->time);
	put_text(&record, "fingerprint", race->fingerprint);
	put_text(&record, "fingerprint_code", race->fingerprint_code);
	put_text(&record, "kind", race_kind(race));
	put_text(&record, "evidence", race_evidence_name(race->evidence));
	put_text(&record, "backend", race->backend);
	put_known(&record, "pid", (uint64_t)race->pid);
	put_text(&record, "program", race->program);
	put_address(&record, "address", race->address);
	put_uint(&record, "size", race->size);
	put_bytes(&record, "before", race->before, race->size);
	put_bytes(&record, "after", race->after, race->size);
	put(&record, "values", values_of(race, &record));
	put_bytes(&record, "changed", race->changed, race->size);
	put_variable(&record, &race->variable);
	put_sides(&record, race);
	put_uint(&record, "count", race->count);
	put_text(&record, "verdict", race_verdict_name(race->verdict));
	put_text(&record, "reason", race->reason);
	put(&record, "replay", json_null());
	put_suppression(&record, &race->suppressed);
	put_text(&record, "status", race_status_name(race->status));
	put_uint(&record, "runs", race->runs ? race->runs : 1);
	put(&record, "hosts", hosts_of(race, &record));
	put_us(&record, "stall_us", race->stall_ns);
	put_us(&record, "elapsed_us", race->elapsed_ns);
	return record_write(&record, renderer->out);
}

static json_t *related_races_of(const struct crash *crash,
				struct record *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < crash->races.count; i++) {
		const struct crash_race *race = vec_at(&crash->races, i);
		struct record object = record_begin(NULL);

		put_known(&object, "id", race->id);
		put_text(&object, "variable", race->variable);
		put_text(&object, "fingerprint",
			 race->fingerprint[0] ? race->fingerprint : NULL);
		put_seconds(&object, "before_s", race->before_ns);
		put(&object, "same_address", json_boolean(race->same_address));
		put(&object, "same_object", json_boolean(race->same_object));
		put(&object, "same_pointer", json_boolean(race->same_pointer));
		put(&object, "same_function",
		    json_boolean(race->same_function));
		append(record, array, record_end(&object));
	}
	return array;
}

static struct error *json_crash(struct renderer *renderer,
				const struct crash *crash)
{
	struct record record = record_begin("crash");

	put_time(&record, "time", crash->time);
	put_uint(&record, "signal", (uint64_t)crash->signal);
	put_known(&record, "pid", (uint64_t)crash->pid);
	put_known(&record, "tid", (uint64_t)crash->tid);
	put_text(&record, "thread", crash->thread);
	if (crash->has_address)
		put_address(&record, "address", crash->address);
	else
		put(&record, "address", json_null());
	put(&record, "frames", frames_of(&crash->frames, &record));
	put(&record, "races", related_races_of(crash, &record));
	return record_write(&record, renderer->out);
}

static struct error *json_progress(struct renderer *renderer,
				   const struct run_progress *progress)
{
	struct record record = record_begin("progress");

	put_seconds(&record, "elapsed_s", progress->elapsed_ns);
	put_uint(&record, "samples", progress->samples);
	put_uint(&record, "sites_sampled", progress->sites_sampled);
	put_uint(&record, "races", progress->races);
	put_real(&record, "overhead_pct", progress->overhead_pct);
	return record_write(&record, renderer->out);
}

static json_t *coverage_of(const struct run_summary *summary,
			   struct record *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < summary->coverage_count; i++) {
		const struct run_coverage *module = &summary->coverage[i];
		struct record object = record_begin(NULL);

		put_text(&object, "path", module->path);
		put_uint(&object, "sites_sampled", module->sites_sampled);
		put_uint(&object, "sites_eligible", module->sites_eligible);
		append(record, array, record_end(&object));
	}
	return array;
}

static struct error *json_summary(struct renderer *renderer,
				  const struct run_summary *summary)
{
	struct record record = record_begin("summary");

	put_uint(&record, "races", summary->races);
	put_uint(&record, "new", summary->races_new);
	put_uint(&record, "suppressed", summary->suppressed);
	put_uint(&record, "known", summary->known);
	put_uint(&record, "synchronization", summary->synchronization);
	put_uint(&record, "samples", summary->samples);
	put_uint(&record, "hits", summary->hits);
	put_uint(&record, "sites_sampled", summary->sites_sampled);
	put_uint(&record, "sites_eligible", summary->sites_eligible);
	put_uint(&record, "watchpoint_traps", summary->watchpoint_traps);
	put_uint(&record, "collisions", summary->collisions);
	put_uint(&record, "value_changes", summary->value_changes);
	put_uint(&record, "out_of_registers", summary->out_of_registers);
	put_uint(&record, "dropped", summary->dropped);
	put_uint(&record, "arms_refused", summary->arms_refused);
	put_real(&record, "overhead_pct", summary->overhead_pct);
	put_seconds(&record, "stalled_s", summary->stalled_ns);
	put_seconds(&record, "elapsed_s", summary->elapsed_ns);
	put_text(&record, "backend", summary->backend);
	put(&record, "coverage", coverage_of(summary, &record));
	put(&record, "exit", json_integer(summary->exit_status));
	return record_write(&record, renderer->out);
}

const struct renderer_ops render_json = {
	.name = "json",
	.run = json_run,
	.race = json_race,
	.crash = json_crash,
	.progress = json_progress,
	.summary = json_summary,
};
