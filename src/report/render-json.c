/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports as JSON lines, schema version 1: racewatch-json(5). Every member is
 * always there; what is unknown is null.
 */
#include <math.h>

#include "base/error.h"
#include "report/crash.h"
#include "report/doubt.h"
#include "report/idioms.h"
#include "report/object.h"
#include "report/race.h"
#include "report/render.h"
#include "report/run.h"

enum { JSON_SCHEMA = 1 };

static json_t *modules_of(const struct run_record *run, struct object *record)
{
	json_t *modules = json_array();

	for (size_t i = 0; i < run->module_count; i++) {
		struct object module = object_begin(NULL);

		object_put_text(&module, "path", run->modules[i].path);
		object_put_text(&module, "build_id", run->modules[i].build_id);
		object_put_address(&module, "base", run->modules[i].base);
		object_append(record, modules, object_end(&module));
	}
	return modules;
}

/* Ended by NULL. */
static json_t *strings_of(const char *const *list, struct object *record)
{
	json_t *array = json_array();

	for (size_t i = 0; list[i]; i++)
		object_append(record, array, object_text(list[i]));
	return array;
}

static json_t *options_of(const struct run_record *run, struct object *record)
{
	json_t *array = run->options ? json_array() : json_null();

	for (size_t i = 0; run->options && i < run->option_count; i++)
		object_append(record, array, object_text(run->options[i]));
	return array;
}

static struct error *json_run(struct renderer *renderer,
			      const struct run_record *run)
{
	struct object record = object_begin("run");

	object_put_uint(&record, "schema", JSON_SCHEMA);
	object_put_text(&record, "version", run->version);
	object_put(&record, "command",
		   run->command ? strings_of(run->command, &record)
				: json_null());
	object_put(&record, "options", options_of(run, &record));
	object_put_known(&record, "pid", (uint64_t)run->pid);
	object_put_text(&record, "host", run->host);
	object_put_text(&record, "backend", run->backend);
	if (run->runs > 1)
		object_put(&record, "seed", json_null());
	else
		object_put_uint(&record, "seed", run->seed);
	object_put_time(&record, "start", run->start);
	object_put(&record, "modules", modules_of(run, &record));
	object_put_uint(&record, "runs", run->runs ? run->runs : 1);
	object_put(&record, "hosts",
		   run->hosts ? strings_of(run->hosts, &record) : json_array());
	return object_write(&record, renderer->out);
}

static void put_variable(struct object *record,
			 const struct race_variable *variable)
{
	struct object object = object_begin(NULL);

	object_put_text(&object, "name", variable->name);
	object_put_text(&object, "symbol", variable->symbol);
	if (variable->symbol)
		object_put_uint(&object, "offset", variable->offset);
	else
		object_put(&object, "offset", json_null());
	object_put_text(&object, "type", variable->type);
	object_put_text(&object, "container", variable->container);
	object_put_text(&object, "file", variable->file);
	object_put_known(&object, "line", (uint64_t)variable->line);
	object_put_text(&object, "region",
			variable->region == REGION_UNKNOWN
				? NULL
				: race_region_name(variable->region));
	object_put_text(&object, "module", variable->module);
	if (variable->module)
		object_put_address(&object, "module_offset",
				   variable->module_offset);
	else
		object_put(&object, "module_offset", json_null());
	object_put_known(&object, "owner", (uint64_t)variable->owner);
	object_put_text(&object, "owner_thread", variable->owner_thread);
	object_put_record(record, "variable", &object);
}

static json_t *frame_of(const struct race_frame *frame)
{
	struct object object = object_begin(NULL);

	object_put_text(&object, "function", frame->function);
	object_put_text(&object, "file", frame->file);
	object_put_known(&object, "line", (uint64_t)frame->line);
	object_put_known(&object, "column", (uint64_t)frame->column);
	object_put_text(&object, "module", frame->module);
	object_put_text(&object, "build_id", frame->build_id);
	object_put_address(&object, "offset", frame->offset);
	object_put(&object, "inlined", json_boolean(frame->inlined));
	object_put_text(&object, "source", frame->source);
	return object_end(&object);
}

static json_t *frames_of(const struct vec *frames, struct object *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < frames->count; i++)
		object_append(record, array, frame_of(vec_at(frames, i)));
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
			      struct object *record)
{
	json_t *path;

	if (!side->thread_path)
		return json_null();
	path = json_array();
	for (size_t i = 0; i < side->thread_path_length; i++)
		object_append(record, path, json_integer(side->thread_path[i]));
	return path;
}

