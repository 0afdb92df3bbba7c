/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables that are kept; see tablecache.h.
 */
#include "image/tablecache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cachefile.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/vec.h"
#include "image/elffile.h"
#include "image/elftext.h"
#include "image/ranges.h"

/* To be raised when the bytes mean something else, or tables are made otherwise. */
enum { TABLES_FORMAT = 1 };

enum {
	BUILD_ID_MAX = 64,
	/* bytes of the files: less than that is read as fast as the cache is */
	FILES_MIN = 256 << 10,
};

/* What the tables were read from. */
struct table_key {
	struct file_stamp file;
	struct file_stamp debug; /* zero: there was none */
	uint64_t headers; /* a hash */
};

/* What the file begins with; functions, plt and rseq follow. */
struct table_head {
	struct table_key key;
	uint64_t functions, plt, rseq; /* how many */
};

/* A struct elf_function. Its name is in the file or in the debug file. */
struct kept_function {
	uint64_t start : 54;
	uint64_t initial : 8;
	uint64_t in_debug : 1;
	uint64_t ifunc : 1;
	uint32_t size;
	uint32_t name; /* where it is; 0: none */
};

static bool is_large(const struct table_source *source)
{
	return source->file->size + (source->debug ? source->debug->size : 0) >=
	       FILES_MIN;
}

/* Can anything be kept of these files? */
static bool may_keep(const struct table_source *source)
{
	return source->build_id && source->build_id[0] &&
	       strlen(source->build_id) <= BUILD_ID_MAX &&
	       source->file->stamp.inode != 0 && source->file->bytes &&
	       (!source->debug || source->debug->bytes) && is_large(source);
}

static void table_name(const struct table_source *source,
		       char name[BUILD_ID_MAX + sizeof(".tables")])
{
	snprintf(name, BUILD_ID_MAX + sizeof(".tables"), "%s.tables",
		 source->build_id);
}

static uint64_t hash_headers(const struct elffile *file)
{
	uint64_t hashes[2] = {
		hash_blocks(file->segments,
			    file->segment_count * sizeof(*file->segments)),
	};
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section)) &&
	       gelf_getshdr(section, &header)) {
		hashes[1] = hash_blocks(&header, sizeof(header));
		hashes[0] = hash_blocks(hashes, sizeof(hashes));
	}
	return hashes[0];
}

static struct table_key key_of(const struct table_source *source)
{
	struct table_key key = {
		.file = source->file->stamp,
		.headers = hash_headers(source->file),
	};

	if (source->debug)
		key.debug = source->debug->stamp;
	return key;
}

/* The bytes of a file in which a name may begin, as it ends there too. */
static uint64_t names_end(const struct elffile *file)
{
	const uint8_t *last = file ? memrchr(file->bytes, '\0', file->size)
				   : NULL;

	return last ? (uint64_t)(last - file->bytes) + 1 : 0;
}

/* What functions are checked against, in ascending order of their starts. */
struct checker {
	const struct table_source *source;
	uint64_t file_names, debug_names; /* names_end() */
	uint64_t end; /* of the function before */
	uint64_t exec_start,
		exec_end; /* where it may be, like the one before */
};

static bool is_executable(struct checker *checker, uint64_t start, uint64_t end)
{
	if (start < checker->exec_start || start >= checker->exec_end) {
		checker->exec_start = start;
		checker->exec_end =
			elffile_exec_end(checker->source->file, start);
	}
	return end <= checker->exec_end;
}

/*
 * The file may change while it is mapped: each record is read once (volatile), and
 * what was checked is what is used.
 */
static bool use_function(struct checker *checker,
			 const volatile struct kept_function *mapped,
			 struct elf_function *ret)
{
	const struct kept_function copy = *mapped, *kept = &copy;
	const struct elffile *names = kept->in_debug ? checker->source->debug
						     : checker->source->file;
	uint64_t end = (uint64_t)kept->start + kept->size;

	if (kept->size == 0 || kept->start < checker->end ||
	    !is_executable(checker, kept->start, end) ||
	    kept->name >= (kept->in_debug ? checker->debug_names
					  : checker->file_names))
		return false;
	checker->end = end;
	ret->start = kept->start;
	ret->size = kept->size;
	ret->ifunc = kept->ifunc;
	ret->initial = (char)kept->initial;
	ret->name = kept->name ? (const char *)names->bytes + kept->name : NULL;
	return true;
}

static bool use_functions(const struct table_source *source,
			  const struct kept_function *kept, size_t count)
{
	struct checker checker = {
		.source = source,
		.file_names = names_end(source->file),
		.debug_names = names_end(source->debug),
	};
	struct elf_function *functions;

	if (!vec_reserve(source->functions, count))
		return false;
	functions = source->functions->items;
	for (size_t i = 0; i < count; i++) {
		if (!use_function(&checker, &kept[i], &functions[i]))
			return false;
	}
	source->functions->count = count;
	return true;
}

