/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling set; see sampleset.h.
 */
#include "sampling/sampleset-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/coverage.h"
#include "sampling/dynamic.h"
#include "sampling/rules.h"
#include "wire/message.h"

/* In bytes: its functions may take longer to read than there is time. */
enum { LARGE_MODULE = 8 << 20 };

/* A look at slots is followed by this many times its CPU time, ... */
enum { SLOTS_SHARE = 4000 };
/* ... but a function that was looked up is found within this */
static const uint64_t SLOTS_GAP_MAX_NS = 5 * CLOCK_NS_PER_S;

/* The sites of a function that are given. */
static struct error *sampleset_list_only(const struct sampleset_part *part,
					 const struct elf_function *function,
					 struct vec *offsets)
{
	for (size_t i = 0; i < part->only.count; i++) {
		uint64_t address = *(const uint64_t *)vec_at(&part->only, i);
		uint32_t offset = (uint32_t)(address - function->start);

		if (address >= function->start &&
		    address - function->start < function->size &&
		    !vec_push(offsets, &offset))
			return error_nomem;
	}
	return NULL;
}

static struct error *sampleset_decode(void *context, uint32_t number,
				      uint32_t index, struct vec *offsets)
{
	struct sampleset *set = context;
	struct sampleset_part *part = sampleset_part(set, number);
	const struct elf_function *function = sampleset_function(part, index);
	struct vec sites = VEC_INIT(struct scan_site);
	struct error *err;

	if (part->only.count > 0)
		return sampleset_list_only(part, function, offsets);
	err = scan_function(&set->scanner, part->module, function, RULE_SITE,
			    &sites, &set->counts);
	for (size_t i = 0; !err && i < sites.count; i++) {
		const struct scan_site *site = vec_at(&sites, i);
		uint32_t offset = (uint32_t)(site->address - function->start);

		if (!vec_push(offsets, &offset))
			err = error_nomem;
	}
	vec_deinit(&sites);
	return err;
}

struct error *sampleset_init(struct sampleset *set, struct image *image,
			     const struct rules *rules, int pid, uint64_t seed)
{
	struct sampler_text text = { .decode = sampleset_decode,
				     .callees = sampleset_callees,
				     .context = set };

	*set = (struct sampleset){
		.image = image,
		.rules = rules,
		.pid = pid,
		.modules = VEC_INIT(struct sampleset_module),
		.parts = VEC_INIT(struct sampleset_part),
	};
	sampler_init(&set->sampler, &text, seed);
	return scanner_init(&set->scanner, image, rules);
}

void sampleset_deinit(struct sampleset *set)
{
	for (size_t i = 0; i < set->modules.count; i++) {
		vec_deinit(&sampleset_module(set, i)->slots);
		free(sampleset_module(set, i)->sampled);
	}
	for (size_t i = 0; i < set->parts.count; i++) {
		vec_deinit(&sampleset_part(set, i)->functions);
		vec_deinit(&sampleset_part(set, i)->only);
		free(sampleset_part(set, i)->path);
	}
	vec_deinit(&set->modules);
	vec_deinit(&set->parts);
	sampler_deinit(&set->sampler);
	scanner_deinit(&set->scanner);
}

/* The bytes of each of the part's functions. */
static void sampleset_sizes(const struct sampleset_part *part, uint32_t *sizes)
{
	const uint32_t *indices = part->functions.items;
	size_t count;
	const struct elf_function *functions =
		elftext_functions(part->module->text, &count);

	for (size_t i = 0; i < part->functions.count; i++)
		sizes[i] = functions[indices[i]].size;
}

/* Takes what part owns. */
static struct error *sampleset_add_part(struct sampleset *set,
					struct sampleset_part *part)
{
	size_t count = part->functions.count;
	cleanup_free uint32_t *sizes = calloc(count + 1, sizeof(*sizes));
	struct error *err = error_nomem;
	uint32_t number;

