/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of a suppression; see supprule.h.
 */
#include "judge/supprule.h"

#include <stdlib.h>

#include "judge/suppress.h"

static void alternative_deinit(struct suppress_alternative *alternative)
{
	for (size_t i = 0; i < alternative->conditions.count; i++) {
		struct suppress_condition *condition =
			vec_at(&alternative->conditions, i);

		free(condition->text);
	}
	vec_deinit(&alternative->conditions);
}

void suppress_rule_deinit(struct suppress_rule *rule)
{
	for (size_t i = 0; i < rule->alternatives.count; i++)
		alternative_deinit(vec_at(&rule->alternatives, i));
	vec_deinit(&rule->alternatives);
	free(rule->text);
	free(rule->reason);
	free(rule->bug);
	free(rule->expires);
}
