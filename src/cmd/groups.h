/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The groups of options that several commands have: a command embeds the
 * structures of its groups, names them in its table of parts, and passes them
 * on whole. What one command alone takes is in that command's own file.
 */
#ifndef CMD_GROUPS_H
#define CMD_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "base/vec.h"
#include "judge/judge.h"
#include "report/render.h"
#include "schedule/effort.h"
#include "wire/tracing.h"

struct error;
struct globs;

/* Every command. */
struct standard {
	bool help, version;
};
extern const struct option_group standard_group;

/* What is printed: run, attach, sweep, report. */
struct showing {
	int show; /* enum show */
	int color; /* enum color */
	bool full_stacks, quiet;
};
extern const struct option_group showing_group;

/* The style of text that is written to this file; verbose: --verbose. */
struct render_style showing_style(const struct showing *showing, bool verbose,
				  int fd);

/* Which code is sampled: run, attach, sweep, sites. */
struct selecting {
	struct vec patterns; /* of struct option_word: --include, --exclude */
	bool include_stack;
};
extern const struct option_group selecting_group;

/* How a program is watched: run, attach, sweep. */
struct watching {
	uint64_t duration_ns; /* 0: to the end */
	const char *policy; /* NULL: not given */
	struct vec at; /* of const char * */
	bool debuginfod;
	bool no_sandbox;
};
extern const struct option_group watching_group;

/* Whether races are replayed: run, attach, sweep. */
enum replaying_when { REPLAYING_ON, REPLAYING_OFF, REPLAYING_AUTO };
struct replaying {
	int when; /* enum replaying_when */
	uint64_t instances; /* of each race, at most */
};
extern const struct option_group replaying_group;

/* The report that is written, and the exit status: run, attach, sweep. */
struct reporting {
	const char *output; /* NULL: not given */
	const char *format; /* of render_names; NULL: not given */
	bool source;
	struct vec source_dirs;
	uint64_t error_exitcode; /* 0: that of the program */
};
extern const struct option_group reporting_group;

/* struct effort_options, schedule/effort.h: run, attach, sweep. */
extern const struct option_group effort_group;
/* struct tracing, wire/tracing.h: run, attach, sweep; run, sweep. */
extern const struct option_group tracing_group, tracing_start_group;
/*
 * struct judge_config, judge/judge.h: run, attach, sweep, report; and of these,
 * those that watch a program.
 */
extern const struct option_group judging_group, judging_watch_group;

/* All that run, attach and sweep have in common. */
struct common {
	struct standard standard;
	struct effort_options effort;
	struct tracing tracing;
	struct selecting selecting;
	struct watching watching;
	struct replaying replaying;
	struct reporting reporting;
	struct judge_config judging;
	struct showing showing;
};

/*
 * Add --include and --exclude in the order in which they were given: the last
 * that matches decides (sampling/glob.h). ERROR_NOMEM.
 */
struct error *selecting_globs(const struct selecting *selecting,
			      struct globs *globs);

#endif
