/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of a state file; see journal.h.
 */
#include "sweep/journal.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "report/members.h"
#include "report/object.h"

void journal_record_init(struct journal_record *record)
{
	*record = (struct journal_record){ .type = JOURNAL_OTHER };
	findings_init(&record->findings);
}

void journal_record_deinit(struct journal_record *record)
{
	free((void *)record->command);
	free(record->worker);
	free(record->directory);
	free(record->note);
	findings_deinit(&record->findings);
	journal_record_init(record);
}

static void put_races(struct object *line, const struct vec *races)
{
	json_t *array = json_array();

	for (size_t i = 0; i < races->count; i++) {
		const struct finding *finding = vec_at(races, i);
		struct object race = object_begin(NULL);

		object_put_text(&race, "fingerprint", finding->fingerprint);
		object_put(&race, "minor", json_boolean(finding->minor));
		object_put_text(&race, "what", finding->what);
		object_append(line, array, object_end(&race));
	}
	object_put(line, "races", array);
}

static void put_outcome(struct object *line, const struct outcome *outcome)
{
	object_put_text(line, "outcome", outcome_word(outcome->kind));
	object_put_uint(line, "exit", (uint64_t)outcome->status);
	if (outcome->unsampled)
		object_put(line, "unsampled", json_true());
	if (outcome->left)
		object_put_uint(line, "left", outcome->left);
	if (outcome->away)
		object_put_uint(line, "away", outcome->away);
	if (outcome->output_cut)
		object_put(line, "output_cut", json_true());
	if (outcome->output_lost)
		object_put(line, "output_lost", json_true());
}

static void put_sweep(struct object *line, const struct journal_record *record)
{
	json_t *command = json_array();

	object_put_uint(line, "schema", JOURNAL_SCHEMA);
	for (size_t i = 0; record->command && record->command[i]; i++)
		object_append(line, command, object_text(record->command[i]));
	object_put(line, "command", command);
	object_put_uint(line, "seed", record->seed);
}

static void put_done(struct object *line, const struct journal_record *record)
{
	put_outcome(line, &record->outcome);
	object_put_seconds(line, "elapsed_s", record->elapsed_ns);
	object_put_uint(line, "samples", record->findings.samples);
	object_put_uint(line, "sites", record->findings.sites);
	if (record->findings.unsampled_reason)
		object_put_text(line, "unsampled_reason",
				record->findings.unsampled_reason);
	if (record->findings.unsampled_text)
		object_put_text(line, "unsampled_text",
				record->findings.unsampled_text);
	if (record->findings.unmatched)
		object_put_text(line, "unmatched", record->findings.unmatched);
	put_races(line, &record->findings.races);
	if (record->directory)
		object_put_text(line, "directory", record->directory);
	if (record->note)
		object_put_text(line, "note", record->note);
}

struct error *journal_write(const struct journal_record *record,
			    struct strbuf *out)
{
	static const char *const types[] = { NULL, "sweep", "claim", "done" };
	struct object line = object_begin(types[record->type]);
	json_t *object;
	char *text;

	if (record->type == JOURNAL_SWEEP) {
		put_sweep(&line, record);
	} else {
		object_put_uint(&line, "run", record->run);
		object_put_uint(&line, "seed", record->seed);
		object_put_text(&line, "plan", record->plan);
	}
	object_put_time(&line, "time", record->time);
	if (record->worker)
		object_put_text(&line, "worker", record->worker);
	if (record->type == JOURNAL_DONE)
		put_done(&line, record);
	object = object_end(&line);
	text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	json_decref(object);
	if (!text)
		return error_nomem;
	strbuf_add(out, text);
	strbuf_add(out, "\n");
	free(text);
	return out->failed ? error_nomem : NULL;
}

static char **read_command(struct members *in, const json_t *object)
{
	const json_t *array = members_array(in, object, "command");
	size_t count = json_array_size(array), size = 0;
	char **command;
	char *at;

	for (size_t i = 0; i < count; i++) {
		if (json_is_string(json_array_get(array, i)))
			size += json_string_length(json_array_get(array, i)) +
				1;
	}
	command = calloc(1, (count + 1) * sizeof(*command) + size);
	if (!command) {
		members_fail(in, error_nomem);
		return NULL;
	}
	at = (char *)(command + count + 1);
	for (size_t i = 0; i < count; i++) {
		const char *word = json_string_value(json_array_get(array, i));

		if (!word) {
			members_fail(in, error_create(ERROR_FORMAT,
						      "'command' has what is "
						      "no string"));
			break;
		}
		command[i] = at;
		at = stpcpy(at, word) + 1;
	}
	return command;
}

