/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of variables; see fieldpath.h. The walk goes down from the variable's
 * type, one struct, union or array at a time, until the bytes are a whole
 * scalar or no single part has them.
 */
#include "image/fieldpath.h"

#include <dwarf.h>
#include <string.h>

#include "image/die.h"

enum { DEPTH_MAX = 64, LISTED_MAX = 4, DIMENSIONS_MAX = 8 };

/* Where the walk is: the bytes as an offset in the type. */
struct step {
	Dwarf_Die named; /* the type as it was declared */
	Dwarf_Die type; /* the same without typedefs and qualifiers */
	uint64_t offset;
	uint64_t size;
	const char *typedef_name; /* the last that led to type, or NULL */
};

/* A member as a range of bits. */
struct member {
	Dwarf_Die die;
	Dwarf_Die type;
	uint64_t start, end;
};

void field_path_deinit(struct field_path *path)
{
	strbuf_deinit(&path->path);
	strbuf_deinit(&path->type);
	strbuf_deinit(&path->container);
}

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/*
 * The types of atomic objects in the C++ and Rust libraries. DWARF has their
 * plain names only; that a program gives its own such a name is unlikely.
 */
static bool is_atomic_type(Dwarf_Die *type)
{
	static const char *const prefixes[] = {
		"atomic<",
		"__atomic_base<",
		"__atomic_float<",
		"__cxx_atomic_base_impl<",
		"__cxx_atomic_impl<",
		"atomic_flag",
		"__atomic_flag_base",
	};
	static const char *const rust[] = {
		"AtomicBool", "AtomicU8",    "AtomicU16",   "AtomicU32",
		"AtomicU64",  "AtomicUsize", "AtomicI8",    "AtomicI16",
		"AtomicI32",  "AtomicI64",   "AtomicIsize",
	};
	const char *name = dwarf_diename(type);

	if (!name)
		return false;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (starts_with(name, prefixes[i]))
			return true;
	}
	if (die_language(type) != DW_LANG_Rust)
		return false;
	for (size_t i = 0; i < sizeof(rust) / sizeof(rust[0]); i++) {
		if (strcmp(name, rust[i]) == 0)
			return true;
	}
	return starts_with(name, "AtomicPtr<");
}

static void step_into(struct step *step, const Dwarf_Die *type)
{
	step->named = *type;
	step->type = *type;
	step->typedef_name = NULL;
}

/* Go through typedefs and qualifiers, noting what they say. */
static bool peel(struct step *step, struct field_path *path)
{
	for (int i = 0; i < DEPTH_MAX; i++) {
		switch (dwarf_tag(&step->type)) {
		case DW_TAG_typedef:
			step->typedef_name = dwarf_diename(&step->type);
			break;
		case DW_TAG_volatile_type:
			path->is_volatile = true;
			break;
		case DW_TAG_atomic_type:
			path->is_atomic = true;
			break;
		case DW_TAG_const_type:
		case DW_TAG_restrict_type:
			break;
		default:
			return true;
		}
		if (!die_referred(&step->type, DW_AT_type, &step->type))
			return false;
	}
	return false;
}

