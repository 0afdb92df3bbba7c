/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sites of a place; see aim.h.
 */
#include "sampling/aim.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "image/codeplaces.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/sampleset.h"
#include "sampling/scan.h"

/* The search in one module. */
struct aiming {
	struct sampleset *set;
	struct module *module;
	const struct where *where;
	struct vec places; /* of struct code_place */
	struct vec insns; /* of struct scan_site: all that are there */
	struct aim *aim;
};

void aim_deinit(struct aim *aim)
{
	free(aim->module);
	aim->module = NULL;
}

/* The first of two that are alike stays: the program before its libraries. */
void aim_merge(struct aim *best, struct aim *other)
{
	bool blind = best->main && best->problem == AIM_NO_DEBUGINFO &&
		     other->problem == AIM_NO_FILE;

	if (best->module && (blind || other->problem <= best->problem)) {
		aim_deinit(other);
		return;
	}
	aim_deinit(best);
	*best = *other;
	other->module = NULL;
}

static bool match_file(void *context, const char *path)
{
	return where_is_file(context, path);
}

static bool match_function(void *context, const char *linkage, const char *name)
{
	return where_is_function(context, linkage, name);
}

static struct code_match aiming_match(const struct aiming *aiming)
{
	return (struct code_match){
		.file = match_file,
		.function = match_function,
		.context = (void *)(uintptr_t)aiming->where,
	};
}

static struct error *aim_at_line(struct aiming *aiming)
{
	const struct code_match match = aiming_match(aiming);
	struct code_found found = { .debuginfo = false };
	struct error *err = codeplaces_line(aiming->set->image, aiming->module,
					    &match, aiming->where->line,
					    &aiming->places, &found);
	struct aim *aim = aiming->aim;

	aim->problem = !found.debuginfo ? AIM_NO_DEBUGINFO
		       : !found.file	? AIM_NO_FILE
					: AIM_NO_LINE;
	aim->line_before = found.line_before;
	aim->line_after = found.line_after;
	return err;
}

static struct error *aim_at_function(struct aiming *aiming)
{
	const struct code_match match = aiming_match(aiming);
	struct code_found found = { .debuginfo = false };

	aiming->aim->problem = AIM_NO_FUNCTION;
	return codeplaces_function(aiming->set->image, aiming->module, &match,
				   &aiming->places, &found);
}

/* Is it the build that the offset is of, as far as that can be told? */
static bool aim_is_build(const struct aiming *aiming)
{
	const char *wanted = aiming->where->build_id;
	const char *build = elftext_build_id(aiming->module->text);

	return !wanted || (build && strcmp(build, wanted) == 0);
}

static struct error *aim_at_offset(struct aiming *aiming)
{
	uint64_t offset = aiming->where->offset;
	struct code_place place = { offset, offset + 1 };

	if (!where_is_module(aiming->where, aiming->module->path,
			     elftext_soname(aiming->module->text),
			     aiming->module->main))
		return NULL;
	if (!aim_is_build(aiming)) {
		aiming->aim->problem = AIM_OTHER_BUILD;
		return NULL;
	}
	aiming->aim->problem = AIM_NO_FUNCTION;
	return vec_push(&aiming->places, &place) ? NULL : error_nomem;
}

/* Of one function, those instructions that start within the place. */
static struct error *aim_scan(struct aiming *aiming,
			      const struct elf_function *function,
			      const struct code_place *place)
{
	size_t kept = aiming->insns.count, first = kept;
	struct error *err = scan_function_all(&aiming->set->scanner,
					      aiming->module, function,
					      &aiming->insns);

	for (size_t i = first; !err && i < aiming->insns.count; i++) {
		struct scan_site *insn = vec_at(&aiming->insns, i);

		if (insn->address < place->start || insn->address >= place->end)
			continue;
		if (kept != i)
			*(struct scan_site *)vec_at(&aiming->insns, kept) =
				*insn;
		kept++;
	}
	aiming->insns.count = kept;
	return err;
}

