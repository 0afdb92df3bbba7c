/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What runs have taught; see learned.h. learned-file.c has its file.
 */
#include "report/learned.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void learned_init(struct learned *learned)
{
	*learned = (struct learned){
		.modules = VEC_INIT(struct learned_module),
		.sites = VEC_INIT(struct learned_site),
		.pairs = VEC_INIT(struct learned_pair),
	};
}

void learned_deinit(struct learned *learned)
{
	for (size_t i = 0; i < learned->modules.count; i++) {
		free(learned_module_at(learned, i)->path);
		free(learned_module_at(learned, i)->build_id);
	}
	vec_deinit(&learned->modules);
	vec_deinit(&learned->sites);
	vec_deinit(&learned->pairs);
	map_deinit(&learned->site_index);
	map_deinit(&learned->pair_index);
}

/* Two builds are two modules, wherever they are. */
static bool same_module(const struct learned_module *module, const char *path,
			const char *build_id)
{
	if (module->build_id || build_id)
		return module->build_id && build_id &&
		       strcmp(module->build_id, build_id) == 0;
	return strcmp(module->path, path) == 0;
}

uint32_t learned_find_module(const struct learned *learned, const char *path,
			     const char *build_id)
{
	for (size_t i = 0; i < learned->modules.count; i++) {
		if (same_module(learned_module_at(learned, i), path, build_id))
			return (uint32_t)i;
	}
	return UINT32_MAX;
}

uint32_t learned_module(struct learned *learned, const char *path,
			const char *build_id)
{
	uint32_t found = learned_find_module(learned, path, build_id);
	struct learned_module module;

	if (found != UINT32_MAX ||
	    learned->modules.count >= LEARNED_MODULES_MAX)
		return found;
	module.path = strdup(path);
	module.build_id = build_id ? strdup(build_id) : NULL;
	if (!module.path || (build_id && !module.build_id) ||
	    !vec_push(&learned->modules, &module)) {
		free(module.path);
		free(module.build_id);
		return UINT32_MAX;
	}
	return (uint32_t)(learned->modules.count - 1);
}

/* Put a new item's index under the key; it is the last of the vector. */
static uint32_t learned_enter(struct map *map, uint64_t key, struct vec *vec)
{
	if (map_set(map, key, vec->count - 1))
		return (uint32_t)(vec->count - 1);
	vec->count--;
	return UINT32_MAX;
}

static uint64_t learned_key(uint32_t module, uint64_t offset)
{
	return (uint64_t)module << 44 | offset;
}

uint32_t learned_site(struct learned *learned, uint32_t module, uint64_t offset)
{
	uint64_t key = learned_key(module, offset);
	struct learned_site site = { .module = module, .offset = offset };
	const uint64_t *known = map_get(&learned->site_index, key);

	if (known)
		return (uint32_t)*known;
	if (module >= learned->modules.count || offset >= LEARNED_OFFSET_MAX ||
	    learned->sites.count >= LEARNED_SITES_MAX ||
	    !vec_push(&learned->sites, &site))
		return UINT32_MAX;
	return learned_enter(&learned->site_index, key, &learned->sites);
}

uint32_t learned_pair(struct learned *learned, uint32_t site, uint32_t other)
{
	struct learned_pair pair = {
		.sites = { site < other ? site : other,
			   site < other ? other : site },
	};
	uint64_t key = (uint64_t)pair.sites[0] << 32 | pair.sites[1];
	const uint64_t *known = map_get(&learned->pair_index, key);

	/* UINT32_MAX stands for none, and is beyond all */
	if (known)
		return (uint32_t)*known;
	if (pair.sites[1] >= learned->sites.count ||
	    learned->pairs.count >= LEARNED_PAIRS_MAX ||
	    !vec_push(&learned->pairs, &pair))
		return UINT32_MAX;
	return learned_enter(&learned->pair_index, key, &learned->pairs);
}

/* The other's site, in this one; UINT32_MAX: there is no room. ERROR_NOMEM. */
static struct error *learned_translate(struct learned *learned,
				       const struct learned *other,
				       uint32_t site, uint32_t *ret)
{
	const struct learned_site *from = learned_site_at(other, site);
	const struct learned_module *module =
		learned_module_at(other, from->module);
	uint32_t index =
		learned_module(learned, module->path, module->build_id);

	*ret = UINT32_MAX;
	if (index == UINT32_MAX)
		return learned->modules.count < LEARNED_MODULES_MAX
			       ? error_nomem
			       : NULL;
	*ret = learned_site(learned, index, from->offset);
	return *ret == UINT32_MAX && learned->sites.count < LEARNED_SITES_MAX
		       ? error_nomem
		       : NULL;
}

#define FOLD(name) to->name += times * from->name;

/*
 * Add the other's counts `times' times; UINT64_MAX subtracts them. places gets
 * where each of the other's sites is in this one.
 */
static struct error *learned_fold_sites(struct learned *learned,
					const struct learned *other,
					uint64_t times, uint32_t *places)
{
	struct error *err = NULL;

	for (uint32_t i = 0; !err && i < other->sites.count; i++) {
		const struct learned_site *from = learned_site_at(other, i);
		struct learned_site *to;

		err = learned_translate(learned, other, i, &places[i]);
		if (err || places[i] == UINT32_MAX)
			continue;
		to = learned_site_at(learned, places[i]);
		to->kind |= from->kind;
		LEARNED_SITE_COUNTS(FOLD)
	}
	return err;
}

static struct error *learned_fold_pairs(struct learned *learned,
					const struct learned *other,
					uint64_t times, const uint32_t *places)
{
	for (size_t i = 0; i < other->pairs.count; i++) {
		const struct learned_pair *from = learned_pair_at(other, i);
		uint32_t one = places[from->sites[0]];
		uint32_t two = places[from->sites[1]];
		struct learned_pair *to;
		uint32_t index;

		if (one == UINT32_MAX || two == UINT32_MAX)
			continue;
		index = learned_pair(learned, one, two);
		if (index == UINT32_MAX &&
		    learned->pairs.count < LEARNED_PAIRS_MAX)
			return error_nomem;
		if (index == UINT32_MAX)
			continue;
		to = learned_pair_at(learned, index);
		LEARNED_PAIR_COUNTS(FOLD)
	}
	return NULL;
}

static struct error *learned_fold(struct learned *learned,
				  const struct learned *other, uint64_t times)
{
	struct error *err;
	uint32_t *places = calloc(other->sites.count + 1, sizeof(*places));

	if (!places)
		return error_nomem;
	learned->runs += times * other->runs;
	err = learned_fold_sites(learned, other, times, places);
	if (!err)
		err = learned_fold_pairs(learned, other, times, places);
	free(places);
	return err;
}

struct error *learned_add(struct learned *learned, const struct learned *other)
{
	return learned_fold(learned, other, 1);
}

struct error *learned_subtract(struct learned *learned,
			       const struct learned *before)
{
	return learned_fold(learned, before, UINT64_MAX);
}