	if (!part->path || !sizes)
		goto out;
	sampleset_sizes(part, sizes);
	if (!vec_push(&set->parts, part))
		goto out;
	err = sampler_add(&set->sampler, sizes, count, part->meant, &number);
	if (err)
		set->parts.count--;
out:
	if (err) {
		vec_deinit(&part->functions);
		vec_deinit(&part->only);
		free(part->path);
	}
	return err;
}

/* Functions, by index, become a part of the sampler. Takes `functions`. */
static struct error *sampleset_join(struct sampleset *set,
				    struct sampleset_module *module,
				    struct vec *functions, bool called)
{
	struct sampleset_part part = {
		.module = module->module,
		.module_id = module->id,
		.functions = *functions,
		.only = VEC_INIT(uint64_t),
		.path = strdup(module->module->path),
		.meant = rules_module_meant(set->rules, module->module),
		.called = called,
	};
	const uint32_t *indices = functions->items;

	*functions = (struct vec)VEC_INIT(uint32_t);
	for (size_t i = 0; i < part.functions.count; i++)
		module->sampled[indices[i]] = true;
	return sampleset_add_part(set, &part);
}

/* Counts functions of the module: in the set, and left out by patterns. */
static void sampleset_note_own(struct sampleset *set,
			       const struct module *module, uint64_t chosen,
			       uint64_t excluded)
{
	if (!rules_module_meant(set->rules, module))
		return;
	set->own_functions += chosen;
	if (excluded > 0 && !set->excluded_by)
		set->excluded_by =
			globs_excluding(&set->rules->globs, module->path);
}

/* The functions of a module that the rules leave in. */
static struct error *sampleset_choose(struct sampleset *set,
				      const struct sampleset_module *joined,
				      struct vec *chosen)
{
	struct module *module = joined->module;
	size_t count;
	const struct elf_function *functions =
		elftext_functions(module->text, &count);
	uint64_t excluded = 0;
	uint32_t *indices;

	if (!vec_reserve(chosen, joined->function_count))
		return error_nomem;
	indices = chosen->items;
	for (size_t i = 0; i < joined->function_count; i++) {
		enum rule rule = rules_function(set->rules, set->image, module,
						joined->part, &functions[i]);

		excluded += rule == RULE_GLOB;
		if (rule == RULE_SITE)
			indices[chosen->count++] = (uint32_t)i;
	}
	sampleset_note_own(set, module, chosen->count, excluded);
	log_debug(LOG_DETECT, "%s: %zu of %zu functions", module->path,
		  chosen->count, count);
	return NULL;
}

/* One that cannot be read has no functions. */
static struct error *sampleset_read(const struct module *module)
{
	struct error *err = elftext_read(module->text);

	if (!err || err == error_nomem)
		return err;
	log_debug(LOG_DETECT, "%s", error_message(err));
	error_free(err);
	return NULL;
}

static struct error *sampleset_join_module(struct sampleset *set,
					   struct module *module)
{
	struct sampleset_module *joined = vec_append(&set->modules);
	struct vec chosen = VEC_INIT(uint32_t);
	struct error *err;

	if (!joined)
		return error_nomem;
	joined->id = module->id;
	joined->start = module->start;
	joined->end = module->end;
	joined->module = module;
	joined->part = rules_module_part(module);
	joined->slots = (struct vec)VEC_INIT(uint64_t);
	if (!module->text)
		return NULL;
	err = sampleset_read(module);
	if (err)
		return err;
	elftext_functions(module->text, &joined->function_count);
	if (joined->function_count > UINT32_MAX)
		joined->function_count = UINT32_MAX;
	joined->sampled =
		calloc(joined->function_count + 1, sizeof(*joined->sampled));
	if (!joined->sampled || !dynamic_string_slots(module, &joined->slots))
		return error_nomem;
	err = sampleset_choose(set, joined, &chosen);
	if (!err && chosen.count > 0)
		err = sampleset_join(set, joined, &chosen, false);
	vec_deinit(&chosen);
	return err;
}

