/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Elements of C++ containers; see containers.h. The layouts are those of libstdc++
 * since GCC 5: bits/stl_tree.h, hashtable.h, stl_list.h, forward_list.h and
 * stl_deque.h, none of which can change without breaking programs.
 */
#include "image/containers.h"

#include <ctype.h>
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "image/die.h"
#include "image/pointers.h"

enum {
	WORD = 8,
	VALUE_MAX = 4096, /* bytes of an element */
	CLIMB_MAX = 128, /* nodes above another one in a tree */
	NODES_MAX = 4096, /* of a list that are looked through */
	BUFFER = 512, /* bytes of a buffer of std::deque */
	KEY_MAX = 32, /* characters of a key */
	STRING_SIZE = 32, /* of std::string */
	DEPTH_MAX = 32, /* members of members */
};

/* What to find, and with what. */
struct finding {
	const struct container *container;
	uint64_t address, size; /* the bytes */
	uint64_t value; /* the size of an element */
	unsigned int *steps;
};

struct node_base {
	uint64_t color, parent, left, right;
};

struct deque_place {
	uint64_t current, first, last, node;
};

struct deque {
	uint64_t map, map_size;
	struct deque_place start, finish;
};

static bool read_bytes(const struct finding *finding, uint64_t address,
		       void *bytes, size_t size)
{
	const struct frame_memory *memory = finding->container->memory;

	if (*finding->steps == 0)
		return false;
	--*finding->steps;
	return memory->read(memory->context, address, bytes, size);
}

static bool read_word(const struct finding *finding, uint64_t address,
		      uint64_t *ret)
{
	return read_bytes(finding, address, ret, sizeof(*ret));
}

/* Are the bytes in the element that begins there? */
static bool has_bytes(const struct finding *finding, uint64_t start)
{
	uint64_t offset = finding->address - start;

	return offset < finding->value &&
	       finding->size <= finding->value - offset;
}

/* Where the library puts the first node, or the header of all: at its end. */
static uint64_t tree_header(const struct finding *finding)
{
	Dwarf_Die type = finding->container->type;
	Dwarf_Word size;

	if (dwarf_aggregate_size(&type, &size) != 0 ||
	    size < sizeof(struct node_base) + WORD)
		return 0;
	/* the header, and the number of nodes */
	return finding->container->address + size - WORD -
	       sizeof(struct node_base);
}

/* Do the pointers to parents lead from the node to the header? */
static bool tree_has(const struct finding *finding, uint64_t header,
		     uint64_t node)
{
	struct node_base base, parent;

	if (!read_bytes(finding, node, &base, sizeof(base)))
		return false;
	for (int i = 0; i < CLIMB_MAX; i++) {
		if (base.parent < VALUE_MAX ||
		    !read_bytes(finding, base.parent, &parent, sizeof(parent)))
			return false;
		if (base.parent == header)
			return parent.parent == node;
		if (parent.left != node && parent.right != node)
			return false;
		node = base.parent;
		base = parent;
	}
	return false;
}

static bool tree_find(const struct finding *finding, uint64_t *ret)
{
	uint64_t header = tree_header(finding);
	uint64_t last = finding->address & ~(uint64_t)(WORD - 1);

	for (uint64_t skip = 0; header && skip < finding->value; skip += WORD) {
		uint64_t start = last - skip;

		if (!has_bytes(finding, start) ||
		    !tree_has(finding, header,
			      start - sizeof(struct node_base)))
			continue;
		*ret = start;
		return true;
	}
	return false;
}

/* Nodes that have a pointer to the next; the element is behind `links' bytes. */
static bool nodes_find(const struct finding *finding, uint64_t first,
		       uint64_t end, uint64_t links, uint64_t *ret)
{
	uint64_t node = first;

	for (int i = 0; i < NODES_MAX && node != end && node >= VALUE_MAX;
	     i++) {
		if (has_bytes(finding, node + links)) {
			*ret = node + links;
			return true;
		}
		if (!read_word(finding, node, &node))
			return false;
	}
	return false;
}

/* The offset of a member; false: there is none. */
static bool member_offset(Dwarf_Die *type, const char *name, uint64_t *ret)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child) != 0)
		return false;
	do {
		const char *own = dwarf_diename(&child);

		if (dwarf_tag(&child) != DW_TAG_member || !own ||
		    strcmp(own, name) != 0)
			continue;
		*ret = die_number(&child, DW_AT_data_member_location, 0);
		return true;
	} while (die_next(&child));
	return false;
}

static bool hash_find(const struct finding *finding, uint64_t *ret)
{
	Dwarf_Die type = finding->container->type;
	uint64_t offset, first;

	return member_offset(&type, "_M_before_begin", &offset) &&
	       read_word(finding, finding->container->address + offset,
			 &first) &&
	       nodes_find(finding, first, 0, WORD, ret);
}

