/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports as JUnit XML, as Jenkins, GitLab and others read it: a test case for
 * each race, and one for the watching itself.
 *
 * A race that makes racewatch exit with 66 is a failure, with the text report
 * in it. One that is suppressed, known, synchronization, or unlikely where these
 * are ignored, is skipped, with the reason. The case of the watching passes when samples were taken, is
 * skipped when there were none (which proves nothing), and an error where the
 * exit status says so: 65 and 125. That of a hunt passes, and has the outcomes of
 * its sides.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/crash.h"
#include "report/document.h"
#include "report/phrase-run.h"
#include "report/phrase.h"
#include "report/race.h"
#include "report/related.h"
#include "report/render.h"
#include "report/run.h"
#include "report/target-counts.h"
#include "report/text.h"
#include "report/xml.h"

/* What became of the watching. */
enum junit_outcome { JUNIT_PASSED, JUNIT_SKIPPED, JUNIT_ERROR };

struct junit {
	struct document cases;
	struct strbuf attributes; /* of the suite: host and time */
	struct strbuf properties;
	struct strbuf crashes; /* text */
	struct strbuf watched; /* what was said of the samples */
	struct strbuf sides; /* of a hunt, a line each */
	struct target_counts counts; /* of them */
	bool hunt;
	char *program; /* of the run, for the class name */
	double seconds;
	enum junit_outcome outcome;
};

static struct junit *junit_state(struct renderer *renderer)
{
	struct junit *junit = renderer->state;

	if (junit)
		return junit;
	junit = calloc(1, sizeof(*junit));
	if (!junit)
		return NULL;
	document_init(&junit->cases);
	/* until a summary says otherwise */
	junit->outcome = JUNIT_SKIPPED;
	renderer->state = junit;
	return junit;
}

static void junit_destroy(struct renderer *renderer, struct junit *junit)
{
	document_deinit(&junit->cases);
	strbuf_deinit(&junit->attributes);
	strbuf_deinit(&junit->properties);
	strbuf_deinit(&junit->crashes);
	strbuf_deinit(&junit->watched);
	strbuf_deinit(&junit->sides);
	free(junit->program);
	free(junit);
	renderer->state = NULL;
}

static void add_property(struct strbuf *out, const char *name,
			 const char *value)
{
	if (!value)
		return;
	strbuf_add(out, "   <property");
	xml_add_attribute(out, "name", name);
	xml_add_attribute(out, "value", value);
	strbuf_add(out, "/>\n");
}

static void add_command(struct strbuf *out, const char *const *command)
{
	struct strbuf line = { 0 };

	for (size_t i = 0; command && command[i]; i++) {
		strbuf_add(&line, i ? " " : "");
		strbuf_add(&line, command[i]);
	}
	if (command)
		add_property(out, "command", strbuf_text(&line));
	out->failed |= line.failed;
	strbuf_deinit(&line);
}

/* The last part of the command's path; a copy. */
static char *program_name(const struct run_record *run)
{
	const char *path = run->command ? run->command[0] : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;

	return path ? strdup(slash && slash[1] ? slash + 1 : path) : NULL;
}

/* Several runs, of a merge, are one suite: it is that of the first. */
static struct error *junit_run(struct renderer *renderer,
			       const struct run_record *run)
{
	struct junit *junit = junit_state(renderer);
	char time[CLOCK_RFC3339_SIZE], text[24];

	if (!junit)
		return error_nomem;
	if (junit->attributes.length > 0)
		return NULL;
	clock_format_rfc3339(run->start, time);
	/* readers want no zone and no fraction */
	time[strcspn(time, ".Z")] = '\0';
	xml_add_attribute(&junit->attributes, "timestamp", time);
	xml_add_attribute(&junit->attributes, "hostname", run->host);
	add_command(&junit->properties, run->command);
	snprintf(text, sizeof(text), "%d", run->pid);
	add_property(&junit->properties, "pid", text);
	snprintf(text, sizeof(text), "%" PRIu64, run->seed);
	add_property(&junit->properties, "seed", text);
	add_property(&junit->properties, "backend", run->backend);
	add_property(&junit->properties, "version", run->version);
	junit->program = program_name(run);
	return NULL;
}

