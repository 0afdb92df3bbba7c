/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The outcome of a run; see outcome.h. The command itself may exit with one of
 * racewatch's statuses: only the summary shows whether the command was run at
 * all.
 */
#include "sweep/outcome.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/exitstatus.h"
#include "base/strbuf.h"
#include "sweep/findings.h"
#include "sweep/supervisor.h"

const char *outcome_word(unsigned int kind)
{
	static const char *const words[OUTCOMES] = {
		[OUTCOME_PASSED] = "passed",
		[OUTCOME_FAILED] = "failed",
		[OUTCOME_TIMED_OUT] = "timed-out",
		[OUTCOME_NOT_STARTED] = "not-started",
		[OUTCOME_BROKEN] = "broken",
		[OUTCOME_CUT] = "cut",
	};

	return kind < OUTCOMES ? words[kind] : NULL;
}

static enum outcome_kind kind_of(const struct supervisor_result *result,
				 const struct findings *findings)
{
	int status = WEXITSTATUS(result->status);

	if (result->stopped)
		return OUTCOME_CUT;
	if (result->timed_out)
		return OUTCOME_TIMED_OUT;
	if (!WIFEXITED(result->status))
		return OUTCOME_BROKEN;
	if (!findings->has_summary)
		return status == EXIT_CANNOT_RUN || status == EXIT_NOT_FOUND
			       ? OUTCOME_NOT_STARTED
			       : OUTCOME_BROKEN;
	/* the summary has what was meant before the last of it was written */
	if (status == EXIT_FAILED && findings->exit_status != status)
		return OUTCOME_BROKEN;
	return status == 0 ? OUTCOME_PASSED : OUTCOME_FAILED;
}

struct outcome outcome_of(const struct supervisor_result *result,
			  const struct findings *findings)
{
	return (struct outcome){
		.kind = kind_of(result, findings),
		.status = exit_status_of(result->status),
		.unsampled = findings->has_summary && findings->samples == 0,
		.left = result->left,
		.away = result->away,
		.output_cut = result->cut_bytes > 0,
		.output_lost = result->write_error != 0,
	};
}

bool outcome_is_plain(const struct outcome *outcome)
{
	return outcome->kind == OUTCOME_PASSED && !outcome->unsampled &&
	       !outcome->left && !outcome->output_cut && !outcome->output_lost;
}

static void add(struct strbuf *out, const char *text)
{
	if (out->length > 0)
		strbuf_add(out, ", ");
	strbuf_add(out, text);
}

static void describe_end(const struct outcome *outcome, struct strbuf *out)
{
	const char *name = NULL;

	switch (outcome->kind) {
	case OUTCOME_PASSED:
	case OUTCOMES:
		break;
	case OUTCOME_FAILED:
		strbuf_addf(out, "failed with status %d", outcome->status);
		if (outcome->status > 128)
			name = sigabbrev_np(outcome->status - 128);
		if (name)
			strbuf_addf(out, " (SIG%s)", name);
		break;
	case OUTCOME_TIMED_OUT:
		strbuf_add(out, "hung and was ended");
		break;
	case OUTCOME_NOT_STARTED:
		strbuf_add(out, "could not be started");
		break;
	case OUTCOME_BROKEN:
		strbuf_addf(out, "racewatch failed with status %d",
			    outcome->status);
		break;
	case OUTCOME_CUT:
		strbuf_add(out, "was cut short");
		break;
	}
}

void outcome_describe(const struct outcome *outcome, struct strbuf *out)
{
	struct strbuf text = { 0 };

	describe_end(outcome, &text);
	if (outcome->unsampled)
		add(&text, "took no sample of its own modules");
	if (outcome->away)
		add(&text, "forked away");
	if (outcome->left > 0) {
		add(&text, "left ");
		strbuf_addf(&text, "%" PRIu32 " process%s behind",
			    outcome->left, outcome->left == 1 ? "" : "es");
	}
	if (outcome->output_cut)
		add(&text, "flooded its output");
	if (outcome->output_lost)
		add(&text, "output could not be written");
	out->failed |= text.failed;
	strbuf_add(out, strbuf_text(&text));
	strbuf_deinit(&text);
}
