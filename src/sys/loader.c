/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading struct r_debug; see loader.h. The program headers are where AT_PHDR
 * says, and those of the executable are as far from their addresses in the file as
 * PT_PHDR is.
 */
#include "sys/loader.h"

#include <link.h>
#include <stddef.h>

#include "base/error.h"
#include "sys/memory.h"
#include "sys/remote.h"

enum { LOADER_HEADERS = 64, LOADER_DYNAMIC = 256 };

/* All of it, or an error. */
static struct error *loader_read(const struct memory *memory, uint64_t address,
				 void *ret, size_t size)
{
	size_t got = 0;
	struct error *err = memory_read(memory, address, ret, size, &got);

	if (!err && got < size)
		err = error_create(ERROR_UNSUPPORTED,
				   "%zu bytes at 0x%llx cannot be read", size,
				   (unsigned long long)address);
	return err;
}

/* The dynamic section; 0: there is none. */
static struct error *loader_dynamic(const struct memory *memory, uint64_t *ret)
{
	ElfW(Phdr) headers[LOADER_HEADERS];
	uint64_t address = 0, count = 0, bias = 0;
	struct error *err = remote_headers(memory->pid, &address, &count);

	*ret = 0;
	if (!err && count > LOADER_HEADERS)
		count = LOADER_HEADERS;
	if (!err)
		err = loader_read(memory, address, headers,
				  count * sizeof(headers[0]));
	for (uint64_t i = 0; !err && i < count; i++) {
		if (headers[i].p_type == PT_PHDR)
			bias = address - headers[i].p_vaddr;
	}
	for (uint64_t i = 0; !err && i < count; i++) {
		if (headers[i].p_type == PT_DYNAMIC)
			*ret = bias + headers[i].p_vaddr;
	}
	return err;
}

static struct error *loader_of_section(const struct memory *memory,
				       uint64_t dynamic, uint64_t *ret)
{
	struct error *err = NULL;

	for (uint64_t i = 0; !err && i < LOADER_DYNAMIC; i++) {
		ElfW(Dyn) entry;

		err = loader_read(memory, dynamic + i * sizeof(entry), &entry,
				  sizeof(entry));
		if (err || entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_DEBUG)
			*ret = entry.d_un.d_ptr;
	}
	return err;
}

struct error *loader_find(const struct memory *memory, struct loader_debug *ret)
{
	struct r_debug debug;
	uint64_t dynamic, address = 0;
	struct error *err = loader_dynamic(memory, &dynamic);

	if (!err && dynamic != 0)
		err = loader_of_section(memory, dynamic, &address);
	if (!err && address != 0)
		err = loader_read(memory, address, &debug, sizeof(debug));
	if (err)
		return err;
	if (address == 0 || debug.r_brk == 0)
		return error_create(ERROR_UNSUPPORTED,
				    "process %d has no dynamic loader",
				    (int)memory->pid);
	*ret = (struct loader_debug){ address, debug.r_brk };
	return NULL;
}

enum loader_state loader_state(const struct memory *memory,
			       const struct loader_debug *debug)
{
	struct r_debug now;
	struct error *err =
		loader_read(memory, debug->address, &now, sizeof(now));

	if (err) {
		error_free(err);
		return LOADER_AT_REST;
	}
	switch (now.r_state) {
	case RT_ADD:
		return LOADER_MAPS;
	case RT_DELETE:
		return LOADER_UNMAPS;
	case RT_CONSISTENT:
		break;
	}
	return LOADER_AT_REST;
}
