/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports as SARIF 2.1.0 (Static Analysis Results Interchange Format, OASIS),
 * for code-scanning services and editors. One run with one invocation for each
 * run that was recorded, and a result for each race.
 *
 * Levels follow the gate: what makes racewatch exit with 66 is an error, what
 * is unlikely a note, and synchronization is information. There is one rule for
 * all races, whatever their verdict: services tell results apart by rule and
 * fingerprint, and a race that turns out harmful is still the same one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exitstatus.h"
#include "base/strbuf.h"
#include "report/crash.h"
#include "report/document.h"
#include "report/doubt.h"
#include "report/phrase-replay.h"
#include "report/phrase-run.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/render.h"
#include "report/run.h"
#include "report/sarif.h"
#include "report/target-counts.h"

static const char sarif_schema[] =
	"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
	"sarif-schema-2.1.0.json";

enum { SARIF_INDENT = 1 };

static const struct sarif_rule {
	const char *id, *name, *level, *title, *help;
} rules[] = {
	{ "data-race", "DataRace", "error",
	  "Two threads access the same memory at the same time",
	  "Two threads accessed the same bytes, at least one of them to write, "
	  "and nothing kept them apart: racewatch held one thread just before "
	  "its access and saw the other one get there. Guard both accesses "
	  "with the same lock, make them atomic, or keep the data to one "
	  "thread. Both stacks are those of the moment of the collision." },
	{ "synchronization", "Synchronization", "note",
	  "Synchronizing accesses met",
	  "Both accesses, or their places, are synchronization: a lock, an "
	  "atomic operation, or the inside of a threading library. Such "
	  "conflicts are how threads synchronize, and are listed on request "
	  "only." },
};

struct sarif {
	struct document results;
	json_t *invocations; /* array */
	json_t *notifications; /* array: crashes, and sides of a hunt */
	struct target_counts counts; /* of sides */
	char *version; /* of the racewatch that recorded the first run */
	uint64_t start; /* of the last run */
	struct object last; /* that run's invocation */
	bool has_last;
	bool failed;
};

static struct sarif *sarif_state(struct renderer *renderer)
{
	struct sarif *sarif = renderer->state;

	if (sarif)
		return sarif;
	sarif = calloc(1, sizeof(*sarif));
	if (!sarif)
		return NULL;
	document_init(&sarif->results);
	sarif->invocations = json_array();
	sarif->notifications = json_array();
	renderer->state = sarif;
	return sarif;
}

static void sarif_destroy(struct renderer *renderer, struct sarif *sarif)
{
	document_deinit(&sarif->results);
	json_decref(sarif->invocations);
	json_decref(sarif->notifications);
	if (sarif->has_last)
		json_decref(sarif->last.object);
	free(sarif->version);
	free(sarif);
	renderer->state = NULL;
}

/* The last run's invocation is complete. */
static void sarif_end_invocation(struct sarif *sarif, bool successful)
{
	if (!sarif->has_last)
		return;
	object_put(&sarif->last, "executionSuccessful",
		   json_boolean(successful));
	if (json_array_append_new(sarif->invocations,
				  object_end(&sarif->last)) < 0)
		sarif->failed = true;
	sarif->has_last = false;
}

static void sarif_put_known(struct object *record, const char *key,
			    const char *text)
{
	if (text)
		object_put_text(record, key, text);
}

/* What SARIF has no place for: the program that was watched. */
static json_t *run_properties(const struct run_record *run)
{
	struct object properties = object_begin(NULL);
	json_t *command = json_array();

	for (size_t i = 0; run->command && run->command[i]; i++)
		object_append(&properties, command,
			      object_text(run->command[i]));
	object_put(&properties, "watchedCommand", command);
	if (run->pid)
		object_put(&properties, "watchedProcess",
			   json_integer(run->pid));
	sarif_put_known(&properties, "backend", run->backend);
	object_put_uint(&properties, "seed", run->seed);
	return object_end(&properties);
}

