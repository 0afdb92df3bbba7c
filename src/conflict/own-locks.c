/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for the locks that a thread holds; see own-locks.h.
 */
#include "conflict/own-locks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "conflict/conflict-variable.h"
#include "conflict/conflict.h"
#include "image/variables.h"
#include "report/race.h"

/* sizeof(pthread_mutex_t) and sizeof(pthread_rwlock_t) */
enum { MUTEX_SIZE = 40, RWLOCK_SIZE = 56 };

/*
 * What is inside of a lock of the C or C++ library does not tell whose it is. Of
 * "b->mu.__data" that is before it; "mu->__data" is *mu.
 */
static char *without_inside(const char *name)
{
	static const char *const insides[] = {
		"._M_mutex", "._M_impl", "._M_rwlock", ".std::",
		".__data",   ".__size",	 "->__data",   "->__size",
	};
	size_t end = strlen(name);
	struct strbuf text = { 0 };

	for (size_t i = 0; i < sizeof(insides) / sizeof(insides[0]); i++) {
		const char *inside = strstr(name, insides[i]);

		if (inside && (size_t)(inside - name) < end)
			end = (size_t)(inside - name);
	}
	if (name[end] == '-')
		strbuf_add(&text, "*");
	strbuf_add_bytes(&text, name, end);
	return strbuf_steal(&text);
}

/* One without a symbol: "libserver.so+0x40c8" */
static char *module_name(const struct data_name *name)
{
	const char *slash = strrchr(name->module, '/');
	struct strbuf text = { 0 };

	strbuf_addf(&text, "%s+0x%" PRIx64, slash ? slash + 1 : name->module,
		    name->module_offset);
	return strbuf_steal(&text);
}

static struct error *describe_lock(const struct conflict *conflict, int i,
				   const struct wire_lock *wire,
				   struct recorded_lock *lock)
{
	bool is_rwlock = wire->kind == WIRE_LOCK_RWLOCK;
	struct data_name name = { 0 };
	struct error *err = conflict_name_object(
		conflict, i, wire->address,
		is_rwlock ? RWLOCK_SIZE : MUTEX_SIZE, &name);

	lock->address = wire->address;
	lock->kind = is_rwlock ? RECORDED_RWLOCK : RECORDED_MUTEX;
	if (name.name)
		lock->name = without_inside(name.name);
	else if (name.region == DATA_GLOBAL && name.module)
		lock->name = module_name(&name);
	if (!err && !lock->name && name.name)
		err = error_nomem;
	data_name_deinit(&name);
	return err;
}

struct error *own_locks_describe(const struct conflict *conflict, int i,
				 struct race_side *side)
{
	const struct wire_locks *wire = &conflict->wire.sides[i].locks;
	struct error *err = NULL;

	side->locks_known = wire->looked;
	for (uint32_t n = 0; !err && wire->looked && n < wire->count; n++) {
		struct recorded_lock *lock = vec_append(&side->locks);

		if (!lock)
			return error_nomem;
		*lock = (struct recorded_lock){
			.taken = VEC_INIT(struct race_frame),
		};
		err = describe_lock(conflict, i, &wire->locks[n], lock);
	}
	return err;
}
