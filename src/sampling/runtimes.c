/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which modules and functions belong to the C library, the loader and the
 * threading runtimes, whose internal functions synchronize and are left out by
 * default (rules.h). Modules are recognized by DT_SONAME or file name. A
 * statically linked program has only one module; there the names of functions
 * are used, if it has symbols.
 */
#include "sampling/rules.h"

#include <fnmatch.h>
#include <string.h>

#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/symbols.h"
#include "report/frame.h"
#include "sampling/names.h"

struct runtime_module {
	const char *pattern;
	enum module_part part;
};

static const struct runtime_module runtime_modules[] = {
	{ "libc.so.[0-9]*", PART_STRINGS },
	{ "libc-2.[0-9]*.so", PART_STRINGS },
	{ "libc.musl-*.so.*", PART_STRINGS },
	{ "libpthread.so.[0-9]*", PART_NONE },
	{ "libpthread-2.[0-9]*.so", PART_NONE },
	{ "ld-linux*.so*", PART_NONE },
	{ "ld-2.[0-9]*.so", PART_NONE },
	{ "ld-musl-*.so*", PART_STRINGS },
	{ "libgcc_s.so*", PART_NONE },
	{ "libgomp.so*", PART_NONE },
	{ "libomp.so*", PART_NONE },
	{ "libomp[0-9]*.so*", PART_NONE },
	{ "libiomp5.so*", PART_NONE },
	{ "libatomic.so*", PART_NONE },
	{ "libtbb.so*", PART_NONE },
	/* memory allocators, as libc's own */
	{ "libtbbmalloc*.so*", PART_STRINGS },
	{ "libjemalloc.so*", PART_STRINGS },
	{ "libtcmalloc*.so*", PART_STRINGS },
	{ "libmimalloc*.so*", PART_STRINGS },
	{ "liburcu.so*", PART_NONE },
	{ "liburcu-*.so*", PART_NONE },
};

enum {
	RUNTIME_MODULES = sizeof(runtime_modules) / sizeof(runtime_modules[0]),
};

const char *rules_runtime(size_t i, enum module_part *ret)
{
	if (i >= RUNTIME_MODULES)
		return NULL;
	*ret = runtime_modules[i].part;
	return runtime_modules[i].pattern;
}

static const struct runtime_module *runtime_find(const char *name)
{
	for (size_t i = 0; name && i < RUNTIME_MODULES; i++) {
		if (fnmatch(runtime_modules[i].pattern, name, 0) == 0)
			return &runtime_modules[i];
	}
	return NULL;
}

enum module_part rules_module_part(const struct module *module)
{
	const struct runtime_module *runtime;

	if (module->vdso || !module->text)
		return PART_NONE;
	runtime = runtime_find(elftext_soname(module->text));
	if (!runtime)
		runtime = runtime_find(module->name);
	if (runtime)
		return runtime->part;
	if (module->loader)
		return PART_NONE;
	if (module->main && elftext_is_static(module->text))
		return PART_NAMED;
	return PART_ALL;
}

bool rules_module_own(const struct module *module)
{
	if (module->main)
		return true;
	return module->path[0] == '/' && !race_path_is_system(module->path) &&
	       rules_module_part(module) == PART_ALL;
}

bool rules_module_meant(const struct rules *rules, const struct module *module)
{
	bool decided;

	return rules_module_own(module) ||
	       globs_module(&rules->globs, module->path, &decided) ==
		       GLOB_INCLUDE;
}

/* Of the names above, and of those in golang.c. */
static bool is_initial(char initial)
{
	switch (initial) {
	case 'g':
	case 'i':
	case 'r':
	case 's':
	case 'u':
	case '_':
		return true;
	default:
		return false;
	}
}

/* The same of a function. Most have not even the initial of such a name. */
static bool function_synchronizes(const struct elf_function *function)
{
	return is_initial(function->initial) &&
	       rules_synchronization_name(function->name);
}

static enum rule rules_default(enum module_part part,
			       const struct elf_function *function)
{
	switch (part) {
	case PART_NONE:
		return RULE_MODULE;
	case PART_STRINGS:
		if (function->ifunc || !rules_string_name(function->name))
			return RULE_MODULE;
		/* the one in use is found by its slot (dynamic.h) */
		return rules_variant_name(function->name) ? RULE_VARIANT
							  : RULE_SITE;
	case PART_NAMED:
		return rules_runtime_name(function->name) ||
				       function_synchronizes(function)
			       ? RULE_RUNTIME
			       : RULE_SITE;
	case PART_ALL:
		return function_synchronizes(function) ? RULE_RUNTIME
						       : RULE_SITE;
	}
	return RULE_SITE;
}

/* What the patterns say of one function, by all its names. */
static enum glob_verdict function_globs(const struct rules *rules,
					struct image *image,
					struct module *module,
					const struct elf_function *function)
{
	struct vec frames = VEC_INIT(struct code_frame);
	enum glob_verdict verdict;
	struct code_frame *frame = NULL;

	/*
	 * A stripped library of a hundred thousand functions takes minutes if
	 * all its symbols are gone through for each one that has none.
	 */
	if (function->name || symbols_have_debuginfo(image, module))
		error_free(symbols_frames(image, function->start + module->bias,
					  false, &frames));
	if (frames.count > 0)
		frame = vec_at(&frames, frames.count - 1);
	verdict = globs_function(&rules->globs, module->path, function->name,
				 frame ? frame->function : NULL,
				 frame ? frame->file : NULL);
	code_frames_clear(&frames);
	vec_deinit(&frames);
	return verdict;
}

enum rule rules_function(const struct rules *rules, struct image *image,
			 struct module *module, enum module_part part,
			 const struct elf_function *function)
{
	bool decided;
	enum glob_verdict verdict;

	if (rules->globs.items.count == 0)
		return rules_default(part, function);
	verdict = globs_module(&rules->globs, module->path, &decided);
	if (!decided)
		verdict = function_globs(rules, image, module, function);
	switch (verdict) {
	case GLOB_INCLUDE:
		return RULE_SITE;
	case GLOB_EXCLUDE:
		return RULE_GLOB;
	case GLOB_NONE:
		break;
	}
	return rules_default(part, function);
}