static void sampleset_leave(struct sampleset *set, size_t number)
{
	struct sampleset_module *module = sampleset_module(set, number);

	for (size_t i = 0; i < set->parts.count; i++) {
		struct sampleset_part *part = sampleset_part(set, i);

		if (part->gone || part->module_id != module->id)
			continue;
		part->gone = true;
		part->module = NULL;
		vec_deinit(&part->functions);
		vec_deinit(&part->only);
		sampler_remove(&set->sampler, (uint32_t)i);
	}
	vec_deinit(&module->slots);
	free(module->sampled);
	vec_remove_swap(&set->modules, number);
}

static bool sampleset_in_image(const struct sampleset *set, uint64_t id)
{
	const struct vec *modules = image_modules(set->image);

	for (size_t i = 0; i < modules->count; i++) {
		if ((*(struct module **)vec_at(modules, i))->id == id)
			return true;
	}
	return false;
}

static struct sampleset_module *sampleset_find(const struct sampleset *set,
					       uint64_t id)
{
	for (size_t i = 0; i < set->modules.count; i++) {
		if (sampleset_module(set, i)->id == id)
			return sampleset_module(set, i);
	}
	return NULL;
}

bool sampleset_samples(const struct sampleset *set, const struct module *module,
		       size_t function)
{
	const struct sampleset_module *joined = sampleset_find(set, module->id);

	return joined && function < joined->function_count &&
	       joined->sampled[function];
}

/* String functions of libc that slots of modules lead to join. */
static struct error *sampleset_join_variants(struct sampleset *set,
					     struct sampleset_module *libc)
{
	struct vec found = VEC_INIT(uint32_t);
	struct error *err = sampleset_find_variants(set, libc, &found);

	if (!err && found.count > 0)
		return sampleset_join(set, libc, &found, false);
	vec_deinit(&found);
	return err;
}

/* Those of a module that has joined. */
static struct error *
sampleset_join_called(struct sampleset *set, struct sampleset_module *libc,
		      const struct sampleset_module *module)
{
	struct vec found = VEC_INIT(uint32_t);
	struct error *err = sampleset_find_called(set, libc, module, &found);

	if (!err && found.count > 0)
		return sampleset_join(set, libc, &found, true);
	vec_deinit(&found);
	return err;
}

/* Does one of the program's own modules, which alone have joined, call any? */
static bool sampleset_calls_strings(const struct sampleset *set)
{
	for (size_t i = 0; i < set->modules.count; i++) {
		if (sampleset_module(set, i)->slots.count > 0)
			return true;
	}
	return false;
}

/* libc joins before other libraries, for what the program calls of it. */
static struct error *sampleset_join_strings(struct sampleset *set,
					    struct module *libc)
{
	struct error *err = sampleset_join_module(set, libc);
	struct sampleset_module *joined = sampleset_find(set, libc->id);

	for (size_t i = 0; !err && i < set->modules.count; i++) {
		const struct sampleset_module *module =
			sampleset_module(set, i);

		if (rules_module_own(module->module))
			err = sampleset_join_called(set, joined, module);
	}
	return err;
}

/*
 * Libraries wait: only libc joins, if the program's own modules call string
 * functions. It may be all that they do with what they share.
 */
static struct error *sampleset_join_early(struct sampleset *set)
{
	const struct vec *modules = image_modules(set->image);

	if (!sampleset_calls_strings(set))
		return NULL;
	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);

		if (!rules_module_own(module) && module->text &&
		    rules_module_part(module) == PART_STRINGS &&
		    !sampleset_find(set, module->id))
			return sampleset_join_strings(set, module);
	}
	return NULL;
}

static struct error *sampleset_look_at_slots(struct sampleset *set)
{
	uint64_t begun = clock_cpu_ns(), gap;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < set->modules.count; i++) {
		struct sampleset_module *module = sampleset_module(set, i);

		if (module->part == PART_STRINGS && module->module->text)
			err = sampleset_join_variants(set, module);
	}
	gap = (clock_cpu_ns() - begun) * SLOTS_SHARE;
	set->slots_due_ns = clock_now_ns() +
			    (gap < SLOTS_GAP_MAX_NS ? gap : SLOTS_GAP_MAX_NS);
	return err;
}