/* All instructions of all places. */
static struct error *aim_collect(struct aiming *aiming)
{
	size_t count;
	const struct elf_function *functions =
		elftext_functions(aiming->module->text, &count);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < aiming->places.count; i++) {
		const struct code_place *place = vec_at(&aiming->places, i);
		const struct elf_function *function = NULL;
		uint64_t at = place->start;

		/* gaps between functions are small: alignment */
		while (!function && at < place->end)
			function =
				elftext_function_at(aiming->module->text, at++);
		for (; function && function < functions + count &&
		       function->start < place->end && !err;
		     function++) {
			aiming->aim->problem = AIM_NO_INSTRUCTION;
			err = aim_scan(aiming, function, place);
		}
	}
	return err;
}

/* Of use if the user insists, and safe. */
static bool aim_may_force(enum rule rule)
{
	switch ((int)rule) {
	case RULE_STACK:
	case RULE_FRAME_POINTER:
	case RULE_SEGMENT:
	case RULE_SYNCHRONIZING:
	case RULE_ATOMIC_CODE:
	case RULE_ATOMIC_TYPE:
	case RULE_GUARD:
	case RULE_GO_CHECK:
		return true;
	default:
		return false;
	}
}

/* Does an explicit operand access memory in the way that is meant? */
static bool aim_is_meant(const struct where *where,
			 const struct scan_site *insn)
{
	for (unsigned int i = 0; i < insn->insn.operand_count; i++) {
		const struct mem_operand *operand = &insn->insn.operands[i];

		if (!operand->stack && where_is_access(where, operand->kind))
			return true;
	}
	return false;
}

/* The addresses of those taken: by the rules, or else in spite of them. */
static bool aim_choose(struct aiming *aiming, bool force, struct vec *chosen)
{
	struct aim *aim = aiming->aim;

	for (size_t i = 0; i < aiming->insns.count; i++) {
		const struct scan_site *insn = vec_at(&aiming->insns, i);

		if (!aim_is_meant(aiming->where, insn)) {
			if (aim->problem < AIM_NO_ACCESS)
				aim->problem = AIM_NO_ACCESS;
		} else if (insn->rule == RULE_SITE ||
			   (force && aim_may_force(insn->rule))) {
			aim->problem = AIM_FOUND;
			if (!vec_push(chosen, &insn->address))
				return false;
		} else if (aim->problem < AIM_LEFT_OUT) {
			aim->problem = AIM_LEFT_OUT;
			aim->rule = insn->rule;
		}
	}
	return true;
}

/* Those that are no sites yet join. */
static struct error *aim_add(struct aiming *aiming, const struct vec *chosen)
{
	struct vec added = VEC_INIT(uint64_t);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < chosen->count; i++) {
		const uint64_t *address = vec_at(chosen, i);
		uint64_t id;

		err = sampleset_find_at(aiming->set, aiming->module, *address,
					&id);
		if (!err && id == 0 && !vec_push(&added, address))
			err = error_nomem;
	}
	if (!err && added.count > 0)
		err = sampleset_add(aiming->set, aiming->module, &added);
	vec_deinit(&added);
	return err;
}

static struct error *aim_take(struct aiming *aiming, struct vec *ids)
{
	struct vec chosen = VEC_INIT(uint64_t);
	struct error *err = NULL;
	bool exact = aiming->where->kind == WHERE_OFFSET;

	if (!aim_choose(aiming, exact, &chosen) ||
	    (chosen.count == 0 && !aim_choose(aiming, true, &chosen)))
		err = error_nomem;
	if (!err)
		err = aim_add(aiming, &chosen);
	for (size_t i = 0; !err && i < chosen.count; i++) {
		uint64_t id;

		err = sampleset_find_at(aiming->set, aiming->module,
					*(uint64_t *)vec_at(&chosen, i), &id);
		if (!err && id != 0 && !vec_push(ids, &id))
			err = error_nomem;
	}
	vec_deinit(&chosen);
	return err;
}