static void add_function(struct strbuf *out, const struct race_side *side)
{
	if (side->frames.count > 0)
		phrase_add_function(out, vec_at(&side->frames, 0));
	else
		strbuf_add(out, "?");
}

/*
 * A case is the same in every run by its name: so which side was stalled does
 * not matter for it.
 */
static void add_name(struct strbuf *out, const struct race *race)
{
	struct strbuf name = { 0 }, sides[2] = { { 0 }, { 0 } };
	int first;

	add_function(&sides[0], &race->sides[0]);
	add_function(&sides[1], &race->sides[1]);
	first = strcmp(strbuf_text(&sides[0]), strbuf_text(&sides[1])) > 0;
	strbuf_add(&name, "data race on ");
	phrase_add_variable(&name, race);
	strbuf_addf(&name, ": %s against %s", strbuf_text(&sides[first]),
		    strbuf_text(&sides[!first]));
	if (race->fingerprint[0])
		strbuf_addf(&name, " [%.8s]", race->fingerprint);
	xml_add_attribute(out, "name", strbuf_text(&name));
	out->failed |= name.failed | sides[0].failed | sides[1].failed;
	strbuf_deinit(&name);
	strbuf_deinit(&sides[0]);
	strbuf_deinit(&sides[1]);
}

/* Where GitLab shows it: in the program's own sources. */
static void add_place(struct strbuf *out, const struct race *race)
{
	const struct race_side *side = race_place_side(race);
	const struct race_frame *frame = race_frames_own(&side->frames);

	if (!frame || !frame->file || !race_frame_is_own(frame))
		return;
	xml_add_attribute(out, "file", frame->file);
	if (frame->line > 0)
		strbuf_addf(out, " line=\"%d\"", frame->line);
}

/* The text report, as character data. */
static struct error *add_report(struct strbuf *out, const struct race *race)
{
	char *text = NULL;
	size_t size = 0;
	struct renderer renderer = { .ops = &render_text,
				     .style = { .identities = true,
						.full_stacks = true } };
	struct error *err;

	renderer.out = open_memstream(&text, &size);
	if (!renderer.out)
		return error_nomem;
	err = render_text.race(&renderer, race);
	if (fclose(renderer.out) != 0 && !err)
		err = error_nomem;
	if (!err)
		xml_add(out, text);
	free(text);
	return err;
}

static struct error *add_failure(struct strbuf *out, const struct race *race)
{
	struct strbuf message = { 0 };
	struct error *err;

	phrase_add_accesses(&message, race);
	phrase_add_value(&message, race);
	strbuf_add(out, "   <failure type=\"data-race\"");
	xml_add_attribute(out, "message", strbuf_text(&message));
	strbuf_add(out, ">");
	err = add_report(out, race);
	strbuf_add(out, "</failure>\n");
	out->failed |= message.failed;
	strbuf_deinit(&message);
	return err;
}

/* Why it does not count, and the text report as the output of the case. */
static struct error *add_skipped(struct strbuf *out, const struct race *race)
{
	struct strbuf message = { 0 };
	struct error *err;

	if (race->suppressed.rule) {
		strbuf_add(&message, "suppressed by ");
		phrase_add_suppression(&message, &race->suppressed);
	} else if (race->status == STATUS_KNOWN ||
		   race->status == STATUS_GONE) {
		strbuf_add(&message, phrase_status(race));
	} else {
		strbuf_add(&message, race_verdict_name(race->verdict));
		text_add_bracketed(&message, race->reason);
	}
	strbuf_add(out, "   <skipped");
	xml_add_attribute(out, "message", strbuf_text(&message));
	strbuf_add(out, "/>\n   <system-out>");
	err = add_report(out, race);
	strbuf_add(out, "</system-out>\n");
	out->failed |= message.failed;
	strbuf_deinit(&message);
	return err;
}

