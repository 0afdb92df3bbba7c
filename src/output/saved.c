/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A report in a file; see saved.h.
 */
#include "output/saved.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/exitstatus.h"
#include "base/log.h"
#include "base/outputfile.h"
#include "base/strbuf.h"
#include "judge/suppress.h"
#include "report/record.h"
#include "sweep/again.h"

static const uint64_t PROGRESS_PERIOD_NS = CLOCK_NS_PER_S;
/* a day of watching is some 3 600 records, not 86 400 */
enum { PROGRESS_PART = 600 };

static struct error *saved_failed(const struct saved *saved, struct error *err)
{
	return error_wrap(err, "%s", saved->name);
}

struct error *saved_open(struct saved *saved, const char *path,
			 const struct renderer_ops *format,
			 const struct render_style *style)
{
	bool is_stdout = !path || strcmp(path, "-") == 0;
	struct error *err = NULL;

	memset(saved, 0, sizeof(*saved));
	if (!path && (!format || format == &render_text))
		return NULL;
	saved->name = is_stdout ? "standard output" : path;
	saved->file = is_stdout ? stdout : NULL;
	if (!is_stdout)
		err = outputfile_open(path, OUTPUTFILE_NEW, &saved->file);
	if (err)
		return err;
	saved->renderer = (struct renderer){
		.ops = format ? format : &render_json,
		.out = saved->file,
		.style = *style,
		.suppression = suppression_write,
		.live = true,
	};
	render_style_for_file(&saved->renderer.style);
	return NULL;
}

/* Is it a report that can be read again? */
static bool saved_is_report(const struct saved *saved)
{
	return saved->file && saved->file != stdout &&
	       saved->renderer.ops == &render_json;
}

void saved_add_again(const struct saved *saved, char *const *command,
		     const char *client, struct strbuf *ret)
{
	strbuf_add(ret, "racewatch provoke ");
	if (saved_is_report(saved))
		again_add_word(ret, saved->name);
	else
		strbuf_add(ret, "REPORT");
	strbuf_add(ret, "#{id} ");
	if (client) {
		strbuf_add(ret, "--until-exit-of ");
		again_add_word(ret, client);
		strbuf_add(ret, " ");
	}
	strbuf_add(ret, command ? "--" : "--pid {pid}");
	for (char *const *word = command; word && *word; word++) {
		strbuf_add(ret, " ");
		again_add_word(ret, *word);
	}
	if (!saved_is_report(saved))
		strbuf_add(ret, "  # -o REPORT saves it");
}

void saved_make_private(const struct saved *saved)
{
	struct stat st;
	int fd = saved->file ? fileno(saved->file) : -1;

	/* where the shell or another program opened it, the mode is theirs */
	if (saved->file == stdout || fd < 0 || fstat(fd, &st) < 0 ||
	    !S_ISREG(st.st_mode) || (st.st_mode & 0077) == 0)
		return;
	if (fchmod(fd, st.st_mode & 0700) < 0)
		log_warn("%s: others may read it: %s", saved->name,
			 strerror(errno));
}

/* A document is written all the same: an empty file would say nothing. */
static struct error *saved_give_up(struct saved *saved)
{
	struct run_summary summary = { .backend = "none",
				       .exit_status = EXIT_FAILED };

	if (!saved->renderer.ops->finish)
		return NULL;
	return saved_summary(saved, &summary);
}

struct error *saved_close(struct saved *saved)
{
	struct error *err = NULL;

	if (saved->file && !saved->finished)
		err = saved_give_up(saved);
	/* the last chance of a file elsewhere to say that it is full */
	if (saved->file && saved->file != stdout && fclose(saved->file) != 0 &&
	    !err)
		err = saved_failed(saved, error_os(errno, "write the report"));
	saved->file = NULL;
	return err;
}

bool saved_takes_updates(const struct saved *saved)
{
	return saved->renderer.ops != &render_text;
}

struct error *saved_run(struct saved *saved, const struct run_record *run)
{
	struct renderer *renderer = &saved->renderer;

	if (!saved->file)
		return NULL;
	return saved_failed(saved, renderer->ops->run(renderer, run));
}

struct error *saved_race(struct saved *saved, const struct race *race)
{
	struct renderer *renderer = &saved->renderer;

	if (!saved->file)
		return NULL;
	return saved_failed(saved, renderer->ops->race(renderer, race));
}

struct error *saved_text(struct saved *saved, render_race *write,
			 const struct race *race)
{
	if (!saved->file || saved_takes_updates(saved))
		return NULL;
	return saved_failed(saved, write(&saved->renderer, race));
}

struct error *saved_race_short(struct saved *saved, const struct race *race)
{
	return saved_text(saved, render_text_short, race);
}

struct error *saved_counts(struct saved *saved, const struct vec *races)
{
	if (!saved->file || saved_takes_updates(saved))
		return NULL;
	return saved_failed(saved, render_text_counts(&saved->renderer, races));
}

struct error *saved_crash(struct saved *saved, const struct crash *crash)
{
	struct renderer *renderer = &saved->renderer;

	if (!saved->file || !renderer->ops->crash)
		return NULL;
	return saved_failed(saved, renderer->ops->crash(renderer, crash));
}

struct error *saved_target(struct saved *saved,
			   const struct target_record *target)
{
	struct renderer *renderer = &saved->renderer;

	if (!saved->file || !renderer->ops->target)
		return NULL;
	return saved_failed(saved, renderer->ops->target(renderer, target));
}

struct error *saved_candidate(struct saved *saved,
			      const struct candidate_record *candidate)
{
	struct renderer *renderer = &saved->renderer;

	if (!saved->file || !renderer->ops->candidate)
		return NULL;
	return saved_failed(saved,
			    renderer->ops->candidate(renderer, candidate));
}

struct error *saved_progress(struct saved *saved,
			     const struct run_summary *progress, bool last)
{
	struct renderer *renderer = &saved->renderer;
	uint64_t now = progress->elapsed_ns;
	uint64_t period = now / PROGRESS_PART > PROGRESS_PERIOD_NS
				  ? now / PROGRESS_PART
				  : PROGRESS_PERIOD_NS;

	if (!saved->file || !renderer->ops->progress ||
	    now <= saved->progress_ns ||
	    (!last && now - saved->progress_ns < period))
		return NULL;
	saved->progress_ns = now;
	return saved_failed(saved, renderer->ops->progress(renderer, progress));
}

struct error *saved_summary(struct saved *saved,
			    const struct run_summary *summary)
{
	struct renderer *renderer = &saved->renderer;
	struct error *err, *end = NULL;

	if (!saved->file)
		return NULL;
	saved->finished = true;
	err = renderer->ops->summary(renderer, summary);
	if (renderer->ops->finish)
		end = renderer->ops->finish(renderer);
	if (err)
		error_free(end);
	return saved_failed(saved, err ? err : end);
}