/* They are united: neither empty nor touching, and by start. */
static bool use_ranges(struct vec *ranges,
		       const volatile struct code_range *mapped, size_t count)
{
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		const struct code_range kept = mapped[i];

		if (kept.start >= kept.end || (i > 0 && kept.start <= end) ||
		    !vec_push(ranges, &kept))
			return false;
		end = kept.end;
	}
	return true;
}

/* Are there as many bytes as the head says? */
static bool has_size(const struct table_head *head, size_t size)
{
	const uint64_t most = CACHEFILE_MAX;

	return head->functions <= most && head->plt <= most &&
	       head->rseq <= most &&
	       size == sizeof(*head) +
			       head->functions * sizeof(struct kept_function) +
			       (head->plt + head->rseq) *
				       sizeof(struct code_range);
}

static bool use(const struct table_source *source, const uint8_t *bytes,
		size_t size)
{
	const struct table_key key = key_of(source);
	const struct kept_function *functions;
	const struct code_range *plt, *rseq;
	struct table_head head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (memcmp(&head.key, &key, sizeof(key)) != 0 || !has_size(&head, size))
		return false;
	/* aligned: the size of each of them is a multiple of eight */
	functions = (const void *)(bytes + sizeof(head));
	plt = (const void *)(functions + head.functions);
	rseq = plt + head.plt;
	return use_ranges(source->plt, plt, head.plt) &&
	       use_ranges(source->rseq, rseq, head.rseq) &&
	       use_functions(source, functions, head.functions);
}

bool table_cache_load(const struct table_source *source)
{
	char name[BUILD_ID_MAX + sizeof(".tables")];
	struct cachefile_map map;
	bool used;

	if (!may_keep(source))
		return false;
	table_name(source, name);
	if (!cachefile_map(name, TABLES_FORMAT, &map))
		return false;
	used = use(source, map.bytes, map.size);
	cachefile_unmap(&map);
	if (!used) {
		log_debug(LOG_IMAGE, "cache: %s is of other files", name);
		vec_deinit(source->functions);
		vec_deinit(source->plt);
		vec_deinit(source->rseq);
		return false;
	}
	log_debug(LOG_IMAGE, "cache: %s has %zu functions", name,
		  source->functions->count);
	return true;
}

/* Where the name is in the file; false: not there, or too far behind. */
static bool name_in(const struct elffile *file, const char *name, uint32_t *ret)
{
	const uint8_t *at = (const uint8_t *)name;

	if (!file || at <= file->bytes || at >= file->bytes + file->size ||
	    at - file->bytes > UINT32_MAX)
		return false;
	*ret = (uint32_t)(at - file->bytes);
	return true;
}

/* False: it is too large to be kept. */
static bool keep_function(const struct table_source *source,
			  const struct elf_function *function,
			  struct kept_function *ret)
{
	*ret = (struct kept_function){
		.start = function->start,
		.size = function->size,
		.ifunc = function->ifunc,
		.initial = (uint8_t)function->initial,
	};
	if (ret->start != function->start)
		return false;
	if (!function->name ||
	    name_in(source->file, function->name, &ret->name))
		return true;
	ret->in_debug = true;
	return name_in(source->debug, function->name, &ret->name);
}

/* The bytes after the head; NULL: too large, or no memory. */
static uint8_t *pack(const struct table_source *source,
		     const struct table_head *head, size_t size)
{
	cleanup_free uint8_t *bytes = calloc(1, size);
	struct kept_function *functions;
	struct code_range *ranges;
	uint8_t *whole;

	if (!bytes)
		return NULL;
	memcpy(bytes, head, sizeof(*head));
	functions = (void *)(bytes + sizeof(*head));
	for (size_t i = 0; i < head->functions; i++) {
		if (!keep_function(source, vec_at(source->functions, i),
				   &functions[i]))
			return NULL;
	}
	ranges = (void *)(functions + head->functions);
	if (head->plt)
		memcpy(ranges, source->plt->items, head->plt * sizeof(*ranges));
	if (head->rseq)
		memcpy(ranges + head->plt, source->rseq->items,
		       head->rseq * sizeof(*ranges));
	whole = bytes;
	bytes = NULL;
	return whole;
}

void table_cache_save(const struct table_source *source)
{
	char name[BUILD_ID_MAX + sizeof(".tables")];
	cleanup_free uint8_t *bytes = NULL;
	struct table_head head;
	size_t size;

	if (!may_keep(source) || !source->file->settled ||
	    (source->debug && !source->debug->settled))
		return;
	head = (struct table_head){ key_of(source), source->functions->count,
				    source->plt->count, source->rseq->count };
	size = sizeof(head) + head.functions * sizeof(struct kept_function) +
	       (head.plt + head.rseq) * sizeof(struct code_range);
	if (size > CACHEFILE_MAX)
		return;
	bytes = pack(source, &head, size);
	if (!bytes)
		return;
	table_name(source, name);
	cachefile_write(name, TABLES_FORMAT, bytes, size);
}