static void read_race(struct members *in, const json_t *object,
		      struct findings *findings)
{
	struct finding *finding = vec_append(&findings->races);

	if (!finding) {
		members_fail(in, error_nomem);
		return;
	}
	members_digits(in, object, "fingerprint", finding->fingerprint,
		       sizeof(finding->fingerprint));
	finding->minor = members_bool(in, object, "minor");
	finding->what = members_text(in, object, "what");
}

static void read_done(struct members *in, const json_t *object,
		      struct journal_record *record)
{
	const json_t *races = members_array(in, object, "races");
	struct outcome *outcome = &record->outcome;

	outcome->kind = members_word(in, object, "outcome", outcome_word,
				     OUTCOMES, OUTCOME_PASSED);
	outcome->status = (int)members_uint(in, object, "exit", 255);
	outcome->unsampled = members_bool(in, object, "unsampled");
	outcome->left = (uint32_t)members_uint(in, object, "left", UINT32_MAX);
	outcome->away = (uint32_t)members_uint(in, object, "away", UINT32_MAX);
	outcome->output_cut = members_bool(in, object, "output_cut");
	outcome->output_lost = members_bool(in, object, "output_lost");
	record->elapsed_ns = members_seconds(in, object, "elapsed_s");
	record->findings.samples =
		members_uint(in, object, "samples", UINT64_MAX);
	record->findings.sites = members_uint(in, object, "sites", UINT64_MAX);
	record->findings.unsampled_reason =
		members_text(in, object, "unsampled_reason");
	record->findings.unsampled_text =
		members_text(in, object, "unsampled_text");
	record->findings.unmatched = members_text(in, object, "unmatched");
	record->directory = members_text(in, object, "directory");
	record->note = members_text(in, object, "note");
	for (size_t i = 0; !in->err && i < json_array_size(races); i++) {
		const json_t *race = members_item(in, races, i, "races");

		if (race)
			read_race(in, race, &record->findings);
	}
}

static void read_sweep(struct members *in, const json_t *object,
		       struct journal_record *record)
{
	uint64_t schema = members_uint(in, object, "schema", UINT64_MAX);

	record->seed = members_uint(in, object, "seed", UINT64_MAX);
	record->command = read_command(in, object);
	if (schema != JOURNAL_SCHEMA)
		members_fail(in,
			     error_create(ERROR_FORMAT, "'schema' is not %d",
					  JOURNAL_SCHEMA));
}

static void read_run(struct members *in, const json_t *object,
		     struct journal_record *record)
{
	const char *plan = members_string(in, object, "plan");

	record->run = members_uint(in, object, "run", UINT32_MAX);
	record->seed = members_uint(in, object, "seed", UINT64_MAX);
	if (plan)
		strncpy(record->plan, plan, sizeof(record->plan) - 1);
	if (record->run == 0)
		members_fail(in,
			     error_create(ERROR_FORMAT, "'run' is not given"));
}

static void read_object(struct members *in, const json_t *object,
			struct journal_record *record)
{
	const char *type = members_string(in, object, "type");

	record->time = members_time(in, object, "time");
	record->worker = members_text(in, object, "worker");
	if (!type)
		members_fail(in,
			     error_create(ERROR_FORMAT, "'type' is not given"));
	else if (strcmp(type, "sweep") == 0)
		record->type = JOURNAL_SWEEP;
	else if (strcmp(type, "claim") == 0)
		record->type = JOURNAL_CLAIM;
	else if (strcmp(type, "done") == 0)
		record->type = JOURNAL_DONE;
	if (record->type == JOURNAL_SWEEP)
		read_sweep(in, object, record);
	else if (record->type != JOURNAL_OTHER)
		read_run(in, object, record);
	if (record->type == JOURNAL_DONE)
		read_done(in, object, record);
}

struct error *journal_parse(const char *line, size_t length,
			    struct journal_record *record)
{
	struct members in = { NULL };
	json_error_t wrong;
	json_t *object = json_loadb(line, length, 0, &wrong);

	if (!json_is_object(object)) {
		json_decref(object);
		return error_create(ERROR_FORMAT, "no JSON object");
	}
	read_object(&in, object, record);
	json_decref(object);
	if (in.err)
		journal_record_deinit(record);
	return in.err;
}
