/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Objects by the pointers that lead to them; see reach.h. Every number is
 * bounded: a program may have millions of objects, and types that are damaged
 * or refer to themselves.
 */
#include "image/reach.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "image/containers.h"
#include "image/die.h"
#include "image/fieldpath.h"
#include "image/plainname.h"
#include "image/pointers.h"

enum {
	OBJECT_MAX = 64 << 10, /* bytes of an object that are looked through */
	OBJECTS_MAX = 2000,
	POINTERS_MAX = 50000,
	ELEMENTS_MAX = 8192,
	LEVELS_MAX = 12, /* structs in structs */
	DEPTH_MAX = 3,
};

/* How much worse a name is than one for the variable's own bytes. */
enum {
	RANK_DEPTH = 5, /* for each pointer on the way */
	RANK_SCALAR = 8, /* "*p" says little */
	RANK_GUARD = 20, /* what a std::lock_guard or the like refers to */
	RANK_NO_BASE = 2, /* not the address the instruction starts from */
};

/* An object whose bytes have been read, and the way to a part of it. */
struct looking {
	struct reach *reach;
	const struct reach_object *object;
	const uint8_t *bytes;
	uint64_t size;
	struct strbuf path; /* to the part, without the object's name */
};

void reach_init(struct reach *reach, const struct pointer_query *query)
{
	memset(reach, 0, sizeof(*reach));
	reach->query = query;
	reach->view.memory = query->memory;
	reach->objects = (struct vec)VEC_INIT(struct reach_object);
}

void reach_deinit(struct reach *reach)
{
	for (size_t i = 0; i < reach->objects.count; i++) {
		struct reach_object *object = vec_at(&reach->objects, i);

		free(object->name);
	}
	vec_deinit(&reach->objects);
	map_deinit(&reach->seen);
	free(reach->found.name);
}

static uint64_t size_of(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

static bool is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

static bool is_compound(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_array_type;
}

/* Is this better than what was found before? Takes over the name. */
static void offer(struct reach *reach, char *name, unsigned int rank,
		  Dwarf_Die *type, uint64_t offset)
{
	struct reach_found *found = &reach->found;

	if (!name) {
		reach->failed = true;
		return;
	}
	plain_name(name);
	if (found->name &&
	    (rank > found->rank ||
	     (rank == found->rank && strcmp(name, found->name) >= 0))) {
		free(name);
		return;
	}
	free(found->name);
	found->name = name;
	found->rank = rank;
	found->type = *type;
	found->offset = offset;
	found->is_variable = false;
}

/* The part of the object of that name that the bytes are. */
static char *part_name(struct reach *reach, const char *name, bool arrow,
		       Dwarf_Die *type, uint64_t offset)
{
	struct field_path path = { 0 };
	struct strbuf text = { 0 };
	const char *rest;

	field_path_find(type, offset, reach->query->size, &path);
	rest = strbuf_text(&path.path);
	if (!arrow)
		strbuf_addf(&text, "%s%s", name, rest);
	else if (rest[0] == '.')
		strbuf_addf(&text, "%s->%s", name, rest + 1);
	else if (rest[0])
		strbuf_addf(&text, "(*%s)%s", name, rest);
	else
		strbuf_addf(&text, "*%s", name);
	field_path_deinit(&path);
	return strbuf_steal(&text);
}

/* Are the bytes of the query in [start, start + size)? */
static bool holds(const struct reach *reach, uint64_t start, uint64_t size)
{
	uint64_t offset = reach->query->address - start;

	return offset < size && reach->query->size <= size - offset;
}

static bool enqueue(struct reach *reach, const struct reach_object *object)
{
	uint64_t *before;

	if (object->depth > DEPTH_MAX || reach->objects.count >= OBJECTS_MAX)
		return false;
	if (object->place.in_memory) {
		before = map_get(&reach->seen, object->place.address);
		if (before && *before == (uintptr_t)object->type.addr)
			return false;
		if (!map_set(&reach->seen, object->place.address,
			     (uintptr_t)object->type.addr))
			reach->failed = true;
	}
	if (!vec_push(&reach->objects, object)) {
		reach->failed = true;
		return false;
	}
	return true;
}

/* A pointer that was come across: what it points to, and how it is written. */
struct pointer {
	uint64_t value;
	Dwarf_Die target; /* plain */
	uint64_t size; /* of target */
	bool reference;
	bool links; /* to what begins a node */
};

/* How the pointer is written; NULL: no memory. */
static char *pointer_name(const struct looking *looking)
{
	const char *path = strbuf_text(&looking->path);
	const struct reach_object *object = looking->object;
	struct strbuf text = { 0 };

	if (!object->arrow)
		strbuf_addf(&text, "%s%s", object->name, path);
	else if (path[0] == '.')
		strbuf_addf(&text, "%s->%s", object->name, path + 1);
	else
		strbuf_addf(&text, "(*%s)%s", object->name, path);
	return strbuf_steal(&text);
}

/*
 * The number of elements if it is the begin of a sequence with its end beside
 * it, as in std::vector: three pointers, to the begin, the end, and the end of
 * what there is room for.
 */
static uint64_t sequence_length(const struct looking *looking, uint64_t offset,
				const struct pointer *pointer)
{
	const char *path = strbuf_text(&looking->path);
	static const char *const begins[] = { "._M_start", ".__begin_" };
	uint64_t end;

	if (offset + 24 > looking->size)
		return 0;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		size_t length = strlen(begins[i]);

		if (strlen(path) < length ||
		    strcmp(path + strlen(path) - length, begins[i]) != 0)
			continue;
		memcpy(&end, looking->bytes + offset + 16, sizeof(end));
		if (end > pointer->value)
			return (end - pointer->value) / pointer->size;
	}
	return 0;
}