/*
 * Is it left for another call? A large one is where something has joined that
 * can be drawn from meanwhile.
 */
static bool sampleset_postpones(const struct module *module, uint64_t until_ns)
{
	return until_ns != UINT64_MAX &&
	       (module->end - module->start >= LARGE_MODULE ||
		clock_now_ns() >= until_ns);
}

/*
 * Join the modules that are the program's own, or those that are not, as far as
 * there is time. *joined: something has joined that can be sampled meanwhile.
 */
static struct error *sampleset_join_modules(struct sampleset *set, bool own,
					    uint64_t until_ns, bool *joined)
{
	const struct vec *modules = image_modules(set->image);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);

		if (rules_module_own(module) != own ||
		    sampleset_find(set, module->id))
			continue;
		if ((!own && set->libraries_wait) ||
		    (*joined && sampleset_postpones(module, until_ns))) {
			set->behind = true;
			set->own_behind |= own;
			continue;
		}
		err = sampleset_join_module(set, module);
		*joined = true;
	}
	return err;
}

void sampleset_rest(struct sampleset *set)
{
	for (size_t i = 0; i < set->modules.count; i++)
		sampleset_module(set, i)->taken = false;
	set->pid = 0;
	set->behind = set->own_behind = false;
	set->slots_due_ns = 0;
	set->rests = true;
	sampler_begin_again(&set->sampler);
}

/* In another process: the modules are elsewhere, no slot has a value yet. */
static struct error *sampleset_wake(struct sampleset *set)
{
	set->rests = false;
	for (size_t i = 0; i < set->modules.count; i++) {
		struct sampleset_module *joined = sampleset_module(set, i);

		joined->start = joined->module->start;
		joined->end = joined->module->end;
		vec_clear(&joined->slots);
		if (joined->module->text &&
		    !dynamic_string_slots(joined->module, &joined->slots))
			return error_nomem;
	}
	return NULL;
}

struct error *sampleset_sync(struct sampleset *set, uint64_t until_ns,
			     struct vec *gone)
{
	struct error *err = NULL;
	bool joined = false;

	for (size_t i = set->modules.count; i-- > 0;) {
		const struct sampleset_module *module =
			sampleset_module(set, i);
		struct wire_range range = { .start = module->start,
					    .end = module->end };

		if (sampleset_in_image(set, module->id))
			continue;
		sampleset_leave(set, i);
		/* of the process before: there is nothing armed there */
		if (!set->rests && !vec_push(gone, &range))
			return error_nomem;
	}
	set->behind = set->own_behind = false;
	if (set->rests)
		err = sampleset_wake(set);
	if (!err)
		err = sampleset_join_modules(set, true, until_ns, &joined);
	if (!err && set->libraries_wait && !set->own_behind && set->pid > 0)
		err = sampleset_join_early(set);
	if (!err)
		err = sampleset_join_modules(set, false, until_ns, &joined);
	if (err || set->behind || set->pid <= 0 ||
	    (!joined && clock_now_ns() < set->slots_due_ns))
		return err;
	return sampleset_look_at_slots(set);
}

bool sampleset_complete(const struct sampleset *set)
{
	return !set->behind && sampler_complete(&set->sampler);
}

bool sampleset_coverage(const struct sampleset *set, struct vec *coverage)
{
	for (size_t i = 0; i < set->parts.count; i++) {
		uint64_t known, sampled;

		sampler_count(&set->sampler, (uint32_t)i, &known, &sampled);
		if (!coverage_add(coverage, sampleset_part(set, i)->path, known,
				  sampled))
			return false;
	}
	return true;
}

void sampleset_count_own(const struct sampleset *set, uint64_t *ret_known,
			 uint64_t *ret_sampled)
{
	*ret_known = *ret_sampled = 0;
	for (size_t i = 0; i < set->parts.count; i++) {
		const struct sampleset_part *part = sampleset_part(set, i);
		uint64_t known, sampled;

		if (!part->meant)
			continue;
		sampler_count(&set->sampler, (uint32_t)i, &known, &sampled);
		*ret_known += part->gone ? 0 : known;
		*ret_sampled += sampled;
	}
}

