/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of recorded code; see code.h.
 */
#include "hunt/code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/same-text.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "hunt/function-hash.h"
#include "hunt/recording.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/symbols.h"
#include "image/variables.h"
#include "report/frame.h"
#include "report/target-record.h"
#include "sampling/names.h"
#include "sampling/rules.h"
#include "x86/decode.h"

struct code_file {
	char *path; /* NULL: code that is in no module */
	char *build_id; /* NULL: none */
	bool tried; /* to open it */
	struct image *image; /* NULL: missing, or of another build */
	struct module *module;
	enum module_part part;
};

struct code_insn {
	uint32_t file; /* place in files */
	uint64_t offset;
	bool hashed;
	uint64_t hash, in_function; /* code_function_hash() */
};

struct code {
	struct vec files; /* of struct code_file */
	struct vec insns; /* of struct code_insn */
	struct map by_key; /* hash of file and offset to the first insn */
	struct map next; /* an insn to the next with its hash */
	struct decoder *decoder;
};

struct error *code_create(struct code **ret)
{
	struct code *code = calloc(1, sizeof(*code));
	struct error *err;

	if (!code)
		return error_nomem;
	code->files.size = sizeof(struct code_file);
	code->insns.size = sizeof(struct code_insn);
	err = decoder_create(&code->decoder);
	if (err)
		code_destroy(code);
	else
		*ret = code;
	return err;
}

void code_destroy(struct code *code)
{
	if (!code)
		return;
	for (size_t i = 0; i < code->files.count; i++) {
		struct code_file *file = vec_at(&code->files, i);

		free(file->path);
		free(file->build_id);
		image_destroy(file->image);
	}
	vec_deinit(&code->files);
	vec_deinit(&code->insns);
	map_deinit(&code->by_key);
	map_deinit(&code->next);
	decoder_destroy(code->decoder);
	free(code);
}

static struct error *add_file(struct code *code, const char *path,
			      const char *build_id, uint32_t *ret)
{
	struct code_file *file;

	for (size_t i = 0; i < code->files.count; i++) {
		file = vec_at(&code->files, i);
		*ret = (uint32_t)i;
		if (same_text(file->path, path) &&
		    same_text(file->build_id, build_id))
			return NULL;
	}
	*ret = (uint32_t)code->files.count;
	file = vec_append(&code->files);
	if (!file)
		return error_nomem;
	file->path = path ? strdup(path) : NULL;
	file->build_id = build_id ? strdup(build_id) : NULL;
	return (path && !file->path) || (build_id && !file->build_id)
		       ? error_nomem
		       : NULL;
}

static bool find_insn(const struct code *code, uint64_t key,
		      const struct code_insn *wanted, uint32_t *ret)
{
	const uint64_t *at = map_get(&code->by_key, key);

	for (; at; at = map_get(&code->next, *at)) {
		const struct code_insn *insn = vec_at(&code->insns, *at);

		*ret = (uint32_t)*at;
		if (insn->file == wanted->file &&
		    insn->offset == wanted->offset)
			return true;
	}
	return false;
}

struct error *code_number(struct code *code, const struct recording *recording,
			  const struct trace_place *place, uint32_t *ret)
{
	const struct recording_module *module =
		recording_module(recording, place->module);
	struct code_insn insn = { .offset = place->offset };
	const uint64_t *first;
	uint64_t key;
	struct error *err = add_file(
		code, module ? module->path : NULL,
		module && module->build_id[0] ? module->build_id : NULL,
		&insn.file);

	if (err)
		return err;
	key = hash_blocks(&(uint64_t[]){ insn.file, insn.offset },
			  2 * sizeof(uint64_t));
	if (find_insn(code, key, &insn, ret))
		return NULL;
	*ret = (uint32_t)code->insns.count;
	first = map_get(&code->by_key, key);
	if ((first && !map_set(&code->next, *ret, *first)) ||
	    !map_set(&code->by_key, key, *ret) ||
	    !vec_push(&code->insns, &insn))
		return error_nomem;
	return NULL;
}

/* What is wrong with the file is no error: it has no names then. */
static void open_file(struct code_file *file)
{
	struct error *err;
	const char *build_id;

	file->tried = true;
	file->part = PART_ALL;
	if (!file->path)
		return;
	err = image_create_file(file->path, &file->image);
	if (!err && image_modules(file->image)->count == 1) {
		file->module = *(
			struct module **)vec_at(image_modules(file->image), 0);
		build_id = file->module->text
				   ? elftext_build_id(file->module->text)
				   : NULL;
		if (file->module->text && same_text(build_id, file->build_id)) {
			file->part = rules_module_part(file->module);
			return;
		}
	}
	error_free(err);
	image_destroy(file->image);
	file->image = NULL;
	file->module = NULL;
}

