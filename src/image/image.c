/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The modules of a live process; see image.h.
 */
#include "image/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "image/elftext.h"
#include "image/fileaccess.h"
#include "image/filemodule.h"

struct image {
	int pid; /* 0 for a single file */
	struct file_access access;
	struct maps maps;
	struct vec modules; /* of struct module * */
	bool taken_over; /* the modules are those of the process before */
	uint64_t next_id;
	struct image_kept debuginfo;
	struct image_kept unw_space;
	uint64_t servers_limit_ns; /* 0: do not ask any */
};

/* The part of the auxiliary vector that says what is what (getauxval(3)). */
struct auxiliary {
	uint64_t phdr; /* in the executable */
	uint64_t base; /* of the interpreter */
};

static struct error *image_new(int pid, struct image **ret)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image)
		return error_nomem;
	image->pid = pid;
	image->access.pid = pid;
	/* now, for it may soon end */
	file_access_rights(&image->access);
	image->next_id = 1;
	maps_init(&image->maps);
	image->modules = (struct vec)VEC_INIT(struct module *);
	*ret = image;
	return NULL;
}

struct error *image_create(int pid, struct image **ret)
{
	return image_new(pid, ret);
}

struct error *image_create_file(const char *path, struct image **ret)
{
	struct module *module = NULL;
	struct image *image;
	struct error *err;

	err = image_new(0, &image);
	if (err)
		return err;
	err = file_module_create(path, &module);
	if (!err)
		err = elftext_open(path, path, &module->text);
	if (!err)
		err = elftext_read(module->text);
	if (!err && !vec_push(&image->modules, &module))
		err = error_nomem;
	if (err) {
		file_module_destroy(module);
		image_destroy(image);
		return err;
	}
	elftext_extent(module->text, &module->start, &module->end);
	module->id = image->next_id++;
	module->main = true;
	*ret = image;
	return NULL;
}

static void kept_forget(struct image_kept *kept)
{
	if (kept->data)
		kept->destroy(kept->data);
	kept->data = NULL;
}

static void kept_move(struct image_kept *kept)
{
	if (kept->data && (!kept->move || !kept->move(kept->data)))
		kept_forget(kept);
}

/* They may hold on to the bytes of files that are about to be closed. */
static void image_forget_kept(struct image *image)
{
	kept_forget(&image->debuginfo);
	kept_forget(&image->unw_space);
}

void image_destroy(struct image *image)
{
	if (!image)
		return;
	image_forget_kept(image);
	for (size_t i = 0; i < image->modules.count; i++)
		file_module_destroy(
			*(struct module **)vec_at(&image->modules, i));
	vec_deinit(&image->modules);
	maps_deinit(&image->maps);
	free(image);
}

void image_follow(struct image *image, int pid)
{
	image->pid = pid;
	image->access.pid = pid;
}

bool image_runs_file(const struct image *image, const struct stat *status)
{
	for (size_t i = 0; i < image->modules.count; i++) {
		struct module *module =
			*(struct module **)vec_at(&image->modules, i);

		if (module->main)
			return file_module_is_file(module, status);
	}
	return false;
}

void image_take_over(struct image *image, int pid)
{
	image_follow(image, pid);
	image->taken_over = true;
}

void image_use_opener(struct image *image, struct opener *opener)
{
	image->access.opener = opener;
}

struct file_access *image_access(struct image *image)
{
	return &image->access;
}

void image_ask_servers(struct image *image, uint64_t limit_ns)
{
	image->servers_limit_ns = limit_ns;
}

uint64_t image_servers_limit(const struct image *image)
{
	return image->servers_limit_ns;
}

const struct rights *image_rights(struct image *image)
{
	return file_access_rights(&image->access);
}

int image_pid(const struct image *image)
{
	return image->pid;
}

