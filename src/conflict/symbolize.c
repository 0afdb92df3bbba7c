/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names from other files; see symbolize.h. Each module's file is opened once,
 * as an image of its own at bias 0, whose addresses are the frames' offsets.
 */
#include "conflict/symbolize.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/same-text.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "image/atomics.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/symbols.h"
#include "image/variables.h"
#include "report/doubt.h"
#include "report/race.h"

/* A module and the file found for it. */
struct symbol_file {
	char *path;
	char *build_id; /* or NULL */
	bool looked_for;
	struct image *image; /* NULL: none found */
	bool stripped; /* the image has few names: look on */
	char *refused; /* the first of another build; NULL: none */
};

struct symbolizer {
	char *directory; /* or NULL */
	struct vec files; /* of struct symbol_file */
};

struct error *symbolizer_create(const char *directory, struct symbolizer **ret)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return error_nomem;
	symbolizer->files = (struct vec)VEC_INIT(struct symbol_file);
	symbolizer->directory = directory ? strdup(directory) : NULL;
	if (directory && !symbolizer->directory) {
		free(symbolizer);
		return error_nomem;
	}
	*ret = symbolizer;
	return NULL;
}

void symbolizer_destroy(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->files.count; i++) {
		struct symbol_file *file = vec_at(&symbolizer->files, i);

		image_destroy(file->image);
		free(file->path);
		free(file->build_id);
		free(file->refused);
	}
	vec_deinit(&symbolizer->files);
	free(symbolizer->directory);
	free(symbolizer);
}

/* The latest one of that path; any build id will do if none is known. */
static struct symbol_file *find_file(struct symbolizer *symbolizer,
				     const char *path, const char *build_id)
{
	for (size_t i = symbolizer->files.count; i-- > 0;) {
		struct symbol_file *file = vec_at(&symbolizer->files, i);

		if (strcmp(file->path, path) == 0 &&
		    (!build_id || same_text(file->build_id, build_id)))
			return file;
	}
	return NULL;
}

static struct error *add_file(struct symbolizer *symbolizer, const char *path,
			      const char *build_id, struct symbol_file **ret)
{
	struct symbol_file file = { .path = strdup(path),
				    .build_id = build_id ? strdup(build_id)
							 : NULL };

	if (!file.path || (build_id && !file.build_id) ||
	    !vec_push(&symbolizer->files, &file)) {
		free(file.path);
		free(file.build_id);
		return error_nomem;
	}
	*ret = vec_at(&symbolizer->files, symbolizer->files.count - 1);
	return NULL;
}

struct error *symbolizer_add_module(struct symbolizer *symbolizer,
				    const char *path, const char *build_id)
{
	struct symbol_file *file = find_file(symbolizer, path, build_id);

	if (file &&
	    file == vec_at(&symbolizer->files, symbolizer->files.count - 1))
		return NULL;
	return add_file(symbolizer, path, build_id, &file);
}

/* Keep the image if it is the module's and better than the one that is there. */
static struct error *take_image(struct symbol_file *file, const char *path,
				struct image *image)
{
	const struct module *module =
		*(struct module **)vec_at(image_modules(image), 0);
	bool stripped = elftext_is_stripped(module->text);

	if (!file->build_id ||
	    !same_text(elftext_build_id(module->text), file->build_id)) {
		image_destroy(image);
		if (!file->refused)
			file->refused = strdup(path);
		return file->refused ? NULL : error_nomem;
	}
	if (file->image && stripped) {
		image_destroy(image);
		return NULL;
	}
	image_destroy(file->image);
	file->image = image;
	file->stripped = stripped;
	return NULL;
}

/* Open the file if it is the module's; it is no error that it is not. */
static struct error *try_file(struct symbol_file *file, const char *path)
{
	struct image *image;
	struct error *err = image_create_file(path, &image);

	if (!err)
		return take_image(file, path, image);
	if (err == error_nomem)
		return err;
	log_debug(LOG_IMAGE, "no symbols: %s", error_message(err));
	error_free(err);
	return NULL;
}

static bool is_found(const struct symbol_file *file)
{
	return file->image && !file->stripped;
}

/* How the path of a file that may be the module's is made. */
enum place {
	PLACE_ID_DEBUG,
	PLACE_ID,
	PLACE_PATH,
	PLACE_NAME,
	PLACE_NAME_DEBUG,
	PLACE_PATH_DEBUG,
	PLACES,
};

