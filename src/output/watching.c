/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session with its output; see watching.h.
 */
#include "output/watching.h"

#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "output/onrace.h"
#include "output/output.h"
#include "report/run.h"

static int exit_status(const struct watching_plan *watching,
		       const struct session_result *result)
{
	const struct run_summary *sum = &watching->output->counts.sum;

	if (sum->races > sum->known && watching->error_exitcode != 0)
		return (int)watching->error_exitcode;
	if (result->timed_out)
		return EXIT_TIMED_OUT;
	if (sum->sampling.own < watching->asked.min_samples)
		return EXIT_NO_PROOF;
	/* a program that was attached to goes on, or its end is not ours */
	return watching->asked.attached ? 0 : exit_status_of(result->status);
}

static void warn(struct strbuf *text)
{
	if (text->length > 0)
		log_warn("%s", strbuf_text(text));
	strbuf_clear(text);
}

/* Why nothing was sampled, and which patterns have no effect. */
static void warn_of_silence(const struct silence_asked *asked,
			    const struct session_counts *counts,
			    const struct vec *patterns)
{
	struct strbuf text = { 0 };

	silence_explain(&text, asked, counts);
	warn(&text);
	silence_generated(&text, counts);
	warn(&text);
	for (size_t i = 0; i < patterns->count; i++) {
		silence_pattern(&text, vec_at(patterns, i));
		warn(&text);
	}
	silence_floor(&text, asked, counts);
	warn(&text);
	strbuf_deinit(&text);
}

/* The warnings, and the summary. False as output_finish(). */
static bool finish(const struct watching_plan *watching,
		   const struct session_result *result, int status)
{
	struct output *output = watching->output;
	struct silence_asked asked = watching->asked;
	struct strbuf text = { 0 };
	struct output_end end = {
		.exit_status = status,
		.patterns = VEC_INIT(struct run_pattern),
	};
	bool good = true;

	asked.ended = result->end == SESSION_EXITED;
	end.unsampled.reason = silence_reason(&text, &asked, &output->counts);
	if (end.unsampled.reason)
		end.unsampled.text = strbuf_text(&text);
	if (output->counts.modules_read)
		good = silence_patterns(asked.globs, &end.patterns);
	if (!output->config->quiet)
		warn_of_silence(&asked, &output->counts, &end.patterns);
	good = output_finish(output, &end) && good;
	vec_deinit(&end.patterns);
	strbuf_deinit(&text);
	return good;
}

struct error *watching_run(const struct watching_plan *watching,
			   int *ret_status)
{
	struct output *output = watching->output;
	struct session_config config = watching->session;
	struct session_sink sink = output_sink(output);
	struct session_result result = { .status = 0 };
	struct error *err;
	int status = EXIT_FAILED;

	/* a race must be told soon where its threads wait for that */
	if (config.stop_at_race)
		config.effort.nice = 0;
	err = session_run(&config, &sink, &result);
	onrace_finish(output->config->onrace);
	if (!err)
		status = exit_status(watching, &result);
	else
		result.end = SESSION_LEFT;
	/* a tracer that died in the middle has left results too */
	if (err && output->counts.sum.elapsed_ns == 0)
		return err;
	if (!finish(watching, &result, status))
		status = EXIT_FAILED;
	if (!err)
		*ret_status = status;
	return err;
}
