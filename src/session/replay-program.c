/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program as the source of pages; see replay-program.h.
 */
#include "session/replay-program.h"

#include <string.h>

#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"
#include "replay/pagecache.h"
#include "x86/int3.h"

enum {
	/* a stack that no guard page ends: so much of it is dead */
	REPLAY_STACK = 4096,
};

/* The bytes of the file where a page is code; NULL: it is not, or has none. */
static const uint8_t *replay_code(const struct image *image, uint64_t page,
				  size_t *ret_size)
{
	const struct map_entry *map = maps_find(image_maps(image), page);
	const struct module *module =
		map && map->exec ? image_module_at(image, page) : NULL;

	return module && module->text
		       ? elftext_bytes(module->text, page - module->bias,
				       ret_size)
		       : NULL;
}

/*
 * Breakpoints of ours are where the file has another byte. Only code has any,
 * and data that looks like one is the program's.
 */
static void replay_hide(void *data, uint64_t page, uint8_t *bytes)
{
	const struct replay_program *program = data;
	size_t size = 0;
	const uint8_t *file = replay_code(program->image, page, &size);

	for (size_t i = 0; file && i < size && i < REPLAY_PAGE; i++) {
		if (bytes[i] == X86_INT3)
			bytes[i] = file[i];
	}
}

/*
 * The program may die of the race, or end, before the front end comes to it: what
 * was mapped is known as of when its modules were looked at last.
 */
static void replay_look_back(const struct image *image, uint64_t address,
			     struct mapping *ret, bool *ret_found)
{
	const struct vec *entries = &image_maps(image)->entries;
	const struct map_entry *entry = NULL;

	*ret_found = false;
	for (size_t i = 0; i < entries->count && !*ret_found; i++) {
		entry = vec_at(entries, i);
		*ret_found = address < entry->end;
	}
	if (!*ret_found)
		return;
	*ret = (struct mapping){
		.start = entry->start,
		.end = entry->end,
		.access = (entry->read ? MAPPING_READ : 0u) |
			  (entry->write ? MAPPING_WRITE : 0u) |
			  (entry->exec ? MAPPING_EXECUTE : 0u) |
			  (entry->shared ? MAPPING_SHARED : 0u),
		.stack = strcmp(entry->path, "[stack]") == 0,
		.device = (uint64_t)entry->dev_major << 32 | entry->dev_minor,
		.inode = entry->inode,
		.offset = entry->offset,
	};
}

/* *ret_ended: nothing is mapped any more. */
static struct error *replay_look_at(struct replay_program *program,
				    uint64_t address, struct mapping *ret,
				    bool *ret_found, bool *ret_ended)
{
	struct mapping any;
	bool lives = true;
	struct error *err =
		mappings_find(&program->mappings, address, ret, ret_found);

	if (!err && !*ret_found)
		err = mappings_find(&program->mappings, 0, &any, &lives);
	*ret_ended = err || !lives;
	return err;
}

static struct error *replay_look(void *data, uint64_t address,
				 struct mapping *ret, bool *ret_found)
{
	struct replay_program *program = data;
	struct error *err = NULL;
	bool ended = program->ended;

	*ret_found = false;
	if (!ended)
		err = replay_look_at(program, address, ret, ret_found, &ended);
	if (!ended)
		return NULL;
	if (err && err->kind == ERROR_NOMEM)
		return err;
	error_free(err);
	program->ended = true;
	replay_look_back(program->image, address, ret, ret_found);
	return NULL;
}

/* Code is what the file has; other pages may have been written to. */
static bool replay_read_file(void *data, uint64_t page, uint8_t *bytes)
{
	const struct replay_program *program = data;
	size_t size = 0;
	const uint8_t *file = replay_code(program->image, page, &size);

	if (!file)
		return false;
	/* nothing runs behind the end of the segment */
	memset(bytes, 0, REPLAY_PAGE);
	memcpy(bytes, file, size < REPLAY_PAGE ? size : REPLAY_PAGE);
	return true;
}

struct error *replay_program_stack_low(const struct replay_source *source,
				       uint64_t rsp, uint64_t *ret)
{
	struct mapping stack, guard;
	bool found = false, guarded = false;
	struct error *err = replay_source_look(source, rsp, &stack, &found);

	*ret = rsp > REPLAY_STACK ? rsp - REPLAY_STACK : 0;
	if (err || !found || rsp < stack.start)
		return err;
	err = replay_source_look(source, stack.start - 1, &guard, &guarded);
	if (!err && (stack.stack || (guarded && guard.end == stack.start &&
				     guard.access == 0)))
		*ret = stack.start;
	return err;
}

void replay_program_init(struct replay_program *program,
			 const struct image *image, int pid)
{
	*program = (struct replay_program){ .image = image };
	memory_init(&program->memory, pid);
	mappings_init(&program->mappings, pid);
}

void replay_program_deinit(struct replay_program *program)
{
	memory_deinit(&program->memory);
	mappings_deinit(&program->mappings);
}

struct replay_source replay_program_source(struct replay_program *program)
{
	return (struct replay_source){
		.memory = &program->memory,
		.mappings = &program->mappings,
		.look = replay_look,
		.read = replay_read_file,
		.hide = replay_hide,
		.data = program,
	};
}