/* What the code does with the value; null when nothing is known of that. */
static void put_idiom(struct object *record, const struct insn_idiom *idiom)
{
	struct object object;

	if (!race_idiom_is_known(idiom)) {
		object_put(record, "idiom", json_null());
		return;
	}
	object = object_begin(NULL);
	object_put_text(&object, "change", race_change_name(idiom->change));
	object_put(&object, "delta", json_integer(idiom->delta));
	object_put_address(&object, "changed", idiom->changed);
	if (idiom->used == UINT64_MAX)
		object_put(&object, "used", json_null());
	else
		object_put_address(&object, "used", idiom->used);
	object_put(&object, "compared", json_boolean(idiom->compared));
	object_put(&object, "tests_zero", json_boolean(idiom->tests_zero));
	object_put(&object, "dereferenced", json_boolean(idiom->dereferenced));
	object_put(&object, "locked_beside",
		   json_boolean(idiom->locked_beside));
	object_put(&object, "locked_adds", json_boolean(idiom->locked_adds));
	object_put(&object, "stored_plainly",
		   json_boolean(idiom->stored_plainly));
	object_put(&object, "retested", json_boolean(idiom->retested));
	object_put(&object, "dispatch", json_boolean(idiom->dispatch));
	object_put_text(&object, "pair", race_pair_name(idiom->pair));
	object_put_text(&object, "guard", race_guard_name(idiom->guard));
	if (idiom->lock)
		object_put_address(&object, "lock", idiom->lock);
	else
		object_put(&object, "lock", json_null());
	object_put_record(record, "idiom", &object);
}

static json_t *side_of(const struct race_side *side)
{
	struct object object = object_begin(NULL);

	object_put_text(&object, "role", race_role_name(side->role));
	object_put_text(&object, "access", access_word(side->access));
	object_put_known(&object, "size", side->size);
	object_put(&object, "atomic",
		   side->role == RACE_UNKNOWN ? json_null()
					      : json_boolean(side->atomic));
	object_put_known(&object, "pid", (uint64_t)side->pid);
	object_put_known(&object, "tid", (uint64_t)side->tid);
	object_put_text(&object, "thread", side->thread);
	object_put(&object, "thread_path", thread_path_of(side, &object));
	object_put_text(&object, "syscall", side->syscall);
	object_put_text(&object, "insn", side->insn);
	if (side->address)
		object_put_address(&object, "address", side->address);
	else
		object_put(&object, "address", json_null());
	object_put_text(&object, "sync", side->sync);
	object_put_text(&object, "missing", race_missing_name(side->missing));
	put_idiom(&object, &side->idiom);
	object_put(&object, "frames", frames_of(&side->frames, &object));
	object_put(&object, "created",
		   side->created.count ? frames_of(&side->created, &object)
				       : json_null());
	object_put_known(&object, "creator", (uint64_t)side->creator);
	object_put_text(&object, "creator_thread", side->creator_thread);
	return object_end(&object);
}

static void put_sides(struct object *record, const struct race *race)
{
	json_t *sides = json_array();

	object_append(record, sides, side_of(&race->sides[0]));
	object_append(record, sides, side_of(&race->sides[1]));
	object_put(record, "sides", sides);
}

static json_t *values_of(const struct race *race, struct object *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < race->values.count; i++) {
		const struct race_values *values = vec_at(&race->values, i);
		struct object object = object_begin(NULL);

		object_put_bytes(&object, "before", values->before, race->size);
		object_put_bytes(&object, "after", values->after, race->size);
		object_put_uint(&object, "count", values->count);
		object_append(record, array, object_end(&object));
	}
	return array;
}

static void put_suppression(struct object *record,
			    const struct race_suppression *suppression)
{
	struct object object;

	if (!suppression->rule) {
		object_put(record, "suppressed", json_null());
		return;
	}
	object = object_begin(NULL);
	object_put_text(&object, "rule", suppression->rule);
	object_put_text(&object, "file", suppression->file);
	object_put_known(&object, "line", (uint64_t)suppression->line);
	object_put_text(&object, "reason", suppression->reason);
	object_put_text(&object, "bug", suppression->bug);
	object_put_record(record, "suppressed", &object);
}

static json_t *hosts_of(const struct race *race, struct object *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < race->hosts.count; i++)
		object_append(record, array,
			      object_text(*(char **)vec_at(&race->hosts, i)));
	return array;
}

