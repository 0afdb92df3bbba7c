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
 * The parts of a lock of the C or C++ library, which do not tell whose it is. A
 * name ends in some of them: "b->mu.__data", "this->mu._M_mutex". "mu->__data" is
 * *mu, and "hold._M_device" what a std::lock_guard has locked.
 */
static const char *const insides[] = {
	"__data", "__size", "_M_mutex", "_M_impl", "_M_rwlock", "_M_device",
};

/* Where the part begins that the name of that length ends in; 0: it does not. */
static size_t inside_at(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(insides) / sizeof(insides[0]); i++) {
		size_t size = strlen(insides[i]);

		if (size + 1 >= length ||
		    memcmp(name + length - size, insides[i], size) != 0)
			continue;
		if (name[length - size - 1] == '.')
			return length - size - 1;
		if (size + 2 < length &&
		    memcmp(name + length - size - 2, "->", 2) == 0)
			return length - size - 2;
	}
	return 0;
}

/* "[0..39]", the bytes of the last part */
static size_t without_range(const char *name)
{
	size_t length = strlen(name);
	const char *bracket = strrchr(name, '[');

	return bracket && length > 0 && name[length - 1] == ']' &&
			       strstr(bracket, "..")
		       ? (size_t)(bracket - name)
		       : length;
}

static char *without_inside(const char *name)
{
	size_t end = without_range(name);
	struct strbuf text = { 0 };
	bool pointer = false;
	size_t at;

	while ((at = inside_at(name, end)) > 0) {
		pointer |= name[at] == '-' ||
			   strncmp(name + at, "._M_device", end - at) == 0;
		end = at;
	}
	if (pointer)
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