/* Left zero when it cannot be read: then nothing is known to be the loader. */
static void read_auxiliary(int pid, struct auxiliary *auxiliary)
{
	uint64_t pairs[2 * 64];
	char path[64];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	size = fd < 0 ? -1 : read(fd, pairs, sizeof(pairs));
	for (ssize_t i = 0; (i + 2) * 8 <= size && pairs[i]; i += 2) {
		if (pairs[i] == AT_PHDR)
			auxiliary->phdr = pairs[i + 1];
		else if (pairs[i] == AT_BASE)
			auxiliary->base = pairs[i + 1];
	}
}

static bool is_module_mapping(const struct map_entry *entry)
{
	if (!entry->exec)
		return false;
	return (entry->inode != 0 && entry->path[0] == '/') ||
	       strcmp(entry->path, "[vdso]") == 0;
}

static struct module *find_module(const struct vec *modules,
				  const struct map_entry *entry)
{
	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);

		if (module && file_module_has_mapping(module, entry))
			return module;
	}
	return NULL;
}

/* Another module of the entry's file whose text is known, or NULL. */
static const struct module *find_twin(const struct vec *modules,
				      const struct map_entry *entry)
{
	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = *(struct module **)vec_at(modules, i);

		if (module && module->text && !module->vdso &&
		    file_module_is_of(module, entry))
			return module;
	}
	return NULL;
}

/* A module that was moved, and where it was. */
struct refresh_move {
	struct module *module;
	struct module_place place;
};

/* The state of one refresh. */
struct refresh {
	struct maps maps;
	struct vec modules; /* the new set, of struct module * */
	struct vec fresh; /* those of it that were opened now */
	struct vec moved; /* of struct refresh_move: those that were moved */
	struct auxiliary auxiliary;
};

static void refresh_put_back(const struct refresh_move *before)
{
	file_module_put(before->module, &before->place);
}

static bool contains(const struct vec *modules, const struct module *module)
{
	for (size_t i = 0; i < modules->count; i++) {
		if (*(struct module **)vec_at(modules, i) == module)
			return true;
	}
	return false;
}

/*
 * A module of the process before, which this one has elsewhere; *ret stays as it
 * is when there is none.
 */
static struct error *refresh_move(struct image *image, struct refresh *refresh,
				  const struct map_entry *entry,
				  struct module **ret)
{
	for (size_t i = 0; i < image->modules.count; i++) {
		struct module *module =
			*(struct module **)vec_at(&image->modules, i);
		struct refresh_move before = { .module = module };

		if (!file_module_is_of(module, entry) ||
		    contains(&refresh->modules, module) ||
		    file_module_is_rewritten(&image->access, module) ||
		    !file_module_move(&refresh->maps, entry, module,
				      &before.place))
			continue;
		if (!vec_push(&refresh->moved, &before)) {
			refresh_put_back(&before);
			return error_nomem;
		}
		*ret = module;
		return NULL;
	}
	return NULL;
}

static struct error *refresh_open(struct image *image, struct refresh *refresh,
				  const struct map_entry *entry)
{
	struct module *module;
	struct error *err = file_module_create(entry->path, &module);

	if (err)
		return err;
	err = file_module_open(&image->access, &refresh->maps, entry,
			       find_twin(&refresh->modules, entry), module);
	if (!err && !vec_push(&refresh->fresh, &module))
		err = error_nomem;
	if (err) {
		file_module_destroy(module);
		return err;
	}
	if (!vec_push(&refresh->modules, &module))
		return error_nomem;
	module->id = image->next_id++;
	module->main = refresh->auxiliary.phdr - module->start <
		       module->end - module->start;
	module->loader = refresh->auxiliary.base != 0 &&
			 refresh->auxiliary.base - module->start <
				 module->end - module->start;
	return NULL;
}