static uint64_t type_size(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

/*
 * The offset in bits of a bit-field of which DWARF 2 and 3 tell the storage
 * unit and the distance from its most significant end.
 */
static uint64_t old_bit_start(Dwarf_Die *die, uint64_t bits, uint64_t storage)
{
	uint64_t from_top = die_number(die, DW_AT_bit_offset, 0);

	return storage * 8 >= from_top + bits ? storage * 8 - from_top - bits
					      : 0;
}

static bool is_data_member(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
		return false;
	/* static ones are declarations; a virtual base has no fixed place */
	return !dwarf_hasattr(die, DW_AT_declaration) &&
	       !dwarf_hasattr(die, DW_AT_external) &&
	       die_number(die, DW_AT_virtuality, 0) == DW_VIRTUALITY_none;
}

/* A class without data: its one byte is shared with what follows. */
static bool is_empty(Dwarf_Die *type, int depth)
{
	int tag = dwarf_tag(type);
	Dwarf_Die child;
	Dwarf_Die inner;

	if (tag == DW_TAG_typedef && depth < DEPTH_MAX &&
	    die_referred(type, DW_AT_type, &inner))
		return is_empty(&inner, depth + 1);
	if ((tag != DW_TAG_structure_type && tag != DW_TAG_class_type) ||
	    depth > DEPTH_MAX || type_size(type) > 1)
		return false;
	if (dwarf_child(type, &child) != 0)
		return true;
	do {
		if (is_data_member(&child) &&
		    die_referred(&child, DW_AT_type, &inner) &&
		    !is_empty(&inner, depth + 1))
			return false;
	} while (die_next(&child));
	return true;
}

/* False for what takes no place in the struct. */
static bool read_member(Dwarf_Die *die, struct member *ret)
{
	uint64_t byte = die_number(die, DW_AT_data_member_location, 0);
	uint64_t bits = die_number(die, DW_AT_bit_size, 0);
	uint64_t size;

	if (!is_data_member(die) || !die_referred(die, DW_AT_type, &ret->type))
		return false;
	if (is_empty(&ret->type, 0))
		return false;
	ret->die = *die;
	ret->start = byte * 8;
	size = die_number(die, DW_AT_byte_size, type_size(&ret->type));
	if (dwarf_hasattr(die, DW_AT_data_bit_offset))
		ret->start = die_number(die, DW_AT_data_bit_offset, 0);
	else if (dwarf_hasattr(die, DW_AT_bit_offset))
		ret->start += old_bit_start(die, bits, size);
	/* without a size it is the array that ends the struct */
	ret->end = size ? ret->start + (bits ? bits : size * 8) : UINT64_MAX;
	return true;
}

static void add_member_name(struct field_path *path, const char *name)
{
	if (!name)
		return;
	strbuf_add(&path->path, ".");
	strbuf_add(&path->path, name);
}

/* "{a,b,...}" of the members that overlap the bytes. */
static void list_members(const struct step *step, struct field_path *path)
{
	uint64_t start = step->offset * 8;
	uint64_t end = start + step->size * 8;
	Dwarf_Die type = step->type;
	struct member member;
	Dwarf_Die child;
	int listed = 0;

	if (dwarf_child(&type, &child) != 0)
		return;
	strbuf_add(&path->path, ".{");
	do {
		const char *name;

		if (!read_member(&child, &member) || member.end <= start ||
		    member.start >= end)
			continue;
		name = dwarf_diename(&child);
		if (listed < LISTED_MAX)
			strbuf_addf(&path->path, "%s%s", listed ? "," : "",
				    name ? name : "...");
		else if (listed == LISTED_MAX)
			strbuf_add(&path->path, ",...");
		listed++;
	} while (die_next(&child));
	strbuf_add(&path->path, "}");
}

/* Members that overlap the bytes: how many, and the first of them. */
static unsigned int overlapping(const struct step *step, struct member *ret)
{
	uint64_t start = step->offset * 8;
	uint64_t end = start + step->size * 8;
	bool is_union = false;
	unsigned int count = 0;
	struct member member;
	Dwarf_Die type = step->type;
	Dwarf_Die child;

	is_union = dwarf_tag(&type) == DW_TAG_union_type;
	if (dwarf_child(&type, &child) != 0)
		return 0;
	do {
		if (!read_member(&child, &member) || member.end <= start ||
		    member.start >= end)
			continue;
		/* of a union, the first member that has all of it */
		if (is_union && member.end < end)
			continue;
		if (count++ == 0)
			*ret = member;
		if (is_union)
			break;
	} while (die_next(&child));
	return count;
}

static void note_container(const struct step *step, struct field_path *path)
{
	Dwarf_Die type = step->type;

	strbuf_clear(&path->container);
	if (!dwarf_diename(&type) && step->typedef_name)
		strbuf_add(&path->container, step->typedef_name);
	else
		type_name_add(&type, &path->container);
}

/* Into the member that has the bytes; false to stop at this type. */
static bool enter_struct(struct step *step, struct field_path *path)
{
	struct member member;
	unsigned int count;

	if (is_atomic_type(&step->type))
		path->is_atomic = true;
	if (dwarf_diename(&step->type) || step->typedef_name)
		note_container(step, path);
	if (step->offset == 0 && step->size == type_size(&step->type) &&
	    overlapping(step, &member) > 1)
		return false;
	count = overlapping(step, &member);
	if (count == 0)
		return false;
	if (count > 1) {
		list_members(step, path);
		return false;
	}
	/* a base class and an anonymous member add nothing to the path */
	if (dwarf_tag(&member.die) == DW_TAG_member)
		add_member_name(path, dwarf_diename(&member.die));
	step_into(step, &member.type);
	step->offset = member.start / 8 <= step->offset
			       ? step->offset - member.start / 8
			       : 0;
	return true;
}

/* The lengths of an array's dimensions; 0: unknown. */
static size_t dimensions(Dwarf_Die *type, uint64_t *lengths)
{
	size_t count = 0;
	Dwarf_Die child;

	if (dwarf_child(type, &child) != 0)
		return 0;
	do {
		uint64_t length;

		if (dwarf_tag(&child) != DW_TAG_subrange_type &&
		    dwarf_tag(&child) != DW_TAG_enumeration_type)
			continue;
		length = die_number(&child, DW_AT_count, 0);
		if (length == 0 && dwarf_hasattr(&child, DW_AT_upper_bound))
			length = die_number(&child, DW_AT_upper_bound, -1) -
				 die_number(&child, DW_AT_lower_bound, 0) + 1;
		lengths[count++] = length;
	} while (count < DIMENSIONS_MAX && die_next(&child));
	return count;
}

/* Into the element that has the bytes; false to stop at this type. */
static bool enter_array(struct step *step, struct field_path *path)
{
	uint64_t lengths[DIMENSIONS_MAX];
	size_t count = dimensions(&step->type, lengths);
	uint64_t strides[DIMENSIONS_MAX + 1];
	uint64_t element;
	uint64_t last;
	Dwarf_Die type;

	if (count == 0 || !die_referred(&step->type, DW_AT_type, &type))
		return false;
	element = type_size(&type);
	if (element == 0)
		return false;
	strides[count] = element;
	for (size_t i = count; i-- > 0;) {
		if (__builtin_mul_overflow(strides[i + 1],
					   lengths[i] ? lengths[i] : 1,
					   &strides[i]))
			return false;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t index = step->offset / strides[i + 1];

		last = (step->offset + step->size - 1) / strides[i + 1];
		step->offset %= strides[i + 1];
		if (index != last) {
			strbuf_addf(&path->path, "[%llu..%llu]",
				    (unsigned long long)index,
				    (unsigned long long)last);
			return false;
		}
		strbuf_addf(&path->path, "[%llu]", (unsigned long long)index);
	}
	step_into(step, &type);
	return true;
}

/* Does the type's own name say volatile? A typedef's does not. */
static bool says_volatile(const Dwarf_Die *named)
{
	Dwarf_Die type = *named;

	for (int i = 0; i < DEPTH_MAX; i++) {
		switch (dwarf_tag(&type)) {
		case DW_TAG_volatile_type:
			return true;
		case DW_TAG_atomic_type:
		case DW_TAG_const_type:
		case DW_TAG_restrict_type:
			break;
		default:
			return false;
		}
		if (!die_referred(&type, DW_AT_type, &type))
			return false;
	}
	return false;
}

/*
 * The name, with "volatile" where a typedef or what contains the part says so.
 * Of a pointer it stands behind the star, as C has it.
 */
static void add_type_name(struct step *step, struct field_path *path)
{
	bool add = path->is_volatile && !says_volatile(&step->named);
	int tag = dwarf_tag(&step->type);
	bool behind = tag == DW_TAG_pointer_type ||
		      tag == DW_TAG_reference_type ||
		      tag == DW_TAG_rvalue_reference_type;

	if (add && !behind)
		strbuf_add(&path->type, "volatile ");
	type_name_add(&step->named, &path->type);
	if (add && behind)
		strbuf_add(&path->type, " volatile");
}

void field_path_find(Dwarf_Die *type, uint64_t offset, uint64_t size,
		     struct field_path *path)
{
	struct step step = { *type, *type, offset, size ? size : 1, NULL };
	bool more = true;

	for (int i = 0; more && i < DEPTH_MAX; i++) {
		if (!peel(&step, path))
			break;
		switch (dwarf_tag(&step.type)) {
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			more = enter_struct(&step, path);
			break;
		case DW_TAG_array_type:
			more = enter_array(&step, path);
			break;
		default:
			more = false;
			break;
		}
	}
	path->inner = step.offset;
	add_type_name(&step, path);
}
