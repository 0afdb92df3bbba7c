/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls that create threads; see creators.h. A function's calls are found in
 * its bytes without decoding them: a byte that only looks like a call hardly
 * ever leads to the start of a function. Results of each function are cached.
 */
#include "sampling/creators.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/dynamic.h"
#include "sampling/rules.h"
#include "x86/access.h"

enum {
	/* calls from the one that is asked about to the one that creates */
	CREATORS_DEPTH = 3,
	/* functions looked into for one answer */
	CREATORS_FUNCTIONS = 1024,
};

static const char *const creator_functions[] = {
	"pthread_create",
	"__pthread_create*",
	"thrd_create",
	"clone",
	"__clone",
	"_ZNSt6thread15_M_start_thread*",
	/* OpenMP */
	"GOMP_parallel*",
	"GOMP_task*",
	"GOMP_teams*",
	"__kmpc_fork_call*",
	"__kmpc_omp_task*",
	/* libraries */
	"g_thread_new",
	"g_thread_try_new",
	"g_thread_create*",
	"g_thread_pool_push",
	"uv_thread_create*",
	"uv_queue_work",
	"apr_thread_create",
	"SDL_CreateThread*",
	"_ZN7QThread5start*",
	"_ZN11QThreadPool*start*",
	"_ZN5boost6thread*start_thread*",
	"_ZN3tbb*spawn*",
	"_ZN3tbb*execute*",
	"dispatch_async*",
	"dispatch_sync*",
	"dispatch_apply*",
};

/* What is known of a function: how many calls it takes to create a thread. */
struct reach {
	uint8_t looked; /* how many calls deep the search went */
	uint8_t distance; /* calls to the creation; 0: none was found */
};

struct creators_module {
	uint64_t id; /* of the module */
	struct vec slots; /* of uint64_t: file addresses, for creators */
	struct map reached; /* struct reach, by start of function or stub */
	bool named; /* symbols may name creators: linked statically */
};

/* One question. */
struct search {
	struct creators_module *known;
	const struct module *module;
	unsigned int left; /* functions that may be looked into yet */
};

void creators_init(struct creators *creators)
{
	creators->modules = (struct vec)VEC_INIT(struct creators_module);
}

void creators_deinit(struct creators *creators)
{
	for (size_t i = 0; i < creators->modules.count; i++) {
		struct creators_module *known = vec_at(&creators->modules, i);

		vec_deinit(&known->slots);
		map_deinit(&known->reached);
	}
	vec_deinit(&creators->modules);
}

bool creators_name(const char *name)
{
	size_t count = sizeof(creator_functions) / sizeof(creator_functions[0]);

	for (size_t i = 0; name && i < count; i++) {
		if (fnmatch(creator_functions[i], name, 0) == 0)
			return true;
	}
	return false;
}

static struct creators_module *find_module(struct creators *creators,
					   const struct module *module)
{
	struct creators_module *known;

	for (size_t i = 0; i < creators->modules.count; i++) {
		known = vec_at(&creators->modules, i);
		if (known->id == module->id)
			return known;
	}
	known = vec_append(&creators->modules);
	if (!known)
		return NULL;
	*known = (struct creators_module){
		.id = module->id,
		.slots = VEC_INIT(uint64_t),
		.named = elftext_is_static(module->text),
	};
	if (!dynamic_slots(module, creators_name, &known->slots))
		vec_clear(&known->slots);
	return known;
}

static bool is_creator_slot(const struct search *search, uint64_t slot)
{
	for (size_t i = 0; i < search->known->slots.count; i++) {
		if (*(uint64_t *)vec_at(&search->known->slots, i) == slot)
			return true;
	}
	return false;
}

static uint64_t relative(const uint8_t *bytes, uint64_t end)
{
	int32_t distance;

	memcpy(&distance, bytes, sizeof(distance));
	return end + (uint64_t)(int64_t)distance;
}

/* A stub of the PLT: [endbr64,] [bnd] jmp *slot(%rip). */
static bool is_creator_stub(const struct search *search, uint64_t address)
{
	size_t size = 0, at = 0;
	const uint8_t *bytes =
		elftext_bytes(search->module->text, address, &size);

	if (!bytes || size < 16)
		return false;
	if (memcmp(bytes, "\xf3\x0f\x1e\xfa", 4) == 0)
		at += 4;
	if (bytes[at] == 0xf2)
		at++;
	return bytes[at] == 0xff && bytes[at + 1] == 0x25 &&
	       is_creator_slot(search,
			       relative(bytes + at + 2, address + at + 6));
}