/* Which of the elements that lie at the pointer holds the bytes, if any. */
static bool element(const struct looking *looking, uint64_t offset,
		    const struct pointer *pointer, uint64_t *ret)
{
	const struct pointer_query *query = looking->reach->query;
	uint64_t length = sequence_length(looking, offset, pointer);
	uint64_t distance = query->address - pointer->value;

	/* from a plain pointer only if the instruction counts from it, too */
	if (length == 0 && !pointer->reference && query->base != 0 &&
	    pointer->value == query->base && !pointer->links)
		length = UINT64_C(1) << 24;
	*ret = distance / pointer->size;
	return query->address >= pointer->value && *ret < length &&
	       distance % pointer->size + query->size <= pointer->size;
}

static void offer_element(const struct looking *looking,
			  const struct pointer *pointer, uint64_t index,
			  unsigned int rank)
{
	char *name = pointer_name(looking);
	struct strbuf text = { 0 };
	Dwarf_Die type = pointer->target;
	uint64_t offset = looking->reach->query->address - pointer->value -
			  index * pointer->size;
	char *whole;

	strbuf_addf(&text, "%s[%llu]", name ? name : "",
		    (unsigned long long)index);
	free(name);
	whole = strbuf_steal(&text);
	offer(looking->reach,
	      whole ? part_name(looking->reach, whole, false, &type, offset)
		    : NULL,
	      rank, &type, offset);
	free(whole);
}

static void offer_target(const struct looking *looking,
			 const struct pointer *pointer, unsigned int rank)
{
	struct reach *reach = looking->reach;
	uint64_t offset = reach->query->address - pointer->value;
	char *name = pointer_name(looking);
	Dwarf_Die type = pointer->target;

	offer(reach,
	      name ? part_name(reach, name, !pointer->reference, &type, offset)
		   : NULL,
	      rank, &type, offset);
	free(name);
}

/* Queue it for the search. */
static void follow(const struct looking *looking, const struct pointer *pointer)
{
	struct reach_object object = {
		.arrow = !pointer->reference,
		.type = pointer->target,
		.place = { .in_memory = true, .address = pointer->value },
		.rank = looking->object->rank + RANK_DEPTH,
		.depth = looking->object->depth + 1,
	};

	object.name = pointer_name(looking);
	if (!object.name)
		looking->reach->failed = true;
	else if (enqueue(looking->reach, &object))
		return;
	free(object.name);
}