static struct error *sarif_run(struct renderer *renderer,
			       const struct run_record *run)
{
	struct sarif *sarif = sarif_state(renderer);

	if (!sarif)
		return error_nomem;
	sarif_end_invocation(sarif, true);
	sarif->last = object_begin(NULL);
	sarif->has_last = true;
	sarif->start = run->start;
	if (!sarif->version && run->version)
		sarif->version = strdup(run->version);
	object_put(&sarif->last, "startTimeUtc", object_time(run->start));
	sarif_put_known(&sarif->last, "machine", run->host);
	object_put(&sarif->last, "properties", run_properties(run));
	return sarif->failed ? error_nomem : NULL;
}

/* "[shard_add cache.c:11](1) (thread 4246 "filler")" */
static void add_side(struct strbuf *message, const struct race *race, int n)
{
	const struct race_side *side = &race->sides[n];
	struct strbuf text = { 0 };

	if (side->role == RACE_UNKNOWN) {
		strbuf_add(message, "something that left no trace");
		return;
	}
	phrase_add_innermost(&text, side);
	sarif_add_text(message, strbuf_text(&text),
		       side->frames.count ? SARIF_FIRST_SIDE + n : 0);
	strbuf_clear(&text);
	strbuf_add(message, " (");
	phrase_add_thread(&text, side->tid, side->thread);
	sarif_add_text(message, strbuf_text(&text), 0);
	strbuf_add(message, ")");
	message->failed |= text.failed;
	strbuf_deinit(&text);
}

/* Some viewers show no more than the first sentence. */
static json_t *result_message(const struct race *race)
{
	struct strbuf message = { 0 }, text = { 0 };

	strbuf_add(&message, "Data race on ");
	phrase_add_variable(&text, race);
	sarif_add_text(&message, strbuf_text(&text), 0);
	strbuf_add(&message, ": ");
	phrase_add_accesses(&message, race);
	phrase_add_value(&message, race);
	strbuf_add(&message, ": ");
	add_side(&message, race, 0);
	strbuf_add(&message, " against ");
	add_side(&message, race, 1);
	message.failed |= text.failed;
	strbuf_deinit(&text);
	strbuf_add(&message, ".");
	if (race->evidence == EVIDENCE_REPORTED)
		strbuf_add(&message, " Another tool reported it; racewatch has "
				     "not seen it.");
	if (race->evidence == EVIDENCE_PROVOKED)
		strbuf_add(&message, " It was provoked: a thread was held at "
				     "its access until the other one came.");
	sarif_add_recorded(&message, race);
	return sarif_message(&message);
}

static void put_verdict(struct object *result, const struct race *race,
			bool ignore_unlikely)
{
	const struct {
		const char *level;
		int rank;
	} verdicts[] = {
		[VERDICT_HARMFUL] = { "error", 100 },
		[VERDICT_SUSPECT] = { "error", 75 },
		[VERDICT_UNLIKELY] = { ignore_unlikely ? "note" : "warning",
				       25 },
		[VERDICT_SYNC] = { "none", 0 },
	};
	bool sync = race->verdict == VERDICT_SYNC;

	object_put_text(result, "ruleId", rules[sync].id);
	object_put(result, "ruleIndex", json_integer(sync));
	object_put_text(result, "kind", sync ? "informational" : "fail");
	object_put_text(result, "level", verdicts[race->verdict].level);
	object_put(result, "rank", json_real(verdicts[race->verdict].rank));
}

static json_t *suppression_of(const struct race_suppression *by)
{
	struct object suppression = object_begin(NULL);
	struct object properties = object_begin(NULL);
	struct race_frame place = { .file = by->file, .line = by->line };

	object_put_text(&suppression, "kind", "external");
	object_put_text(&suppression, "status", "accepted");
	sarif_put_known(&suppression, "justification", by->reason);
	if (by->file)
		object_put(&suppression, "location",
			   sarif_location(&place, 0, NULL));
	object_put_text(&properties, "rule", by->rule);
	sarif_put_known(&properties, "bug", by->bug);
	object_put_record(&suppression, "properties", &properties);
	return object_end(&suppression);
}

/* An empty array tells that it is not suppressed (3.27.23). */
static void put_suppressions(struct object *result, const struct race *race)
{
	json_t *array = json_array();

	if (race->suppressed.rule)
		object_append(result, array, suppression_of(&race->suppressed));
	object_put(result, "suppressions", array);
}