static struct reach reach_get(const struct search *search, uint64_t start)
{
	const uint64_t *found = map_get(&search->known->reached, start);

	if (!found)
		return (struct reach){ 0, 0 };
	return (struct reach){ (uint8_t)*found, (uint8_t)(*found >> 8) };
}

static void reach_set(struct search *search, uint64_t start, struct reach reach)
{
	/* forgotten when out of memory: looked for again */
	(void)map_set(&search->known->reached, start,
		      reach.looked | (uint64_t)reach.distance << 8);
}

/* 1: the stub leads to a function that creates threads. */
static unsigned int stub_distance(struct search *search, uint64_t address)
{
	struct reach reach = reach_get(search, address);

	if (reach.looked == 0) {
		reach.looked = CREATORS_DEPTH;
		reach.distance = is_creator_stub(search, address);
		reach_set(search, address, reach);
	}
	return reach.distance;
}

static unsigned int function_distance(struct search *search,
				      const struct elf_function *function,
				      unsigned int limit);

static unsigned int target_distance(struct search *search, uint64_t target,
				    unsigned int limit)
{
	const struct elf_function *function;

	if (elftext_in_plt(search->module->text, target))
		return stub_distance(search, target);
	function = elftext_function_at(search->module->text, target);
	return function && function->start == target
		       ? function_distance(search, function, limit)
		       : 0;
}

/* The call or jump at five bytes or more, if there is one. */
static unsigned int bytes_distance(struct search *search, const uint8_t *bytes,
				   size_t size, uint64_t address,
				   unsigned int limit)
{
	if (bytes[0] == 0xe8 || bytes[0] == 0xe9)
		return target_distance(search, relative(bytes + 1, address + 5),
				       limit);
	/* call *slot(%rip), jmp *slot(%rip) */
	if (size > 5 && bytes[0] == 0xff &&
	    (bytes[1] == 0x15 || bytes[1] == 0x25))
		return is_creator_slot(search,
				       relative(bytes + 2, address + 6));
	return 0;
}

/* The fewest calls from within a function to a creation. */
static unsigned int body_distance(struct search *search,
				  const struct elf_function *function,
				  unsigned int limit)
{
	unsigned int nearest = 0;
	size_t size = 0;
	const uint8_t *bytes =
		elftext_bytes(search->module->text, function->start, &size);

	if (!bytes)
		return 0;
	if (size > function->size)
		size = function->size;
	for (size_t i = 0; i + 5 <= size && nearest != 1; i++) {
		unsigned int distance =
			bytes_distance(search, bytes + i, size - i,
				       function->start + i, limit);

		if (distance > 0 && (nearest == 0 || distance < nearest))
			nearest = distance;
	}
	return nearest;
}

/*
 * How many calls it takes to create a thread by calling the function: 1 if it
 * is known to do so; 0 if it does not, in as many as `limit`.
 */
static unsigned int function_distance(struct search *search,
				      const struct elf_function *function,
				      unsigned int limit)
{
	struct reach reach = reach_get(search, function->start);

	if (reach.distance > 0)
		return reach.distance <= limit ? reach.distance : 0;
	if (reach.looked >= limit || search->left == 0)
		return 0;
	search->left--;
	/* a recursive call leads nowhere new */
	reach.looked = (uint8_t)limit;
	reach_set(search, function->start, reach);
	if (search->known->named && creators_name(function->name)) {
		reach.distance = 1;
	} else if (limit > 1) {
		unsigned int more = body_distance(search, function, limit - 1);

		reach.distance = (uint8_t)(more > 0 ? more + 1 : 0);
	}
	reach_set(search, function->start, reach);
	return reach.distance;
}

unsigned int creators_call(struct creators *creators,
			   const struct module *module, uint64_t address,
			   const struct insn_access *insn)
{
	struct search search = {
		.known = find_module(creators, module),
		.module = module,
		.left = CREATORS_FUNCTIONS,
	};
	uint64_t slot;

	if (!search.known ||
	    (search.known->slots.count == 0 && !search.known->named))
		return 0;
	if (!insn->indirect)
		return target_distance(&search, insn->target, CREATORS_DEPTH);
	return insn->operand_count > 0 &&
	       rules_fixed_address(address, insn, &insn->operands[0], &slot) &&
	       is_creator_slot(&search, slot);
}