static struct code_file *file_of(struct code *code, uint32_t number)
{
	const struct code_insn *insn = vec_at(&code->insns, number);
	struct code_file *file = vec_at(&code->files, insn->file);

	if (!file->tried)
		open_file(file);
	return file;
}

static const struct elf_function *function_of(struct code *code,
					      uint32_t number)
{
	const struct code_insn *insn = vec_at(&code->insns, number);
	const struct code_file *file = file_of(code, number);

	return file->module
		       ? elftext_function_at(file->module->text, insn->offset)
		       : NULL;
}

/* A static program's runtime is known by the names of its functions. */
static bool is_runtime_name(struct code *code, uint32_t number)
{
	const struct elf_function *function = function_of(code, number);

	return function && function->name &&
	       rules_runtime_name(function->name) &&
	       !rules_string_name(function->name);
}

bool code_is_runtime(struct code *code, uint32_t number, uint32_t flags)
{
	const struct code_file *file = file_of(code, number);

	if (flags & TRACE_SYSCALL)
		return false;
	if (flags & TRACE_STRING)
		return (flags & TRACE_RUNTIME) != 0;
	if (flags & TRACE_RUNTIME)
		return true;
	switch (file->part) {
	case PART_NONE:
	case PART_STRINGS:
		return true;
	case PART_NAMED:
		return is_runtime_name(code, number);
	case PART_ALL:
		break;
	}
	return false;
}

bool code_is_own(struct code *code, uint32_t number)
{
	const struct code_file *file = file_of(code, number);

	return file->module && rules_module_own(file->module);
}

struct error *code_place(const struct code *code, uint32_t number,
			 struct hunt_place *ret)
{
	const struct code_insn *insn = vec_at(&code->insns, number);
	const struct code_file *file = vec_at(&code->files, insn->file);

	ret->offset = insn->offset;
	ret->module = file->path ? strdup(file->path) : NULL;
	ret->build_id = file->build_id ? strdup(file->build_id) : NULL;
	return (file->path && !ret->module) ||
			       (file->build_id && !ret->build_id)
		       ? error_nomem
		       : NULL;
}

/* The innermost frame that is no wrapper; NULL: all are, or have no source. */
static const struct code_frame *own_frame(const struct vec *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		const struct code_frame *frame = vec_at(frames, i);

		if (frame->file && !race_frame_is_wrapper(frame->file))
			return frame;
	}
	return NULL;
}

/* *ret_own: it is of the program's own sources; NULL: the innermost will do. */
static struct error *name_function(struct code *code, uint32_t number,
				   char **ret, bool *ret_own)
{
	const struct code_insn *insn = vec_at(&code->insns, number);
	struct code_file *file = file_of(code, number);
	struct vec frames = VEC_INIT(struct code_frame);
	const struct code_frame *frame = NULL;
	struct error *err = NULL;

	*ret = NULL;
	if (file->image)
		err = symbols_frames(file->image, insn->offset, false, &frames);
	if (!err && ret_own) {
		frame = own_frame(&frames);
		*ret_own = frame != NULL;
	}
	if (!err && !frame && frames.count > 0)
		frame = vec_at(&frames, 0);
	if (frame && frame->function) {
		*ret = strdup(frame->function);
		err = *ret ? NULL : error_nomem;
	}
	code_frames_clear(&frames);
	vec_deinit(&frames);
	return err;
}

struct error *code_function(struct code *code, uint32_t number, char **ret)
{
	return name_function(code, number, ret, NULL);
}

/*
 * The same instructions in another function are other code: so the name is in it, as
 * far as there is one, and the name of the file. 0 without memory.
 */
static uint64_t hash_named(struct code *code, uint32_t number, uint64_t hash)
{
	const struct code_file *file = file_of(code, number);
	const char *base = strrchr(file->path, '/');
	struct strbuf text = { 0 };
	char *name = NULL;
	struct error *err = code_function(code, number, &name);
	uint64_t named = 0;

	strbuf_addf(&text, "%llx %s %s", (unsigned long long)hash,
		    base ? base + 1 : file->path, name ? name : "");
	if (!err && !text.failed)
		named = hash_blocks(strbuf_text(&text), text.length);
	error_free(err);
	free(name);
	strbuf_deinit(&text);
	return named;
}

static void hash_function(struct code *code, uint32_t number,
			  struct code_insn *insn)
{
	const struct module *module = file_of(code, number)->module;
	const struct elf_function *function = function_of(code, number);
	const uint8_t *bytes;
	size_t size = 0;