/* The part of the object that begins at offset is a pointer. */
static void look_at_pointer(const struct looking *looking, Dwarf_Die *type,
			    uint64_t offset)
{
	struct reach *reach = looking->reach;
	struct pointer pointer = { 0 };
	unsigned int rank = looking->object->rank;
	uint64_t index;
	int tag;

	if (++reach->pointers > POINTERS_MAX ||
	    looking->size - offset < sizeof(pointer.value))
		return;
	memcpy(&pointer.value, looking->bytes + offset, sizeof(pointer.value));
	pointer.reference = dwarf_tag(type) != DW_TAG_pointer_type;
	/* nothing lives in the first page */
	if (pointer.value < 4096 ||
	    !die_referred(type, DW_AT_type, &pointer.target) ||
	    !die_plain(&pointer.target))
		return;
	tag = dwarf_tag(&pointer.target);
	pointer.size = size_of(&pointer.target);
	if (tag == DW_TAG_subroutine_type || pointer.size == 0)
		return;
	pointer.links = container_is_links(&pointer.target);
	if (pointer.value != reach->query->base)
		rank += RANK_NO_BASE;
	if (strstr(strbuf_text(&looking->path), "._M_device"))
		rank += RANK_GUARD;
	if (element(looking, offset, &pointer, &index) &&
	    (index > 0 || sequence_length(looking, offset, &pointer)))
		offer_element(looking, &pointer, index, rank + 1);
	else if (holds(reach, pointer.value, pointer.size))
		offer_target(looking, &pointer,
			     is_compound(tag) ? rank : rank + RANK_SCALAR);
	else if (is_compound(tag) || is_pointer(tag))
		follow(looking, &pointer);
}

/* "reg.items", where the path goes on to a part of it; takes the path back to it. */
static char *container_name(struct looking *looking, const char *member)
{
	size_t length = strlen(strbuf_text(&looking->path));
	struct strbuf text = { 0 };

	if (length < strlen(member))
		return NULL;
	strbuf_truncate(&looking->path, length - strlen(member));
	if (!looking->object->arrow || strbuf_text(&looking->path)[0])
		return pointer_name(looking);
	strbuf_addf(&text, "(*%s)", looking->object->name);
	return strbuf_steal(&text);
}

/* The part is of a container: the bytes may be of an element. */
static void look_at_container(const struct looking *looking, Dwarf_Die *type,
			      uint64_t offset, const char *member)
{
	struct looking whole = *looking;
	struct reach *reach = looking->reach;
	struct container container = {
		.type = *type,
		.address = looking->object->place.address + offset,
		.memory = reach->view.memory,
	};
	unsigned int steps = POINTERS_MAX - reach->pointers, left = steps;
	struct element_found element;
	struct strbuf text = { 0 };
	uint64_t at;
	char *name;

	if (!looking->object->place.in_memory ||
	    !container_find(&container, reach->query->address,
			    reach->query->size, &left, &element)) {
		reach->pointers += steps - left;
		return;
	}
	at = reach->query->address - element.start;
	whole.path = (struct strbuf){ 0 };
	strbuf_add(&whole.path, strbuf_text(&looking->path));
	name = container_name(&whole, member);
	strbuf_deinit(&whole.path);
	strbuf_addf(&text, "%s[%s]", name ? name : "", element.key);
	free(name);
	name = strbuf_steal(&text);
	if (name)
		offer(reach, part_name(reach, name, false, &element.type, at),
		      looking->object->rank + 1, &element.type, at);
	else
		reach->failed = true;
	free(name);
}

static void look_at(struct looking *looking, const Dwarf_Die *type,
		    uint64_t offset, int level);

static void look_at_members(struct looking *looking, Dwarf_Die *type,
			    uint64_t offset, int level)
{
	size_t length = strlen(strbuf_text(&looking->path));
	Dwarf_Die child, inner;

	if (dwarf_child(type, &child) != 0)
		return;
	do {
		const char *name = dwarf_diename(&child);
		int tag = dwarf_tag(&child);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&child, DW_AT_declaration) ||
		    dwarf_hasattr(&child, DW_AT_bit_size) ||
		    !die_referred(&child, DW_AT_type, &inner))
			continue;
		if (name && tag == DW_TAG_member)
			strbuf_addf(&looking->path, ".%s", name);
		look_at(looking, &inner,
			offset + die_number(&child, DW_AT_data_member_location,
					    0),
			level + 1);
		strbuf_truncate(&looking->path, length);
	} while (die_next(&child));
}

