/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Modules and the files behind them; see filemodule.h. The file behind a
 * mapping is found by device and inode: the path in maps may lead elsewhere
 * after a package upgrade, and from another mount namespace or root it always
 * does.
 */
#include "image/filemodule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "image/elftext.h"
#include "image/fileaccess.h"
#include "image/image.h"

/* What tells one file from another, however it is called. */
struct file_identity {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	/* of what was opened; a plug-in built anew may get the old inode */
	char *opened;
	dev_t device; /* as stat(2) has it */
	struct timespec changed;
	off_t size;
};

struct file_module {
	struct module module; /* first: a module pointer is this one's too */
	struct file_identity file;
};

static struct file_module *file_module(struct module *module)
{
	return (struct file_module *)module;
}

void file_module_destroy(struct module *module)
{
	if (!module)
		return;
	elftext_close(module->text);
	free(module->path);
	free(module->problem);
	free(file_module(module)->file.opened);
	free(module);
}

struct error *file_module_create(const char *path, struct module **ret)
{
	struct file_module *created = calloc(1, sizeof(*created));
	const char *slash;

	if (!created)
		return error_nomem;
	created->module.path = strdup(path);
	if (!created->module.path) {
		free(created);
		return error_nomem;
	}
	slash = strrchr(created->module.path, '/');
	created->module.name = slash ? slash + 1 : created->module.path;
	*ret = &created->module;
	return NULL;
}

static bool is_mapped(const struct stat *st, const struct map_entry *entry,
		      bool any_device)
{
	if (st->st_ino != entry->inode)
		return false;
	return any_device || (major(st->st_dev) == entry->dev_major &&
			      minor(st->st_dev) == entry->dev_minor);
}

/*
 * The ways to a mapped file, best first. The plain path, which is of our own
 * mount namespace and root, comes first for its name in messages; it is right
 * if device and inode are, and is not trusted with the inode alone.
 */
enum way {
	WAY_PATH,
	WAY_MAP_FILES,
	WAY_EXE,
	WAY_ROOT,
	WAYS,
};

static char *path_by_way(int pid, const struct map_entry *entry, enum way way)
{
	char *path = NULL;
	int n = 0;

	switch (way) {
	case WAY_MAP_FILES:
		n = asprintf(&path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
			     pid, entry->start, entry->end);
		break;
	case WAY_EXE:
		n = asprintf(&path, "/proc/%d/exe", pid);
		break;
	case WAY_ROOT:
		n = asprintf(&path, "/proc/%d/root%s", pid, entry->path);
		break;
	case WAY_PATH:
	case WAYS:
		return strdup(entry->path);
	}
	return n < 0 ? NULL : path;
}

/* A mapped file that was opened, or why it was not. */
struct opened_file {
	char *path;
	int fd; /* -1: not yet */
	struct stat status;
	struct error *err; /* of the first way that leads there in vain */
};

/* Of a file that is there: that a way leads nowhere is no reason. */
static void keep_reason(struct error *err, struct error **reason)
{
	if (*reason || err->code == ENOENT || err->code == ENOTDIR ||
	    err->code == EPERM || err == error_gone)
		error_free(err);
	else
		*reason = err;
}

/* Nothing is opened when it is not that file. Only lack of memory is an error. */
static struct error *open_by_way(struct file_access *access, int tid,
				 const struct map_entry *entry, enum way way,
				 bool any_device, struct opened_file *ret)
{
	cleanup_free char *path = path_by_way(tid, entry, way);
	struct stat status;
	struct error *err;
	int fd;

	if (!path)
		return error_nomem;
	err = file_access_open_own(access, path, entry->path, &fd, &status);
	if (err == error_nomem)
		return err;
	if (err) {
		keep_reason(err, &ret->err);
	} else if (!is_mapped(&status, entry, any_device)) {
		close(fd);
	} else {
		ret->path = path;
		ret->fd = fd;
		ret->status = status;
		path = NULL;
	}
	return NULL;
}

