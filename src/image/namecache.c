/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names that are kept; see namecache.h.
 */
#include "image/namecache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cachefile.h"
#include "base/error.h"
#include "base/log.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "image/elffile.h"

/* To be raised when the bytes mean something else, or names are made otherwise. */
enum { NAMES_FORMAT = 1 };

enum { FRAMES_MAX = 64, BUILD_ID_MAX = 64, NAMES_MAX = 1 << 20 };

/* What the names were read from. */
struct name_key {
	struct file_stamp file;
	struct file_stamp debug; /* zero: there was none */
};

struct name_entry {
	uint64_t address;
	struct name_frame *frames;
	size_t count;
};

struct name_cache {
	char name[BUILD_ID_MAX + sizeof(".names")];
	struct name_key key;
	struct vec entries; /* of struct name_entry */
	struct map by_address; /* to their places */
	size_t size; /* in the file */
	bool changed;
};

/* Of an entry and of a frame, before its texts. */
struct entry_head {
	uint64_t address;
	uint64_t count;
};

struct frame_head {
	int32_t line, column;
	uint32_t inlined, has_file;
};

static void free_frames(struct name_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(frames[i].function);
		free(frames[i].file);
	}
	free(frames);
}

static void name_cache_clear(struct name_cache *cache)
{
	for (size_t i = 0; i < cache->entries.count; i++) {
		struct name_entry *entry = vec_at(&cache->entries, i);

		free_frames(entry->frames, entry->count);
	}
	vec_deinit(&cache->entries);
	map_deinit(&cache->by_address);
	cache->size = sizeof(cache->key);
}

static bool copy_frame(struct name_frame *to, const struct name_frame *from)
{
	*to = *from;
	to->function = strdup(from->function);
	to->file = from->file ? strdup(from->file) : NULL;
	return to->function && (to->file || !from->file);
}

static size_t entry_size(const struct name_frame *frames, size_t count)
{
	size_t size = sizeof(struct entry_head);

	for (size_t i = 0; i < count; i++) {
		size += sizeof(struct frame_head);
		size += strlen(frames[i].function) + 1;
		size += frames[i].file ? strlen(frames[i].file) + 1 : 0;
	}
	return size;
}

static struct error *insert(struct name_cache *cache, uint64_t address,
			    const struct name_frame *frames, size_t count)
{
	struct name_entry entry = { .address = address, .count = count };
	bool ok = true;

	entry.frames = calloc(count, sizeof(*frames));
	if (!entry.frames)
		return error_nomem;
	for (size_t i = 0; ok && i < count; i++)
		ok = copy_frame(&entry.frames[i], &frames[i]);
	if (!ok ||
	    !map_set(&cache->by_address, address, cache->entries.count) ||
	    !vec_push(&cache->entries, &entry)) {
		map_remove(&cache->by_address, address);
		free_frames(entry.frames, count);
		return error_nomem;
	}
	cache->size += entry_size(frames, count);
	return NULL;
}

struct error *name_cache_add(struct name_cache *cache, uint64_t address,
			     const struct name_frame *frames, size_t count)
{
	struct error *err;

	if (count == 0 || count > FRAMES_MAX ||
	    cache->size + entry_size(frames, count) > NAMES_MAX ||
	    map_get(&cache->by_address, address))
		return NULL;
	err = insert(cache, address, frames, count);
	if (!err)
		cache->changed = true;
	return err;
}

const struct name_frame *name_cache_find(const struct name_cache *cache,
					 uint64_t address, size_t *ret_count)
{
	const uint64_t *at = map_get(&cache->by_address, address);
	const struct name_entry *entry;

	if (!at)
		return NULL;
	entry = vec_at(&cache->entries, (size_t)*at);
	*ret_count = entry->count;
	return entry->frames;
}

/* What is left to read. */
struct reader {
	const char *at;
	size_t left;
};

static bool take(struct reader *reader, void *ret, size_t size)
{
	if (size > reader->left)
		return false;
	memcpy(ret, reader->at, size);
	reader->at += size;
	reader->left -= size;
	return true;
}

