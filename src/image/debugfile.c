/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Separate debug files; see debugfile.h.
 */
#include "image/debugfile.h"

#include <elfutils/libdwelf.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "image/elffile.h"
#include "image/fileaccess.h"

#define DEBUG_ROOT "/usr/lib/debug"

/* The contents of .gnu_debuglink. */
struct debug_link {
	const char *name;
	uint32_t checksum;
};

static bool debug_link(const struct elffile *file, struct debug_link *ret)
{
	/* libelf looks at all names of sections */
	if (!file->names)
		return false;
	ret->name = dwelf_elf_gnu_debuglink(file->elf, &ret->checksum);
	return ret->name && ret->name[0] && !strchr(ret->name, '/');
}

/* CRC-32 as .gnu_debuglink has it (IEEE 802.3, reflected). */
static uint32_t checksum(const uint8_t *bytes, size_t size)
{
	uint32_t table[256];
	uint32_t crc = ~UINT32_C(0);

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t value = i;

		for (int bit = 0; bit < 8; bit++)
			value = (value >> 1) ^ (value & 1 ? 0xedb88320u : 0);
		table[i] = value;
	}
	for (size_t i = 0; i < size; i++)
		crc = (crc >> 8) ^ table[(crc ^ bytes[i]) & 0xff];
	return ~crc;
}

static bool same_build_id(const struct elffile *one, const struct elffile *two,
			  bool *ret_both)
{
	size_t size_one = 0;
	size_t size_two = 0;
	const uint8_t *id_one = elffile_build_id(one, &size_one);
	const uint8_t *id_two = elffile_build_id(two, &size_two);

	*ret_both = id_one && id_two;
	return *ret_both && size_one == size_two &&
	       memcmp(id_one, id_two, size_one) == 0;
}

/* What is looked for, and how. */
struct search {
	const struct elffile *file;
	struct file_access *access;
};

static struct error *open_debug(struct file_access *access, const char *path,
				struct elffile **ret)
{
	struct stat status;
	struct error *err;
	int fd;

	err = file_access_open_named(access, path, &fd, &status);
	if (!err)
		err = elffile_open(fd, path, ret);
	if (!err)
		(*ret)->named = file_stamp_of(&status);
	return err;
}

/* *ret stays as it is when there is nothing of use at path. */
static struct error *try_path(const struct search *search, const char *path,
			      const struct debug_link *link,
			      struct elffile **ret)
{
	struct elffile *debug;
	struct error *err;
	bool both;
	bool matches;

	err = open_debug(search->access, path, &debug);
	if (!err) {
		err = elffile_read(debug, path);
		if (err)
			elffile_close(debug);
	}
	if (err == error_nomem)
		return err;
	if (err) {
		if (err->code == 0)
			log_debug(LOG_IMAGE, "no debug file: %s",
				  error_message(err));
		error_free(err);
		return NULL;
	}
	matches = same_build_id(search->file, debug, &both);
	if (!both && link)
		matches = checksum(debug->bytes, debug->size) == link->checksum;
	if (!matches) {
		log_debug(LOG_IMAGE, "%s: of another build, not used", path);
		elffile_close(debug);
		return NULL;
	}
	*ret = debug;
	return NULL;
}

static char *build_id_path(const struct elffile *file)
{
	size_t size;
	const uint8_t *id = elffile_build_id(file, &size);
	struct strbuf path = { 0 };

	if (!id || size < 2)
		return NULL;
	strbuf_add(&path, DEBUG_ROOT "/.build-id/");
	strbuf_add_hex(&path, id, 1);
	strbuf_add(&path, "/");
	strbuf_add_hex(&path, id + 1, size - 1);
	strbuf_add(&path, ".debug");
	return strbuf_steal(&path);
}

static struct error *try_link(const struct search *search, const char *path,
			      const struct debug_link *link,
			      struct elffile **ret, char **ret_path)
{
	/* around the folder of the file */
	static const char *const places[][2] = {
		{ "", "/" },
		{ "", "/.debug/" },
		{ DEBUG_ROOT, "/" },
	};
	cleanup_free char *copy = strdup(path);
	const char *folder = copy ? dirname(copy) : NULL;

	if (!folder)
		return error_nomem;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct strbuf candidate = { 0 };
		struct error *err;
		char *text;

		strbuf_addf(&candidate, "%s%s%s%s", places[i][0], folder,
			    places[i][1], link->name);
		text = strbuf_steal(&candidate);
		if (!text)
			return error_nomem;
		err = try_path(search, text, link, ret);
		if (!err && *ret) {
			*ret_path = text;
			return NULL;
		}
		free(text);
		if (err)
			return err;
	}
	return NULL;
}

struct error *debugfile_open(const struct elffile *file, const char *path,
			     struct file_access *access, struct elffile **ret,
			     char **ret_path)
{
	const struct search search = { file, access };
	char *by_id = build_id_path(file);
	struct elffile *debug = NULL;
	char *debug_path = NULL;
	struct debug_link link;
	struct error *err = NULL;

	if (by_id) {
		err = try_path(&search, by_id, NULL, &debug);
		if (debug)
			debug_path = by_id;
		else
			free(by_id);
	}
	if (!err && !debug && debug_link(file, &link))
		err = try_link(&search, path, &link, &debug, &debug_path);
	if (err)
		return err;
	*ret = debug;
	*ret_path = debug_path;
	return NULL;
}