/* (where there are two links, the list ends where it began) */
static bool list_find(const struct finding *finding, uint64_t *ret)
{
	uint64_t head = finding->container->address, first;

	return read_word(finding, head, &first) &&
	       nodes_find(finding, first, head, (uint64_t)2 * WORD, ret);
}

static bool forward_list_find(const struct finding *finding, uint64_t *ret)
{
	uint64_t first;

	return read_word(finding, finding->container->address, &first) &&
	       nodes_find(finding, first, 0, WORD, ret);
}

/* In the buffer of that number? Its elements may be there only in part. */
static bool buffer_find(const struct finding *finding,
			const struct deque *deque, uint64_t number,
			uint64_t *ret)
{
	uint64_t node = deque->start.node + number * WORD;
	uint64_t count = finding->value < BUFFER ? BUFFER / finding->value : 1;
	uint64_t buffer, first, end;

	if (!read_word(finding, node, &buffer))
		return false;
	first = number == 0 ? deque->start.current : buffer;
	end = node == deque->finish.node ? deque->finish.current
					 : buffer + count * finding->value;
	if (finding->address < first || finding->address >= end)
		return false;
	*ret = buffer +
	       (finding->address - buffer) / finding->value * finding->value;
	return has_bytes(finding, *ret);
}

/* ret_index: of the element, in the deque */
static bool deque_find(const struct finding *finding, uint64_t *ret,
		       uint64_t *ret_index)
{
	uint64_t count = finding->value < BUFFER ? BUFFER / finding->value : 1;
	struct deque deque;
	uint64_t nodes;

	if (!read_bytes(finding, finding->container->address, &deque,
			sizeof(deque)) ||
	    deque.finish.node < deque.start.node)
		return false;
	nodes = (deque.finish.node - deque.start.node) / WORD + 1;
	for (uint64_t i = 0; i < nodes && i < NODES_MAX; i++) {
		uint64_t buffer;

		if (!buffer_find(finding, &deque, i, ret))
			continue;
		if (!read_word(finding, deque.start.node + i * WORD, &buffer))
			return false;
		*ret_index = i * count + (*ret - buffer) / finding->value -
			     (deque.start.current - deque.start.first) /
				     finding->value;
		return true;
	}
	return false;
}

/*
 * Does the type need no more alignment than a word? Only then the element is right
 * behind its links. The debug information has what a program asks for, and not what
 * long double, __int128 or vectors need.
 */
static bool has_word_alignment(Dwarf_Die type, int depth)
{
	Dwarf_Die child, inner;
	Dwarf_Word size;

	if (depth > DEPTH_MAX || dwarf_hasattr(&type, DW_AT_alignment))
		return false;
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
		return dwarf_aggregate_size(&type, &size) == 0 && size <= WORD;
	case DW_TAG_array_type:
		if (dwarf_hasattr(&type, DW_AT_GNU_vector))
			return false;
		return die_referred(&type, DW_AT_type, &inner) &&
		       has_word_alignment(inner, depth + 1);
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
		return die_referred(&type, DW_AT_type, &inner) &&
		       has_word_alignment(inner, depth + 1);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		break;
	default:
		return false;
	}
	if (!die_complete(&type))
		return false;
	if (dwarf_child(&type, &child) != 0)
		return true;
	do {
		int tag = dwarf_tag(&child);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_hasattr(&child, DW_AT_declaration) ||
		    dwarf_hasattr(&child, DW_AT_external))
			continue;
		if (dwarf_hasattr(&child, DW_AT_alignment) ||
		    !die_referred(&child, DW_AT_type, &inner) ||
		    !has_word_alignment(inner, depth + 1))
			return false;
	} while (die_next(&child));
	return true;
}

enum kind { TREE, HASH, LIST, FORWARD_LIST, DEQUE, KINDS };

static const struct {
	const char *type, *parameter, *member;
} kinds[] = {
	[TREE] = { "_Rb_tree<", "_Val", "._M_t" },
	[HASH] = { "_Hashtable<", "_Value", "._M_h" },
	[LIST] = { "_List_base<", "_Tp", "" },
	[FORWARD_LIST] = { "_Fwd_list_base<", "_Tp", "" },
	[DEQUE] = { "_Deque_base<", "_Tp", "" },
};

static enum kind kind_of(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	unsigned int kind = 0;

	while (kind < KINDS &&
	       (!name ||
		strncmp(name, kinds[kind].type, strlen(kinds[kind].type)) != 0))
		kind++;
	return kind;
}

const char *container_member(Dwarf_Die *type)
{
	enum kind kind = kind_of(type);

	return kind == KINDS ? NULL : kinds[kind].member;
}

bool container_is_links(Dwarf_Die *type)
{
	static const char *const names[] = {
		"_Rb_tree_node_base",
		"_Hash_node_base",
		"_List_node_base",
		"_Fwd_list_node_base",
	};
	const char *own = dwarf_diename(type);

	for (size_t i = 0; own && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(own, names[i]) == 0)
			return true;
	}
	return false;
}