static void look_at_elements(struct looking *looking, Dwarf_Die *type,
			     uint64_t offset, int level)
{
	size_t length = strlen(strbuf_text(&looking->path));
	uint64_t whole = size_of(type);
	Dwarf_Die inner, plain;
	uint64_t size;

	if (!die_referred(type, DW_AT_type, &inner))
		return;
	plain = inner;
	if (!die_plain(&plain) ||
	    (!is_pointer(dwarf_tag(&plain)) && !is_compound(dwarf_tag(&plain))))
		return;
	size = size_of(&plain);
	for (uint64_t i = 0; size && i < ELEMENTS_MAX && i < whole / size;
	     i++) {
		if (offset + i * size >= looking->size)
			break;
		strbuf_addf(&looking->path, "[%llu]", (unsigned long long)i);
		look_at(looking, &inner, offset + i * size, level + 1);
		strbuf_truncate(&looking->path, length);
	}
}

/* Look for pointers in the part of the object at offset. */
static void look_at(struct looking *looking, const Dwarf_Die *type,
		    uint64_t offset, int level)
{
	Dwarf_Die plain = *type;
	const char *member;
	int tag;

	if (level > LEVELS_MAX || offset >= looking->size ||
	    looking->reach->pointers > POINTERS_MAX || !die_plain(&plain))
		return;
	tag = dwarf_tag(&plain);
	member = is_compound(tag) ? container_member(&plain) : NULL;
	if (member)
		look_at_container(looking, &plain, offset, member);
	if (is_pointer(tag))
		look_at_pointer(looking, &plain, offset);
	else if (tag == DW_TAG_array_type)
		look_at_elements(looking, &plain, offset, level);
	else if (is_compound(tag))
		look_at_members(looking, &plain, offset, level);
}

static void look_through(struct reach *reach, size_t index)
{
	/* a copy: the queue may move */
	struct reach_object object =
		*(struct reach_object *)vec_at(&reach->objects, index);
	uint64_t size = size_of(&object.type);
	struct looking looking = { .reach = reach, .object = &object };
	uint8_t *bytes;

	if (size == 0 || (!object.place.in_memory && size > LOCATION_BYTES_MAX))
		return;
	if (size > OBJECT_MAX)
		size = OBJECT_MAX;
	bytes = malloc(size);
	if (!bytes) {
		reach->failed = true;
		return;
	}
	if (object.place.in_memory) {
		if (location_read(&reach->view, &object.place, 0, bytes, size))
			looking.size = size;
	} else {
		/* unknown ones are zero, which points to nothing */
		memcpy(bytes, object.place.bytes, size);
		looking.size = size;
	}
	looking.bytes = bytes;
	if (looking.size > 0)
		look_at(&looking, &object.type, 0, 0);
	reach->failed |= looking.path.failed;
	strbuf_deinit(&looking.path);
	free(bytes);
}

/* The bytes are those of the variable, or some of them. */
static void offer_variable(struct reach *reach, Dwarf_Die *variable,
			   const struct reach_object *object)
{
	uint64_t offset = reach->query->address - object->place.address;
	const char *before = reach->found.name;
	Dwarf_Die type = object->type;

	offer(reach, part_name(reach, object->name, false, &type, offset), 0,
	      &type, offset);
	if (reach->found.name != before) {
		reach->found.is_variable = true;
		reach->found.variable = *variable;
	}
}

void reach_add_variable(struct reach *reach, Dwarf_Die *variable, char *name,
			const struct location *place, unsigned int rank)
{
	struct reach_object object = { .name = name,
				       .place = *place,
				       .rank = rank };

	if (!name) {
		reach->failed = true;
		return;
	}
	if (die_referred(variable, DW_AT_type, &object.type) &&
	    die_plain(&object.type)) {
		if (place->in_memory &&
		    holds(reach, place->address, size_of(&object.type)))
			offer_variable(reach, variable, &object);
		else if (!reach->own_only && enqueue(reach, &object))
			return;
	}
	free(name);
}

void reach_search(struct reach *reach)
{
	for (size_t i = 0; i < reach->objects.count && !reach->failed; i++) {
		const struct reach_object *object = vec_at(&reach->objects, i);

		/* what is found in it would be no better */
		if (reach->found.name && object->rank >= reach->found.rank)
			continue;
		look_through(reach, i);
	}
}