static void put_identity(struct object *result, const struct race *race)
{
	struct object prints = object_begin(NULL);

	if (race->fingerprint[0])
		object_put_text(&prints, "racewatch/names/v1",
				race->fingerprint);
	if (race->fingerprint_code[0])
		object_put_text(&prints, "racewatch/code/v1",
				race->fingerprint_code);
	object_put_record(result, "partialFingerprints", &prints);
	if (race->status == STATUS_NEW)
		object_put_text(result, "baselineState", "new");
	if (race->status == STATUS_KNOWN)
		object_put_text(result, "baselineState", "unchanged");
	if (race->status == STATUS_GONE)
		object_put_text(result, "baselineState", "absent");
}

static json_t *values_of(const struct race *race)
{
	struct object owner = object_begin(NULL);
	json_t *array = json_array();

	for (size_t i = 0; i < race->values.count; i++) {
		struct strbuf text = { 0 };

		phrase_add_values(&text, race, vec_at(&race->values, i));
		object_append(&owner, array, object_string(&text));
	}
	object_put(&owner, "values", array);
	array = owner.failed ? NULL : json_incref(array);
	json_decref(owner.object);
	return array;
}

static void put_replay(struct object *properties,
		       const struct race_replay *replay)
{
	enum race_replay_outcome outcome = race_replay_outcome(replay);
	struct strbuf text = { 0 };

	if (outcome == RACE_REPLAY_NONE)
		return;
	object_put_text(properties, "replayOutcome",
			race_replay_outcome_name(outcome));
	object_put_uint(properties, "replayInstances", replay->instances);
	phrase_add_replay_all(&text, replay);
	object_put(properties, "replay", object_string(&text));
}

static void put_properties(struct object *result, const struct race *race)
{
	struct object properties = object_begin(NULL);
	struct strbuf change = { 0 }, home = { 0 };

	object_put_uint(&properties, "id", race->id);
	object_put_text(&properties, "verdict",
			race_verdict_name(race->verdict));
	sarif_put_known(&properties, "reason", race->reason);
	sarif_put_known(&properties, "grounds", race->grounds);
	put_replay(&properties, &race->replay);
	sarif_put_known(&properties, "doubt", race_doubt_text(race));
	object_put_text(&properties, "kind", race_kind(race));
	object_put_text(&properties, "evidence",
			race_evidence_name(race->evidence));
	sarif_put_known(&properties, "backend", race->backend);
	object_put(&properties, "address", object_address(race->address));
	object_put_uint(&properties, "size", race->size);
	phrase_add_change(&change, race);
	object_put(&properties, "change", object_string(&change));
	object_put(&properties, "values", values_of(race));
	sarif_put_known(&properties, "variable", race->variable.name);
	phrase_add_home(&home, race);
	object_put(&properties, "where", object_string(&home));
	sarif_put_known(&properties, "program", race->program);
	sarif_put_known(&properties, "firstInstruction", race->sides[0].insn);
	sarif_put_known(&properties, "secondInstruction", race->sides[1].insn);
	if (race->time)
		object_put(&properties, "firstSeen", object_time(race->time));
	object_put_uint(&properties, "runs", race->runs ? race->runs : 1);
	object_put_record(result, "properties", &properties);
}

/* A JSON value as text; NULL (which is freed): a failure. */
static void add_json(struct strbuf *text, json_t *value)
{
	char *dump = value ? json_dumps(value, JSON_INDENT(SARIF_INDENT) |
						       JSON_REAL_PRECISION(15) |
						       JSON_ENCODE_ANY)
			   : NULL;

	if (dump)
		strbuf_add(text, dump);
	else
		text->failed = true;
	free(dump);
	json_decref(value);
}

static struct error *sarif_race(struct renderer *renderer,
				const struct race *race)
{
	struct sarif *sarif = sarif_state(renderer);
	struct object result = object_begin(NULL);
	struct strbuf text = { 0 };

	put_verdict(&result, race, renderer->ignore_unlikely);
	object_put(&result, "message", result_message(race));
	sarif_put_places(&result, race);
	put_identity(&result, race);
	put_suppressions(&result, race);
	object_put_uint(&result, "occurrenceCount",
			race->count ? race->count : 1);
	put_properties(&result, race);
	add_json(&text, object_end(&result));
	if (!sarif) {
		strbuf_deinit(&text);
		return error_nomem;
	}
	return document_put(&sarif->results, race, &text);
}