	insn->hashed = true;
	if (!module || !function)
		return;
	bytes = elftext_bytes(module->text, function->start, &size);
	if (bytes)
		insn->hash = function_hash(
			code->decoder, bytes,
			size < function->size ? size : function->size,
			function->start);
	if (insn->hash)
		insn->hash = hash_named(code, number, insn->hash);
	insn->in_function = insn->offset - function->start;
}

void code_function_hash(struct code *code, uint32_t number, uint64_t *ret,
			uint64_t *ret_offset)
{
	struct code_insn *insn = vec_at(&code->insns, number);

	if (!insn->hashed)
		hash_function(code, number, insn);
	*ret = insn->hash;
	*ret_offset = insn->in_function;
}

struct error *code_stack_hash(struct code *code,
			      const struct recording *recording,
			      const struct recording_descriptor *descriptor,
			      uint64_t *ret)
{
	uint64_t all[3] = { 0 };
	struct error *err = NULL;

	*ret = 1;
	for (uint32_t i = 0; !err && *ret && i < descriptor->raw->depth; i++) {
		struct trace_place call = descriptor->stack[i];
		uint32_t number;

		/* what comes after a call may be another function */
		call.offset -= call.offset > 0;
		err = code_number(code, recording, &call, &number);
		if (err)
			break;
		all[0] = *ret;
		code_function_hash(code, number, &all[1], &all[2]);
		*ret = all[1] ? hash_blocks(all, sizeof(all)) : 0;
	}
	return err;
}

/*
 * The function that calls the allocator, but for wrappers like std::vector; where
 * it has only those, the innermost. What comes after a call may be of another
 * function, inlined there: it is looked up by the byte before.
 */
static struct error *name_caller(struct code *code,
				 const struct recording *recording,
				 const struct recording_descriptor *descriptor,
				 char **ret)
{
	struct error *err = NULL;
	bool own = false;

	for (uint32_t i = 0; !err && !own && i < descriptor->raw->depth; i++) {
		struct trace_place call = descriptor->stack[i];
		char *function = NULL;
		uint32_t number;

		call.offset -= call.offset > 0;
		err = code_number(code, recording, &call, &number);
		if (!err)
			err = name_function(code, number, &function, &own);
		if (own || i == 0) {
			free(*ret);
			*ret = function;
		} else {
			free(function);
		}
	}
	return err;
}

/* "bytes 8..15 of a block of 48 of make_pool" */
static struct error *name_block(struct code *code,
				const struct recording *recording,
				uint64_t address, uint32_t size, uint32_t id,
				char **ret)
{
	const struct trace_block *block = recording_block(recording, id);
	const struct recording_descriptor *descriptor =
		recording_descriptor(recording, block->descriptor);
	struct strbuf text = { 0 };
	char *function = NULL;
	struct error *err = NULL;

	if (descriptor)
		err = name_caller(code, recording, descriptor, &function);
	if (err) {
		free(function);
		return err;
	}
	strbuf_addf(&text,
		    "bytes %" PRIu64 "..%" PRIu64 " of a block of %" PRIu64,
		    address - block->address,
		    address - block->address + size - 1, block->size);
	if (function)
		strbuf_addf(&text, " of %s", function);
	free(function);
	*ret = strbuf_steal(&text);
	return *ret ? NULL : error_nomem;
}

static const struct recording_module *
module_at(const struct recording *recording, uint64_t address)
{
	for (size_t i = recording->modules.count; i-- > 0;) {
		const struct recording_module *module =
			vec_at(&recording->modules, i);

		if (address >= module->low && address < module->high)
			return module;
	}
	return NULL;
}

static struct error *name_global(struct code *code,
				 const struct recording *recording,
				 const struct recording_module *module,
				 uint64_t address, uint32_t size, char **ret)
{
	struct trace_place place = { module->id, 0, address - module->bias };
	struct data_name name;
	struct code_file *file;
	struct error *err;
	uint32_t number;

	err = code_number(code, recording, &place, &number);
	if (err)
		return err;
	file = file_of(code, number);
	if (!file->image)
		return NULL;
	err = variables_name(file->image, 0, place.offset, size, &name);
	if (err)
		return err;
	if (name.name) {
		*ret = strdup(name.name);
		err = *ret ? NULL : error_nomem;
	}
	data_name_deinit(&name);
	return err;
}

struct error *code_variable(struct code *code,
			    const struct recording *recording, uint64_t address,
			    uint32_t size, uint32_t block, char **ret)
{
	const struct recording_module *module = module_at(recording, address);

	*ret = NULL;
	if (block)
		return name_block(code, recording, address, size, block, ret);
	if (module)
		return name_global(code, recording, module, address, size, ret);
	return NULL;
}
