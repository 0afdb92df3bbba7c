/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a race tells of others on the same variable; see kin.h.
 */
#include "report/kin.h"

#include <string.h>

#include "report/race.h"

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool overlap(uint64_t a, uint32_t a_size, uint64_t b, uint32_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

bool kin_of_one_variable(const struct race *a, const struct race *b)
{
	const struct race_variable *one = &a->variable, *other = &b->variable;

	if (a->pid == b->pid &&
	    overlap(a->address, a->size, b->address, b->size))
		return true;
	return one->symbol && same_text(one->symbol, other->symbol) &&
	       same_text(one->module, other->module) &&
	       overlap(one->offset, a->size, other->offset, b->size);
}

bool kin_idiom_decides(const struct insn_idiom *idiom)
{
	return idiom->compared || idiom->tests_zero || idiom->dereferenced ||
	       idiom->change == IDIOM_DERIVED ||
	       (idiom->change == IDIOM_ADD && idiom->delta < 0);
}

bool kin_tell(struct race *race, const struct race *teller)
{
	if (race->decides || !kin_of_one_variable(race, teller) ||
	    (!kin_idiom_decides(&teller->sides[0].idiom) &&
	     !kin_idiom_decides(&teller->sides[1].idiom)))
		return false;
	race->decides = true;
	return true;
}

bool race_is_one_sided(const struct race *race)
{
	return race->sides[1].role == RACE_UNKNOWN;
}