static struct error *junit_race(struct renderer *renderer,
				const struct race *race)
{
	struct junit *junit = junit_state(renderer);
	struct strbuf text = { 0 };
	struct error *err;

	if (!junit)
		return error_nomem;
	strbuf_add(&text, "  <testcase");
	xml_add_attribute(&text, "classname",
			  junit->program  ? junit->program
			  : race->program ? race->program
					  : PACKAGE_NAME);
	add_name(&text, race);
	strbuf_add(&text, " time=\"0\"");
	add_place(&text, race);
	strbuf_add(&text, ">\n");
	err = document_rank_fails(document_rank(race),
				  renderer->ignore_unlikely)
		      ? add_failure(&text, race)
		      : add_skipped(&text, race);
	strbuf_add(&text, "  </testcase>\n");
	if (err) {
		strbuf_deinit(&text);
		return err;
	}
	return document_put(&junit->cases, race, &text);
}

static struct error *junit_crash(struct renderer *renderer,
				 const struct crash *crash)
{
	struct junit *junit = junit_state(renderer);

	if (!junit)
		return error_nomem;
	phrase_add_crash(&junit->crashes, crash);
	strbuf_add(&junit->crashes, "\n");
	for (size_t i = 0; i < crash->races.count; i++) {
		strbuf_add(&junit->crashes, "  after race ");
		phrase_add_crash_race(&junit->crashes,
				      vec_at(&crash->races, i));
		strbuf_add(&junit->crashes, "\n");
	}
	return NULL;
}

static struct error *junit_target(struct renderer *renderer,
				  const struct target_record *record)
{
	struct junit *junit = junit_state(renderer);

	if (!junit)
		return error_nomem;
	target_counts_add(&junit->counts, record);
	strbuf_addf(&junit->sides, "target #%" PRIu64 ": ", record->side.id);
	target_say_side(&junit->sides, &record->side);
	strbuf_add(&junit->sides, ": ");
	target_say_outcome(&junit->sides, record);
	if (record->race_id)
		strbuf_addf(&junit->sides, ", #%" PRIu64, record->race_id);
	strbuf_add(&junit->sides, "\n");
	return NULL;
}

static void junit_say(struct junit *junit, const struct run_summary *summary)
{
	struct strbuf *line = &junit->watched;

	if (summary->hunt.known) {
		target_counts_say_hunt(line, &junit->counts, summary);
		return;
	}
	phrase_add_samples(line, summary);
	strbuf_add(line, ", ");
	phrase_add_overhead(line, summary);
}

static struct error *junit_summary(struct renderer *renderer,
				   const struct run_summary *summary)
{
	struct junit *junit = junit_state(renderer);
	struct strbuf *line;

	if (!junit)
		return error_nomem;
	line = &junit->watched;
	junit->seconds = (double)summary->elapsed_ns / 1e9;
	junit->hunt = summary->hunt.known;
	junit_say(junit, summary);
	junit->outcome = run_is_unsampled(summary) ? JUNIT_SKIPPED
						   : JUNIT_PASSED;
	/* the budget was over before */
	if (junit->hunt && junit->counts.results[TARGET_PENDING] > 0)
		junit->outcome = JUNIT_SKIPPED;
	if (run_is_unsampled(summary) && !summary->sampling.proves_nothing)
		strbuf_add(line, ": nothing is proved");
	if (summary->exit_status == EXIT_NO_PROOF) {
		junit->outcome = JUNIT_ERROR;
		strbuf_add(line, junit->hunt ? ": nothing is proved"
					     : ", fewer than were asked for");
	}
	if (summary->exit_status == EXIT_FAILED) {
		junit->outcome = JUNIT_ERROR;
		strbuf_add(line, "; racewatch failed");
	}
	return NULL;
}

static void add_output(struct strbuf *out, const char *said, const char *more)
{
	strbuf_add(out, "   <system-out>");
	if (said)
		xml_add(out, said);
	if (said && more)
		strbuf_add(out, "\n");
	if (more)
		xml_add(out, more);
	strbuf_add(out, "</system-out>\n");
}

