/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options that say which races are suppressed, known or unlikely: rows of
 * the commands that judge races (judge/judge.h).
 */
#ifndef CMD_GATE_H
#define CMD_GATE_H

#include <stddef.h>

#include "base/options.h"

/*
 * Option rows, for the commands that judge races: their options have the
 * members suppressions, no_default_suppressions, special, ignore_unlikely,
 * gen_suppressions and update_baseline, as far as they have the row.
 */
#define GATE_SUPPRESSIONS_ROW(options_)                                     \
	{                                                                   \
		.name = "suppressions", .arg = "FILE",                      \
		.help = "do not report the races that this file describes", \
		.type = OPTION_LIST,                                        \
		.offset = offsetof(options_, suppressions)                  \
	}

#define GATE_NO_DEFAULTS_ROW(options_)                                          \
	{                                                                       \
		.name = "no-default-suppressions",                              \
		.help = "do without the suppressions installed with racewatch", \
		.type = OPTION_FLAG,                                            \
		.offset = offsetof(options_, no_default_suppressions)           \
	}

#define GATE_SPECIAL_ROW(options_)                                            \
	{                                                                     \
		.name = "special-variable", .arg = "GLOB",                    \
		.help = "races on these variables are unlikely to be errors", \
		.type = OPTION_LIST, .offset = offsetof(options_, special)    \
	}

#define GATE_IGNORE_UNLIKELY_ROW(options_)                              \
	{                                                               \
		.name = "ignore-unlikely",                              \
		.help = "do not count races with the verdict unlikely", \
		.type = OPTION_FLAG,                                    \
		.offset = offsetof(options_, ignore_unlikely)           \
	}

#define GATE_GENERATE_ROW(options_)                                                  \
	{                                                                            \
		.name = "gen-suppressions", .arg = "FILE",                           \
		.help = "append a suppression for each race reported (-: print it)", \
		.type = OPTION_STRING,                                               \
		.offset = offsetof(options_, gen_suppressions)                       \
	}

#define GATE_UPDATE_ROW(options_)                             \
	{                                                     \
		.name = "update-baseline",                    \
		.help = "add the new races to the baseline",  \
		.type = OPTION_FLAG,                          \
		.offset = offsetof(options_, update_baseline) \
	}

#endif