/* Borrowed of what is read, which nobody writes to. */
static bool take_text(struct reader *reader, char **ret)
{
	const char *end = memchr(reader->at, '\0', reader->left);

	if (!end)
		return false;
	*ret = (char *)(uintptr_t)reader->at;
	reader->left -= (size_t)(end + 1 - reader->at);
	reader->at = end + 1;
	return true;
}

static bool take_frame(struct reader *reader, struct name_frame *ret)
{
	struct frame_head head;

	if (!take(reader, &head, sizeof(head)) ||
	    !take_text(reader, &ret->function))
		return false;
	ret->line = head.line;
	ret->column = head.column;
	ret->inlined = head.inlined;
	ret->file = NULL;
	return !head.has_file || take_text(reader, &ret->file);
}

static bool take_entry(struct reader *reader, struct name_cache *cache)
{
	struct name_frame frames[FRAMES_MAX];
	struct entry_head head;
	struct error *err;

	if (!take(reader, &head, sizeof(head)) || head.count == 0 ||
	    head.count > FRAMES_MAX ||
	    map_get(&cache->by_address, head.address))
		return false;
	for (size_t i = 0; i < head.count; i++) {
		if (!take_frame(reader, &frames[i]))
			return false;
	}
	err = insert(cache, head.address, frames, head.count);
	error_free(err);
	return !err;
}

static void load(struct name_cache *cache)
{
	struct reader reader = { 0 };
	struct name_key key;
	bool whole = true;
	void *bytes;

	if (!cachefile_read(cache->name, NAMES_FORMAT, &bytes, &reader.left))
		return;
	reader.at = bytes;
	/* it is of other files, and treated as empty */
	if (take(&reader, &key, sizeof(key)) &&
	    memcmp(&key, &cache->key, sizeof(key)) == 0) {
		while (whole && reader.left > 0)
			whole = take_entry(&reader, cache);
	}
	if (!whole)
		name_cache_clear(cache);
	log_debug(LOG_IMAGE, "cache: %s has the names of %zu addresses",
		  cache->name, cache->entries.count);
	free(bytes);
}

struct error *name_cache_open(const char *build_id, const struct elffile *file,
			      const struct elffile *debug,
			      struct name_cache **ret)
{
	struct name_cache *cache;

	*ret = NULL;
	if (!build_id || strlen(build_id) > BUILD_ID_MAX || !build_id[0] ||
	    file->stamp.inode == 0)
		return NULL;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return error_nomem;
	snprintf(cache->name, sizeof(cache->name), "%s.names", build_id);
	cache->key.file = file->stamp;
	if (debug)
		cache->key.debug = debug->stamp;
	cache->entries = (struct vec)VEC_INIT(struct name_entry);
	name_cache_clear(cache);
	load(cache);
	*ret = cache;
	return NULL;
}

static void put_frame(struct strbuf *buf, const struct name_frame *frame)
{
	const struct frame_head head = {
		.line = frame->line,
		.column = frame->column,
		.inlined = frame->inlined,
		.has_file = frame->file != NULL,
	};

	strbuf_add_bytes(buf, &head, sizeof(head));
	strbuf_add_bytes(buf, frame->function, strlen(frame->function) + 1);
	if (frame->file)
		strbuf_add_bytes(buf, frame->file, strlen(frame->file) + 1);
}

static void save(const struct name_cache *cache)
{
	struct strbuf buf = { 0 };

	strbuf_add_bytes(&buf, &cache->key, sizeof(cache->key));
	for (size_t i = 0; i < cache->entries.count; i++) {
		const struct name_entry *entry = vec_at(&cache->entries, i);
		const struct entry_head head = { entry->address, entry->count };

		strbuf_add_bytes(&buf, &head, sizeof(head));
		for (size_t f = 0; f < entry->count; f++)
			put_frame(&buf, &entry->frames[f]);
	}
	if (!buf.failed)
		cachefile_write(cache->name, NAMES_FORMAT, buf.text,
				buf.length);
	strbuf_deinit(&buf);
}

void name_cache_close(struct name_cache *cache)
{
	if (!cache)
		return;
	if (cache->changed)
		save(cache);
	name_cache_clear(cache);
	free(cache);
}