/* The program's end is told as a notification of the run (3.58). */
static struct error *sarif_crash(struct renderer *renderer,
				 const struct crash *crash)
{
	struct sarif *sarif = sarif_state(renderer);
	struct object notification = object_begin(NULL);
	struct strbuf message = { 0 };
	json_t *places = json_array();

	phrase_add_crash(&message, crash);
	if (crash->tid) {
		strbuf_add(&message, " in ");
		phrase_add_thread(&message, crash->tid, crash->thread);
	}
	for (size_t i = 0; i < crash->races.count; i++) {
		strbuf_add(&message, i ? "; " : "; races before it: ");
		phrase_add_crash_race(&message, vec_at(&crash->races, i));
	}
	object_put(&notification, "message", sarif_message(&message));
	object_put_text(&notification, "level", "error");
	object_put(&notification, "timeUtc", object_time(crash->time));
	if (crash->tid)
		object_put(&notification, "threadId", json_integer(crash->tid));
	if (crash->frames.count > 0)
		object_append(&notification, places,
			      sarif_location(vec_at(&crash->frames, 0), 0,
					     NULL));
	object_put(&notification, "locations", places);
	if (!sarif || json_array_append_new(sarif->notifications,
					    object_end(&notification)) < 0)
		return error_nomem;
	return NULL;
}

static struct error *sarif_note(struct sarif *sarif, const char *level,
				struct strbuf *message, json_t *places)
{
	struct object notification = object_begin(NULL);

	object_put(&notification, "message", sarif_message(message));
	object_put_text(&notification, "level", level);
	if (places)
		object_put(&notification, "locations", places);
	return json_array_append_new(sarif->notifications,
				     object_end(&notification)) < 0
		       ? error_nomem
		       : NULL;
}

/* What came of a side is told as a notification of the run, too. */
static struct error *sarif_target(struct renderer *renderer,
				  const struct target_record *record)
{
	const struct hunt_side *side = &record->side;
	const struct race_frame frame = {
		.function = side->function,
		.module = side->place.module,
		.offset = side->place.offset,
	};
	struct sarif *sarif = sarif_state(renderer);
	struct strbuf message = { 0 }, text = { 0 };
	json_t *places = json_array();

	if (!sarif || !places ||
	    json_array_append_new(places, sarif_location(&frame, 0, NULL)) <
		    0) {
		json_decref(places);
		return error_nomem;
	}
	target_counts_add(&sarif->counts, record);
	strbuf_addf(&message, "target #%" PRIu64 ": ", side->id);
	target_say_side(&text, side);
	strbuf_add(&text, ": ");
	target_say_outcome(&text, record);
	sarif_add_text(&message, strbuf_text(&text), 0);
	message.failed |= text.failed;
	strbuf_deinit(&text);
	return sarif_note(sarif, "note", &message, places);
}

static void note_hunt(struct sarif *sarif, const struct run_summary *summary)
{
	struct strbuf message = { 0 };
	struct error *err;

	target_counts_say_hunt(&message, &sarif->counts, summary);
	err = sarif_note(sarif, "note", &message, NULL);
	sarif->failed |= err != NULL;
	error_free(err);
}

/* Nothing was proved: said where a viewer shows what went wrong. */
static void note_no_samples(struct sarif *sarif,
			    const struct run_summary *summary)
{
	struct strbuf message = { 0 };
	struct error *err;

	strbuf_add(&message, phrase_unsampled(summary));
	err = sarif_note(sarif, "warning", &message, NULL);
	sarif->failed |= err != NULL;
	error_free(err);
}

