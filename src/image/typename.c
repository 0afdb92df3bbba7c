/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of types from DWARF; declared in fieldpath.h.
 */
#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

#include "image/die.h"
#include "image/fieldpath.h"

/* Deeper types than this are damaged: a loop of references. */
enum { DEPTH_MAX = 32 };

static void add_type(Dwarf_Die *type, struct strbuf *name, int depth);

/* What the type is made from; void if nothing. */
static void add_inner(Dwarf_Die *type, struct strbuf *name, int depth)
{
	Dwarf_Die inner;

	if (die_referred(type, DW_AT_type, &inner))
		add_type(&inner, name, depth + 1);
	else
		strbuf_add(name, "void");
}

/* Only C needs the keyword. */
static bool needs_keyword(Dwarf_Die *type)
{
	enum { LANG_C17 = 0x2c }; /* newer than some <dwarf.h> */

	switch (die_language(type)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case LANG_C17:
	/* what dwz has taken out of several units has no language */
	case 0:
		return true;
	default:
		return false;
	}
}

static void add_tagged(Dwarf_Die *type, const char *keyword,
		       struct strbuf *name)
{
	const char *own = dwarf_diename(type);

	if (!own || needs_keyword(type))
		strbuf_addf(name, "%s ", keyword);
	strbuf_add(name, own ? own : "{...}");
}

static void add_pointer(Dwarf_Die *type, const char *mark, struct strbuf *name,
			int depth)
{
	const char *text;
	size_t length;

	/* Rust and Ada name their references */
	if (dwarf_diename(type)) {
		strbuf_add(name, dwarf_diename(type));
		return;
	}
	add_inner(type, name, depth);
	text = strbuf_text(name);
	length = strlen(text);
	if (length == 0 || !strchr("*&", text[length - 1]))
		strbuf_add(name, " ");
	strbuf_add(name, mark);
}

static void add_array(Dwarf_Die *type, struct strbuf *name, int depth)
{
	Dwarf_Die child;

	add_inner(type, name, depth);
	if (dwarf_child(type, &child) != 0)
		return;
	do {
		Dwarf_Word count = die_number(&child, DW_AT_count, 0);

		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		if (count == 0)
			count = die_number(&child, DW_AT_upper_bound, -1) + 1;
		if (count)
			strbuf_addf(name, "[%llu]", (unsigned long long)count);
		else
			strbuf_add(name, "[]");
	} while (die_next(&child));
}

/* Is that which the qualifier is of a pointer, maybe behind other qualifiers? */
static bool qualifies_pointer(Dwarf_Die *type)
{
	Dwarf_Die inner = *type;

	for (int i = 0; i < DEPTH_MAX; i++) {
		if (!die_referred(&inner, DW_AT_type, &inner))
			return false;
		switch (dwarf_tag(&inner)) {
		case DW_TAG_pointer_type:
		case DW_TAG_reference_type:
		case DW_TAG_rvalue_reference_type:
			return !dwarf_diename(&inner);
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_atomic_type:
		case DW_TAG_restrict_type:
			break;
		default:
			return false;
		}
	}
	return false;
}

/* Behind the star of a pointer, as C has it: "int * volatile". */
static void add_qualified(Dwarf_Die *type, const char *word,
			  struct strbuf *name, int depth)
{
	if (qualifies_pointer(type)) {
		add_inner(type, name, depth);
		strbuf_addf(name, " %s", word);
	} else {
		strbuf_addf(name, "%s ", word);
		add_inner(type, name, depth);
	}
}

static void add_type(Dwarf_Die *type, struct strbuf *name, int depth)
{
	if (depth > DEPTH_MAX) {
		strbuf_add(name, "...");
		return;
	}
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
		add_tagged(type, "struct", name);
		break;
	case DW_TAG_class_type:
		add_tagged(type, "class", name);
		break;
	case DW_TAG_union_type:
		add_tagged(type, "union", name);
		break;
	case DW_TAG_enumeration_type:
		add_tagged(type, "enum", name);
		break;
	case DW_TAG_pointer_type:
		add_pointer(type, "*", name, depth);
		break;
	case DW_TAG_reference_type:
		add_pointer(type, "&", name, depth);
		break;
	case DW_TAG_rvalue_reference_type:
		add_pointer(type, "&&", name, depth);
		break;
	case DW_TAG_const_type:
		add_qualified(type, "const", name, depth);
		break;
	case DW_TAG_volatile_type:
		add_qualified(type, "volatile", name, depth);
		break;
	case DW_TAG_atomic_type:
		add_qualified(type, "_Atomic", name, depth);
		break;
	case DW_TAG_restrict_type:
		add_inner(type, name, depth);
		break;
	case DW_TAG_array_type:
		add_array(type, name, depth);
		break;
	case DW_TAG_subroutine_type:
		strbuf_add(name, "function");
		break;
	default:
		strbuf_add(name,
			   dwarf_diename(type) ? dwarf_diename(type) : "?");
		break;
	}
}

void type_name_add(Dwarf_Die *type, struct strbuf *name)
{
	add_type(type, name, 0);
}