static bool child_type(Dwarf_Die *type, int tag, const char *name,
		       Dwarf_Die *ret)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child) != 0)
		return false;
	do {
		const char *own = dwarf_diename(&child);

		if (dwarf_tag(&child) == tag && own && strcmp(own, name) == 0)
			return die_referred(&child, DW_AT_type, ret) &&
			       die_plain(ret);
	} while (die_next(&child));
	return false;
}

/* "7" */
static bool add_number(const struct finding *finding, Dwarf_Die *type,
		       uint64_t address, uint64_t size, char *key, size_t room)
{
	Dwarf_Word encoding = die_number(type, DW_AT_encoding, 0);
	uint64_t word = 0;
	unsigned int unused = size < WORD ? 64 - 8 * (unsigned int)size : 0;

	if (dwarf_tag(type) != DW_TAG_base_type || size > sizeof(word) ||
	    (encoding != DW_ATE_signed && encoding != DW_ATE_unsigned) ||
	    !read_bytes(finding, address, &word, size))
		return false;
	if (encoding == DW_ATE_signed)
		snprintf(key, room, "%" PRId64,
			 (int64_t)(word << unused) >> unused);
	else
		snprintf(key, room, "%" PRIu64, word);
	return true;
}

/* "\"name\"", if it is short and has nothing but letters, digits, "_" and "-". */
static bool add_string(const struct finding *finding, Dwarf_Die *type,
		       uint64_t address, char *key, size_t room)
{
	const char *name = dwarf_diename(type);
	uint64_t words[2]; /* the characters, and how many */
	char text[KEY_MAX + 1] = "";
	Dwarf_Word whole;

	/* that of the older ABI is one pointer */
	if (!name || dwarf_aggregate_size(type, &whole) != 0 ||
	    whole != STRING_SIZE ||
	    strncmp(name, "basic_string<char,", 18) != 0 ||
	    !read_bytes(finding, address, words, sizeof(words)) ||
	    words[1] > KEY_MAX ||
	    (words[1] > 0 && !read_bytes(finding, words[0], text, words[1])))
		return false;
	for (uint64_t i = 0; i < words[1]; i++) {
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' &&
		    text[i] != '-')
			return false;
	}
	snprintf(key, room, "\"%s\"", text);
	return true;
}

/* Of a std::pair: the key, and the value instead of both if it has the bytes. */
static void enter_pair(const struct finding *finding, struct element_found *ret)
{
	const char *name = dwarf_diename(&ret->type);
	Dwarf_Word size;
	uint64_t offset;
	Dwarf_Die type;

	if (!name || strncmp(name, "pair<", 5) != 0 ||
	    !child_type(&ret->type, DW_TAG_member, "first", &type) ||
	    dwarf_aggregate_size(&type, &size) != 0)
		return;
	if (!add_number(finding, &type, ret->start, size, ret->key,
			sizeof(ret->key)))
		add_string(finding, &type, ret->start, ret->key,
			   sizeof(ret->key));
	if (!member_offset(&ret->type, "second", &offset) ||
	    finding->address - ret->start < offset ||
	    !child_type(&ret->type, DW_TAG_member, "second", &type))
		return;
	ret->type = type;
	ret->start += offset;
}

static bool find(const struct finding *finding, enum kind kind,
		 struct element_found *ret)
{
	uint64_t index;

	switch (kind) {
	case TREE:
		return tree_find(finding, &ret->start);
	case HASH:
		return hash_find(finding, &ret->start);
	case LIST:
		return list_find(finding, &ret->start);
	case FORWARD_LIST:
		return forward_list_find(finding, &ret->start);
	case DEQUE:
		if (!deque_find(finding, &ret->start, &index))
			return false;
		snprintf(ret->key, sizeof(ret->key), "%" PRIu64, index);
		return true;
	case KINDS:
	default:
		return false;
	}
}

bool container_find(const struct container *container, uint64_t address,
		    uint64_t size, unsigned int *steps,
		    struct element_found *ret)
{
	struct finding finding = { container, address, size, 0, steps };
	struct element_found found = { .key = "?" };
	Dwarf_Die type = container->type;
	enum kind kind = kind_of(&type);
	Dwarf_Word value;

	if (kind == KINDS ||
	    !child_type(&type, DW_TAG_template_type_parameter,
			kinds[kind].parameter, &found.type) ||
	    dwarf_aggregate_size(&found.type, &value) != 0 || value == 0 ||
	    value > VALUE_MAX)
		return false;
	/* what needs more alignment has a size that is a multiple of it */
	if (kind != DEQUE && value % ((uint64_t)2 * WORD) == 0 &&
	    !has_word_alignment(found.type, 0))
		return false;
	finding.value = value;
	if (!find(&finding, kind, &found))
		return false;
	if (kind == TREE || kind == HASH)
		enter_pair(&finding, &found);
	*ret = found;
	return true;
}