static struct error *json_race(struct renderer *renderer,
			       const struct race *race)
{
	struct object record = object_begin("race");

	object_put_uint(&record, "id", race->id);
	object_put_time(&record, "time", race->time);
	object_put_time(&record, "last_time",
			race->last_time ? race->last_time : race->time);
	object_put_text(&record, "fingerprint", race->fingerprint);
	object_put_text(&record, "fingerprint_code", race->fingerprint_code);
	object_put_text(&record, "kind", race_kind(race));
	object_put_text(&record, "evidence",
			race_evidence_name(race->evidence));
	object_put_text(&record, "backend", race->backend);
	object_put_known(&record, "pid", (uint64_t)race->pid);
	object_put_text(&record, "program", race->program);
	object_put_address(&record, "address", race->address);
	object_put_uint(&record, "size", race->size);
	object_put_bytes(&record, "before", race->before, race->size);
	object_put_bytes(&record, "after", race->after, race->size);
	object_put(&record, "values", values_of(race, &record));
	object_put_bytes(&record, "changed", race->changed, race->size);
	put_variable(&record, &race->variable);
	put_sides(&record, race);
	object_put_uint(&record, "count", race->count);
	object_put_text(&record, "verdict", race_verdict_name(race->verdict));
	object_put_text(&record, "reason", race->reason);
	object_put_text(&record, "grounds", race->grounds);
	object_put_text(&record, "doubt", race_doubt_text(race));
	object_put(&record, "replay", json_null());
	put_suppression(&record, &race->suppressed);
	object_put_text(&record, "status", race_status_name(race->status));
	object_put_uint(&record, "runs", race->runs ? race->runs : 1);
	object_put(&record, "hosts", hosts_of(race, &record));
	object_put_us(&record, "stall_us", race->stall_ns);
	object_put_us(&record, "elapsed_us", race->elapsed_ns);
	return object_write(&record, renderer->out);
}

static json_t *related_races_of(const struct crash *crash,
				struct object *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < crash->races.count; i++) {
		const struct crash_race *race = vec_at(&crash->races, i);
		struct object object = object_begin(NULL);

		object_put_known(&object, "id", race->id);
		object_put_text(&object, "variable", race->variable);
		object_put_text(&object, "fingerprint",
				race->fingerprint[0] ? race->fingerprint
						     : NULL);
		object_put_seconds(&object, "before_s", race->before_ns);
		object_put(&object, "same_address",
			   json_boolean(race->same_address));
		object_put(&object, "same_object",
			   json_boolean(race->same_object));
		object_put(&object, "same_pointer",
			   json_boolean(race->same_pointer));
		object_put(&object, "same_function",
			   json_boolean(race->same_function));
		object_append(record, array, object_end(&object));
	}
	return array;
}

static struct error *json_crash(struct renderer *renderer,
				const struct crash *crash)
{
	struct object record = object_begin("crash");

	object_put_time(&record, "time", crash->time);
	object_put_uint(&record, "signal", (uint64_t)crash->signal);
	object_put_known(&record, "pid", (uint64_t)crash->pid);
	object_put_known(&record, "tid", (uint64_t)crash->tid);
	object_put_text(&record, "thread", crash->thread);
	if (crash->has_address)
		object_put_address(&record, "address", crash->address);
	else
		object_put(&record, "address", json_null());
	object_put(&record, "frames", frames_of(&crash->frames, &record));
	object_put(&record, "races", related_races_of(crash, &record));
	return object_write(&record, renderer->out);
}

static struct error *json_progress(struct renderer *renderer,
				   const struct run_progress *progress)
{
	struct object record = object_begin("progress");

	object_put_seconds(&record, "elapsed_s", progress->elapsed_ns);
	object_put_uint(&record, "samples", progress->samples);
	object_put_uint(&record, "samples_stalled", progress->samples_stalled);
	object_put_uint(&record, "samples_own", progress->samples_own);
	object_put_uint(&record, "sites_sampled", progress->sites_sampled);
	object_put_uint(&record, "races", progress->races);
	object_put_real(&record, "overhead_pct", progress->overhead_pct);
	return object_write(&record, renderer->out);
}

static json_t *coverage_of(const struct run_summary *summary,
			   struct object *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < summary->coverage_count; i++) {
		const struct run_coverage *module = &summary->coverage[i];
		struct object object = object_begin(NULL);

		object_put_text(&object, "path", module->path);
		object_put_uint(&object, "sites_sampled",
				module->sites_sampled);
		object_put_uint(&object, "sites_eligible",
				module->sites_eligible);
		object_append(record, array, object_end(&object));
	}
	return array;
}

static void put_sampling(struct object *record,
			 const struct run_sampling *sampling)
{
	const struct {
		const char *key;
		uint64_t value;
	} members[] = {
		{ "samples_stalled", sampling->stalled },
		{ "samples_own", sampling->own },
		{ "sites_sampled_own", sampling->sites_sampled_own },
		{ "sites_eligible_own", sampling->sites_eligible_own },
		{ "threads", sampling->threads },
		{ "unwatched", sampling->unwatched },
		{ "looks", sampling->looks },
		{ "looks_generated", sampling->generated },
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (sampling->known)
			object_put_uint(record, members[i].key,
					members[i].value);
		else
			object_put(record, members[i].key, json_null());
	}
	object_put(record, "proves_nothing",
		   sampling->known ? json_boolean(sampling->proves_nothing)
				   : json_null());
}