/*
 * Open the mapped file; ret->fd is -1 if that cannot be done. map_files
 * leads to the very file but needs CAP_CHECKPOINT_RESTORE; /proc/PID/exe needs
 * no more than maps does. Some file systems (btrfs, overlayfs) show another
 * device in maps than in stat(2): the second round does without it, by ways
 * that lead into the process's own file systems only.
 */
static struct error *find_file(struct file_access *access, int tid,
			       const struct map_entry *entry,
			       struct opened_file *ret)
{
	struct error *err = NULL;

	*ret = (struct opened_file){ .fd = -1 };
	for (int i = 0; !err && ret->fd < 0 && i < 2 * WAYS; i++) {
		enum way way = (enum way)(i % WAYS);
		bool by_name = way == WAY_PATH || way == WAY_ROOT;

		if ((by_name && entry->deleted) ||
		    (way == WAY_PATH && i >= WAYS))
			continue;
		err = open_by_way(access, tid, entry, way,
				  i >= WAYS || way == WAY_MAP_FILES, ret);
	}
	return err;
}

/* Of a file of that inode. */
static bool is_as_opened(const struct file_identity *file,
			 const struct stat *status)
{
	return status->st_size == file->size &&
	       status->st_mtim.tv_sec == file->changed.tv_sec &&
	       status->st_mtim.tv_nsec == file->changed.tv_nsec;
}

bool file_module_is_file(struct module *module, const struct stat *status)
{
	const struct file_identity *file = &file_module(module)->file;

	return file->opened && status->st_ino == file->inode &&
	       status->st_dev == file->device && is_as_opened(file, status);
}

bool file_module_is_rewritten(struct file_access *access, struct module *module)
{
	const struct file_identity *file = &file_module(module)->file;
	struct stat st;
	struct error *err;

	if (!file->opened)
		return false;
	err = file_access_stat_own(access, file->opened, &st);
	if (err) {
		error_free(err);
		return false;
	}
	return st.st_ino == file->inode && !is_as_opened(file, &st);
}

static struct error *not_found(const struct map_entry *entry, struct error *err)
{
	if (err)
		return err;
	return error_create(ERROR_OTHER, "%s: %s", entry->path,
			    entry->deleted ? "deleted, and not to be reached"
					   : "not the file that is mapped");
}

static struct error *open_file(struct file_access *access, int tid,
			       const struct map_entry *entry,
			       struct module *module)
{
	struct file_identity *file = &file_module(module)->file;
	struct opened_file opened;
	struct error *err = find_file(access, tid, entry, &opened);

	if (err || opened.fd < 0) {
		if (!err)
			return not_found(entry, opened.err);
		error_free(opened.err);
		return err;
	}
	error_free(opened.err);
	file->opened = opened.path;
	file->device = opened.status.st_dev;
	file->changed = opened.status.st_mtim;
	file->size = opened.status.st_size;
	return elftext_open_file(opened.fd, entry->path, access, &module->text);
}

/*
 * The kernel gives every 64-bit process the same vDSO, so our own is read.
 */
static struct error *open_vdso(struct module *module)
{
	const void *bytes = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const struct map_entry *entry;
	struct error *err;
	struct maps maps;

	maps_init(&maps);
	err = maps_read(getpid(), &maps);
	if (err)
		return err;
	entry = maps_find(&maps, (uint64_t)(uintptr_t)bytes);
	if (entry)
		err = elftext_create_copy(bytes, entry->end - entry->start,
					  module->path, &module->text);
	else
		err = error_create(ERROR_UNSUPPORTED, "no vDSO here");
	maps_deinit(&maps);
	return err;
}

static bool is_same_file(const struct map_entry *a, const struct map_entry *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && strcmp(a->path, b->path) == 0;
}

/*
 * Where the file is when it is mapped as its segments say, from the first one
 * on, and entry is one of its mappings there. A mapping may also hold a part of
 * it for a second time: V8 has its built-in functions again near its heap.
 */