/* *ret is NULL if there is no such path. */
static struct error *place_path(const struct symbol_file *file,
				const char *root, enum place place, char **ret)
{
	const char *slash = strrchr(file->path, '/');
	const char *name = slash ? slash + 1 : file->path;
	struct strbuf path = { 0 };

	*ret = NULL;
	switch (place) {
	case PLACE_ID_DEBUG:
	case PLACE_ID:
		if (!file->build_id || strlen(file->build_id) < 3)
			return NULL;
		strbuf_addf(&path, "%s/.build-id/%.2s/%s%s", root,
			    file->build_id, file->build_id + 2,
			    place == PLACE_ID ? "" : ".debug");
		break;
	case PLACE_PATH:
	case PLACE_PATH_DEBUG:
		strbuf_addf(&path, "%s%s%s%s", root,
			    file->path[0] == '/' ? "" : "/", file->path,
			    place == PLACE_PATH ? "" : ".debug");
		break;
	case PLACE_NAME:
	case PLACE_NAME_DEBUG:
		strbuf_addf(&path, "%s/%s%s", root, name,
			    place == PLACE_NAME ? "" : ".debug");
		break;
	case PLACES:
		return NULL;
	}
	*ret = strbuf_steal(&path);
	return *ret ? NULL : error_nomem;
}

static struct error *try_below(struct symbol_file *file, const char *root)
{
	struct error *err = NULL;
	char *path;

	for (int i = 0; !err && !is_found(file) && i < PLACES; i++) {
		err = place_path(file, root, (enum place)i, &path);
		if (err || !path)
			continue;
		err = try_file(file, path);
		free(path);
	}
	return err;
}

static struct error *look_for(struct symbolizer *symbolizer,
			      struct symbol_file *file)
{
	struct error *err = NULL;

	if (symbolizer->directory)
		err = try_below(file, symbolizer->directory);
	if (!err && !is_found(file) && file->path[0] == '/')
		err = try_file(file, file->path);
	if (!err && !is_found(file))
		err = try_below(file, "/usr/lib/debug");
	if (err || file->image || !file->refused)
		return err;
	if (file->build_id)
		log_note("%s: not used, it is not the %s of build id %s",
			 file->refused, file->path, file->build_id);
	else
		log_note("%s: not used, the report has no build id of %s",
			 file->refused, file->path);
	return NULL;
}

/* The module's image; NULL if there is no file for it. */
static struct error *open_module(struct symbolizer *symbolizer,
				 const char *path, const char *build_id,
				 struct image **ret)
{
	struct symbol_file *file = find_file(symbolizer, path, build_id);
	struct error *err = NULL;

	if (!file)
		err = add_file(symbolizer, path, build_id, &file);
	if (!err && !file->looked_for) {
		file->looked_for = true;
		err = look_for(symbolizer, file);
	}
	if (!err)
		*ret = file->image;
	return err;
}

static bool copy_string(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return !text || *ret;
}

/* A frame of `found`, in the module of `old`; takes over found's strings. */
static bool append_frame(struct vec *frames, const struct race_frame *old,
			 struct code_frame *found)
{
	struct race_frame *frame = vec_append(frames);

	if (!frame)
		return false;
	frame->function = take_string(&found->function);
	frame->file = take_string(&found->file);
	frame->folder = take_string(&found->folder);
	frame->line = found->line;
	frame->column = found->column;
	frame->inlined = found->inlined;
	frame->offset = old->offset;
	return copy_string(old->module, &frame->module) &&
	       copy_string(old->build_id, &frame->build_id);
}

/* Is it worth having instead of what the frame says already? */
static bool is_better(const struct race_frame *old, const struct vec *found)
{
	const struct code_frame *first = vec_at(found, 0);

	return found->count > 0 && (first->function || first->file) &&
	       (!old->function || first->file);
}

/* Append what the frame is: itself (moved), or what is found in its place. */
static struct error *symbolize_frame(struct symbolizer *symbolizer,
				     struct race_frame *old, struct vec *frames,
				     bool *changed)
{
	struct vec found = VEC_INIT(struct code_frame);
	struct image *image = NULL;
	struct error *err = NULL;

	if (old->module && (!old->function || !old->file))
		err = open_module(symbolizer, old->module, old->build_id,
				  &image);
	/* the offset is where the names are looked up, whatever the frame */
	if (!err && image)
		err = symbols_frames(image, old->offset, false, &found);
	if (!err && image && is_better(old, &found)) {
		*changed = true;
		for (size_t i = 0; !err && i < found.count; i++) {
			if (!append_frame(frames, old, vec_at(&found, i)))
				err = error_nomem;
		}
	} else if (!err) {
		if (vec_push(frames, old))
			memset(old, 0, sizeof(*old));
		else
			err = error_nomem;
	}
	code_frames_clear(&found);
	vec_deinit(&found);
	return err;
}