static void add_watching(struct strbuf *out, const struct junit *junit)
{
	const char *said = junit->watched.length
				   ? strbuf_text(&junit->watched)
				   : "the report has no summary: it was cut "
				     "short";
	const char *sides = junit->sides.length ? strbuf_text(&junit->sides)
						: NULL;

	strbuf_add(out, "  <testcase");
	xml_add_attribute(out, "classname",
			  junit->program ? junit->program : PACKAGE_NAME);
	strbuf_addf(out, " name=\"racewatch %s\" time=\"%.3f\">\n",
		    junit->hunt ? "tried all sides" : "took samples",
		    junit->seconds);
	switch (junit->outcome) {
	case JUNIT_PASSED:
		add_output(out, said, sides);
		break;
	case JUNIT_SKIPPED:
		strbuf_add(out, "   <skipped");
		xml_add_attribute(out, "message", said);
		strbuf_add(out, "/>\n");
		break;
	case JUNIT_ERROR:
		strbuf_add(out, "   <error type=\"racewatch\"");
		xml_add_attribute(out, "message", said);
		strbuf_add(out, "/>\n");
		if (sides)
			add_output(out, NULL, sides);
		break;
	}
	strbuf_add(out, "  </testcase>\n");
}

/* The attributes that <testsuites> and <testsuite> have in common. */
static void add_counts(struct strbuf *out, const struct junit *junit,
		       bool ignore_unlikely)
{
	const struct document *cases = &junit->cases;
	size_t failures = document_failures(cases, ignore_unlikely);
	size_t skipped = cases->parts.count - failures +
			 (junit->outcome == JUNIT_SKIPPED);

	strbuf_addf(out,
		    " name=\"racewatch\" tests=\"%zu\" failures=\"%zu\""
		    " errors=\"%d\" skipped=\"%zu\" time=\"%.3f\"",
		    cases->parts.count + 1, failures,
		    junit->outcome == JUNIT_ERROR, skipped, junit->seconds);
}

static void add_suite(struct strbuf *out, struct junit *junit,
		      bool ignore_unlikely)
{
	strbuf_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			"<testsuites");
	add_counts(out, junit, ignore_unlikely);
	strbuf_add(out, ">\n <testsuite");
	add_counts(out, junit, ignore_unlikely);
	strbuf_add(out, strbuf_text(&junit->attributes));
	strbuf_add(out, ">\n");
	if (junit->properties.length)
		strbuf_addf(out, "  <properties>\n%s  </properties>\n",
			    strbuf_text(&junit->properties));
	add_watching(out, junit);
	for (size_t i = 0; i < junit->cases.parts.count; i++) {
		const struct document_part *part =
			vec_at(&junit->cases.parts, i);

		strbuf_add(out, part->text);
	}
	if (junit->crashes.length) {
		strbuf_add(out, "  <system-err>");
		xml_add(out, strbuf_text(&junit->crashes));
		strbuf_add(out, "</system-err>\n");
	}
	strbuf_add(out, " </testsuite>\n</testsuites>\n");
	out->failed |= junit->attributes.failed | junit->properties.failed |
		       junit->crashes.failed | junit->watched.failed |
		       junit->sides.failed;
}

static struct error *junit_finish(struct renderer *renderer)
{
	struct junit *junit = junit_state(renderer);
	struct strbuf text = { 0 };
	struct error *err;

	if (!junit)
		return error_nomem;
	document_sort(&junit->cases);
	add_suite(&text, junit, renderer->ignore_unlikely);
	err = document_write(renderer->out, &text);
	junit_destroy(renderer, junit);
	return err;
}

const struct renderer_ops render_junit = {
	.name = "junit",
	.run = junit_run,
	.race = junit_race,
	.crash = junit_crash,
	.target = junit_target,
	.summary = junit_summary,
	.finish = junit_finish,
};