static bool find_place(const struct maps *maps, const struct elftext *text,
		       const struct map_entry *entry, struct module *place)
{
	const struct map_entry *first;

	if (!elftext_bias(text, entry->start, entry->offset, &place->bias))
		return false;
	elftext_extent(text, &place->start, &place->end);
	place->start += place->bias;
	place->end += place->bias;
	first = maps_find(maps, place->start);
	return place->start < place->end &&
	       (place->vdso || (first && is_same_file(first, entry)));
}

/* Where the module is, from its segments or, without them, from the maps. */
static struct error *place_module(const struct maps *maps,
				  const struct map_entry *entry,
				  struct module *module)
{
	if (module->text && find_place(maps, module->text, entry, module))
		return NULL;
	if (module->text) {
		elftext_close(module->text);
		module->text = NULL;
		module->problem = strdup("mapped unlike its program headers");
		if (!module->problem)
			return error_nomem;
	}
	module->start = entry->start;
	module->end = entry->end;
	for (size_t i = 0; i < maps->entries.count; i++) {
		const struct map_entry *other = vec_at(&maps->entries, i);

		if (other->start == module->end && is_same_file(other, entry))
			module->end = other->end;
	}
	module->bias = entry->start - entry->offset;
	return NULL;
}

bool file_module_move(const struct maps *maps, const struct map_entry *entry,
		      struct module *module, struct module_place *ret_before)
{
	struct module found = { .vdso = module->vdso };
	struct module_place place;

	if (!module->text || !find_place(maps, module->text, entry, &found))
		return false;
	*ret_before = (struct module_place){ module->bias, module->start,
					     module->end };
	place = (struct module_place){ found.bias, found.start, found.end };
	file_module_put(module, &place);
	return true;
}

void file_module_put(struct module *module, const struct module_place *place)
{
	module->bias = place->bias;
	module->start = place->start;
	module->end = place->end;
}

/* Is it known without opening the file that it is not mapped there? */
static bool is_known_part(const struct maps *maps,
			  const struct map_entry *entry,
			  const struct module *twin)
{
	struct module place = { .vdso = false };

	return twin && !find_place(maps, twin->text, entry, &place);
}

struct error *file_module_open(struct file_access *access,
			       const struct maps *maps,
			       const struct map_entry *entry,
			       const struct module *twin, struct module *module)
{
	struct error *err;

	module->vdso = strcmp(entry->path, "[vdso]") == 0;
	file_module(module)->file.inode = entry->inode;
	file_module(module)->file.dev_major = entry->dev_major;
	file_module(module)->file.dev_minor = entry->dev_minor;
	if (is_known_part(maps, entry, twin))
		err = error_create(ERROR_OTHER,
				   "%s: a part that is mapped "
				   "once more",
				   entry->path);
	else
		err = module->vdso
			      ? open_vdso(module)
			      : open_file(access, maps->tid, entry, module);
	if (err == error_nomem)
		return err;
	if (err) {
		log_debug(LOG_IMAGE, "%s", error_message(err));
		module->problem = strdup(error_message(err));
		error_free(err);
		if (!module->problem)
			return error_nomem;
	}
	return place_module(maps, entry, module);
}

bool file_module_is_of(struct module *module, const struct map_entry *entry)
{
	const struct file_identity *file = &file_module(module)->file;

	return entry->inode == file->inode &&
	       entry->dev_major == file->dev_major &&
	       entry->dev_minor == file->dev_minor &&
	       strcmp(entry->path, module->path) == 0;
}

bool file_module_has_mapping(struct module *module,
			     const struct map_entry *entry)
{
	uint64_t bias;

	if (!file_module_is_of(module, entry))
		return false;
	if (entry->start < module->start || entry->end > module->end)
		return false;
	return !module->text || (elftext_bias(module->text, entry->start,
					      entry->offset, &bias) &&
				 bias == module->bias);
}