bool sampleset_site_is_own(const struct sampleset *set, uint64_t id)
{
	uint32_t number, function, offset;

	return sampler_locate(&set->sampler, id, &number, &function, &offset) &&
	       sampleset_part(set, number)->meant;
}

struct error *sampleset_draw(struct sampleset *set, struct wire_site *ret)
{
	uint64_t id;
	struct error *err = sampler_draw(&set->sampler, &id);

	if (err)
		return err;
	if (id == 0 || !sampleset_describe(set, id, ret))
		memset(ret, 0, sizeof(*ret));
	return NULL;
}

bool sampleset_own_complete(const struct sampleset *set)
{
	for (size_t i = 0; i < set->parts.count; i++) {
		if (sampleset_is_own(sampleset_part(set, i)) &&
		    !sampler_part_complete(&set->sampler, (uint32_t)i))
			return false;
	}
	return !set->own_behind;
}

/* The next part, or the second round. */
static void sampleset_walk_on(const struct sampleset *set,
			      struct sampleset_walk *walk)
{
	walk->at.site = 0;
	if (++walk->part < set->parts.count || walk->at.sampled ||
	    !set->sampler.again)
		return;
	walk->part = 0;
	walk->at.sampled = true;
}

struct error *sampleset_take_unrun(struct sampleset *set, uint64_t until_ns,
				   struct sampleset_walk *walk,
				   struct wire_site *ret)
{
	struct error *err = NULL;
	uint64_t id = 0;

	while (!err && id == 0 && walk->part < set->parts.count) {
		const struct sampleset_part *part =
			sampleset_part(set, walk->part);

		if (sampleset_is_own(part) || (part->called && !part->gone))
			err = sampler_take_unrun(&set->sampler,
						 (uint32_t)walk->part, until_ns,
						 &walk->at, &id);
		if (id == 0)
			sampleset_walk_on(set, walk);
	}
	if (!err && (id == 0 || !sampleset_describe(set, id, ret)))
		memset(ret, 0, sizeof(*ret));
	return err;
}

struct module *sampleset_take_module(struct sampleset *set)
{
	for (size_t i = 0; i < set->modules.count; i++) {
		struct sampleset_module *module = sampleset_module(set, i);

		if (!module->taken) {
			module->taken = true;
			return module->module;
		}
	}
	return NULL;
}

/* The function of each address, by index, each once. */
static bool sampleset_functions_of(const struct module *module,
				   const struct vec *addresses, struct vec *ret)
{
	size_t count;
	const struct elf_function *all =
		elftext_functions(module->text, &count);
	uint32_t last = UINT32_MAX;

	for (size_t i = 0; i < addresses->count; i++) {
		const struct elf_function *function = elftext_function_at(
			module->text, *(uint64_t *)vec_at(addresses, i));
		uint32_t index = (uint32_t)(function - all);

		if (index != last && !vec_push(ret, &index))
			return false;
		last = index;
	}
	return true;
}

struct error *sampleset_want(struct sampleset *set, struct module *module)
{
	if (sampleset_find(set, module->id))
		return NULL;
	return sampleset_join_module(set, module);
}

struct error *sampleset_add(struct sampleset *set, const struct module *module,
			    const struct vec *addresses)
{
	struct sampleset_module *joined = sampleset_find(set, module->id);
	struct sampleset_part part = {
		.module = joined->module,
		.module_id = module->id,
		.functions = VEC_INIT(uint32_t),
		.only = VEC_INIT(uint64_t),
		.path = strdup(module->path),
	};
	bool good = sampleset_functions_of(module, addresses, &part.functions);

	for (size_t i = 0; good && i < addresses->count; i++)
		good = vec_push(&part.only, vec_at(addresses, i));
	if (good)
		return sampleset_add_part(set, &part);
	vec_deinit(&part.functions);
	vec_deinit(&part.only);
	free(part.path);
	return error_nomem;
}