static struct error *aim_search(struct aiming *aiming, struct vec *ids)
{
	struct error *err = NULL;

	switch (aiming->where->kind) {
	case WHERE_LINE:
		err = aim_at_line(aiming);
		break;
	case WHERE_FUNCTION:
		err = aim_at_function(aiming);
		break;
	case WHERE_OFFSET:
		err = aim_at_offset(aiming);
		break;
	}
	if (!err)
		err = aim_collect(aiming);
	return err ? err : aim_take(aiming, ids);
}

struct error *aim_module(struct sampleset *set, struct module *module,
			 const struct where *where, struct vec *ids,
			 struct aim *ret)
{
	struct aiming aiming = {
		.set = set,
		.module = module,
		.where = where,
		.places = VEC_INIT(struct code_place),
		.insns = VEC_INIT(struct scan_site),
		.aim = ret,
	};
	struct error *err = NULL;

	*ret = (struct aim){ .problem = AIM_NO_MODULE,
			     .module = strdup(module->name),
			     .main = module->main };
	if (module->text && !module->vdso) {
		/* a library that waits for the program's own sites */
		err = sampleset_want(set, module);
		if (!err)
			err = aim_search(&aiming, ids);
	}
	vec_deinit(&aiming.places);
	vec_deinit(&aiming.insns);
	if (err)
		aim_deinit(ret);
	return err;
}

static void explain_line(struct strbuf *out, const struct where *where,
			 const struct aim *aim, const char *module)
{
	strbuf_addf(out, "%s has no code of %s at line %d", module, where->name,
		    where->line);
	if (aim->line_before && aim->line_after)
		strbuf_addf(out, "; the nearest lines with code are %d and %d",
			    aim->line_before, aim->line_after);
	else if (aim->line_before || aim->line_after)
		strbuf_addf(out, "; the nearest line with code is %d",
			    aim->line_before ? aim->line_before
					     : aim->line_after);
}

static void explain_access(struct strbuf *out, const struct where *where,
			   const char *module)
{
	if (where->access == ACCESS_NONE)
		strbuf_addf(out,
			    "no instruction there in %s reads or writes memory",
			    module);
	else
		strbuf_addf(out, "no instruction there in %s %s memory", module,
			    where->access == ACCESS_READ    ? "reads"
			    : where->access == ACCESS_WRITE ? "writes"
							    : "both reads and "
							      "writes");
}

void aim_explain(struct strbuf *out, const struct where *where,
		 const struct aim *aim)
{
	const char *module = aim->module ? aim->module : "the program";

	switch (aim->problem) {
	case AIM_NO_MODULE:
		strbuf_add(out, where->kind == WHERE_OFFSET
					? "no module of that name is loaded"
					: "no module was searched yet");
		break;
	case AIM_OTHER_BUILD:
		strbuf_addf(out, "%s is another build than the report is of",
			    module);
		break;
	case AIM_NO_DEBUGINFO:
		strbuf_addf(out,
			    "%s has no debug information, so its lines are not "
			    "known",
			    module);
		break;
	case AIM_NO_FILE:
		strbuf_addf(out, "no module has code of a source file %s",
			    where->name);
		break;
	case AIM_NO_FUNCTION:
		if (where->kind == WHERE_OFFSET)
			strbuf_addf(out, "%s has no known function there",
				    module);
		else
			strbuf_addf(out, "no module has a function %s",
				    where->name);
		break;
	case AIM_NO_LINE:
		explain_line(out, where, aim, module);
		break;
	case AIM_NO_INSTRUCTION:
		strbuf_addf(out, "no instruction of %s starts there", module);
		break;
	case AIM_NO_ACCESS:
		explain_access(out, where, module);
		break;
	case AIM_LEFT_OUT:
		strbuf_addf(out,
			    "what is there in %s cannot be sampled: %s "
			    "(racewatch-sites(1))",
			    module, rule_name(aim->rule));
		break;
	case AIM_FOUND:
		break;
	}
}
