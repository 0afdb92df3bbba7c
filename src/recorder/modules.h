/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files that are mapped as code, and the functions in them that are
 * watched.
 */
#ifndef RECORDER_MODULES_H
#define RECORDER_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/names.h"
#include "recorder/table.h"

/* How much of a module is the program's own code. */
enum module_kind {
	MODULE_OWN = 0,
	MODULE_STRINGS, /* a C library: its WATCH_STRING functions only */
	MODULE_RUNTIME, /* loader, threading runtime: nothing */
};

enum { MODULES_MAX = 2048, MODULE_RULES_MAX = 64 };

struct module {
	uint64_t bias, low, high; /* addresses, as trace_module's */
	uint8_t kind; /* enum module_kind */
	bool unloaded, written;
	uint8_t build_id_size;
	uint8_t build_id[32];
	uint64_t sequence;
	char *path;
};

struct module_rule {
	const char *pattern; /* of the file's name, names_match() */
	uint8_t kind;
};

/* A watched function. Ids are from 1; written to no trace. */
struct function {
	uint64_t entry;
	uint64_t end; /* 0: not known */
	uint8_t kind; /* enum watched */
	bool resolver; /* it returns the entry of a function of that kind */
	char name[16]; /* cut off */
};

struct modules {
	struct module *all; /* ids are from 1 */
	uint32_t count;
	struct module_rule rules[MODULE_RULES_MAX];
	uint32_t rules_count;
	struct records functions;
	struct table by_entry;
	uint32_t last; /* the module that was found last */
};

/* Of zeroed memory, with or without rules. */
void modules_init(struct modules *modules);
void modules_deinit(struct modules *modules);

/*
 * Files whose name is as the pattern are of that kind; the first such rule
 * counts. pattern is kept. False: there are MODULE_RULES_MAX.
 */
bool modules_add_rule(struct modules *modules, const char *pattern,
		      enum module_kind kind);

/* Code of the file at path is mapped at address, from `offset' of it. */
void modules_map(struct modules *modules, const char *path, uint64_t address,
		 uint64_t offset, uint64_t sequence);
/*
 * [address, address + size) is no longer mapped: the id of the module whose
 * code was there, or 0.
 */
uint32_t modules_unmap(struct modules *modules, uint64_t address,
		       uint64_t size);

/* The id of the module that has the address, loaded ones first; or 0. */
uint32_t modules_find(struct modules *modules, uint64_t address);

static inline struct module *module_at(const struct modules *modules,
				       uint32_t id)
{
	return &modules->all[id - 1];
}

/* The id of a watched function that begins at the address; or 0. */
uint32_t modules_entry(const struct modules *modules, uint64_t address);

static inline struct function *function_at(const struct modules *modules,
					   uint32_t id)
{
	return records_at(&modules->functions, id);
}

/* A resolver returned this entry. */
void modules_resolved(struct modules *modules, uint32_t resolver,
		      uint64_t entry);

/*
 * Whether accesses of the instruction at the address are recorded; *function: the
 * WATCH_STRING function that it is in, or 0.
 */
bool modules_recorded(struct modules *modules, uint64_t address,
		      uint32_t *function);

#endif
