/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls that create a thread, or hand work to one: pthread_create(),
 * std::thread, GOMP_parallel() and the like, by name, and functions of the same
 * module that call them directly or through a few others. Found by reading the
 * files. Calls through pointers and functions of other modules are not
 * followed.
 */
#ifndef SAMPLING_CREATORS_H
#define SAMPLING_CREATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct insn_access;
struct module;

struct creators {
	struct vec modules; /* of struct creators_module */
};

void creators_init(struct creators *creators);
void creators_deinit(struct creators *creators);

/* Does the function of that name (mangled; may be NULL) create threads? */
bool creators_name(const char *name);

/*
 * How many calls it takes from the call at a file address of the module to the
 * creation of a thread: 1 if it creates one itself; 0 if it does not, as far as
 * it was looked, or when out of memory.
 */
unsigned int creators_call(struct creators *creators,
			   const struct module *module, uint64_t address,
			   const struct insn_access *insn);

#endif
