/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole sampling set; see inventory.h.
 */
#include "sampling/inventory.h"

#include <string.h>

#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/variables.h"
#include "sampling/sampleset.h"
#include "wire/message.h"

struct inventory {
	struct sampleset set;
	const struct inventory_visitor *visitor;
	struct vec sites; /* of struct scan_site, of one function */
};

static void counts_add(struct scan_counts *to, const struct scan_counts *from)
{
	for (int i = 0; i < RULES; i++)
		to->rules[i] += from->rules[i];
	to->locals += from->locals;
	to->instructions += from->instructions;
	to->bytes += from->bytes;
	to->functions += from->functions;
}

/* Why none of a function's instructions are sampled. */
static enum rule inventory_whole(const struct inventory *inventory,
				 struct module *module, size_t index,
				 const struct elf_function *function)
{
	enum rule rule;

	if (sampleset_samples(&inventory->set, module, index))
		return RULE_SITE;
	rule = rules_function(inventory->set.rules, inventory->set.image,
			      module, rules_module_part(module), function);
	return rule == RULE_SITE ? RULE_MODULE : rule;
}

static struct error *inventory_function(struct inventory *inventory,
					struct module *module, enum rule whole,
					const struct elf_function *function,
					struct scan_counts *counts)
{
	const struct inventory_visitor *visitor = inventory->visitor;
	struct error *err;

	vec_clear(&inventory->sites);
	err = scan_function(&inventory->set.scanner, module, function, whole,
			    &inventory->sites, counts);
	for (size_t i = 0; !err && visitor->site && i < inventory->sites.count;
	     i++)
		err = visitor->site(visitor->context, inventory->set.image,
				    module, function,
				    vec_at(&inventory->sites, i));
	return err;
}

static struct error *inventory_module(struct inventory *inventory,
				      struct module *module,
				      struct scan_counts *total)
{
	struct scan_counts counts = { .functions = 0 };
	const struct elf_function *functions = NULL;
	struct error *err = NULL;
	size_t count = 0;

	if (module->text)
		functions = elftext_functions(module->text, &count);
	/* the counts are to be exact */
	if (count > 0)
		err = variables_prepare(inventory->set.image, module->start);
	for (size_t i = 0; !err && i < count; i++) {
		enum rule whole =
			inventory_whole(inventory, module, i, &functions[i]);

		err = inventory_function(inventory, module, whole,
					 &functions[i], &counts);
	}
	counts_add(total, &counts);
	if (!err && module->text && !elftext_is_whole(module->text))
		err = error_create(ERROR_FORMAT,
				   "%s: truncated while it was read",
				   module->path);
	if (!err && inventory->visitor->module)
		err = inventory->visitor->module(inventory->visitor->context,
						 module, &counts);
	return err;
}

struct error *inventory_take(struct image *image, const struct rules *rules,
			     int pid, const struct inventory_visitor *visitor,
			     struct scan_counts *ret)
{
	struct inventory inventory = {
		.visitor = visitor,
		.sites = VEC_INIT(struct scan_site),
	};
	struct vec gone = VEC_INIT(struct wire_range);
	const struct vec *modules = image_modules(image);
	struct scan_counts total = { .functions = 0 };
	struct error *err =
		sampleset_init(&inventory.set, image, rules, pid, 0);

	if (!err)
		err = sampleset_sync(&inventory.set, UINT64_MAX, &gone);
	for (size_t i = 0; !err && i < modules->count; i++)
		err = inventory_module(&inventory,
				       *(struct module **)vec_at(modules, i),
				       &total);
	vec_deinit(&gone);
	vec_deinit(&inventory.sites);
	sampleset_deinit(&inventory.set);
	if (!err)
		*ret = total;
	return err;
}
