/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sampling set is made of. Only for src/sampling/sampleset*.c.
 */
#ifndef SAMPLING_SAMPLESET_PARTS_H
#define SAMPLING_SAMPLESET_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sampling/rules.h"
#include "sampling/sampleset.h"

/* A module that has joined; the struct module itself may be gone. */
struct sampleset_module {
	uint64_t id; /* of the module */
	uint64_t start, end;
	struct module *module;
	enum module_part part;
	/* of uint64_t: dynamic_string_slots(), less those known to be bound */
	struct vec slots;
	bool *sampled; /* by index in elftext_functions() */
	size_t function_count;
	bool taken; /* by sampleset_take_module() */
};

/* Functions of one module that joined the sampler together. */
struct sampleset_part {
	struct module *module;
	uint64_t module_id;
	/* of uint32_t, ascending: index in elftext_functions() */
	struct vec functions;
	/*
	 * of uint64_t, ascending; not empty: these instructions alone are sites
	 * (sampleset_add())
	 */
	struct vec only;
	char *path; /* of the module */
	bool meant; /* rules_module_meant() */
	/* string functions that the program's own modules call */
	bool called;
	bool gone;
};

static inline struct sampleset_module *
sampleset_module(const struct sampleset *set, size_t i)
{
	return vec_at(&set->modules, i);
}

static inline struct sampleset_part *sampleset_part(const struct sampleset *set,
						    size_t i)
{
	return vec_at(&set->parts, i);
}

static inline bool sampleset_is_own(const struct sampleset_part *part)
{
	return !part->gone && rules_module_own(part->module);
}

static inline const struct elf_function *
sampleset_function(const struct sampleset_part *part, uint32_t function)
{
	size_t count;
	const struct elf_function *functions =
		elftext_functions(part->module->text, &count);

	return &functions[*(uint32_t *)vec_at(&part->functions, function)];
}

/*
 * sampleset-find.c: the function of the part that holds the file's own address. The functions of
 * a part are in the order of their indices.
 */
bool sampleset_find_function(const struct sampleset_part *part, uint64_t offset,
			     uint32_t *ret_function);

/* For qsort(3) and bsearch(3) of the functions of a part. */
int sampleset_compare_indices(const void *a, const void *b);

/*
 * sampleset-slots.c: append the string functions of libc, by index in
 * elftext_functions(), ascending, to which a slot of a module that has joined
 * leads in set->pid and which are not in the set; they are noted as sampled.
 */
struct error *sampleset_find_variants(struct sampleset *set,
				      struct sampleset_module *libc,
				      struct vec *found);

/*
 * The same of the variants that libc has chosen of those that the module calls,
 * whether it has called them yet or not.
 */
struct error *sampleset_find_called(struct sampleset *set,
				    struct sampleset_module *libc,
				    const struct sampleset_module *module,
				    struct vec *found);

/* sampleset-runs.c: what a function calls: see struct sampler_text. */
struct error *sampleset_callees(void *context, uint32_t number, uint32_t index,
				struct vec *functions);

#endif
