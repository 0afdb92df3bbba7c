/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names of refusals in the tables and in the output of tests.
 */
#ifndef TESTS_DECODE_REFUSAL_NAME_H
#define TESTS_DECODE_REFUSAL_NAME_H

#include "x86/access.h"

static inline const char *refusal_name(enum x86_refusal refusal)
{
	static const char *const names[X86_REFUSALS] = {
		[X86_OK] = "none",
		[X86_REFUSED_GATHER] = "gather",
		[X86_REFUSED_SCATTER] = "scatter",
		[X86_REFUSED_XSAVE] = "xsave",
		[X86_REFUSED_MASKMOV] = "maskmov",
		[X86_REFUSED_FAR] = "far",
		[X86_REFUSED_X87_ENV] = "x87-environment",
		[X86_REFUSED_TILE] = "tile",
		[X86_REFUSED_SYSTEM] = "system",
		[X86_REFUSED_OTHER] = "other",
		[X86_REFUSED_UNDECODABLE] = "undecodable",
	};

	if ((unsigned int)refusal >= X86_REFUSALS || !names[refusal])
		return "unknown";
	return names[refusal];
}

#endif