static json_t *at_of(const struct run_summary *summary, struct object *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < summary->at_count; i++) {
		const struct run_at *at = &summary->at[i];
		struct object object = object_begin(NULL);

		object_put_text(&object, "where", at->where);
		object_put_uint(&object, "sites", at->sites);
		object_put_uint(&object, "samples", at->samples);
		object_put_text(&object, "problem", at->problem);
		object_append(record, array, object_end(&object));
	}
	return array;
}

static json_t *patterns_of(const struct run_summary *summary,
			   struct object *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < summary->pattern_count; i++) {
		const struct run_pattern *pattern = &summary->patterns[i];
		struct object object = object_begin(NULL);

		object_put_text(&object, "option",
				pattern->include ? "include" : "exclude");
		object_put_text(&object, "pattern", pattern->pattern);
		object_append(record, array, object_end(&object));
	}
	return array;
}

static json_t *programs_of(const struct run_summary *summary,
			   struct object *record)
{
	json_t *array = json_array();

	for (size_t i = 0; i < summary->program_count; i++) {
		const struct run_program *program = &summary->programs[i];
		struct object object = object_begin(NULL);

		object_put_text(&object, "path", program->path);
		object_put_uint(&object, "processes", program->processes);
		object_put_uint(&object, "threads", program->threads);
		object_put_uint(&object, "samples", program->samples);
		object_put_uint(&object, "samples_stalled",
				program->samples_stalled);
		object_put_uint(&object, "races", program->races);
		object_append(record, array, object_end(&object));
	}
	return array;
}

static struct error *json_summary(struct renderer *renderer,
				  const struct run_summary *summary)
{
	struct object record = object_begin("summary");

	object_put_uint(&record, "races", summary->races);
	object_put_uint(&record, "new", summary->races_new);
	object_put_uint(&record, "suppressed", summary->suppressed);
	object_put_uint(&record, "known", summary->known);
	object_put_uint(&record, "unlikely", summary->unlikely);
	object_put_uint(&record, "synchronization", summary->synchronization);
	object_put_uint(&record, "samples", summary->samples);
	object_put_uint(&record, "hits", summary->hits);
	object_put_uint(&record, "sites_sampled", summary->sites_sampled);
	object_put_uint(&record, "sites_eligible", summary->sites_eligible);
	object_put_uint(&record, "watchpoint_traps", summary->watchpoint_traps);
	object_put_uint(&record, "collisions", summary->collisions);
	object_put_uint(&record, "value_changes", summary->value_changes);
	object_put_uint(&record, "out_of_registers", summary->out_of_registers);
	object_put_uint(&record, "dropped", summary->dropped);
	object_put_uint(&record, "arms_refused", summary->arms_refused);
	object_put_uint(&record, "arms", summary->arms);
	object_put_uint(&record, "stops", summary->stops);
	object_put_uint(&record, "unaffordable", summary->unaffordable);
	object_put_uint(&record, "resting", summary->resting);
	put_sampling(&record, &summary->sampling);
	object_put_seconds(&record, "cpu_s", summary->cpu_ns);
	object_put_real(&record, "budget_pct",
			summary->budget_pct > 0 ? summary->budget_pct : NAN);
	object_put_real(&record, "overhead_pct", summary->overhead_pct);
	object_put_real(&record, "start_pct",
			summary->sampling.known ? summary->start_pct : NAN);
	object_put_real(&record, "stops_pct",
			summary->sampling.known ? summary->stops_pct : NAN);
	object_put_real(&record, "computing_pct",
			summary->sampling.known ? summary->computing_pct : NAN);
	object_put_seconds(&record, "stalled_s", summary->stalled_ns);
	object_put_seconds(&record, "elapsed_s", summary->elapsed_ns);
	object_put_text(&record, "unsampled_reason", summary->unsampled.reason);
	object_put_text(&record, "unsampled_text", summary->unsampled.text);
	object_put_text(&record, "backend", summary->backend);
	object_put(&record, "coverage", coverage_of(summary, &record));
	object_put(&record, "at", at_of(summary, &record));
	object_put(&record, "patterns_unmatched",
		   patterns_of(summary, &record));
	object_put(&record, "programs", programs_of(summary, &record));
	object_put_uint(&record, "processes_single", summary->processes_single);
	object_put(&record, "exit", json_integer(summary->exit_status));
	return object_write(&record, renderer->out);
}

const struct renderer_ops render_json = {
	.name = "json",
	.run = json_run,
	.race = json_race,
	.crash = json_crash,
	.progress = json_progress,
	.summary = json_summary,
};