static struct error *refresh_entry(struct image *image, struct refresh *refresh,
				   const struct map_entry *entry)
{
	struct module *module = find_module(&refresh->modules, entry);
	struct error *err = NULL;

	if (module)
		return NULL;
	module = find_module(&image->modules, entry);
	if (module && file_module_is_rewritten(&image->access, module))
		module = NULL;
	else if (!module && image->taken_over)
		err = refresh_move(image, refresh, entry, &module);
	if (err)
		return err;
	if (!module)
		return refresh_open(image, refresh, entry);
	return vec_push(&refresh->modules, &module) ? NULL : error_nomem;
}

static int compare_modules(const void *left, const void *right)
{
	const struct module *a = *(struct module *const *)left;
	const struct module *b = *(struct module *const *)right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Put the new set in place; nothing can fail any more. */
static bool refresh_commit(struct image *image, struct refresh *refresh)
{
	struct vec old = image->modules;
	bool dropped = false, lost_text = false;

	if (refresh->modules.count)
		qsort(refresh->modules.items, refresh->modules.count,
		      refresh->modules.size, compare_modules);
	for (size_t i = 0; i < old.count; i++) {
		const struct module *module =
			*(struct module **)vec_at(&old, i);

		if (contains(&refresh->modules, module))
			continue;
		dropped = true;
		lost_text |= module && module->text;
	}
	if (lost_text) {
		image_forget_kept(image);
	} else if (refresh->moved.count > 0) {
		kept_move(&image->debuginfo);
		kept_move(&image->unw_space);
	}
	for (size_t i = 0; i < old.count; i++) {
		struct module *module = *(struct module **)vec_at(&old, i);

		if (!contains(&refresh->modules, module))
			file_module_destroy(module);
	}
	vec_deinit(&old);
	maps_deinit(&image->maps);
	image->maps = refresh->maps;
	image->modules = refresh->modules;
	image->taken_over = false;
	return dropped || refresh->fresh.count > 0 || refresh->moved.count > 0;
}

static void refresh_abort(struct refresh *refresh)
{
	for (size_t i = 0; i < refresh->moved.count; i++)
		refresh_put_back(vec_at(&refresh->moved, i));
	for (size_t i = 0; i < refresh->fresh.count; i++)
		file_module_destroy(
			*(struct module **)vec_at(&refresh->fresh, i));
	vec_deinit(&refresh->modules);
	maps_deinit(&refresh->maps);
}

struct error *image_refresh(struct image *image, bool *ret_changed)
{
	struct refresh refresh = {
		.modules = VEC_INIT(struct module *),
		.fresh = VEC_INIT(struct module *),
		.moved = VEC_INIT(struct refresh_move),
	};
	struct error *err = NULL;

	if (image->pid == 0) {
		*ret_changed = false;
		return NULL;
	}
	maps_init(&refresh.maps);
	err = maps_read(image->pid, &refresh.maps);
	read_auxiliary(refresh.maps.tid, &refresh.auxiliary);
	for (size_t i = 0; !err && i < refresh.maps.entries.count; i++) {
		const struct map_entry *entry =
			vec_at(&refresh.maps.entries, i);

		if (is_module_mapping(entry))
			err = refresh_entry(image, &refresh, entry);
	}
	if (err)
		refresh_abort(&refresh);
	else
		*ret_changed = refresh_commit(image, &refresh);
	vec_deinit(&refresh.fresh);
	vec_deinit(&refresh.moved);
	return err;
}

const struct vec *image_modules(const struct image *image)
{
	return &image->modules;
}

const struct maps *image_maps(const struct image *image)
{
	return &image->maps;
}

struct module *image_module_at(const struct image *image, uint64_t address)
{
	size_t low = 0;
	size_t high = image->modules.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct module *module =
			*(struct module **)vec_at(&image->modules, middle);

		if (address < module->start)
			high = middle;
		else if (address >= module->end)
			low = middle + 1;
		else
			return module;
	}
	return NULL;
}

struct image_kept *image_debuginfo(struct image *image)
{
	return &image->debuginfo;
}

struct image_kept *image_unw_space(struct image *image)
{
	return &image->unw_space;
}