struct error *symbolize_frames(struct symbolizer *symbolizer,
			       struct vec *frames, bool *ret_changed)
{
	struct vec fresh = VEC_INIT(struct race_frame);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < frames->count; i++)
		err = symbolize_frame(symbolizer, vec_at(frames, i), &fresh,
				      ret_changed);
	/* on failure the frames moved so far are lost: there is no memory */
	race_frames_clear(frames);
	vec_deinit(frames);
	*frames = fresh;
	return err;
}

static const char *build_id_of(const struct race *race, const char *module)
{
	for (int side = 0; side < 2; side++) {
		const struct vec *frames = &race->sides[side].frames;

		for (size_t i = 0; i < frames->count; i++) {
			const struct race_frame *frame = vec_at(frames, i);

			if (same_text(frame->module, module))
				return frame->build_id;
		}
	}
	return NULL;
}

static void replace_string(char **text, char **with)
{
	if (!*with)
		return;
	free(*text);
	*text = take_string(with);
}

static struct error *symbolize_variable(struct symbolizer *symbolizer,
					struct race *race, bool *changed)
{
	struct race_variable *variable = &race->variable;
	struct image *image = NULL;
	struct data_name name;
	struct error *err;

	if (variable->region != REGION_GLOBAL || !variable->module ||
	    (variable->name && variable->type))
		return NULL;
	err = open_module(symbolizer, variable->module,
			  build_id_of(race, variable->module), &image);
	if (!err && image)
		err = variables_name(image, 0, variable->module_offset,
				     race->size, &name);
	if (err || !image)
		return err;
	if (name.name && (!variable->name || name.type)) {
		*changed = true;
		replace_string(&variable->name, &name.name);
		replace_string(&variable->symbol, &name.symbol);
		replace_string(&variable->type, &name.type);
		replace_string(&variable->container, &name.container);
		replace_string(&variable->file, &name.file);
		variable->offset = name.offset;
		variable->line = name.line;
	}
	data_name_deinit(&name);
	return NULL;
}

/* With lines, only the source is still missing; or it is at hand here. */
static struct error *symbolize_missing(struct symbolizer *symbolizer,
				       struct race_side *side)
{
	const struct race_frame *top =
		side->frames.count ? vec_at(&side->frames, 0) : NULL;
	struct image *image = NULL;
	struct error *err;

	if (side->missing != RACE_MISSES_DEBUG || !top || !top->module ||
	    top->line <= 0)
		return NULL;
	err = open_module(symbolizer, top->module, top->build_id, &image);
	if (err || !image)
		return err;
	switch (atomics_missing(
		image, *(struct module **)vec_at(image_modules(image), 0),
		top->offset, side->access & ACCESS_WRITE)) {
	case ATOMICS_MISS_NOTHING:
		side->missing = RACE_MISSES_NOTHING;
		break;
	case ATOMICS_MISS_MACRO:
		side->missing = RACE_MISSES_MACRO;
		break;
	case ATOMICS_MISS_SOURCE:
		side->missing = RACE_MISSES_SOURCE;
		break;
	case ATOMICS_MISS_DEBUG:
		break;
	}
	return NULL;
}

struct error *symbolize_race(struct symbolizer *symbolizer, struct race *race,
			     bool *ret_changed)
{
	struct error *err = NULL;
	bool changed = false;

	for (int i = 0; !err && i < 2; i++) {
		err = symbolize_frames(symbolizer, &race->sides[i].frames,
				       &changed);
		if (!err)
			err = symbolize_frames(
				symbolizer, &race->sides[i].created, &changed);
		if (!err)
			err = symbolize_missing(symbolizer, &race->sides[i]);
	}
	if (!err)
		err = symbolize_variable(symbolizer, race, &changed);
	if (!err && changed && !race_fingerprint(race))
		err = error_nomem;
	if (!err)
		*ret_changed = changed;
	return err;
}
