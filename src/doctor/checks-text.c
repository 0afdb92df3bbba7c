/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a process has breakpoints that are not in its files: what a debugger
 * that was killed has left. The process dies at the first one it meets, and
 * must not do so while it is watched of all times.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "doctor/checks-list.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sys/memory.h"
#include "x86/int3.h"

enum { TEXT_CHUNK = 4096 };

/* What was found in the modules so far. */
struct leftovers {
	struct memory memory;
	size_t count;
	const struct module *module; /* of the first one */
	uint64_t offset;
};

static void text_compare(struct leftovers *found, const struct module *module,
			 uint64_t offset, const uint8_t *file, size_t size)
{
	uint8_t live[TEXT_CHUNK];
	struct error *err;
	size_t have = 0;

	err = memory_read(&found->memory, module->bias + offset, live, size,
			  &have);
	error_free(err);
	for (size_t i = 0; i < have; i++) {
		if (live[i] != X86_INT3 || file[i] == X86_INT3)
			continue;
		if (found->count++ == 0) {
			found->module = module;
			found->offset = offset + i;
		}
	}
}

static void text_module(struct leftovers *found, const struct module *module)
{
	const struct elf_function *functions;
	size_t count;

	functions = elftext_functions(module->text, &count);
	for (size_t i = 0; i < count; i++) {
		const struct elf_function *function = &functions[i];

		for (uint64_t at = 0; at < function->size; at += TEXT_CHUNK) {
			uint64_t left = function->size - at;
			size_t have = 0;
			const uint8_t *file = elftext_bytes(
				module->text, function->start + at, &have);

			if (have > left)
				have = (size_t)left;
			if (have > TEXT_CHUNK)
				have = TEXT_CHUNK;
			if (file)
				text_compare(found, module,
					     function->start + at, file, have);
		}
	}
}

void check_look_text(struct check_context *context, struct check *ret)
{
	struct leftovers found = { .count = 0 };
	const struct vec *modules;

	if (!context->image)
		return;
	memory_init(&found.memory, context->live);
	modules = image_modules(context->image);
	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module =
			*(struct module **)vec_at(modules, i);

		if (module->text && !module->vdso)
			text_module(&found, module);
	}
	memory_deinit(&found.memory);
	if (found.count == 0) {
		check_find(ret, CHECK_OK, "no breakpoints in it");
		return;
	}
	check_find(ret, CHECK_WARNING,
		   "%zu breakpoints of a debugger are in it, the first at "
		   "%s+0x%" PRIx64 ": it dies where it meets one",
		   found.count, found.module->name, found.offset);
	check_advise(ret, "if no debugger is at work on it, start the program "
			  "again");
}