static struct error *sarif_summary(struct renderer *renderer,
				   const struct run_summary *summary)
{
	struct sarif *sarif = sarif_state(renderer);

	if (!sarif)
		return error_nomem;
	if (!sarif->has_last) {
		sarif->last = object_begin(NULL);
		sarif->has_last = true;
	}
	if (sarif->start)
		object_put(&sarif->last, "endTimeUtc",
			   object_time(sarif->start + summary->elapsed_ns));
	object_put(&sarif->last, "exitCode",
		   json_integer(summary->exit_status));
	if (run_is_unsampled(summary))
		note_no_samples(sarif, summary);
	if (summary->hunt.known)
		note_hunt(sarif, summary);
	if (json_array_size(sarif->notifications) > 0)
		object_put(&sarif->last, "toolExecutionNotifications",
			   json_incref(sarif->notifications));
	sarif_end_invocation(sarif, summary->exit_status != EXIT_FAILED);
	return sarif->failed ? error_nomem : NULL;
}

static json_t *text_object(const char *text)
{
	struct strbuf copy = { 0 };

	strbuf_add(&copy, text);
	return sarif_message(&copy);
}

static json_t *rule_of(const struct sarif_rule *rule)
{
	struct object object = object_begin(NULL);
	struct object configuration = object_begin(NULL);
	struct object properties = object_begin(NULL);

	object_put_text(&object, "id", rule->id);
	object_put_text(&object, "name", rule->name);
	object_put(&object, "shortDescription", text_object(rule->title));
	object_put(&object, "fullDescription", text_object(rule->help));
	object_put(&object, "help", text_object(rule->help));
	object_put_text(&configuration, "level", rule->level);
	object_put_record(&object, "defaultConfiguration", &configuration);
	object_put(&properties, "tags",
		   json_pack("[sss]", "correctness", "concurrency",
			     "external/cwe/cwe-362"));
	object_put_text(&properties, "precision", "very-high");
	object_put_record(&object, "properties", &properties);
	return object_end(&object);
}

static json_t *tool_of(const struct sarif *sarif)
{
	struct object tool = object_begin(NULL);
	struct object driver = object_begin(NULL);
	json_t *array = json_array();

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		object_append(&driver, array, rule_of(&rules[i]));
	object_put_text(&driver, "name", PACKAGE_NAME);
	sarif_put_known(&driver, "version", sarif->version);
	object_put(&driver, "rules", array);
	object_put_record(&tool, "driver", &driver);
	return object_end(&tool);
}

static json_t *bases(void)
{
	struct object ids = object_begin(NULL);
	struct object base = object_begin(NULL);

	object_put(&base, "description",
		   text_object("The directory that the program was compiled "
			       "in: paths are as its debugging information "
			       "has them."));
	object_put_record(&ids, SARIF_BASE, &base);
	return object_end(&ids);
}

static void add_results(struct strbuf *text, struct document *results)
{
	strbuf_add(text, "\"results\": [");
	for (size_t i = 0; i < results->parts.count; i++) {
		const struct document_part *part = vec_at(&results->parts, i);

		strbuf_add(text, i ? ",\n" : "\n");
		strbuf_add(text, part->text);
	}
	strbuf_add(text, results->parts.count ? "\n]" : "]");
}

static struct error *sarif_finish(struct renderer *renderer)
{
	struct sarif *sarif = sarif_state(renderer);
	struct strbuf text = { 0 };
	struct error *err;

	if (!sarif)
		return error_nomem;
	/* a run without a summary was cut short */
	sarif_end_invocation(sarif, false);
	document_sort(&sarif->results);
	strbuf_addf(&text,
		    "{\n\"$schema\": \"%s\",\n\"version\": \"2.1.0\",\n"
		    "\"runs\": [{\n\"tool\": ",
		    sarif_schema);
	add_json(&text, tool_of(sarif));
	strbuf_add(&text, ",\n\"invocations\": ");
	add_json(&text, json_incref(sarif->invocations));
	strbuf_add(&text, ",\n\"originalUriBaseIds\": ");
	add_json(&text, bases());
	strbuf_add(&text, ",\n\"columnKind\": \"unicodeCodePoints\",\n");
	add_results(&text, &sarif->results);
	strbuf_add(&text, "\n}]\n}\n");
	text.failed |= sarif->failed;
	err = document_write(renderer->out, &text);
	sarif_destroy(renderer, sarif);
	return err;
}

const struct renderer_ops render_sarif = {
	.name = "sarif",
	.run = sarif_run,
	.race = sarif_race,
	.crash = sarif_crash,
	.target = sarif_target,
	.summary = sarif_summary,
	.finish = sarif_finish,
};
